// The points nearest to one of them in the map: those who would follow it.

/**
 * @param {Float32Array} xy
 * @param {number} index
 * @param {number} count
 * @param {Set<number>} taken who follows nobody
 * @returns {number[]}
 */
export function nearestTo(xy, index, count, taken) {
  const n = xy.length / 2;
  const [x, y] = [xy[2 * index], xy[2 * index + 1]];
  const free = [];
  const squared = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    squared[i] = (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2;
    if (i !== index && !taken.has(i)) free.push(i);
  }
  if (count >= free.length) return free;
  const limit = smallest(Float64Array.from(free, (i) => squared[i]), count);
  return free.filter((i) => squared[i] <= limit).slice(0, count);
}

/** The value that so many are not above: by parting, without sorting all. */
function smallest(values, count) {
  let [low, high] = [0, values.length - 1];
  const wanted = count - 1;
  if (wanted < 0) return -1;
  while (low < high) {
    const pivot = values[(low + high) >> 1];
    let [i, j] = [low, high];
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i <= j) {
        [values[i], values[j]] = [values[j], values[i]];
        i++;
        j--;
      }
    }
    if (wanted <= j) high = j;
    else if (wanted >= i) low = i;
    else break;
  }
  return values[wanted];
}
