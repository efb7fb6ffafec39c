// The selection: where it is put without dragging, what is done with it, and names for it.

import { counted, make } from "/view/dom.js";
import { button, field, part } from "./panels.js";

/** The bar that is there while something is selected. */
export class Chosen {
  #root = make("section", { class: "nf-chosen nf-panel st-chosen", "aria-label": "Selection", hidden: true });
  #told = make("span", {});
  #x = make("input", { type: "number", step: "any", "aria-label": "x", class: "st-place" });
  #y = make("input", { type: "number", step: "any", "aria-label": "y", class: "st-place" });
  #studio;

  constructor(parent, studio) {
    this.#studio = studio;
    const all = (what, more = {}) => () => studio.ask(what, { indices: [...studio.view.selection], ...more });
    const here = make(
      "form",
      { class: "st-row" },
      field("x", this.#x),
      field("y", this.#y),
      make("button", { type: "submit", text: "Move here", title: "Put the middle of the selection at x, y; its neighbours follow" }),
    );
    here.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#x.value === "" || this.#y.value === "") return studio.say("Say where to: x and y.", true);
      return studio.ask("put", { indices: [...studio.view.selection], at: [Number(this.#x.value), Number(this.#y.value)], ...studio.follow() });
    });
    this.#root.append(
      this.#told,
      here,
      button("Pin", "Pin the selected points where they are (P)", all("pin")),
      button("Unpin", "Release the selected points", all("unpin")),
      button("Together", "Keep the selected points together", all("link", { kind: "must" })),
      button("Apart", "Keep the selected points apart", all("link", { kind: "cannot" })),
      button("Name", "Give the selection a name", () => studio.nameSelection()),
      button("Clear", "Select nothing (Escape)", () => studio.select([])),
    );
    parent.append(this.#root);
  }

  /** Tell what is selected. */
  show() {
    const { view } = this.#studio;
    const { selection } = view;
    this.#root.hidden = selection.length === 0;
    if (!selection.length) return;
    this.#told.textContent = `${counted(selection.length, "point")} selected`;
    const xy = view.positions();
    let [x, y] = [0, 0];
    for (const i of selection) {
      x += xy[2 * i] / selection.length;
      y += xy[2 * i + 1] / selection.length;
    }
    this.#x.value = Number(x.toPrecision(4));
    this.#y.value = Number(y.toPrecision(4));
  }
}

/** Names of selections, and points by their numbers. */
export class Selections {
  #list = make("ul", { class: "st-names" });
  #name = make("input", { type: "text", maxlength: 40, "aria-label": "Name of the selection", placeholder: "a name" });
  #fold;

  constructor(parent, studio, { n }) {
    this.#fold = part(parent, "Selections");
    const number = make("input", { type: "number", min: 0, max: n - 1, step: 1, "aria-label": "Row to select" });
    const point = make("form", { class: "st-row" }, field("Row", number), make("button", { type: "submit", text: "Select" }));
    point.addEventListener("submit", (event) => {
      event.preventDefault();
      const i = Number(number.value);
      if (number.value !== "" && Number.isInteger(i) && i >= 0 && i < n) studio.select([i]);
    });
    const named = make("form", { class: "st-row" }, this.#name, make("button", { type: "submit", text: "Name it" }));
    named.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!studio.view.selection.length) return studio.say("Select some points first: Shift-drag around them.", true);
      if (!this.#name.value.trim()) return studio.say("Give it a name.", true);
      return studio.ask("name_selection", { name: this.#name.value.trim(), indices: [...studio.view.selection] }).then(() => (this.#name.value = ""));
    });
    this.#fold.append(point, named, this.#list);
    this.studio = studio;
  }

  open() {
    this.#fold.open = true;
    this.#name.focus();
  }

  show({ selections }) {
    const { studio } = this;
    this.#list.replaceChildren(
      ...Object.entries(selections).map(([name, count]) =>
        make(
          "li",
          { class: "st-row" },
          button(`${name} (${count.toLocaleString("en")})`, `Select ${name}`, async () => studio.select(await studio.ask("selection", { name }))),
          button("×", `Forget ${name}`, () => studio.ask("forget_selection", { name })),
        ),
      ),
    );
  }
}
