// What the colours mean: classes to click away and back, or a scale of numbers.

import { classColour } from "./colours.js";
import { counted, make, readable } from "./dom.js";
import { css } from "./overlay.js";

export class Legend {
  #root = make("div", { class: "nf-legend" });
  #changed;
  #column = null;
  #look = null;
  #hidden = new Set(); // codes

  /**
   * @param {HTMLElement} parent
   * @param {() => void} changed called when classes were hidden or shown
   */
  constructor(parent, changed) {
    this.#changed = changed;
    parent.append(this.#root);
  }

  /**
   * @param {import("./columns.js").Column | null} column
   * @param {object} look
   */
  show(column, look) {
    if (column !== this.#column) this.#hidden.clear();
    this.#column = column;
    this.#look = look;
    this.#draw();
  }

  /** Whether a class is shown. */
  shows(code) {
    return !this.#hidden.has(code);
  }

  get allShown() {
    return this.#hidden.size === 0;
  }

  #draw() {
    const parts = [];
    if (this.#column?.kind === "classes") parts.push(...this.#classes());
    if (this.#column?.kind === "numbers") parts.push(...this.#numbers());
    this.#root.replaceChildren(...parts);
  }

  #classes() {
    const { names, shades } = this.#column;
    const codes = names.map((_, code) => code);
    const groups = codes.filter((code) => shades[code] >= 0).map((code) => [names[code], [code]]);
    const others = codes.filter((code) => shades[code] < 0 && names[code] !== "");
    const without = codes.filter((code) => names[code] === "");
    if (others.length) groups.push([`other (${counted(others.length, "class").replace(/classs$/, "classes")})`, others]);
    if (without.length) groups.push(["no label", without]);
    const list = make("ul", { "aria-label": "Classes: click to hide or show, double click for one alone" });
    for (const [name, members] of groups) list.append(make("li", {}, this.#entry(name, members)));
    const all = make("button", { type: "button", class: "nf-quiet", text: "Show all classes", on: { click: () => this.#hide([]) } });
    return this.allShown ? [list] : [list, all];
  }

  #entry(name, members) {
    const count = members.reduce((sum, code) => sum + this.#column.counts[code], 0);
    const shown = members.every((code) => this.shows(code));
    const dot = make("span", { class: "nf-dot" });
    dot.style.background = css(classColour(this.#column, members[0], this.#look));
    const button = make(
      "button",
      { type: "button", "aria-pressed": String(shown), title: `${name}: click to hide or show, double click for this alone` },
      dot,
      make("span", { class: "nf-name", text: name }),
      make("span", { class: "nf-count", text: count.toLocaleString("en") }),
    );
    button.addEventListener("click", (event) => {
      if (event.detail > 1 || event.shiftKey) return this.#only(members);
      return this.#hide(shown ? [...this.#hidden, ...members] : [...this.#hidden].filter((code) => !members.includes(code)));
    });
    return button;
  }

  #only(members) {
    this.#hide(this.#column.names.map((_, code) => code).filter((code) => !members.includes(code)));
  }

  #hide(codes) {
    const at = [...this.#root.querySelectorAll("button")].indexOf(document.activeElement);
    this.#hidden = new Set(codes);
    this.#draw();
    this.#root.querySelectorAll("button")[at]?.focus(); // which was drawn anew
    this.#changed();
  }

  #numbers() {
    const [low, high] = this.#column.range;
    const bar = make("div", { class: "nf-scale", role: "img", "aria-label": `from ${readable(low)} to ${readable(high)}` });
    const { scale } = this.#look;
    const stops = [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1];
    bar.style.background = `linear-gradient(to right, ${stops.map((at) => css(scale[Math.round(at * (scale.length - 1))])).join(", ")})`;
    const ends = make("div", { class: "nf-ends" }, make("span", { text: readable(low) }), make("span", { text: readable(high) }));
    return [bar, ends];
  }
}
