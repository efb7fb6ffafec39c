// Where the name of each class stands: on its points, where they are thickest.

import { boundsOf } from "./camera.js";

const CELLS = 24; // of the longer side
const MOST = 40; // classes that have names on the map

/**
 * @param {import("./columns.js").Column | null} column
 * @param {Float32Array} xy
 * @param {(code: number) => boolean} shown which classes are
 * @returns {Array<{text: string, x: number, y: number}>} the largest class first
 */
export function namesOn(column, xy, shown) {
  if (column?.kind !== "classes") return [];
  const named = column.names.map((_, code) => code).filter((code) => column.shades[code] >= 0);
  if (named.length < 2 || named.length > MOST || named.length < column.names.filter(Boolean).length) return [];
  const [left, bottom, right, top] = boundsOf(xy);
  const side = Math.max(right - left, top - bottom) / CELLS || 1;
  const places = new Map(named.filter(shown).map((code) => [code, new Map()]));
  for (let i = 0; i < xy.length / 2; i++) {
    const cells = places.get(column.codes[i]);
    if (!cells) continue;
    const key = Math.floor((xy[2 * i] - left) / side) * 4096 + Math.floor((xy[2 * i + 1] - bottom) / side);
    const cell = cells.get(key) ?? { count: 0, x: 0, y: 0 };
    cell.count++;
    cell.x += xy[2 * i];
    cell.y += xy[2 * i + 1];
    cells.set(key, cell);
  }
  return [...places]
    .filter(([, cells]) => cells.size)
    .sort(([one], [other]) => column.counts[other] - column.counts[one])
    .map(([code, cells]) => ({ text: shortened(column.names[code]), ...thickest(cells) }));
}

/** The middle of the points in and around the cell that, with those around it, has most of them. */
function thickest(cells) {
  let best = { count: 0, x: 0, y: 0 };
  for (const key of cells.keys()) {
    const sum = { count: 0, x: 0, y: 0 };
    for (const step of [-4097, -4096, -4095, -1, 0, 1, 4095, 4096, 4097]) {
      const cell = cells.get(key + step);
      if (!cell) continue;
      sum.count += cell.count;
      sum.x += cell.x;
      sum.y += cell.y;
    }
    if (sum.count > best.count) best = sum;
  }
  return { x: best.x / best.count, y: best.y / best.count };
}

function shortened(text) {
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}
