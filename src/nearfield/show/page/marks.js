// How each point stands out, and which is drawn on top of which. Points are drawn in a shuffled order, or the last
// class of a sorted table would cover all others; those that stand out come last.

export const PLAIN = 0;
export const FADED = 1; // not selected, while others are
export const RAISED = 2; // selected
export const RIMMED = 3; // a follower: with a rim in the accent's colour

/**
 * @param {number} n
 * @param {Uint32Array} selection
 * @param {Uint32Array} followers
 * @returns {Uint8Array} a mark for each point
 */
export function marksOf(n, selection, followers) {
  const marks = new Uint8Array(n).fill(selection.length ? FADED : PLAIN);
  for (const i of selection) marks[i] = RAISED;
  for (const i of followers) marks[i] = RIMMED;
  return marks;
}

/** @returns {Uint32Array} the numbers below n, in an order without a pattern that is always the same */
export function shuffled(n) {
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  let state = 2463534242; // xorshift
  for (let i = n - 1; i > 0; i--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const j = (state >>> 0) % (i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/**
 * @param {Uint32Array} order
 * @param {Uint8Array} marks
 * @returns {Uint32Array} the same order, but for faded points first and raised ones last
 */
export function inLayers(order, marks) {
  const rank = [1, 0, 2, 3];
  const starts = [0, 0, 0, 0, 0];
  for (const mark of marks) starts[rank[mark] + 1]++;
  for (let k = 1; k < starts.length; k++) starts[k] += starts[k - 1];
  const layered = new Uint32Array(order.length);
  for (const i of order) layered[starts[rank[marks[i]]]++] = i;
  return layered;
}
