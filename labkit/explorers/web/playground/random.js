// Random numbers that depend on whole numbers alone, the same in every browser.

/** A generator of numbers in 0 … 1 (sfc32), seeded by several whole numbers. */
export function generator(...parts) {
  const words = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 0xdeadbeef];
  parts.forEach((part, k) => (words[k % 4] = Math.imul(words[k % 4] ^ (part + 0x7f4a7c15 * (k + 1)), 0x85ebca6b)));
  let [a, b, c, d] = words;
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4294967296;
  };
  for (let k = 0; k < 16; k++) next(); // neighbouring seeds drift apart
  return next;
}

/** A number of the standard normal distribution. */
export function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The numbers 0 … n − 1 in random order. */
export function permutation(n, random) {
  const order = Array.from({ length: n }, (_, k) => k);
  for (let k = n - 1; k > 0; k--) {
    const other = Math.floor(random() * (k + 1));
    [order[k], order[other]] = [order[other], order[k]];
  }
  return order;
}
