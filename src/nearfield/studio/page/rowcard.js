// The card of the point under the pointer: its row or its picture, and its neighbours in data and map.

import { make, readable } from "/view/dom.js";

const KEPT = 200; // cards
const SHOWN = 10; // values
const SOON = 60; // milliseconds that the pointer rests before a row is asked for
const GAP = 16;

export class RowCard {
  #root = make("div", { class: "nf-card nf-panel", hidden: true });
  #line;
  #view;
  #known = new Map();
  #timer = 0;
  #index = -1;

  constructor(parent, line, view) {
    this.#line = line;
    this.#view = view;
    parent.append(this.#root);
  }

  forget() {
    this.#known.clear();
  }

  /**
   * @param {number} index
   * @param {[number, number]} at pixels
   * @param {string[]} notes further lines, such as that it is pinned
   * @param {object} look
   * @param {(near: {data: number[], map: number[]}) => void} found called with its neighbours
   */
  show(index, at, notes, look, found) {
    clearTimeout(this.#timer);
    this.#index = index;
    this.#root.hidden = index < 0;
    if (index < 0) return;
    this.#place(at);
    if (this.#known.has(index)) return this.#fill(this.#known.get(index), notes, look, at);
    this.#root.replaceChildren(make("p", { class: "nf-card-title", text: `row ${index}` }));
    this.#timer = setTimeout(async () => {
      try {
        const [[card], near] = await Promise.all([this.#line.ask("cards", { indices: [index] }), this.#line.ask("near", { index })]);
        if (this.#known.size > KEPT) this.#known.clear();
        const kept = near.data.filter((i) => near.map.includes(i)).length;
        card.neighbours = [
          `nearest in the data: ${near.data.slice(0, 5).join(", ")}`,
          `${kept} of ${near.data.length} are among the nearest in the map`,
        ];
        this.#known.set(index, card);
        if (this.#index !== index) return;
        found(near);
        this.#fill(card, notes, look, at);
      } catch {
        // the page says elsewhere that it is not connected
      }
    }, SOON);
  }

  /** A card of a point that is new in the map. */
  tell(title, lines, at) {
    clearTimeout(this.#timer);
    this.#index = -1;
    this.#root.hidden = false;
    this.#root.replaceChildren(make("p", { class: "nf-card-title", text: title }), ...lines.map((text) => make("p", { text })));
    this.#place(at);
  }

  #fill(card, notes, look, at) {
    const parts = [make("p", { class: "nf-card-title", text: `row ${card.title}` })];
    if (card.label !== undefined) parts.push(make("p", { class: "st-label", text: card.label }));
    if (card.image) parts.push(picture(card.image, look));
    if (card.values) {
      const rows = card.values.slice(0, SHOWN).flatMap(([name, value]) => [make("dt", { text: name }), make("dd", { text: value === null ? "–" : readable(value) })]);
      if (card.values.length > SHOWN) rows.push(make("dt", { class: "nf-more", text: `and ${card.values.length - SHOWN} more` }), make("dd"));
      parts.push(make("dl", {}, ...rows));
    }
    parts.push(...[...notes, ...card.neighbours].map((text) => make("p", { class: "st-note", text })));
    this.#root.replaceChildren(...parts);
    this.#place(at);
  }

  #place([x, y]) {
    const parent = this.#root.parentElement.getBoundingClientRect();
    const { style } = this.#root;
    style.removeProperty("left");
    style.removeProperty("top");
    if (parent.width < 560) return;
    const { width, height } = this.#root.getBoundingClientRect();
    const edge = parent.width - this.#view.insets.right - 8;
    style.left = `${Math.max(x + GAP + width > edge ? x - GAP - width : x + GAP, 8)}px`;
    style.top = `${Math.min(Math.max(y + GAP, 8), Math.max(parent.height - height - 8, 8))}px`;
  }
}

function picture({ height, width, grey }, { ground, ink }) {
  const canvas = make("canvas", { class: "nf-picture", "aria-hidden": "true", width, height });
  const image = new ImageData(width, height);
  grey.forEach((value, p) => {
    for (let c = 0; c < 3; c++) image.data[4 * p + c] = ground[c] + ((ink[c] - ground[c]) * value) / 255;
    image.data[4 * p + 3] = 255;
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
