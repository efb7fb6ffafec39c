// The map on a canvas: points, a camera, and what is marked. The studio, the standalone page and the notebook's
// widget all draw with this.
//
//   const view = new View(canvas, {reducedMotion, dark, palette, painter})
//                                palette: what nearfield.show.looks hands over; painter: "auto" is WebGL2 where there is
//                                a graphics card, else and when that is lost Canvas 2D; "webgl2" and "2d" are for tests
//   view.setPositions(xy)        Float32Array n × 2; kept and not copied. The camera stays where it is, but for
//                                the first time, when it fits the map. Cheap: call it for every frame.
//   view.setColours(rgba)        Uint8Array n × 4; an opacity of 0 hides a point from eye and pointer
//   view.pinned = indices        rings                     } any iterable of indices; read back as Uint32Array
//   view.followers = indices     rims                      }
//   view.selection = indices     the others fade           }
//   view.hovered = index         or -1
//   view.held = Map              index → [x, y]: stay there whatever setPositions says, as while they are dragged
//   view.extra = {positions, colours?} or null             new points, drawn on top
//   view.names = [{text, x, y}]  names of classes, in map coordinates, the most important first
//   view.tool = "move" | "lasso" | "pan"
//   view.dark = true | false;  view.insets = {top, right, bottom, left}: pixels that panels cover, for fit()
//   view.fit(indices?)           show all, or these;  view.zoomAt(x, y, factor);  view.pan(dx, dy)
//   view.touched                 whether a person has moved the camera since the last fit()
//   view.n, view.positions()     how many; a copy of the coordinates
//   view.screen(i), view.world(x, y), view.pick(x, y), view.pickExtra(x, y), view.within(polygon)
//   view.on(event, handler)      returns a function that ends it
//     hover      {index, x, y}                 the point under the pointer or -1, and where the pointer is
//     select     {indices}                     by lasso, click or double click; not when a script sets it
//     click      {index, x, y, world}          on a point or on none
//     dragstart, drag, dragend  {index, indices, x, y, dx, dy, cancelled?}   of points, with the tool "move": the
//                one that was taken and all that go with it; x, y where the pointer is in the map; dx, dy how far
//                that is from where the point was. The view moves no point: set view.held, or wait for positions.
//     tool       {tool}
//     camera     {}                            it moved, or the canvas has another size
//   view.snapshot()              draws now and returns the canvas, for pictures
//   view.dispose()               ends all listening;  view.loseContext() is for tests
//
// Pixels are CSS pixels of the window, as in a mouse event's clientX and clientY.

import { Camera, boundsOf } from "./camera.js";
import { lookOf } from "./colours.js";
import { Events } from "./events.js";
import { Flight } from "./flight.js";
import { Gestures } from "./gestures.js";
import { inLayers, marksOf, shuffled } from "./marks.js";
import { drawOverlay } from "./overlay.js";
import { opacityOf, painterFor, radiusOf } from "./painters.js";
import { nearestTo, pointsWithin } from "./picking.js";

export const TOOLS = ["pan", "lasso", "move"];
const MARGIN = 28; // pixels around the map when all is shown

/**
 * @typedef {object} Frame what painters are given
 * @property {Camera} camera
 * @property {{ground: number[], ink: number[], accent: number[]}} look
 * @property {number} ratio device pixels in a CSS pixel
 * @property {number} radius of a point, in CSS pixels
 * @property {number} opacity
 * @property {number} faded what is left of it for points that are not selected
 */

