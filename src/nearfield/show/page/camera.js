// Which part of the map is seen: a centre and a scale. Pixels are CSS pixels of the canvas, from its upper left
// corner; in the map the second coordinate grows upwards.

const FARTHEST = 1 / 64; // of the scale that fits the map
const NEAREST = 20000;

export class Camera {
  x = 0;
  y = 0;
  scale = 1;
  fitted = 1; // the scale that showed all
  width = 1;
  height = 1;

  /** @returns {[number, number]} the pixel of a place in the map */
  pixel(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, this.height / 2 - (y - this.y) * this.scale];
  }

  /** @returns {[number, number]} the place in the map under a pixel */
  place(px, py) {
    return [(px - this.width / 2) / this.scale + this.x, (this.height / 2 - py) / this.scale + this.y];
  }

  /** How much nearer this is than what shows all. */
  get zoom() {
    return this.scale / this.fitted;
  }

  /** Come nearer by a factor, with the place under a pixel where it is. */
  zoomAt(px, py, factor) {
    const [x, y] = this.place(px, py);
    this.scale = Math.min(Math.max(this.scale * factor, this.fitted * FARTHEST), this.fitted * NEAREST);
    const [newX, newY] = this.place(px, py);
    this.x += x - newX;
    this.y += y - newY;
  }

  /** Move the map by so many pixels. */
  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /**
   * Where the camera has to be to show a box in the room that insets leave.
   * @param {[number, number, number, number]} box left, bottom, right, top in the map
   * @param {{top: number, right: number, bottom: number, left: number}} insets pixels that are covered
   * @returns {{x: number, y: number, scale: number}}
   */
  around([left, bottom, right, top], insets) {
    const width = Math.max(this.width - insets.left - insets.right, this.width / 4);
    const height = Math.max(this.height - insets.top - insets.bottom, this.height / 4);
    const spanX = right - left;
    const spanY = top - bottom;
    // One point, or several in one place, have no extent: any scale shows them.
    const scale = spanX || spanY ? Math.min(width / (spanX || 1e-30), height / (spanY || 1e-30)) : 1;
    return {
      x: (left + right) / 2 + (insets.right - insets.left) / 2 / scale,
      y: (bottom + top) / 2 - (insets.bottom - insets.top) / 2 / scale,
      scale,
    };
  }
}

/**
 * The box around points.
 * @param {Float32Array} xy
 * @param {Iterable<number> | null} indices of those that count; all if null
 * @returns {[number, number, number, number]} left, bottom, right, top
 */
export function boundsOf(xy, indices = null) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  const include = (i) => {
    const x = xy[2 * i];
    const y = xy[2 * i + 1];
    if (x < box[0]) box[0] = x;
    if (y < box[1]) box[1] = y;
    if (x > box[2]) box[2] = x;
    if (y > box[3]) box[3] = y;
  };
  if (indices === null) for (let i = 0; i < xy.length / 2; i++) include(i);
  else for (const i of indices) include(i);
  return box[0] <= box[2] ? box : [0, 0, 0, 0];
}
