// What is around the map: who and where (left above), the run (left below), and all that can be set (right).

import { make } from "/view/dom.js";

/** A button with a name for people and one for those who cannot see it. */
export function button(text, label, click, more = {}) {
  return make("button", { type: "button", text, title: label, "aria-label": label === text ? null : label, on: { click }, ...more });
}

/** A part of the panel on the right, which can be folded. */
export function part(parent, title, open = false) {
  const fold = make("details", { class: "st-part" }, make("summary", { text: title }));
  fold.open = open;
  parent.append(fold);
  return fold;
}

/** A field with its name before it. */
export function field(name, control) {
  return make("label", { class: "st-field" }, make("span", { text: name }), control);
}

/** A number that is sent when it is settled. */
export function numberField(name, { value = "", min, max, step = "any", placeholder = "", change }) {
  const input = make("input", { type: "number", value, min, max, step, placeholder, "aria-label": name });
  input.addEventListener("change", () => {
    if (input.value !== "" && input.checkValidity()) change(Number(input.value));
  });
  return input;
}

/** One of some words. */
export function chooser(name, choices, value, change) {
  const select = make("select", { "aria-label": name }, ...choices.map(([key, text]) => make("option", { value: key, text })));
  select.value = value;
  select.addEventListener("change", () => change(select.value));
  return select;
}
