// What others may listen to: `on` returns a function that ends the listening.

/** An object that tells others of what happens. */
export class Events {
  #handlers = new Map();

  /**
   * @param {string} event
   * @param {(detail: any) => void} handler
   * @returns {() => void} ends it
   */
  on(event, handler) {
    if (!this.#handlers.has(event)) this.#handlers.set(event, new Set());
    this.#handlers.get(event).add(handler);
    return () => this.#handlers.get(event).delete(handler);
  }

  /**
   * @param {string} event
   * @param {any} detail
   */
  emit(event, detail) {
    for (const handler of [...(this.#handlers.get(event) ?? [])]) handler(detail);
  }
}
