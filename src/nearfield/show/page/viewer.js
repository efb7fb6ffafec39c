// A map to look at: the view, and around it search, legend, card, tools and export. The standalone page and the
// notebook's widget are this.

import { Card } from "./card.js";
import { coloursBy, lookOf } from "./colours.js";
import { completed } from "./columns.js";
import { counted, make } from "./dom.js";
import { csvOf, save, savePicture } from "./export.js";
import { Images } from "./images.js";
import { listenToKeys } from "./keys.js";
import { Legend } from "./legend.js";
import { namesOn } from "./names.js";
import { Search } from "./search.js";
import { unpack } from "./unpack.js";
import { View } from "./view.js";

const NARROW = 720; // pixels of a window in which panels cover the map
const HINT = "Scroll to zoom, drag to pan, Shift-drag to select";

/**
 * Unpack what nearfield.show.documents has packed.
 * @returns {Promise<{xy: Float32Array, columns: import("./columns.js").Column[], images: Images | null}>}
 */
export async function contentsOf(given) {
  const columns = given.columns.map(async (column) => {
    const packed = column.kind === "classes" ? "codes" : "values";
    return completed({ ...column, [packed]: await unpack(column[packed]) });
  });
  const images = given.images ? new Images(given.images) : null;
  return { xy: await unpack(given.positions), columns: await Promise.all(columns), images };
}

/** Whether a column holds words: numbers that are classes would be found everywhere. */
function isWorded(column) {
  return column.kind === "text" || (column.kind === "classes" && column.names.some((name) => name && Number.isNaN(Number(name))));
}

export class Viewer {
  #root;
  #given;
  #columns;
  #by; // the column of the colours
  #legend;
  #card;
  #search;
  #status = make("div", { class: "nf-said", role: "status", "aria-live": "polite" });
  #panels = {};
  #themes = new AbortController();
  view;

