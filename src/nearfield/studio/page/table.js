// Rows that were pasted or dropped: a table as text becomes rows of numbers in the order of the data's columns.

export const LARGEST = 3_000_000; // characters

/**
 * @param {string} text
 * @param {string[]} names of the data's columns
 * @param {number} width how many there are
 * @returns {number[][]}
 */
export function rowsOf(text, names, width) {
  if (text.length > LARGEST) throw new Error("that is too much at once: take fewer rows");
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  if (!lines.length) throw new Error("there are no rows in it");
  const delimiter = ["\t", ";", ","].find((each) => lines[0].includes(each)) ?? /\s+/;
  const cells = lines.map((line) => line.split(delimiter).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1")));
  const headed = cells[0].some((cell) => cell !== "" && !Number.isFinite(Number(cell)));
  const head = headed ? cells.shift() : null;
  const order = head && names.every((name) => head.includes(name)) ? names.map((name) => head.indexOf(name)) : null;
  if (head && !order) {
    const missing = names.filter((name) => !head.includes(name));
    throw new Error(`the column ${missing[0]} is missing: the rows need the columns of the data`);
  }
  return cells.map((row, k) => {
    const values = (order ? order.map((at) => row[at]) : row).map((cell) => (cell === undefined || cell === "" ? NaN : Number(cell)));
    if (values.length !== width) throw new Error(`line ${k + 1} has ${values.length} numbers, and the data have ${width} columns`);
    if (!values.every(Number.isFinite)) throw new Error(`line ${k + 1} has something that is no number`);
    return values;
  });
}
