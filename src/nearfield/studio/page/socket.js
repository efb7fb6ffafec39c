// The line to the server: commands with ids and their answers, frames of bytes, and what to say when it breaks.
//
//   const line = new Line()
//   await line.ask("pin", {indices: [3]})     the result, or an Error with the server's sentence
//   line.on("hello" | "state" | "steering" | "frame" | "open" | "closed", handler)
//   line.connected
//
// A frame is acknowledged after it was drawn: the server sends no third one before.

import { Events } from "/view/events.js";

const HEADER = 32;
const MAGIC = 0x444c464e; // NFLD
const VERSION = 1;
const AGAIN = 1500; // milliseconds

export class Line extends Events {
  #socket = null;
  #id = 0;
  #waiting = new Map();
  connected = false;

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/socket`);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.connected = true;
      this.look(!document.hidden);
      this.emit("open", {});
    });
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.#told(JSON.parse(data));
      else this.#frame(data);
    });
    socket.addEventListener("close", ({ reason }) => this.#lost(reason));
  }

  /** Ask for something. */
  ask(what, given = {}) {
    if (!this.connected) return Promise.reject(new Error("the studio is not connected"));
    const id = ++this.#id;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#socket.send(JSON.stringify({ id, do: what, ...given }));
    return answer;
  }

  /** Say whether anybody looks. */
  look(visible) {
    this.#tell("look", { visible });
  }

  #tell(what, given) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ id: 0, do: what, ...given }));
  }

  #told(message) {
    if (message.type !== "answer") return this.emit(message.type, message);
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error !== undefined) waiting?.reject(new Error(message.error));
    else waiting?.resolve(message.result);
    return undefined;
  }

  #frame(data) {
    const head = new DataView(data);
    if (head.getUint32(0, true) !== MAGIC || head.getUint16(4, true) !== VERSION) {
      return this.emit("closed", { why: "This page is of another version than the studio: reload it." });
    }
    const sequence = head.getUint32(8, true);
    const told = { iteration: head.getUint32(12, true), n: head.getUint32(16, true) };
    [told.cost, told.penalty, told.norm] = [20, 24, 28].map((at) => head.getFloat32(at, true));
    this.emit("frame", { ...told, xy: new Float32Array(data, HEADER) });
    requestAnimationFrame(() => this.#tell("got", { sequence }));
    return undefined;
  }

  async #lost(reason) {
    this.connected = false;
    for (const { reject } of this.#waiting.values()) reject(new Error("the studio is not connected"));
    this.#waiting.clear();
    this.emit("closed", { why: await this.#why(reason) });
    setTimeout(() => this.#again(), AGAIN);
  }

  async #why(reason) {
    if (reason.startsWith("too")) return `The studio ended the connection: ${reason}.`;
    try {
      const answer = await fetch("/status", { cache: "no-store" });
      if (answer.ok) return "The connection was lost; trying again.";
      return "This page belongs to a studio that has ended: open the address that the new one printed.";
    } catch {
      return "The studio has ended, and its session was saved. Start it again with nearfield studio, and open the address that it prints.";
    }
  }

  async #again() {
    try {
      const answer = await fetch("/status", { cache: "no-store" });
      if (answer.ok) return this.open();
      this.emit("closed", { why: await this.#why("") });
    } catch {
      // it is still away
    }
    return setTimeout(() => this.#again(), AGAIN);
  }
}
