// The pictures of points: square cells of one decoded image.
import { copied } from "../shared/bytes.js";

/** Open the sheet of points; null where it is missing or damaged: the points still have their words. */
export async function openSheet(bytes, pointsNow) {
  if (!bytes?.byteLength) return null;
  let image;
  try {
    image = await createImageBitmap(new Blob([copied(bytes)]));
  } catch {
    return null;
  }
  return {
    has: (i) => pointsNow().cells[i] >= 0,
    draw: (ctx, i, x, y, side) => {
      const { cells, size, columns } = pointsNow();
      const left = (cells[i] % columns) * size, top = Math.floor(cells[i] / columns) * size;
      ctx.drawImage(image, left, top, size, size, x, y, side, side);
    },
    close: () => image.close(),
  };
}
