// Which painter draws the points, and how large and solid it draws them.

import { CanvasPainter } from "./canvas2d.js";
import { WebGLPainter } from "./webgl.js";

/**
 * @param {"auto" | "webgl2" | "2d"} wanted "auto" is WebGL2 where there is a graphics card, else Canvas 2D
 * @param {() => void} onLost called when the graphics card is taken away, as after sleep or with many maps
 */
export function painterFor(wanted, onLost) {
  if (wanted === "2d") return new CanvasPainter();
  try {
    return new WebGLPainter(onLost, wanted === "webgl2");
  } catch (error) {
    console.info(`Canvas 2D draws the points: ${error.message}`);
    return new CanvasPainter();
  }
}

/** The radius of a point in CSS pixels: large where there are few, and growing slowly as one comes nearer. */
export function radiusOf({ width, height, zoom }, n) {
  const room = Math.sqrt((width * height) / Math.max(n, 1));
  return Math.min(Math.min(Math.max(0.17 * room, 1.2), 4.5) * Math.max(zoom, 0.3) ** 0.3, 12);
}

/** The opacity of a point: the more there are, the more is seen through each. */
export function opacityOf({ zoom }, n) {
  const crowd = Math.min(Math.max(1.3 - 0.15 * Math.log10(Math.max(n, 1)), 0.3), 0.9);
  return Math.min(crowd * Math.max(zoom, 1) ** 0.15, 0.95);
}
