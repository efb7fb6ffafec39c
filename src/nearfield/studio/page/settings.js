// The panel on the right: how the map is made, who follows, how far it is, what can be taken away.

import { make, readable } from "/view/dom.js";
import { csvOf, save, savePicture } from "/view/export.js";
import { Charts } from "./charts.js";
import { button, chooser, field, numberField, part } from "./panels.js";

const DEFAULT = 0.05; // of all points follow
const MOST = 0.25; // … at the most
const REDRAWN = 500; // milliseconds between two looks at the curves

/** How the map is made. */
export class Making {
  #method;
  #perplexity;
  #exaggeration;

  constructor(parent, studio, { methods }) {
    const fold = part(parent, "Map");
    const change = (given) => studio.ask("change", given);
    this.#method = chooser("Method", methods.map((name) => [name, name]), methods[0], (method) => change({ method }));
    this.#perplexity = numberField("Perplexity", { min: 1, max: 1e6, placeholder: "as usual", change: (perplexity) => change({ perplexity }) });
    this.#exaggeration = numberField("Exaggeration", { min: 1, max: 100, placeholder: "none", change: (exaggeration) => change({ exaggeration }) });
    fold.append(
      field("Method", this.#method),
      field("Perplexity", this.#perplexity),
      field("Exaggerate", this.#exaggeration),
      make("p", { class: "st-note", text: "The run goes on from the map as it is, with the same pins." }),
      button("Start anew", "Start anew from the beginning, without pins", () => studio.ask("restart")),
    );
  }

  show({ wanted }) {
    this.#method.value = wanted.method;
    if (document.activeElement !== this.#perplexity) this.#perplexity.value = wanted.perplexity ?? "";
    if (document.activeElement !== this.#exaggeration) this.#exaggeration.value = wanted.exaggeration ?? "";
  }
}

/** Who follows a drag, and how strongly. */
export class Following {
  #n;
  #slider;
  #count = make("output", { class: "st-value" });
  #where;
  #penalty;
  #strength;
  #links = make("p", { class: "st-note" });

  constructor(parent, studio, { n }) {
    this.#n = n;
    const fold = part(parent, "Followers", true);
    const position = Math.round(100 * Math.sqrt(DEFAULT / MOST));
    this.#slider = make("input", { type: "range", min: 0, max: 100, value: position, "aria-label": "How many neighbours follow" });
    this.#slider.addEventListener("input", () => {
      this.#tell();
      studio.changed();
    });
    this.#where = chooser("Neighbours in", [["map", "the map"], ["data", "the data"]], "map", () => studio.changed());
    this.#penalty = chooser("Pull", [["student", "fading"], ["gaussian", "spring"], ["l2", "stiff spring"]], "student", (penalty) => studio.ask("pull", { penalty }));
    this.#strength = numberField("Strength", { min: 0.0001, max: 100, value: 0.1, change: (strength) => studio.ask("pull", { strength }) });
    fold.append(
      field("How many", this.#slider),
      this.#count,
      field("Nearest in", this.#where),
      field("Pull", this.#penalty),
      field("Strength", this.#strength),
      make(
        "div",
        { class: "st-row" },
        button("Let settle", "Let the pull on followers fade by and by; pins stay", () => studio.ask("settle")),
        button("Unpin all", "Release all pinned points", () => studio.ask("unpin")),
      ),
      this.#links,
    );
    this.#tell();
  }

  get count() {
    return Math.min(Math.round((this.#slider.value / 100) ** 2 * MOST * this.#n), this.#n - 1);
  }

  /** As a command takes it. */
  get given() {
    return { follow: this.count, neighbours: this.#where.value };
  }

  get inData() {
    return this.#where.value === "data";
  }

  show({ drawn }) {
    this.#penalty.value = drawn.penalty;
    if (document.activeElement !== this.#strength) this.#strength.value = drawn.strength;
  }

  showLinks({ links }, studio) {
    const count = links.must.length + links.cannot.length;
    this.#links.replaceChildren();
    if (!count) return;
    this.#links.append(
      make("span", { text: `${count} link${count === 1 ? "" : "s"} ` }),
      button("Cut all", "Cut all links", () => studio.ask("unlink")),
    );
  }

  #tell() {
    this.#count.textContent = this.count ? `${this.count.toLocaleString("en")} nearest follow` : "nobody follows";
  }
}

/** Curves and quality. */
export class Progress {
  #fold;
  #charts;
  #studio;
  #looked = 0;
  #asking = false;
  #quality = make("p", { class: "st-note", "aria-live": "polite" });

  constructor(parent, studio) {
    this.#studio = studio;
    this.#fold = part(parent, "Progress");
    this.#charts = new Charts(this.#fold);
    this.#fold.append(button("Judge the map", "Measure how well neighbours are kept", () => this.#judge()), this.#quality);
    this.#fold.addEventListener("toggle", () => this.look(true));
  }

  async look(now = false) {
    if (!this.#fold.open || this.#asking || (!now && performance.now() - this.#looked < REDRAWN)) return;
    this.#asking = true;
    try {
      this.#charts.draw(await this.#studio.line.ask("history"));
    } catch {
      // the page says elsewhere that it is not connected
    } finally {
      this.#looked = performance.now();
      this.#asking = false;
    }
  }

  async #judge() {
    this.#quality.textContent = "Judging …";
    try {
      const told = await this.#studio.line.ask("quality");
      const shown = [["R_NX AUC", told.auc], ["trustworthiness", told.trustworthiness], ["neighbours kept", told.neighbours_kept]];
      this.#quality.textContent = `${shown.map(([name, value]) => `${name} ${readable(Number((value ?? NaN).toFixed(3)))}`).join(", ")} (${told.points.toLocaleString("en")} points judged)`;
    } catch (error) {
      this.#quality.textContent = error.message;
    }
  }
}

/** What can be taken away. */
export class Saving {
  constructor(parent, studio) {
    const fold = part(parent, "Save");
    const link = (text, href) => make("a", { class: "st-link", text, href, download: "" });
    fold.append(
      link("Coordinates (CSV)", "/export/map.csv"),
      button("Picture (PNG)", "Picture (PNG)", () => savePicture(`${studio.name()}.png`, studio.view)),
      button("Selection (CSV)", "Selection (CSV)", () => this.#selection(studio)),
      link("Session, to go on later", "/export/session.nfmap"),
    );
  }

  #selection(studio) {
    const { selection } = studio.view;
    if (!selection.length) return studio.say("Select some points first: Shift-drag around them.", true);
    const text = csvOf(selection, studio.view.positions(), studio.columns());
    return save(`${studio.name()}-selection.csv`, new Blob([text], { type: "text/csv" }));
  }
}
