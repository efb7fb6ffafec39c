// What is known of the rows besides where they lie. nearfield.show.columns describes each column.

import { readable } from "./dom.js";

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {"classes" | "numbers" | "text"} kind
 * @property {ArrayLike<number>} [codes] of classes: which one each row has
 * @property {string[]} [names] … what they are called
 * @property {number[]} [shades] … which colour each has, -1 for none of its own
 * @property {number[]} [counts] … how many rows each has
 * @property {ArrayLike<number> | string[]} [values] of numbers and text
 * @property {[number, number]} [range] of numbers: the least and the largest
 */

/** Add to a column what follows from it. */
export function completed(column) {
  if (column.kind === "classes") {
    column.counts = new Array(column.names.length).fill(0);
    for (const code of column.codes) column.counts[code]++;
  }
  if (column.kind === "numbers") {
    column.range = [Infinity, -Infinity];
    for (const value of column.values) {
      if (value < column.range[0] && value > -Infinity) column.range[0] = value;
      if (value > column.range[1] && value < Infinity) column.range[1] = value;
    }
    if (column.range[0] > column.range[1]) column.range = [0, 0];
  }
  return column;
}

/** What a row has in a column, as text; "" is nothing. */
export function textOf(column, i) {
  if (column.kind === "classes") return column.names[column.codes[i]];
  if (column.kind === "text") return column.values[i];
  return Number.isFinite(column.values[i]) ? readable(column.values[i]) : "";
}

/** The same for a file: all digits of a number. */
export function cellOf(column, i) {
  if (column.kind !== "numbers") return textOf(column, i);
  const value = column.values[i];
  // A number of 32 bits is written with the digits that it has, not with those of its 64 bits.
  return Number.isFinite(value) ? String(column.values instanceof Float32Array ? Number(value.toPrecision(8)) : value) : "";
}

/**
 * The rows in which some text or class contains what is looked for, small and capital letters alike.
 * @param {Column[]} columns
 * @param {number} n
 * @param {string} wanted
 * @returns {Uint32Array}
 */
export function rowsWith(columns, n, wanted) {
  const needle = wanted.trim().toLowerCase();
  if (!needle) return new Uint32Array(0);
  const found = new Uint8Array(n);
  for (const column of columns) {
    if (column.kind === "classes") {
      const hits = column.names.map((name) => name.toLowerCase().includes(needle));
      if (hits.some(Boolean)) for (let i = 0; i < n; i++) if (hits[column.codes[i]]) found[i] = 1;
    } else if (column.kind === "text") {
      for (let i = 0; i < n; i++) if (column.values[i].toLowerCase().includes(needle)) found[i] = 1;
    }
  }
  return Uint32Array.from({ length: n }, (_, i) => i).filter((i) => found[i]);
}
