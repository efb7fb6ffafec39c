// What can be taken away: coordinates and columns as CSV, the map as a picture.

import { cellOf } from "./columns.js";

const FORMULA = /^[=+\-@\t\r]/; // by which a spreadsheet knows what it is to compute
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/**
 * Rows as CSV, with the columns that `nearfield` reads as a map first.
 * @param {Iterable<number>} rows
 * @param {Float32Array} xy
 * @param {import("./columns.js").Column[]} columns one that is called id takes the place of the row's number
 * @returns {string}
 */
export function csvOf(rows, xy, columns) {
  const ids = columns.find((column) => column.name === "id");
  const others = columns.filter((column) => column !== ids);
  const lines = [["id", "y1", "y2", ...others.map((column) => column.name)]];
  for (const i of rows) {
    const place = [xy[2 * i], xy[2 * i + 1]].map((value) => Number(value.toPrecision(8)));
    lines.push([ids ? cellOf(ids, i) : i, ...place, ...others.map((column) => cellOf(column, i))]);
  }
  return lines.map((line) => `${line.map(quoted).join(",")}\n`).join("");
}

/** A text that begins like a formula may be anybody's: it gets an apostrophe, as in studio/table.py. */
function guarded(text) {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function quoted(cell) {
  const text = guarded(String(cell));
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Let the browser save a file. */
export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Save what a view shows as a picture. */
export function savePicture(name, view) {
  view.snapshot().toBlob((blob) => save(name, blob), "image/png");
}
