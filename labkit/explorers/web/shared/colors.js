// Colours that follow the page, which may be light or dark.

export const GREY = "#8a8a8a";
export const SAME = "#0072B2";
export const OTHER = "#D55E00";
const THIRD = "#009E73";
const ON_DARK = { "#0072B2": "#3d9be0", "#D55E00": "#f0803c", "#882255": "#d4588f", "#5B4DB1": "#9a8ff0" }; // the darkest

/** Red, green, blue and opacity of a computed colour, or of #rrggbb. */
export function channels(color) {
  if (color.startsWith("#")) return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)).concat(1);
  const found = color.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
  const scale = color.startsWith("color(") ? 255 : 1; // color(srgb 0.1 0.2 0.3)
  return [found[0] * scale, found[1] * scale, found[2] * scale, found[3] ?? 1];
}

const luminance = ([r, g, b]) => (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;

/** Colours of the page round an element: the first background that is not see-through, and text that reads on it. */
export function pageColors(el) {
  let background = null;
  for (let at = el; at && !background; at = at.parentNode ?? at.host) {
    if (!(at instanceof Element)) continue;
    const color = getComputedStyle(at).backgroundColor;
    if (channels(color)[3] > 0.5) background = color;
  }
  background ??= matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
  const dark = luminance(channels(background)) < 0.4;
  const own = getComputedStyle(el).color;
  const reads = Math.abs(luminance(channels(own)) - luminance(channels(background))) > 0.5;
  return { background, dark, text: reads ? own : dark ? "rgb(235, 235, 235)" : "rgb(30, 30, 30)" };
}

/** A colour as it reads on this page. */
export function readableOn(dark, color) {
  return dark ? ON_DARK[color] ?? color : color;
}

/** Hand the page's colours to the style sheet, unless they are what they were before; returns them. */
export function paintRoot(root, before) {
  const { text, background: page, dark } = pageColors(root.parentElement ?? root);
  if (before?.text === text && before.page === page) return before;
  const mixed = (share) => `color-mix(in srgb, ${text} ${share}%, ${page})`, accent = dark ? "#6cb4ff" : "#0059b3";
  const colors = { text, page, soft: mixed(72), line: mixed(30), tint: mixed(16), accent };
  Object.assign(colors, { same: readableOn(dark, SAME), other: readableOn(dark, OTHER), third: THIRD });
  for (const [name, color] of Object.entries(colors)) root.style.setProperty(`--${name}`, color);
  root.dataset.theme = dark ? "dark" : "light";
  return { text, page, dark, accent };
}
