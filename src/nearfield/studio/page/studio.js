// The studio: a live map, steered by hand. The renderer is the one of all pages; this is what is around it.

import { coloursBy, lookOf } from "/view/colours.js";
import { completed } from "/view/columns.js";
import { counted, make } from "/view/dom.js";
import { Legend } from "/view/legend.js";
import { namesOn } from "/view/names.js";
import { scriptable } from "/view/scripting.js";
import { Search } from "/view/search.js";
import { unpack } from "/view/unpack.js";
import { View } from "/view/view.js";
import { Drags } from "./drags.js";
import { Keys } from "./keys.js";
import { nearestTo } from "./nearest.js";
import { Newcomers } from "./newcomers.js";
import { button, chooser, field, part } from "./panels.js";
import { RowCard } from "./rowcard.js";
import { Chosen, Selections } from "./selecting.js";
import { Following, Making, Progress, Saving } from "./settings.js";
import { Line } from "./socket.js";

const NARROW = 720; // pixels of a window in which panels cover the map
const GROWN = 1.3; // times as large as what is shown, at which an untouched camera follows the map
const RENAMED = 400; // milliseconds between two looks at where classes are

class Studio {
  line = new Line();
  #root = document.getElementById("studio");
  #canvas = document.getElementById("map");
  #status = make("div", { class: "nf-said", role: "status", "aria-live": "polite" });
  #banner = make("div", { class: "st-banner nf-panel", role: "alert", hidden: true });
  #hint = make("p", { class: "st-hint", text: "Drag a point: its neighbours follow" });
  #about = make("p", { id: "about" });
  #hello = null;
  #state = { running: false, iteration: 0, undo: false, redo: false };
  #steering = { pins: {}, followers: {}, links: { must: [], cannot: [] } };
  #columns = [];
  #by = null;
  #iteration = 0;
  #size = 0;
  #renamed = 0;
  #near = null; // neighbours in the data of the point under the pointer
  #dragged = [];
  #complaint = 0;

