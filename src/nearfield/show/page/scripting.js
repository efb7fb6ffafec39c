// What scripts and tests may ask a page. Read only: nothing here changes the map.

/**
 * @param {import("./view.js").View} view
 * @param {object} more further properties, such as the studio's; getters stay getters
 * @returns {Readonly<object>}
 */
export function scriptable(view, more = {}) {
  const offered = {
    get n() {
      return view.n;
    },
    get painter() {
      return view.painter;
    },
    get selection() {
      return view.selection.slice();
    },
    screen: (i) => view.screen(i),
    world: (x, y) => view.world(x, y),
    positions: () => view.positions(),
  };
  return Object.freeze(Object.defineProperties(offered, Object.getOwnPropertyDescriptors(more)));
}
