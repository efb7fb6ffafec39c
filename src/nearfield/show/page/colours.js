// Colours for points: classes and numbers, on light and dark ground. All colours come from Python
// (nearfield.show.looks); which class has which is said there too, so that a map looks the same everywhere.

/** What is drawn with where no palette was handed over. */
const PLAIN_LOOK = { ground: [255, 255, 255], ink: [26, 26, 26], accent: [213, 94, 0], only: [0, 114, 178] };

/**
 * @param {object} palette {light, dark}: ground, ink, accent, only, other as three bytes each; classes, scale as lists
 * @param {boolean} dark
 */
export function lookOf(palette, dark) {
  return palette[dark ? "dark" : "light"] ?? PLAIN_LOOK;
}

/**
 * The colour of each point by a column.
 * @param {import("./columns.js").Column | null} column null gives all points one colour
 * @param {number} n
 * @param {object} look
 * @param {(i: number) => boolean} shown of points that are not, the opacity is 0
 * @returns {Uint8Array} n × 4
 */
export function coloursBy(column, n, look, shown = () => true) {
  const rgba = new Uint8Array(4 * n);
  const colour =
    column === null ? () => look.only : column.kind === "classes" ? (i) => classColour(column, column.codes[i], look) : byNumber(column, look);
  for (let i = 0; i < n; i++) {
    const [red, green, blue] = colour(i);
    rgba[4 * i] = red;
    rgba[4 * i + 1] = green;
    rgba[4 * i + 2] = blue;
    rgba[4 * i + 3] = shown(i) ? 255 : 0;
  }
  return rgba;
}

/** The colour of a class: one of its own, or that of all that have none. */
export function classColour(column, code, look) {
  const shade = column.shades[code];
  return shade < 0 ? look.other : look.classes[shade];
}

function byNumber(column, look) {
  const [low, high] = column.range;
  const last = look.scale.length - 1;
  const factor = high > low ? last / (high - low) : 0;
  return (i) => {
    const value = column.values[i];
    return Number.isFinite(value) ? look.scale[Math.round((value - low) * factor)] : look.other;
  };
}
