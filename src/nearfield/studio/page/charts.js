// Small charts of cost, penalty and gradient norm over the iterations.

import { make, readable } from "/view/dom.js";

const CURVES = [
  ["cost", "Cost"],
  ["penalty", "Penalty"],
  ["gradient_norm", "Gradient norm"],
];
const HEIGHT = 44;
const FEW = 5; // records

export class Charts {
  #charts = new Map();

  /** @param {HTMLElement} parent */
  constructor(parent) {
    for (const [name, title] of CURVES) {
      const canvas = make("canvas", { class: "st-chart", role: "img", "aria-label": title });
      const value = make("span", { class: "st-value" });
      parent.append(make("div", { class: "st-curve" }, make("p", {}, make("span", { text: title }), value), canvas));
      this.#charts.set(name, { canvas, value, title });
    }
  }

  /** @param {Record<string, (number | null)[]>} history */
  draw(history) {
    const first = beginning(history.exaggeration);
    for (const [name, { canvas, value, title }] of this.#charts) {
      const points = history.iteration.map((x, k) => [x, history[name][k]]).slice(first).filter(([, y]) => Number.isFinite(y));
      const last = points.at(-1)?.[1];
      value.textContent = last === undefined ? "" : readable(Number(last.toPrecision(4)));
      canvas.setAttribute("aria-label", `${title} over ${points.length} records: now ${value.textContent || "not known"}`);
      this.#curve(canvas, points, name === "gradient_norm");
    }
  }

  #curve(canvas, points, logarithmic) {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = canvas.clientWidth || 180;
    canvas.width = width * ratio;
    canvas.height = HEIGHT * ratio;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    context.strokeStyle = style.getPropertyValue("--line");
    context.strokeRect(0.5, 0.5, width - 1, HEIGHT - 1);
    const scaled = logarithmic ? points.map(([x, y]) => [x, Math.log10(Math.max(y, 1e-12))]) : points;
    if (scaled.length < 2) return;
    const xs = scaled.map(([x]) => x);
    const ys = scaled.map(([, y]) => y);
    const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    const [y0, y1] = [Math.min(...ys), Math.max(...ys)];
    context.strokeStyle = style.getPropertyValue("--mark");
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [x, y] of scaled) {
      const across = 3 + ((x - x0) / (x1 - x0 || 1)) * (width - 6);
      const up = HEIGHT - 4 - ((y - y0) / (y1 - y0 || 1)) * (HEIGHT - 8);
      context.lineTo(across, up);
    }
    context.stroke();
  }
}

/** The first record after attraction was exaggerated: beside the costs before it, all others would lie on a line. */
function beginning(exaggeration) {
  const first = exaggeration.findLastIndex((each) => each !== exaggeration.at(-1)) + 1;
  return exaggeration.length - first < FEW ? 0 : first;
}
