// The layers of a surrogate, as labkit/explorers/layers.py packs them: float32 weights, computed with as float64.
import { takeApart } from "../shared/bytes.js";

export function layersOf(bytes) {
  const { head, arrays } = takeApart(bytes);
  return head.layers.map((layer, at) => ({
    ...layer,
    weight: Float64Array.from(arrays[`weight${at}`]),
    bias: Float64Array.from(arrays[`bias${at}`]),
  }));
}
