// Rows of numbers, unit rows, and cosine similarities, each with its way back for gradients.
// A matrix is { n, d, values }: n rows of d numbers in one Float64Array.

/** A matrix of an array of rows; a matrix stays as it is. */
export function matrix(rows) {
  if (rows.values instanceof Float64Array) return rows;
  const n = rows.length, d = n ? rows[0].length : 0, values = new Float64Array(n * d);
  for (let i = 0; i < n; i++) {
    if (rows[i].length !== d) throw new Error(`rows must be equally long: row ${i} has ${rows[i].length}, not ${d}`);
    values.set(rows[i], i * d);
  }
  return { n, d, values };
}

/** The rows of flat values, as arrays. */
export function rowsOf(values, d) {
  return Array.from({ length: values.length / d }, (_, i) => Array.from(values.subarray(i * d, (i + 1) * d)));
}

/** x / ‖x‖ for each row, with the lengths; a zero row stays zero. */
export function unitRows(x) {
  const { n, d, values } = x, unit = new Float64Array(n * d), norm = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let squared = 0;
    for (let k = i * d; k < (i + 1) * d; k++) squared += values[k] * values[k];
    let length = Math.sqrt(squared);
    if (!(length > 1e-15 && length < 1e15)) length = Math.hypot(...values.subarray(i * d, (i + 1) * d)); // no overflow
    norm[i] = length;
    const by = length > 0 ? length : 1;
    for (let k = i * d; k < (i + 1) * d; k++) unit[k] = values[k] / by;
  }
  return { n, d, values: unit, norm };
}

/** From the gradient by unit rows to that by the rows themselves: (g − (g·u) u) / ‖x‖, in place. */
export function throughUnit(gradient, unit) {
  const { n, d, values, norm } = unit;
  for (let i = 0; i < n; i++) {
    if (!(norm[i] > 0)) continue; // a zero row was divided by 1
    let along = 0;
    for (let k = i * d; k < (i + 1) * d; k++) along += gradient[k] * values[k];
    for (let k = i * d; k < (i + 1) * d; k++) gradient[k] = (gradient[k] - along * values[k]) / norm[i];
  }
  return gradient;
}

/** All products of rows a_i · b_j, flat, n(a) × n(b): cosines if the rows are unit rows. */
export function products(a, b) {
  const { n, d } = a, m = b.n, found = new Float64Array(n * m);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let k = 0; k < d; k++) sum += a.values[i * d + k] * b.values[j * d + k];
      found[i * m + j] = sum;
    }
  return found;
}

/** From slopes G = dL/ds (n × n, row = query) to the gradient by the unit rows: Σ_j (G_ij + G_ji) e_j. */
export function throughSimilarities(slopes, unit) {
  const { n, d, values } = unit, gradient = new Float64Array(n * d);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      const both = slopes[i * n + j] + slopes[j * n + i];
      if (both !== 0) for (let k = 0; k < d; k++) gradient[i * d + k] += both * values[j * d + k];
    }
  return gradient;
}

/** Points at angles on the unit circle, as a matrix. */
export function onCircle(angles) {
  return matrix(Array.from(angles, (angle) => [Math.cos(angle), Math.sin(angle)]));
}
