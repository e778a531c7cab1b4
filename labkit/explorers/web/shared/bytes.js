// Bytes as Python packs them (packed.py).

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i2: Int16Array, f4: Float32Array };

/** A copy of bytes that come as DataView, typed array or buffer: they may lie unaligned in a larger buffer. */
export function copied(bytes) {
  if (!ArrayBuffer.isView(bytes)) return bytes.slice(0);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

/** Head and arrays: first the length of a JSON head, then the head, then the arrays that it lists. */
export function takeApart(bytes) {
  const buffer = copied(bytes), length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))), arrays = {};
  let at = 4 + length;
  for (const [name, kind, count] of head.arrays) {
    const size = count * KINDS[kind].BYTES_PER_ELEMENT;
    arrays[name] = new KINDS[kind](buffer.slice(at, at + size)); // a copy, for it may begin at any byte
    at += size;
  }
  return { head, arrays };
}
