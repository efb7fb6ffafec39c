// The card of a point: what is known of its row, beside the pointer.

import { textOf } from "./columns.js";
import { make } from "./dom.js";

const MOST = 12; // columns on a card
const GAP = 16; // pixels from the pointer
const BESIDE = 560; // pixels: on a narrower map, style.css docks the card

export class Card {
  #root;
  #columns;
  #images;
  #view;
  #picture = make("canvas", { class: "nf-picture", "aria-hidden": "true" });
  #title = make("p", { class: "nf-card-title" });
  #rows = make("dl", {});
  #shown = -1;

  /**
   * @param {HTMLElement} parent
   * @param {import("./columns.js").Column[]} columns
   * @param {import("./images.js").Images | null} images
   * @param {import("./view.js").View} view knows where panels are
   */
  constructor(parent, columns, images, view) {
    this.#columns = columns;
    this.#images = images;
    this.#view = view;
    this.#root = make("div", { class: "nf-card nf-panel", hidden: true }, this.#title, this.#picture, this.#rows);
    this.#picture.hidden = images === null;
    parent.append(this.#root);
  }

  /**
   * @param {number} index
   * @param {[number, number]} at pixels of the parent
   * @param {object} look
   * @param {import("./columns.js").Column | null} first the column that comes first: the one of the colours
   */
  show(index, at, look, first) {
    if (index < 0) {
      this.#root.hidden = true;
      this.#shown = -1;
      return;
    }
    if (index !== this.#shown) this.#fill(index, look, first);
    this.#shown = index;
    this.#root.hidden = false;
    this.#place(at);
  }

  #fill(index, look, first) {
    this.#title.textContent = `row ${index}`;
    const columns = first ? [first, ...this.#columns.filter((each) => each !== first)] : this.#columns;
    const rows = columns.slice(0, MOST).flatMap((column) => [
      make("dt", { text: column.name }),
      make("dd", { text: textOf(column, index) || "–" }),
    ]);
    if (columns.length > MOST) rows.push(make("dt", { class: "nf-more", text: `and ${columns.length - MOST} more columns` }), make("dd"));
    this.#rows.replaceChildren(...rows);
    this.#images?.draw(index, this.#picture, look);
  }

  /** Beside the pointer, on the side where there is room; where there is little, the sheet docks it below. */
  #place([x, y]) {
    const { style } = this.#root;
    const parent = this.#root.parentElement.getBoundingClientRect();
    style.removeProperty("left");
    style.removeProperty("top");
    if (parent.width < BESIDE) return;
    const { width, height } = this.#root.getBoundingClientRect();
    const edge = parent.width - this.#view.insets.right - 8;
    const left = x + GAP + width > edge ? x - GAP - width : x + GAP;
    style.left = `${Math.max(left, 8)}px`;
    style.top = `${Math.min(Math.max(y + GAP, 8), Math.max(parent.height - height - 8, 8))}px`;
  }
}
