// Rows that are images: small, in one array of bytes, which is unpacked when the first one is looked at.

import { unpack } from "./unpack.js";

export class Images {
  #packed;
  #bytes = null;
  #height;
  #width;
  #channels;

  /** @param {{shape: [number, number, number], data: object}} given height, width and channels, and the bytes */
  constructor({ shape, data }) {
    [this.#height, this.#width, this.#channels] = shape;
    this.#packed = data;
  }

  /**
   * Draw an image; one of grey values goes from the ground's colour to the ink's, as drawings do.
   * @param {number} i
   * @param {HTMLCanvasElement} canvas gets the size of the image
   * @param {{ground: number[], ink: number[]}} look
   */
  async draw(i, canvas, { ground, ink }) {
    this.#bytes ??= unpack(this.#packed);
    const bytes = await this.#bytes;
    canvas.width = this.#width;
    canvas.height = this.#height;
    const image = new ImageData(this.#width, this.#height);
    const size = this.#width * this.#height;
    const from = i * size * this.#channels;
    for (let p = 0; p < size; p++) {
      for (let c = 0; c < 3; c++) {
        const value = bytes[from + p * this.#channels + (this.#channels > 2 ? c : 0)];
        image.data[4 * p + c] = this.#channels > 2 ? value : ground[c] + ((ink[c] - ground[c]) * value) / 255;
      }
      image.data[4 * p + 3] = this.#channels === 4 ? bytes[from + 4 * p + 3] : 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }
}