export class View extends Events {
  #canvas;
  #context;
  #camera = new Camera();
  #flight = new Flight(this.#camera, () => this.#seen());
  #painter;
  #gestures;
  #sizes;
  #palette;
  #dark;
  #reducedMotion;
  #ratio = 1;
  #xy = new Float32Array(0);
  #rgba = new Uint8Array(0);
  #order = new Uint32Array(0);
  #none = new Uint32Array(0);
  #layers = { pinned: this.#none, followers: this.#none, selection: this.#none };
  #marksChanged = true;
  #pointsChanged = true;
  #hovered = -1;
  #held = new Map();
  #extra = null;
  #names = [];
  #lasso = null;
  #tool = "pan";
  #asked = 0;
  #disposed = false;
  insets = { top: 0, right: 0, bottom: 0, left: 0 };
  touched = false;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{reducedMotion?: boolean, dark?: boolean, palette?: object, painter?: string}} options
   */
  constructor(canvas, { reducedMotion = false, dark = false, palette = {}, painter = "auto" } = {}) {
    super();
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
    this.#palette = palette;
    this.#dark = dark;
    this.#reducedMotion = reducedMotion;
    this.#painter = painterFor(painter, () => this.#fallBack());
    this.#gestures = new Gestures(this, canvas);
    this.#sizes = new ResizeObserver(() => this.#resize());
    this.#sizes.observe(canvas);
    this.#resize();
  }

  // ---- points

  get n() {
    return this.#xy.length / 2;
  }

  setPositions(xy) {
    const changed = xy.length !== this.#xy.length;
    const first = this.#xy.length === 0 && xy.length > 0;
    this.#xy = xy;
    this.#hold();
    if (changed) this.#recount();
    this.#painter.setPositions(xy);
    if (first) this.fit(null, { glide: false });
    this.invalidate();
  }

  setColours(rgba) {
    if (rgba.length !== 4 * this.n) throw new Error(`${this.n} points need ${4 * this.n} bytes of colour`);
    this.#rgba = rgba;
    this.#painter.setColours(rgba);
    this.invalidate();
  }

  positions() {
    return this.#xy.slice();
  }

  /** Another number of points: what was marked by index is meant for others. */
  #recount() {
    this.#order = shuffled(this.n);
    const only = Uint8Array.of(...lookOf(this.#palette, this.#dark).only, 255);
    this.#rgba = new Uint8Array(new Uint32Array(this.n).fill(new Uint32Array(only.buffer)[0]).buffer);
    for (const name of Object.keys(this.#layers)) {
      this.#layers[name] = this.#layers[name].filter((i) => i < this.n);
    }
    if (this.#hovered >= this.n) this.#hovered = -1;
    this.#marksChanged = true;
    this.#painter.setColours(this.#rgba);
  }

  // ---- layers

  get pinned() {
    return this.#layers.pinned;
  }

  set pinned(indices) {
    this.#setLayer("pinned", indices);
  }

  get followers() {
    return this.#layers.followers;
  }

  set followers(indices) {
    this.#setLayer("followers", indices);
  }

  get selection() {
    return this.#layers.selection;
  }

  set selection(indices) {
    this.#setLayer("selection", indices);
  }

  #setLayer(name, indices) {
    this.#layers[name] = Uint32Array.from(indices).filter((i) => i < this.n);
    this.#marksChanged = true;
    this.invalidate();
  }

  get hovered() {
    return this.#hovered;
  }

  set hovered(index) {
    if (index === this.#hovered) return;
    this.#hovered = index >= 0 && index < this.n ? index : -1;
    this.invalidate({ points: false });
  }

  get held() {
    return this.#held;
  }

  set held(places) {
    this.#held = places;
    this.#hold();
    this.#painter.setPositions(this.#xy);
    this.invalidate();
  }

  #hold() {
    for (const [i, [x, y]] of this.#held) {
      if (i < this.n) this.#xy.set([x, y], 2 * i);
    }
  }

  get extra() {
    return this.#extra;
  }

  set extra(points) {
    this.#extra = points;
    this.invalidate({ points: false });
  }

  get names() {
    return this.#names;
  }

  set names(names) {
    this.#names = names;
    this.invalidate({ points: false });
  }

  /** The polygon that is being drawn, in pixels of the canvas; for gestures. */
  set lasso(polygon) {
    this.#lasso = polygon;
    this.invalidate({ points: false });
  }

  get tool() {
    return this.#tool;
  }

  set tool(tool) {
    if (!TOOLS.includes(tool)) throw new Error(`no tool is called ${tool}: there are ${TOOLS.join(", ")}`);
    if (tool === this.#tool) return;
    this.#tool = tool;
    this.#gestures.showCursor();
    this.emit("tool", { tool });
  }

  get dark() {
    return this.#dark;
  }

  set dark(dark) {
    this.#dark = dark;
    this.invalidate();
  }

  /** "webgl2" or "2d": what draws the points. */
  get painter() {
    return this.#painter.name;
  }

  // ---- camera

  /**
   * Show all points, or some.
   * @param {Iterable<number> | null} indices
   */
  fit(indices = null, { glide = true } = {}) {
    const { top, right, bottom, left } = this.insets;
    const margins = { top: top + MARGIN, right: right + MARGIN, bottom: bottom + MARGIN, left: left + MARGIN };
    const camera = this.#camera;
    const all = camera.around(boundsOf(this.#xy), margins);
    camera.fitted = all.scale;
    const target = indices === null ? all : camera.around(boundsOf(this.#xy, indices), margins);
    // A few points are shown among their neighbours.
    if (indices !== null) target.scale = Math.min(target.scale * 0.8, all.scale * 12);
    this.#flight.to(target, glide && !this.#reducedMotion);
    this.touched = indices !== null;
  }

  zoomAt(x, y, factor) {
    this.#flight.end();
    this.#camera.zoomAt(...this.#local(x, y), factor);
    this.#moved();
  }

  pan(dx, dy) {
    this.#flight.end();
    this.#camera.pan(dx, dy);
    this.#moved();
  }

  #moved() {
    this.touched = true;
    this.#seen();
  }

  #seen() {
    this.invalidate();
    this.emit("camera", {});
  }

  // ---- pixels and places

  screen(i) {
    const [x, y] = this.#camera.pixel(this.#xy[2 * i], this.#xy[2 * i + 1]);
    const { left, top } = this.#canvas.getBoundingClientRect();
    return [x + left, y + top];
  }

  world(x, y) {
    return this.#camera.place(...this.#local(x, y));
  }

  pick(x, y, reach = 6) {
    return nearestTo(this.#xy, this.#rgba, ...this.world(x, y), (this.#radius + reach) / this.#camera.scale);
  }

  pickExtra(x, y, reach = 8) {
    if (!this.#extra) return -1;
    return nearestTo(this.#extra.positions, null, ...this.world(x, y), (this.#radius + reach) / this.#camera.scale);
  }

  within(polygon) {
    return pointsWithin(this.#xy, this.#rgba, polygon.map(([x, y]) => this.world(x, y)));
  }

  #local(x, y) {
    const { left, top } = this.#canvas.getBoundingClientRect();
    return [x - left, y - top];
  }

  // ---- drawing

  /** Draw at the next opportunity, once; if not even the points have changed, what lies on them alone. */
  invalidate({ points = true } = {}) {
    this.#pointsChanged ||= points;
    if (!this.#asked && !this.#disposed) this.#asked = requestAnimationFrame(() => this.#draw());
  }

  snapshot() {
    cancelAnimationFrame(this.#asked);
    this.#pointsChanged = true;
    this.#draw();
    return this.#canvas;
  }

  dispose() {
    cancelAnimationFrame(this.#asked);
    this.#flight.end();
    this.#sizes.disconnect();
    this.#gestures.dispose();
    this.#disposed = true;
    this.#painter.dispose();
  }

  /** Lose the graphics card, as browsers do at times; for tests. */
  loseContext() {
    this.#painter.dispose();
  }

  #draw() {
    this.#asked = 0;
    if (this.#marksChanged) {
      const marks = marksOf(this.n, this.#layers.selection, this.#layers.followers);
      this.#painter.setMarks(marks, inLayers(this.#order, marks));
      this.#marksChanged = false;
    }
    const context = this.#context;
    const frame = {
      camera: this.#camera,
      look: lookOf(this.#palette, this.#dark),
      ratio: this.#ratio,
      radius: this.#radius,
      opacity: opacityOf(this.#camera, this.n),
      faded: 0.22,
      positions: this.#xy,
      colours: this.#rgba,
      pinned: this.#layers.pinned,
      hovered: this.#hovered,
      extra: this.#extra,
      names: this.#names,
      lasso: this.#lasso,
    };
    context.setTransform(1, 0, 0, 1, 0, 0);
    this.#painter.paint(context, frame, this.#pointsChanged);
    this.#pointsChanged = false;
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    drawOverlay(context, frame);
  }

  get #radius() {
    return radiusOf(this.#camera, this.n);
  }

  #fallBack() {
    if (this.#disposed) return;
    this.#painter = painterFor("2d");
    this.#painter.setPositions(this.#xy);
    this.#painter.setColours(this.#rgba);
    this.#marksChanged = true;
    this.invalidate();
  }

  #resize() {
    const { width, height } = this.#canvas.getBoundingClientRect();
    if (!width || !height) return;
    this.#ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.#canvas.width = Math.round(width * this.#ratio);
    this.#canvas.height = Math.round(height * this.#ratio);
    this.#camera.width = width;
    this.#camera.height = height;
    if (!this.touched && this.n) this.fit(null, { glide: false });
    this.snapshot(); // at once, or the emptied canvas would flash
    this.emit("camera", {});
  }
}
