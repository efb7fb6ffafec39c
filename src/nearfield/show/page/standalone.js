// The page that is one file: its data are in it.

import { scriptable } from "./scripting.js";
import { Viewer, contentsOf } from "./viewer.js";

async function start() {
  const given = JSON.parse(document.getElementById("nearfield-data").textContent);
  const root = document.getElementById("nearfield-root");
  const painter = new URLSearchParams(location.search).get("painter") ?? "auto";
  const { view } = new Viewer(root, given, await contentsOf(given), { painter, keys: document });
  Object.defineProperty(window, "nearfield", { value: scriptable(view) });
}

start().catch((error) => {
  const said = document.createElement("p");
  said.textContent = `This map cannot be shown: ${error.message}. A newer browser may do.`;
  document.getElementById("nearfield-root").replaceChildren(said);
  throw error;
});
