// The map in a notebook: what anywidget calls. The document comes once, positions whenever they change.

import { scriptable } from "./scripting.js";
import { Viewer, contentsOf } from "./viewer.js";

/** Whether the notebook is dark; null where it does not say, and the system decides. */
function notebookIsDark() {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight !== undefined) return jpThemeLight === "false";
  return vscodeThemeKind === undefined ? null : /dark/.test(vscodeThemeKind);
}

async function render({ model, el }) {
  const given = model.get("document");
  const root = document.createElement("div");
  root.style.height = `${model.get("height")}px`;
  el.append(root);
  const contents = await contentsOf(given);
  const viewer = new Viewer(root, given, contents, { dark: notebookIsDark(), painter: model.get("painter") });
  const move = () => {
    const { buffer, byteOffset, byteLength } = model.get("positions");
    viewer.setPositions(new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)));
  };
  if (model.get("positions").byteLength) move();
  model.on("change:positions", move);
  viewer.view.on("select", ({ indices }) => {
    model.set("selection", [...indices]);
    model.save_changes();
  });
  const chosen = () => (viewer.view.selection = model.get("selection"));
  model.on("change:selection", chosen);
  // Of several maps in a notebook, the one that was drawn last.
  Object.defineProperty(window, "nearfield", { value: scriptable(viewer.view), configurable: true });
  return () => {
    model.off("change:positions", move);
    model.off("change:selection", chosen);
    viewer.dispose();
  };
}

export default { render };
