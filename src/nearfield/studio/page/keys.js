// Keys. Single letters can be turned off, for those whose voice or hand sends them unasked.

import { make } from "/view/dom.js";
import { button } from "./panels.js";

const NUDGE = 8; // pixels; with Shift five times as many
const PAUSE = 400; // milliseconds after which a row of nudges is one drag
const STORED = "nearfield-single-keys";

const HELP = [
  ["Drag a point", "it is pinned there, and its neighbours follow"],
  ["Drag elsewhere, wheel", "pan, zoom"],
  ["Shift-drag", "select with a lasso; double click selects nothing"],
  ["Space", "run or pause"],
  [".", "one iteration"],
  ["M, L, V", "tools: move points, lasso, view"],
  ["P", "pin the selection where it is"],
  ["Arrows", "nudge the selection (with Shift further), or pan"],
  ["0, +, −", "show all, nearer, further"],
  ["/", "search"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["Escape", "select nothing"],
  ["?", "this help"],
];

export class Keys {
  #studio;
  #dialog;
  #single = localStorage.getItem(STORED) !== "off";
  #nudging = null; // {at, timer}

  constructor(parent, studio) {
    this.#studio = studio;
    const check = make("input", { type: "checkbox" });
    check.checked = this.#single;
    check.addEventListener("change", () => {
      this.#single = check.checked;
      localStorage.setItem(STORED, this.#single ? "on" : "off");
    });
    const list = make("dl", {}, ...HELP.flatMap(([keys, does]) => [make("dt", { text: keys }), make("dd", { text: does })]));
    this.#dialog = make(
      "dialog",
      { class: "st-help", "aria-label": "Help" },
      make("h2", { text: "What you can do" }),
      list,
      make("label", { class: "st-check" }, check, make("span", { text: "Keys of one letter" })),
      button("Close", "Close", () => this.#dialog.close()),
    );
    parent.append(this.#dialog);
    document.addEventListener("keydown", (event) => this.#down(event));
  }

  help() {
    this.#dialog.showModal();
  }

  #down(event) {
    if (this.#dialog.open || event.altKey) return;
    const writing = event.target.matches?.("input:not([type=range]):not([type=checkbox]), textarea, select");
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== "z" || writing) return;
      event.preventDefault();
      this.#studio.ask(event.shiftKey ? "redo" : "undo");
      return;
    }
    if (event.key === "Escape") return void this.#studio.select([]);
    if (writing) return;
    const onMap = event.target.id === "map" || event.target === document.body;
    if (event.key.startsWith("Arrow")) return void (onMap && this.#arrow(event));
    if (event.key === " " && !onMap) return; // presses the button that has the focus
    const action = this.#single && this.#actions()[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }

  #actions() {
    const { view } = this.#studio;
    const zoom = (factor) => () => view.zoomAt(innerWidth / 2, innerHeight / 2, factor);
    return {
      " ": () => this.#studio.toggle(),
      ".": () => this.#studio.ask("step"),
      m: () => (view.tool = "move"),
      l: () => (view.tool = "lasso"),
      v: () => (view.tool = "pan"),
      p: () => view.selection.length && this.#studio.ask("pin", { indices: [...view.selection] }),
      0: () => view.fit(),
      "+": zoom(1.5),
      "=": zoom(1.5),
      "-": zoom(1 / 1.5),
      "/": () => this.#studio.search(),
      "?": () => this.help(),
    };
  }

  /** A row of nudges is one drag: it ends a moment after the last. */
  #arrow(event) {
    event.preventDefault();
    const { view, drags } = this.#studio;
    const far = event.shiftKey ? 5 * NUDGE : NUDGE;
    const [dx, dy] = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, -far], ArrowDown: [0, far] }[event.key];
    if (!view.selection.length) return view.pan(-6 * dx, -6 * dy);
    const [x0, y0] = view.world(0, 0);
    const [x1, y1] = view.world(dx, dy);
    if (!this.#nudging || !drags.active) {
      const grip = view.selection[0];
      const xy = view.positions();
      this.#nudging = { at: [xy[2 * grip], xy[2 * grip + 1]] };
      drags.begin(view.selection, grip, this.#nudging.at);
    }
    const nudging = this.#nudging;
    nudging.at = [nudging.at[0] + x1 - x0, nudging.at[1] + y1 - y0];
    drags.move(nudging.at);
    clearTimeout(nudging.timer);
    nudging.timer = setTimeout(() => {
      this.#nudging = null;
      drags.end();
    }, PAUSE);
    return undefined;
  }
}