  /**
   * @param {HTMLElement} root
   * @param {object} given what nearfield.show.documents has made: title, palette, colour, left_out …
   * @param {object} contents what contentsOf returns
   * @param {{painter?: string, dark?: boolean, keys?: EventTarget}} options keys: where they are listened to
   */
  constructor(root, given, { xy, columns, images }, { painter = "auto", dark = null, keys = root } = {}) {
    this.#root = root;
    this.#given = given;
    this.#columns = columns;
    this.#by = columns[given.colour] ?? null;
    root.classList.add("nearfield");
    const canvas = make("canvas", { id: "map", tabindex: "0", role: "img" });
    root.append(canvas);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const isDark = dark ?? scheme.matches;
    root.dataset.theme = isDark ? "dark" : "light";
    this.view = new View(canvas, { reducedMotion, dark: isDark, palette: given.palette, painter });
    this.#build(columns, images, xy.length / 2);
    this.view.setPositions(xy);
    this.#recolour();
    canvas.setAttribute("aria-label", `Map of ${counted(this.view.n, "point")}`);
    this.#connect(canvas, keys);
    if (dark === null) {
      scheme.addEventListener("change", () => this.#setDark(scheme.matches), { signal: this.#themes.signal });
    }
    this.#settle();
  }

  /** Positions that have changed, as while a run goes on. */
  setPositions(xy) {
    const another = xy.length !== 2 * this.view.n;
    this.view.setPositions(xy);
    if (another) this.#recolour();
    if (!this.view.touched) this.view.fit(null, { glide: false });
    this.#rename();
  }

  dispose() {
    this.#themes.abort();
    this.view.dispose();
  }

  // ---- what is there

  #build(columns, images, n) {
    const { title, left_out: leftOut } = this.#given;
    const about = make("header", { class: "nf-about nf-panel" }, make("h1", { text: title }), make("p", { text: counted(n, "point") }));
    if (leftOut.length) about.append(make("p", { class: "nf-note", text: `Not on this page: ${leftOut.join(", ")}` }));
    const names = (column, k) => k === this.#given.colour || column.name === "id" || isWorded(column);
    const searched = columns.filter((column, k) => column.kind !== "numbers" && names(column, k));
    if (searched.length) {
      this.#search = new Search(about, {
        columns: searched,
        n,
        select: (rows) => this.#select(rows),
        go: (rows) => this.#goTo(rows),
        say: (text) => (this.#status.textContent = text),
      });
    }
    const colours = make("section", { class: "nf-colours nf-panel", "aria-label": "Colours" });
    const coloured = columns.filter((column) => column.kind !== "text");
    colours.hidden = coloured.length === 0;
    const fold = make("details", {}, make("summary", { text: "Colours" }));
    colours.append(fold);
    fold.open = this.#root.clientWidth >= NARROW;
    fold.addEventListener("toggle", () => this.#settle());
    if (coloured.length) fold.append(this.#chooser(coloured));
    this.#legend = new Legend(fold, () => this.#recolour());
    const tools = this.#tools();
    const chosen = make("div", { class: "nf-chosen nf-panel", hidden: true });
    Object.assign(this.#panels, { about, colours, fold, tools, chosen });
    this.#root.append(about, chosen, colours, tools, this.#status);
    this.#card = new Card(this.#root, columns, images, this.view);
  }

  #chooser(columns) {
    const choose = make("select", { "aria-label": "Colour by" });
    for (const column of columns) {
      choose.append(make("option", { value: this.#columns.indexOf(column), text: column.name }));
    }
    choose.append(make("option", { value: "-1", text: "one colour" }));
    choose.value = String(this.#given.colour);
    choose.addEventListener("change", () => {
      this.#by = this.#columns[Number(choose.value)] ?? null;
      this.#recolour();
    });
    return make("label", { class: "nf-choose" }, make("span", { text: "Colour by" }), choose);
  }

  #tools() {
    const button = (text, label, click, more = {}) =>
      make("button", { type: "button", text, title: label, "aria-label": label, on: { click }, ...more });
    const zoom = (factor) => {
      const { left, top, width, height } = this.#root.getBoundingClientRect();
      this.view.zoomAt(left + width / 2, top + height / 2, factor);
    };
    const pan = button("Pan", "Drag moves the map (V)", () => (this.view.tool = "pan"), { "aria-pressed": "true" });
    const lasso = button("Lasso", "Drag selects points (L)", () => (this.view.tool = "lasso"), { "aria-pressed": "false" });
    this.view.on("tool", ({ tool }) => {
      pan.setAttribute("aria-pressed", String(tool === "pan"));
      lasso.setAttribute("aria-pressed", String(tool === "lasso"));
    });
    const dark = button(this.view.dark ? "Light" : "Dark", "Dark or light", () => {
      this.#themes.abort(); // from now on it is as the person wants it
      this.#setDark(!this.view.dark);
    });
    this.#panels.dark = dark;
    const picture = button("", "Save the map as a PNG picture", () => savePicture(`${this.#name()}.png`, this.view));
    picture.append(make("span", { class: "nf-wide", text: "Save " }), make("span", { text: "picture" }));
    return make(
      "nav",
      { class: "nf-tools nf-panel", "aria-label": "Map" },
      make("div", { class: "nf-pair", role: "group", "aria-label": "What a drag does" }, pan, lasso),
      button("−", "Zoom out (-)", () => zoom(1 / 1.5)),
      button("+", "Zoom in (+)", () => zoom(1.5)),
      button("Show all", "Show the whole map (0)", () => this.view.fit()),
      picture,
      dark,
      make("span", { class: "nf-hint", text: HINT }),
    );
  }

  #connect(canvas, keys) {
    const { view } = this;
    view.on("hover", ({ index, x, y }) => {
      const { left, top } = this.#root.getBoundingClientRect();
      this.#card.show(index, [x - left, y - top], this.#look, this.#by);
    });
    view.on("select", () => {
      this.#search?.clear();
      this.#tellSelection();
    });
    const used = view.on("camera", () => {
      if (!view.touched) return;
      this.#root.querySelector(".nf-hint").hidden = true;
      used();
    });
    listenToKeys(view, keys, canvas, {
      search: () => this.#search?.focus(),
      clear: () => {
        this.#search?.clear();
        this.#select([]);
      },
    });
    new ResizeObserver(() => this.#settle()).observe(this.#root);
  }

  /** Tell the view which part of it panels cover. */
  #settle() {
    const { fold, colours, tools, about } = this.#panels;
    const wide = this.#root.clientWidth >= NARROW;
    const right = wide && fold.open && !colours.hidden ? colours.offsetWidth + 12 : 0;
    const bottom = tools.offsetHeight + 12;
    const spare = this.#root.clientWidth - right - (this.#root.clientHeight - bottom); // beside a map that is square
    this.view.insets = {
      top: wide ? 0 : about.offsetHeight + 12,
      right,
      bottom,
      left: wide ? Math.min(Math.max(spare, 0), about.offsetWidth + 12) : 0,
    };
    if (!this.view.touched) this.view.fit(null, { glide: false });
  }

  // ---- what happens

  get #look() {
    return lookOf(this.#given.palette, this.view.dark);
  }

  #name() {
    return this.#given.title.replace(/[^\p{L}\p{N} _.-]+/gu, "_").trim() || "map";
  }

  #setDark(dark) {
    this.#root.dataset.theme = dark ? "dark" : "light";
    this.view.dark = dark;
    this.#panels.dark.textContent = dark ? "Light" : "Dark";
    this.#recolour();
  }

  #recolour() {
    this.#legend.show(this.#by, this.#look);
    const { codes } = this.#by ?? {};
    const shown = codes && !this.#legend.allShown ? (i) => this.#legend.shows(codes[i]) : undefined;
    this.view.setColours(coloursBy(this.#by, this.view.n, this.#look, shown));
    this.#rename();
  }

  #rename() {
    this.view.names = namesOn(this.#by, this.view.positions(), (code) => this.#legend.shows(code));
  }

  #select(rows) {
    this.view.selection = rows;
    this.#tellSelection();
  }

  #goTo(rows) {
    this.view.fit(rows);
    const [x, y] = this.view.screen(rows[0]);
    const { left, top } = this.#root.getBoundingClientRect();
    this.view.hovered = rows[0];
    this.#card.show(rows[0], [x - left, y - top], this.#look, this.#by);
  }

  #tellSelection() {
    const { chosen } = this.#panels;
    const { selection } = this.view;
    chosen.hidden = selection.length === 0;
    if (chosen.hidden) return chosen.replaceChildren();
    const button = (text, click) => make("button", { type: "button", text, on: { click } });
    this.#status.textContent = `${selection.length.toLocaleString("en")} selected`;
    return chosen.replaceChildren(
      make("span", { text: this.#status.textContent }),
      button("Zoom to", () => this.view.fit(this.view.selection)),
      button("Save as CSV", () => this.#saveSelection()),
      button("Clear", () => {
        this.#search?.clear();
        this.#select([]);
      }),
    );
  }

  #saveSelection() {
    const text = csvOf(this.view.selection, this.view.positions(), this.#columns);
    save(`${this.#name()}-selection.csv`, new Blob([text], { type: "text/csv" }));
  }
}
