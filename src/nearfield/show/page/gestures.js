// Mouse, pen and fingers on the map. One finger or button moves a point, lassos or pans, as the tool and what is under
// it say; two fingers zoom; the wheel zooms at the pointer; a double click clears the selection.

const STILL = 4; // pixels that a click may wander
const WHEEL = 0.0015; // how much of a wheel's turn doubles the scale
const FINGER = 18; // pixels by which a finger may miss a point
const CORNER = 4; // pixels between the corners of a lasso

export class Gestures {
  #view;
  #canvas;
  #ends = new AbortController();
  #fingers = new Map(); // pointer → where it is
  #doing = null; // {kind, start, …} of the pointer that went down first
  #pinch = null;

  /**
   * @param {import("./view.js").View} view
   * @param {HTMLCanvasElement} canvas
   */
  constructor(view, canvas) {
    this.#view = view;
    this.#canvas = canvas;
    canvas.style.touchAction = "none"; // fingers are for the map, not for the page
    const listen = (name, handler, options = {}) =>
      canvas.addEventListener(name, handler, { signal: this.#ends.signal, ...options });
    listen("pointerdown", (event) => this.#down(event));
    listen("pointermove", (event) => this.#move(event));
    listen("pointerup", (event) => this.#up(event));
    listen("pointercancel", (event) => this.#up(event, true));
    listen("pointerleave", (event) => {
      if (event.pointerType !== "touch") this.#hover(event, -1); // a lifted finger leaves its point's card
    });
    listen("wheel", (event) => this.#wheel(event), { passive: false });
    listen("dblclick", () => this.#select([]));
    listen("contextmenu", (event) => {
      if (this.#fingers.size) event.preventDefault(); // a long press holds a point
    });
    this.showCursor();
  }

  dispose() {
    this.#ends.abort();
  }

  /** Say by the pointer's shape what a drag will do. */
  showCursor(index = this.#view.hovered) {
    const { tool } = this.#view;
    const over = tool === "move" ? "grab" : "pointer";
    const idle = tool === "lasso" ? "crosshair" : index >= 0 ? over : "default";
    const busy = this.#doing !== null && this.#doing.kind !== "lasso";
    this.#canvas.style.cursor = busy ? "grabbing" : idle;
  }

  #down(event) {
    if (event.button !== 0) return;
    this.#canvas.setPointerCapture(event.pointerId);
    const at = [event.clientX, event.clientY];
    this.#fingers.set(event.pointerId, at);
    if (this.#fingers.size === 2) return this.#startPinch();
    if (this.#fingers.size > 2) return undefined;
    const index = this.#under(event);
    const kind = event.shiftKey || this.#view.tool === "lasso" ? "lasso" : this.#view.tool === "move" && index >= 0 ? "move" : "pan";
    const adds = event.ctrlKey || event.metaKey;
    this.#doing = { kind, index, adds, start: at, last: at, begun: false, pointer: event.pointerId };
    this.showCursor(index);
    return undefined;
  }

  #move(event) {
    const at = [event.clientX, event.clientY];
    if (this.#fingers.has(event.pointerId)) this.#fingers.set(event.pointerId, at);
    if (this.#pinch) return this.#continuePinch();
    const doing = this.#doing;
    if (doing === null) return this.#hover(event, this.#under(event));
    if (event.pointerId !== doing.pointer) return undefined;
    if (!doing.begun && Math.hypot(at[0] - doing.start[0], at[1] - doing.start[1]) < STILL) return undefined;
    if (!doing.begun) this.#begin(doing);
    if (doing.kind === "pan") this.#view.pan(at[0] - doing.last[0], at[1] - doing.last[1]);
    if (doing.kind === "move") this.#view.emit("drag", this.#dragged(doing, at));
    if (doing.kind === "lasso" && Math.hypot(at[0] - doing.last[0], at[1] - doing.last[1]) < CORNER) return undefined;
    if (doing.kind === "lasso") this.#extend(doing, at);
    doing.last = at;
    return undefined;
  }

  #begin(doing) {
    doing.begun = true;
    if (doing.kind !== "pan") this.#hover({ clientX: doing.start[0], clientY: doing.start[1] }, -1);
    if (doing.kind === "lasso") doing.polygon = [doing.start];
    if (doing.kind !== "move") return;
    const { selection } = this.#view;
    doing.indices = selection.includes(doing.index) ? selection : Uint32Array.of(doing.index);
    doing.from = this.#view.world(...this.#view.screen(doing.index));
    this.#view.emit("dragstart", this.#dragged(doing, doing.start));
  }

  #up(event, cancelled = false) {
    this.#fingers.delete(event.pointerId);
    if (this.#pinch && this.#fingers.size < 2) {
      this.#pinch = null;
      this.#doing = null;
      return;
    }
    const doing = this.#doing;
    if (doing === null || event.pointerId !== doing.pointer) return;
    this.#doing = null;
    this.#view.lasso = null;
    const at = [event.clientX, event.clientY];
    if (!doing.begun && !cancelled) this.#click(event, doing);
    else if (doing.kind === "move") this.#view.emit("dragend", { ...this.#dragged(doing, at), cancelled });
    else if (doing.kind === "lasso" && !cancelled) {
      this.#extend(doing, at);
      const inside = this.#view.within(doing.polygon);
      this.#select(doing.adds ? new Set([...this.#view.selection, ...inside]) : inside);
      this.#view.lasso = null;
    }
    this.showCursor();
  }

  /** What a listener to a drag is told. */
  #dragged({ index, indices, from }, at) {
    const [x, y] = this.#view.world(...at);
    return { index, indices, x, y, dx: x - from[0], dy: y - from[1] };
  }

  /** A click selects one point; with Shift or Ctrl it joins the others or leaves them. */
  #click(event, { index }) {
    const { clientX: x, clientY: y } = event;
    this.#view.emit("click", { index, x, y, world: this.#view.world(x, y) });
    if (event.pointerType === "touch") this.#hover(event, index);
    if (index < 0) return;
    const several = event.shiftKey || event.ctrlKey || event.metaKey;
    const chosen = new Set(several ? this.#view.selection : []);
    if (several && chosen.has(index)) chosen.delete(index);
    else chosen.add(index);
    this.#select(chosen);
  }

  #select(indices) {
    this.#view.selection = indices;
    this.#view.emit("select", { indices: this.#view.selection });
  }

  #hover({ clientX, clientY }, index) {
    const changed = index !== this.#view.hovered;
    this.#view.hovered = index;
    if (changed || index >= 0) this.#view.emit("hover", { index, x: clientX, y: clientY });
    if (changed) this.showCursor(index);
  }

  #under(event) {
    return this.#view.pick(event.clientX, event.clientY, event.pointerType === "touch" ? FINGER : undefined);
  }

  #extend(doing, at) {
    doing.polygon.push(at);
    const { left, top } = this.#canvas.getBoundingClientRect();
    this.#view.lasso = doing.polygon.map(([x, y]) => [x - left, y - top]);
  }

  #wheel(event) {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
    // What a touchpad's pinch sends as a wheel with Ctrl is small.
    const turn = event.ctrlKey ? 6 * pixels : pixels;
    this.#view.zoomAt(event.clientX, event.clientY, Math.exp(-WHEEL * Math.max(Math.min(turn, 600), -600)));
    this.#hover(event, this.#under(event));
  }

  #startPinch() {
    if (this.#doing?.begun && this.#doing.kind === "move") {
      this.#view.emit("dragend", { ...this.#dragged(this.#doing, this.#doing.last), cancelled: true });
    }
    this.#doing = null;
    this.#view.lasso = null;
    this.#pinch = this.#span();
  }

  #continuePinch() {
    const now = this.#span();
    this.#view.pan(now.x - this.#pinch.x, now.y - this.#pinch.y);
    this.#view.zoomAt(now.x, now.y, now.length / this.#pinch.length);
    this.#pinch = now;
  }

  /** Between two fingers: the middle, and how far they are apart. */
  #span() {
    const [[x0, y0], [x1, y1]] = this.#fingers.values();
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, length: Math.max(Math.hypot(x1 - x0, y1 - y0), 1) };
  }
}
