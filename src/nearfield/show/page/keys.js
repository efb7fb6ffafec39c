// Keys for the map. The studio has more of them, and its own.

const STEP = 60; // pixels

/**
 * @param {import("./view.js").View} view
 * @param {EventTarget} root where keys are listened to
 * @param {HTMLCanvasElement} canvas arrows are for the map when it has the focus
 * @param {{search: () => void, clear: () => void}} actions
 */
export function listenToKeys(view, root, canvas, { search, clear }) {
  const middle = () => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  };
  const anywhere = {
    "/": search,
    0: () => view.fit(),
    "+": () => view.zoomAt(...middle(), 1.5),
    "=": () => view.zoomAt(...middle(), 1.5),
    "-": () => view.zoomAt(...middle(), 1 / 1.5),
    v: () => (view.tool = "pan"),
    l: () => (view.tool = "lasso"),
    Escape: clear,
  };
  const onMap = {
    ArrowLeft: () => view.pan(STEP, 0),
    ArrowRight: () => view.pan(-STEP, 0),
    ArrowUp: () => view.pan(0, STEP),
    ArrowDown: () => view.pan(0, -STEP),
  };
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select, textarea")) return;
    const action = anywhere[event.key] ?? (event.target === canvas ? onMap[event.key] : undefined);
    if (!action) return;
    event.preventDefault();
    action();
  });
}
