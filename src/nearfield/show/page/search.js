// A field that finds rows by their labels and texts while one types; Enter goes there, Escape gives up.

import { rowsWith } from "./columns.js";
import { counted, make } from "./dom.js";

export class Search {
  #field;
  #found = make("span", { class: "nf-found" });

  /**
   * @param {HTMLElement} parent
   * @param {{columns: import("./columns.js").Column[], n: number, select: (rows: Uint32Array) => void,
   *   go: (rows: Uint32Array) => void, say: (text: string) => void}} given
   */
  constructor(parent, { columns, n, select, go, say }) {
    let rows = new Uint32Array(0);
    const look = () => {
      rows = rowsWith(columns, n, this.#field.value);
      this.#found.textContent = this.#field.value.trim() ? `${rows.length.toLocaleString("en")} found` : "";
      say(this.#field.value.trim() ? `${counted(rows.length, "point")} found` : "");
      select(rows);
    };
    this.#field = make("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": "Search labels",
      autocomplete: "off",
      spellcheck: "false",
      on: {
        input: look,
        keydown: (event) => {
          if (event.key === "Enter" && rows.length) go(rows);
          if (event.key === "Escape") this.clear(), look();
        },
      },
    });
    parent.append(make("div", { class: "nf-search" }, this.#field, this.#found));
  }

  focus() {
    this.#field.focus();
    this.#field.select();
  }

  clear() {
    this.#field.value = "";
    this.#found.textContent = "";
  }
}