  start() {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#root.dataset.theme = scheme.matches ? "dark" : "light";
    this.line.on("hello", (hello) => this.#greet(hello, scheme, reducedMotion));
    this.line.on("state", (state) => this.#tell(state));
    this.line.on("steering", (steering) => {
      this.#steering = steering;
      this.following.showLinks(steering, this);
      this.changed();
    });
    this.line.on("frame", (frame) => this.#draw(frame));
    this.line.on("open", () => this.#warn(null));
    this.line.on("closed", ({ why }) => {
      this.#warn(why);
      this.changed();
    });
    document.addEventListener("visibilitychange", () => this.line.look(!document.hidden));
    this.line.open();
  }

  // ---- what others of the page use

  get look() {
    return lookOf(this.#hello.looks, this.view.dark);
  }

  /** Ask the server, and complain where it refuses. */
  async ask(what, given = {}) {
    try {
      return await this.line.ask(what, given);
    } catch (error) {
      this.complain(error);
      return undefined;
    }
  }

  follow() {
    return this.following.given;
  }

  name() {
    return this.#hello.name.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N} _.-]+/gu, "_") || "map";
  }

  columns() {
    return this.#columns.filter(Boolean);
  }

  say(text, shown = false) {
    this.#status.textContent = text;
    if (shown) this.#complain(text);
  }

  complain(error) {
    this.say(error.message, true);
  }

  select(indices) {
    this.view.selection = indices ?? [];
    this.#selected();
  }

  search() {
    this.#find?.focus();
  }

  nameSelection() {
    this.selections.open();
  }

  toggle() {
    return this.ask(this.#state.running && !this.#state.rests ? "pause" : "run");
  }

  /** Pins, followers or what is held are others. */
  changed() {
    if (!this.view) return;
    const { view, drags } = this;
    const pinned = new Set(Object.keys(this.#steering.pins).map(Number));
    for (const i of drags.held.keys()) pinned.add(i);
    view.pinned = pinned;
    if (drags.active) {
      this.#dragged = [...drags.held.keys()];
      this.#hint.hidden = true;
      localStorage.setItem("nearfield-dragged", "yes");
    }
    view.followers = this.#followers(pinned);
    this.#about.textContent = `${counted(view.n, "point")} · iteration ${this.#iteration.toLocaleString("en")}${pinned.size ? ` · ${pinned.size} pinned` : ""}`;
  }

  /** Points were let go here; the server will say so too. */
  pinned(places) {
    for (const [i, at] of places) this.#steering.pins[i] = at;
  }

  /** Who follows the point under the pointer, or would; otherwise those of the last drag. */
  #followers(pinned) {
    const { view, drags } = this;
    const known = this.#steering.followers;
    const hovered = drags.active ? -1 : view.hovered;
    if (hovered >= 0 && known[hovered]) return known[hovered];
    if (hovered >= 0 && this.following.inData) return this.#near?.index === hovered ? this.#near.data.slice(0, this.following.count) : [];
    if (hovered >= 0) return nearestTo(view.positions(), hovered, this.following.count, pinned);
    return this.#dragged.flatMap((i) => known[i] ?? []);
  }

  // ---- the page

  #greet(hello, scheme, reducedMotion) {
    if (this.#hello) return; // it is the same server, after a break
    this.#hello = hello;
    document.title = `${hello.name} · nearfield studio`;
    this.view = new View(this.#canvas, { reducedMotion, dark: scheme.matches, palette: hello.looks });
    this.view.tool = "move";
    this.#columns = hello.columns.map(() => null);
    this.drags = new Drags(this);
    this.#build(hello);
    this.#connect(scheme);
    this.#settle();
    if (hello.columns.length) this.#colourBy(0);
    Object.defineProperty(window, "nearfield", { value: scriptable(this.view, this.told) });
  }

  #build(hello) {
    const about = make("header", { class: "nf-about nf-panel" }, make("h1", { text: hello.name }), this.#about);
    const find = make("div", {});
    about.append(find);
    this.#findIn = find;
    this.#bar = this.#tools();
    const side = make("section", { class: "nf-colours nf-panel st-side", "aria-label": "Settings" });
    this.#side = side;
    const colours = part(side, "Colours", true);
    const choices = [...hello.columns.map(({ name }, k) => [String(k), name]), ["-1", "one colour"]];
    this.#chooser = chooser("Colour by", choices, hello.columns.length ? "0" : "-1", (k) => this.#colourBy(Number(k)));
    colours.append(field("Colour by", this.#chooser));
    this.#legend = new Legend(colours, () => this.#recolour());
    this.following = new Following(side, this, hello);
    this.making = new Making(side, this, hello);
    this.progress = new Progress(side, this);
    this.selections = new Selections(side, this, hello);
    this.newcomers = new Newcomers(side, this, hello);
    this.saving = new Saving(side, this);
    side.hidden = this.#root.clientWidth < NARROW;
    this.#hint.hidden = localStorage.getItem("nearfield-dragged") === "yes";
    this.#root.append(about, side, this.#bar, this.#hint, this.#banner, this.#status);
    this.chosen = new Chosen(this.#root, this);
    this.#card = new RowCard(this.#root, this.line, this.view);
    this.keys = new Keys(this.#root, this);
  }

  #tools() {
    const { view } = this;
    const tool = (name, text, label, more = {}) =>
      button(text, label, () => (view.tool = name), { "aria-pressed": String(view.tool === name), "data-tool": name, ...more });
    const tools = [
      tool("move", "Move", "Drag points (M)"),
      tool("lasso", "Lasso", "Drag selects points (L)"),
      tool("pan", "View", "Drag moves the view (V)", { class: "st-wide" }),
    ];
    view.on("tool", () => {
      for (const each of tools) each.setAttribute("aria-pressed", String(each.dataset.tool === view.tool));
    });
    this.#run = button("Run", "Run (Space)", () => this.toggle(), { id: "run", class: "st-run" });
    this.#undo = button("Undo", "Undo (Ctrl+Z)", () => this.ask("undo"), { id: "undo" });
    this.#redo = button("Redo", "Redo (Ctrl+Shift+Z)", () => this.ask("redo"), { id: "redo" });
    return make(
      "nav",
      { class: "nf-tools nf-panel", "aria-label": "Run and tools" },
      this.#run,
      button("Step", "One iteration (.)", () => this.ask("step"), { class: "st-wide" }),
      make("div", { class: "nf-pair" }, this.#undo, this.#redo),
      make("div", { class: "nf-pair", role: "group", "aria-label": "What a drag does" }, ...tools),
      button("Show all", "Show the whole map (0)", () => view.fit(), { class: "st-wide" }),
      button("Settings", "Settings", () => this.unfold(this.#side.hidden), { class: "st-narrow", "aria-expanded": "false" }),
      button("?", "Help (?)", () => this.keys.help()),
    );
  }

  /** On a small window the settings are there when they are asked for. */
  unfold(shown = true) {
    this.#side.hidden = !shown;
    this.#bar.querySelector(".st-narrow").setAttribute("aria-expanded", String(!this.#side.hidden));
  }

  #connect(scheme) {
    const { view } = this;
    view.on("hover", ({ index, x, y }) => this.#hovered(index, [x, y]));
    view.on("select", () => {
      this.#find?.clear();
      this.#selected();
    });
    scheme.addEventListener("change", () => {
      this.#root.dataset.theme = scheme.matches ? "dark" : "light";
      view.dark = scheme.matches;
      this.#recolour();
      this.newcomers.redraw();
    });
    this.#canvas.addEventListener("pointermove", ({ clientX: x, clientY: y }) => {
      const k = view.pickExtra(x, y, view.hovered < 0 ? undefined : 1); // it lies on top of the row there
      if (k >= 0) this.#card.tell(`new point ${k + 1}`, this.newcomers.lines(k), [x, y]);
      else if (view.hovered < 0) this.#card.show(-1);
    });
    let width = this.#root.clientWidth;
    new ResizeObserver(() => {
      if (this.#root.clientWidth >= NARROW && width < NARROW) this.#side.hidden = false;
      width = this.#root.clientWidth;
      this.#settle();
    }).observe(this.#root);
    // The frame of the focus is for those who use keys.
    const by = (what) => () => (this.#root.dataset.by = what);
    document.addEventListener("pointerdown", by("pointer"), true);
    document.addEventListener("keydown", by("keys"), true);
  }

  /** Tell the view which part of it panels cover. */
  #settle() {
    const wide = this.#root.clientWidth >= NARROW;
    this.view.insets = {
      top: (wide ? 0 : 92) + (this.#hint.hidden ? 0 : 44),
      right: wide ? this.#side.offsetWidth + 12 : 0,
      bottom: this.#bar.offsetHeight + 12,
      left: 0,
    };
    if (this.#untouched) this.view.fit(null, { glide: false });
  }

  /** Whether nobody has moved the camera or a point, and the map is to be kept in sight. */
  get #untouched() {
    return !this.view.touched && !this.drags.active && !Object.keys(this.#steering.pins).length;
  }

  // ---- what comes

  #draw({ iteration, xy }) {
    const { view } = this;
    this.#iteration = iteration;
    const first = view.n !== xy.length / 2;
    view.setPositions(xy);
    if (first) {
      this.#recolour();
      this.changed(); // pins may have been told before there was a point
    }
    this.#followSize(xy);
    // What need not be told with every frame is told soon after the last one too.
    this.#renamed ||= setTimeout(() => {
      this.#renamed = 0;
      this.#rename();
      this.changed();
      this.progress.look();
    }, RENAMED);
  }

  /** A map that unfolds is kept in sight. */
  #followSize(xy) {
    const { view } = this;
    if (!this.#untouched) return;
    let sum = 0;
    for (const each of xy) sum += each * each;
    const size = Math.sqrt(sum / xy.length) || 1;
    const ratio = size / (this.#size || 1e-300);
    if (ratio < GROWN && ratio > 1 / GROWN) return;
    this.#size = size;
    view.fit(null, { glide: false });
    this.#rename(); // classes are elsewhere than they were
  }

  #tell(state) {
    const before = this.#state;
    this.#state = state;
    const runs = state.running && !state.rests;
    this.#run.textContent = runs ? "Pause" : "Run";
    this.#run.setAttribute("aria-label", runs ? "Pause (Space)" : "Run (Space)");
    this.#undo.disabled = !state.undo;
    this.#redo.disabled = !state.redo;
    this.making.show(state);
    this.following.show(state);
    this.selections.show(state);
    if (this.line.connected) this.#warn(state.failure ? `The run stopped: ${state.failure}` : null);
    if (!state.failure && state.busy) this.#warn(`${state.busy[0].toUpperCase()}${state.busy.slice(1)} …`);
    else if (!state.failure && state.unsaved) this.#warn(`The session is not being saved: ${state.unsaved}`);
    else if (!state.failure && state.offer) this.#offer(state.offer);
    if (state.rests && !before.rests) {
      this.say("The map has come to rest");
      if (this.#untouched) this.view.fit();
      this.newcomers.rested();
    }
    if (state.running !== before.running) this.say(state.running ? "Running" : "Paused");
    this.progress.look(true);
    this.changed();
  }

  #offer({ when, iteration, commands, damaged }) {
    const answer = (accept) => () => this.ask("reopen", { accept });
    if (damaged) {
      this.#banner.replaceChildren(make("span", { text: `The session that was left cannot be reopened: ${damaged}.` }), button("Go on", "Go on without it", answer(false)));
      this.#banner.hidden = false;
      return;
    }
    this.#banner.replaceChildren(
      make("span", { text: `A session of ${when} was left: iteration ${iteration}, ${counted(commands, "command")}.` }),
      button("Reopen it", "Reopen it", answer(true)),
      button("No", "Go on without it", answer(false)),
    );
    this.#banner.hidden = false;
  }

  #warn(text) {
    this.#banner.replaceChildren(make("span", { text: text ?? "" }));
    this.#banner.hidden = !text;
  }

  /** A line that goes away by itself. */
  #complain(text) {
    clearTimeout(this.#complaint);
    this.#warn(text);
    this.#complaint = setTimeout(() => this.#tell(this.#state), 6000);
  }

  // ---- colours

  async #colourBy(k) {
    this.#chooser.value = String(k);
    if (k >= 0 && !this.#columns[k]) {
      const column = await (await fetch(`/column/${k}`)).json();
      const packed = column.kind === "classes" ? "codes" : "values";
      this.#columns[k] = completed({ ...column, [packed]: await unpack(column[packed]) });
      this.#searchable();
    }
    if (this.#chooser.value !== String(k)) return; // another one was chosen meanwhile
    const column = this.#columns[k] ?? null;
    this.#by = column?.kind === "text" ? null : column;
    this.#recolour();
  }

  #searchable() {
    const columns = this.columns().filter((column) => column.kind !== "numbers");
    const { titles, n } = this.#hello;
    if (titles) columns.push({ name: "id", kind: "text", values: titles });
    if (!columns.length || this.#findIn.firstChild) return;
    this.#find = new Search(this.#findIn, {
      columns,
      n,
      select: (rows) => this.select(rows),
      go: (rows) => {
        this.view.fit(rows);
        this.#canvas.focus();
      },
      say: (text) => this.say(text),
    });
  }

  #recolour() {
    if (!this.view.n) return;
    this.#legend.show(this.#by, this.look);
    const { codes } = this.#by ?? {};
    const shown = codes && !this.#legend.allShown ? (i) => this.#legend.shows(codes[i]) : undefined;
    this.view.setColours(coloursBy(this.#by, this.view.n, this.look, shown));
    this.#rename();
  }

  #rename() {
    this.view.names = this.#iteration < 20 ? [] : namesOn(this.#by, this.view.positions(), (code) => this.#legend.shows(code));
  }

  // ---- the pointer and the selection

  #hovered(index, at) {
    this.#near = null;
    const pin = this.#steering.pins[index];
    const notes = pin ? [`pinned at ${pin.map((each) => each.toFixed(1)).join(", ")}`] : [];
    this.#card.show(this.drags.active ? -1 : index, at, notes, this.look, (near) => {
      this.#near = { index, ...near };
      this.changed();
    });
    this.changed();
  }

  #selected() {
    const { selection } = this.view;
    this.chosen.show();
    this.say(selection.length ? `${counted(selection.length, "point")} selected` : "Nothing is selected");
  }

  // ---- parts that are made when the server has told what there is

  #bar;
  #side;
  #run;
  #undo;
  #redo;
  #chooser;
  #legend;
  #card;
  #find;
  #findIn;

  get told() {
    const studio = this;
    return {
      get iteration() {
        return studio.#iteration;
      },
      get running() {
        return Boolean(studio.#state.running && !studio.#state.rests);
      },
      get connected() {
        return studio.line.connected;
      },
      get pins() {
        return { ...structuredClone(studio.#steering.pins), ...Object.fromEntries(structuredClone(studio.drags.held)) };
      },
      get followers() {
        return structuredClone(studio.#steering.followers);
      },
    };
  }
}

new Studio().start();
