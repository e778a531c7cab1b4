"""What a converged reader of real words sees: features of PP-OCRv4's recogniser, computed once and kept in the cache.

The network comes with the package rapidocr-onnxruntime (Apache-2.0; extra `ocr`). It is cut before its last layer,
whose weights for digits and letters are given along; all other symbols it knows are one number a frame.
"""

from __future__ import annotations

import hashlib
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labkit.base.files import atomic
from labkit.base.paths import cache
from labkit.data.files import DataError, checksum
from labkit.data.word_images import ALNUM, HEIGHT, WIDTH, WordImages

SEEN_HEIGHT = 48  # what the network was trained on; pictures are stretched in proportion, to a multiple of its stride
SEEN_WIDTH = round(WIDTH * SEEN_HEIGHT / HEIGHT / 8) * 8
BATCH = 16
MODEL = "ch_PP-OCRv4_rec_infer.onnx"
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Head:
    """The last layer for blank, digits and letters: weight (symbols, features), bias, and which of ALNUM each is."""

    weight: Tensor
    bias: Tensor
    same: Tensor


def model_file() -> Path:
    """The recogniser's file in the installed package; a missing package says which extra brings it."""
    import rapidocr_onnxruntime  # type: ignore[import-untyped]

    path = Path(str(rapidocr_onnxruntime.__file__)).parent / "models" / MODEL
    if not path.is_file():
        raise DataError(f"rapidocr-onnxruntime holds no {MODEL}: labkit needs version 1.4.4 of it")
    return path


def features(data: WordImages) -> Tensor:
    """Features of pictures, (N, T, features + 1) float16; the last column is the log of all other symbols' weight."""
    digest = hashlib.sha256(checksum(model_file()).encode() + data.images.numpy().tobytes()).hexdigest()
    path = cache() / "ocr" / f"{digest[:32]}.npy"
    if not path.is_file():
        found = computed(data)
        with atomic(path) as temporary, temporary.open("wb") as file:
            np.save(file, found, allow_pickle=False)
    return torch.from_numpy(np.load(path, allow_pickle=False))


def head() -> Head:
    """The network's last layer, as far as digits and letters go; upper case is the same as lower case."""
    weight, bias, characters = last_layer()
    index, same = kept_symbols(characters)
    return Head(torch.from_numpy(weight.T[index].copy()), torch.from_numpy(bias[index].copy()), torch.tensor(same))


def kept_symbols(characters: list[str]) -> tuple[list[int], list[int]]:
    """Where blank, digits and letters are among the network's symbols, and which of ALNUM each is, 0 for blank."""
    wanted = [*ALNUM, *string.ascii_uppercase]
    return [0, *(characters.index(c) for c in wanted)], [0, *(1 + ALNUM.index(c.lower()) for c in wanted)]


def last_layer() -> tuple[Floats, Floats, list[str]]:
    """Weight (features, symbols) and bias of the last layer, and its symbols, of which the first is blank."""
    import onnx
    from onnx.numpy_helper import to_array

    model = onnx.load(str(model_file()))
    product, total, _ = model.graph.node[-3:]  # MatMul, Add, Softmax
    constants = [node for node in model.graph.node if node.op_type == "Constant"]
    tensors = {node.output[0]: node.attribute[0].t for node in constants}
    tensors |= {entry.name: entry for entry in model.graph.initializer}
    characters = next(entry.value for entry in model.metadata_props if entry.key == "character")
    symbols = ["", *characters.splitlines(), " "]
    weight, bias = to_array(tensors[product.input[1]]), to_array(tensors[total.input[1]])
    return np.asarray(weight, np.float32), np.asarray(bias, np.float32), symbols


def cut_session() -> Any:
    """The network up to its last layer, on one thread."""
    import onnx
    import onnxruntime  # type: ignore[import-untyped]

    model = onnx.load(str(model_file()))
    before = model.graph.node[-3].input[0]
    del model.graph.output[:]
    model.graph.output.append(onnx.helper.make_tensor_value_info(before, onnx.TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def computed(data: WordImages) -> NDArray[np.float16]:
    """Run the network over pictures."""
    weight, bias, characters = last_layer()
    others = np.setdiff1d(np.arange(len(bias)), kept_symbols(characters)[0])
    session, parts = cut_session(), []
    name = session.get_inputs()[0].name
    for images in data.images.split(BATCH):
        (found,) = session.run(None, {name: as_seen(images)})
        logits = found @ weight[:, others] + bias[others]
        top = logits.max(-1, keepdims=True)
        rest = top + np.log(np.exp(logits - top).sum(-1, keepdims=True))
        parts.append(np.concatenate((found, rest), axis=-1).astype(np.float16))
    return np.concatenate(parts)


def as_seen(images: Tensor) -> Floats:
    """Pictures (B, 1, 32, 100) uint8 as the network takes them: (B, 3, 48, 152) in -1…1."""
    size = (SEEN_HEIGHT, SEEN_WIDTH)
    large = torch.nn.functional.interpolate(images.float(), size=size, mode="bilinear", align_corners=False)
    return (large / 127.5 - 1).expand(-1, 3, -1, -1).numpy().astype(np.float32)
