// Which part of the plane is on the screen.

export const MARGIN = 26; // pixels left free round the points
const DEEPEST = 1e4; // times the first view
const DEEPEST_ON_GRID = 200; // of points on a grid of whole steps: beyond that one would see the steps

export class Viewport {
  width = 0; // of the stage, in the page's pixels
  height = 0;
  x = 0; // data coordinates in the middle
  y = 0;
  scale = 0; // pixels a unit; 0 as long as nothing is shown
  first = 0; // the scale that shows all points
  touched = false; // whether the view is the reader's own

  get ready() {
    return this.width > 0 && this.height > 0 && this.scale > 0;
  }

  /** Show all points of a box. */
  fit({ left, right, bottom, top }) {
    const across = (this.width - 2 * MARGIN) / (right - left || 1e-9);
    const down = (this.height - 2 * MARGIN) / (top - bottom || 1e-9);
    this.center((left + right) / 2, (bottom + top) / 2);
    this.first = this.scale = Math.min(across, down, 1e9);
    this.touched = false;
  }

  center(x, y) {
    [this.x, this.y, this.touched] = [x, y, true];
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toData(px, py) {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  /** Zoom, with one place of the screen staying where it is. */
  zoom(factor, px, py, onGrid) {
    const [x, y] = this.toData(px, py), most = this.first * (onGrid ? DEEPEST_ON_GRID : DEEPEST);
    this.scale = Math.min(most, Math.max(this.first / 4, this.scale * factor));
    const [nx, ny] = this.toData(px, py);
    this.center(this.x + x - nx, this.y + y - ny);
  }

  /** Whether a place of the screen, or a point that reaches a little beyond it, is to be seen. */
  sees(px, py) {
    return px > -10 && py > -10 && px < this.width + 10 && py < this.height + 10;
  }

  /** Whether a place is too close to the border to be looked at. */
  atBorder(px, py) {
    return px < MARGIN || py < MARGIN || px > this.width - MARGIN || py > this.height - MARGIN;
  }
}
