// New points: rows with the data's columns that are pasted or dropped, placed in the map, and drawn on top.

import { counted, make } from "/view/dom.js";
import { button, part } from "./panels.js";
import { LARGEST, rowsOf } from "./table.js";

const NOVEL = 0.95; // above which a row is unlike all others

export class Newcomers {
  #studio;
  #hello;
  #rows = null;
  #placed = null;
  #told = make("p", { class: "st-note", "aria-live": "polite" });
  #again;
  #away;
  #fold;

  constructor(parent, studio, hello) {
    this.#studio = studio;
    this.#hello = hello;
    this.#fold = part(parent, "New points");
    const text = make("textarea", { rows: 3, "aria-label": "Rows to place", placeholder: "Paste rows with the columns of the data, or drop a CSV on the map" });
    this.#again = button("Place again", "Place them in the map as it is now", () => this.#place());
    this.#away = button("Take away", "Take the new points away", () => this.#show(null));
    this.#again.hidden = this.#away.hidden = true;
    this.#fold.append(
      text,
      make("div", { class: "st-row" }, button("Place", "Place these rows in the map", () => this.read(text.value)), this.#again, this.#away),
      this.#told,
    );
    const root = document.getElementById("studio");
    root.addEventListener("dragover", (event) => event.preventDefault());
    root.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer.files[0];
      if (file) this.read(file.slice(0, LARGEST + 1).text()); // what is larger is refused, and not read
    });
    document.addEventListener("paste", (event) => {
      if (event.target.matches?.("input, textarea")) return;
      const content = event.clipboardData.getData("text");
      if (content.trim()) this.read(content);
    });
  }

  /** Place the rows of a table: of a text, or of one that is still being read. */
  async read(text) {
    this.#studio.unfold();
    this.#fold.open = true;
    try {
      const rows = rowsOf(await text, this.#hello.names, this.#hello.dimensions);
      if (rows.length > this.#hello.limits.rows) throw new Error(`at most ${counted(this.#hello.limits.rows, "row")} at once`);
      this.#rows = rows;
      await this.#place();
    } catch (error) {
      this.#told.textContent = `Not placed: ${error.message}`;
    }
  }

  /** The map came to rest somewhere else. */
  rested() {
    if (this.#rows) this.#place();
  }

  /** What is known of a new point. */
  lines(k) {
    return [`novelty ${Number(this.#placed.novelty[k]).toFixed(2)}`, ...(this.#placed.novelty[k] > NOVEL ? ["unlike all others"] : [])];
  }

  redraw() {
    this.#show(this.#placed);
  }

  async #place() {
    this.#told.textContent = "Placing …";
    try {
      this.#show(await this.#studio.line.ask("place_rows", { rows: this.#rows }));
    } catch (error) {
      this.#told.textContent = `Not placed: ${error.message}`;
    }
  }

  #show(placed) {
    this.#placed = placed;
    this.#again.hidden = this.#away.hidden = placed === null;
    const { view } = this.#studio;
    if (placed === null) {
      this.#rows = null;
      this.#told.textContent = "";
      view.extra = null;
      return;
    }
    const { ink, accent } = this.#studio.look;
    const colours = new Uint8Array(placed.novelty.flatMap((each) => [...(each > NOVEL ? accent : ink), 255]));
    view.extra = { positions: new Float32Array(placed.positions.flat()), colours };
    const novel = placed.novelty.filter((each) => each > NOVEL).length;
    this.#told.textContent = `${counted(placed.positions.length, "new point")}, ${novel ? `${novel} unlike all others` : "none unlike the others"}`;
  }
}
