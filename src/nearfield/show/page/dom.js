// Elements in a line. Text is always text: nothing here takes HTML.

/**
 * @param {string} tag
 * @param {Record<string, any>} given `text`, `on` (event → handler), and attributes; null and false are left out
 * @param {...Node} children
 * @returns {HTMLElement}
 */
export function make(tag, { text, on = {}, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [event, handler] of Object.entries(on)) element.addEventListener(event, handler);
  element.append(...children);
  return element;
}

/** A number for people: 12 345.678 as "12,345.7", whatever the language of the browser. */
export function readable(value) {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 53) {
    return Math.abs(value) < 1e6 ? String(value) : value.toLocaleString("en");
  }
  return String(Number(value.toPrecision(6)));
}

/** "1 point", "1,797 points". */
export function counted(n, what) {
  return `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
}
