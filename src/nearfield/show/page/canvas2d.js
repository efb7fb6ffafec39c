// Points without WebGL: each is stamped into the pixels of an image. The same interface and the same looks as
// webgl.js, at some tenth of its speed, and still quick enough for 100 000 points.

import { FADED, RAISED, RIMMED } from "./marks.js";

const RIM = 32; // pixels around what is seen, so that no stamp has to be cut

export class CanvasPainter {
  name = "2d";
  #xy = new Float32Array(0);
  #rgba = new Uint8Array(0);
  #marks = new Uint8Array(0);
  #order = new Uint32Array(0);
  #image = null;

  setPositions(xy) {
    this.#xy = xy;
  }

  setColours(rgba) {
    this.#rgba = rgba;
  }

  setMarks(marks, order) {
    this.#marks = marks;
    this.#order = order;
  }

  /**
   * @param {CanvasRenderingContext2D} context of the canvas that is seen
   * @param {import("./view.js").Frame} frame
   * @param {boolean} changed whether the points look different from before; if not, the image is put back
   */
  paint(context, frame, changed) {
    if (changed || !this.#image) this.#stamp(context, frame);
    context.putImageData(this.#image, -RIM, -RIM);
  }

  #stamp(context, frame) {
    const width = context.canvas.width + 2 * RIM;
    const height = context.canvas.height + 2 * RIM;
    if (this.#image?.width !== width || this.#image?.height !== height) {
      this.#image = context.createImageData(width, height);
    }
    const pixels = this.#image.data;
    const { camera, look, ratio, radius, opacity, faded } = frame;
    const ground = new Uint8Array([...look.ground, 255]);
    new Uint32Array(pixels.buffer).fill(new Uint32Array(ground.buffer)[0]);
    const scale = camera.scale * ratio;
    const [left, top] = [width / 2 - camera.x * scale, height / 2 + camera.y * scale];
    const plain = stamp(radius * ratio, width);
    const raised = stamp(1.3 * radius * ratio, width);
    const rim = stamp(1.3 * radius * ratio + 1.5, width);
    const reach = rim.reach;
    for (const i of this.#order) {
      const alpha = this.#rgba[4 * i + 3] / 255;
      if (alpha === 0) continue;
      const x = Math.round(left + this.#xy[2 * i] * scale - 0.5);
      const y = Math.round(top - this.#xy[2 * i + 1] * scale - 0.5);
      const mark = this.#marks[i];
      if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
      const at = 4 * (y * width + x);
      if (mark === RIMMED) press(pixels, at, rim, look.accent, 0, alpha);
      const strength = mark >= RAISED ? alpha : mark === FADED ? alpha * opacity * faded : alpha * opacity;
      press(pixels, at, mark >= RAISED ? raised : plain, this.#rgba, 4 * i, strength);
    }
  }

  dispose() {
    this.#image = null;
  }
}

/** A disc as offsets into the pixels, and how much of each pixel it covers. */
function stamp(radius, width) {
  const reach = Math.ceil(radius);
  const offsets = [];
  const covers = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const cover = Math.min(Math.max(radius + 0.5 - Math.hypot(dx, dy), 0), 1);
      if (cover > 0) {
        offsets.push(4 * (dy * width + dx));
        covers.push(cover);
      }
    }
  }
  return { reach, offsets: Int32Array.from(offsets), covers: Float32Array.from(covers) };
}

/** Mix a colour into the pixels under a stamp. */
function press(pixels, at, { offsets, covers }, colour, from, strength) {
  for (let k = 0; k < offsets.length; k++) {
    const p = at + offsets[k];
    const share = covers[k] * strength;
    pixels[p] += (colour[from] - pixels[p]) * share;
    pixels[p + 1] += (colour[from + 1] - pixels[p + 1]) * share;
    pixels[p + 2] += (colour[from + 2] - pixels[p + 2]) * share;
  }
}
