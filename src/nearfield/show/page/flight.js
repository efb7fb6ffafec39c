// The camera's way to another place: a short glide, or a jump for those who want no motion.

const DURATION = 280; // milliseconds

export class Flight {
  #camera;
  #moved;
  #asked = 0;

  /**
   * @param {import("./camera.js").Camera} camera
   * @param {() => void} moved called whenever the camera has moved
   */
  constructor(camera, moved) {
    this.#camera = camera;
    this.#moved = moved;
  }

  /**
   * @param {{x: number, y: number, scale: number}} target
   * @param {boolean} glide
   */
  to(target, glide) {
    this.end();
    const camera = this.#camera;
    const { x, y, scale } = camera;
    const began = performance.now();
    const go = () => {
      const share = glide ? Math.min((performance.now() - began) / DURATION, 1) : 1;
      const eased = 1 - (1 - share) ** 3;
      camera.scale = scale * (target.scale / scale) ** eased;
      camera.x = x + (target.x - x) * eased;
      camera.y = y + (target.y - y) * eased;
      this.#asked = share < 1 ? requestAnimationFrame(go) : 0;
      this.#moved();
    };
    go();
  }

  end() {
    cancelAnimationFrame(this.#asked);
    this.#asked = 0;
  }
}
