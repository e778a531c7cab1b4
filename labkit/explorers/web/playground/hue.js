// A colour for every direction on the circle: the hue goes round once, and lightness with it, so that opposite
// directions differ for colour-blind readers, too.

const COUNT = 256;

/** sRGB of OKLCH. */
function rgb(lightness, chroma, hue) {
  const a = chroma * Math.cos(hue), b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const gamma = (one) => (one <= 0.0031308 ? 12.92 * one : 1.055 * one ** (1 / 2.4) - 0.055);
  return linear.map((one) => Math.round(255 * Math.min(1, Math.max(0, gamma(Math.max(0, one))))));
}

export const RGB = Array.from({ length: COUNT }, (_, k) => {
  const angle = (2 * Math.PI * k) / COUNT;
  return rgb(0.67 + 0.13 * Math.cos(angle - 1.9), 0.14, angle);
});
const TEXTS = RGB.map((color) => `rgb(${color.join(",")})`);

const place = (angle) => Math.floor((angle / (2 * Math.PI)) * COUNT + COUNT) % COUNT;

export const colorOf = (angle) => TEXTS[place(angle)];
export const rgbOf = (angle) => RGB[place(angle)];
