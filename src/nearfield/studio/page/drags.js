// A drag: the points stay under the hand, the server hears of it at most 30 times a second, and of the newest place only.

const EVERY = 1000 / 30; // milliseconds

export class Drags {
  #studio;
  #doing = null; // {indices, starts, at, from, wanted, sent, last}
  #timer = 0;

  /** @param {object} studio with view, line, follow(), say(text) and changed() */
  constructor(studio) {
    this.#studio = studio;
    const { view } = studio;
    view.on("dragstart", (detail) => this.begin(detail.indices, detail.index, [detail.x, detail.y]));
    view.on("drag", ({ x, y }) => this.move([x, y]));
    view.on("dragend", ({ x, y }) => this.end([x, y]));
  }

  get active() {
    return this.#doing !== null;
  }

  /** The points in the hand, and where each is. */
  get held() {
    return this.#doing?.places ?? new Map();
  }

  begin(indices, grip, at) {
    if (this.#doing) this.end();
    const { view, line } = this.#studio;
    const xy = view.positions();
    const from = [xy[2 * grip], xy[2 * grip + 1]];
    const starts = new Map(Array.from(indices, (i) => [i, [xy[2 * i], xy[2 * i + 1]]]));
    const doing = { grip, from, starts, wanted: null, places: new Map(), last: performance.now() };
    this.#doing = doing;
    this.#hold(at);
    doing.begun = line
      .ask("drag", { indices: [...starts.keys()], grip, at: [...at], ...this.#studio.follow() })
      .catch((error) => this.#fail(doing, error));
    this.#studio.changed();
  }

  move(at) {
    const doing = this.#doing;
    if (!doing) return;
    this.#hold(at);
    doing.wanted = at;
    if (this.#timer) return;
    const wait = Math.max(0, EVERY - (performance.now() - doing.last));
    this.#timer = setTimeout(() => this.#send(), wait);
  }

  /** Let go, here. */
  end(at = null) {
    const doing = this.#doing;
    if (!doing) return Promise.resolve();
    if (at) {
      this.#hold(at);
      doing.wanted = at;
    }
    this.#send();
    this.#doing = null;
    if (!doing.failed) this.#studio.pinned(doing.places);
    const { view, line } = this.#studio;
    const dropped = doing.failed ? Promise.resolve() : line.ask("drop").catch((error) => this.#fail(doing, error));
    return dropped.finally(() => {
      if (!this.#doing) view.held = new Map();
      this.#studio.changed();
    });
  }

  #hold(at) {
    const doing = this.#doing;
    const [dx, dy] = [at[0] - doing.from[0], at[1] - doing.from[1]];
    for (const [i, [x, y]] of doing.starts) doing.places.set(i, [x + dx, y + dy]);
    this.#studio.view.held = doing.places;
  }

  #send() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const doing = this.#doing;
    if (!doing?.wanted || doing.failed) return;
    doing.last = performance.now();
    this.#studio.line.ask("move", { at: [...doing.wanted] }).catch((error) => this.#fail(doing, error));
    doing.wanted = null;
  }

  #fail(doing, error) {
    if (doing.failed) return;
    doing.failed = true;
    if (this.#doing === doing) this.#doing = null;
    this.#studio.view.held = new Map();
    this.#studio.complain(error);
    this.#studio.changed();
  }
}
