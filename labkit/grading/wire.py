"""Values as JSON: how arguments go into the child and results come out. No pickle, and nothing here needs labkit.

Both sides read this file: the parent as a module of labkit, the child as a file beside its own.
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np
import torch

DTYPES = {
    name: getattr(torch, name)
    for name in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
}
MOST_NUMBERS = 1_000_000  # in one array
MOST_ITEMS = 100_000  # in one list or dictionary
DEEPEST = 8


def pack(value: Any, depth: int = 0) -> Any:
    """A value as plain JSON; what is neither a number nor made of numbers becomes the name of its type."""
    if depth > DEEPEST:
        return {"kind": "other", "type": "something nested too deeply"}
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        # int and float of a subclass are taken by their digits, not by their methods
        return int.__int__(value) if abs(int.__int__(value)) < 2**63 else {"kind": "other", "type": "a huge integer"}
    if isinstance(value, float):
        number = float.__float__(value)
        return number if math.isfinite(number) else {"kind": "float", "text": float.__repr__(number)}
    if isinstance(value, str):
        return str.__str__(value)[:1000]
    if isinstance(value, np.ndarray | np.generic):
        try:
            value = torch.from_numpy(np.array(value, copy=True))
        except TypeError:
            return {"kind": "other", "type": f"an array of {value.dtype}"}
    if isinstance(value, torch.Tensor):
        return pack_tensor(value)
    if isinstance(value, list | tuple | dict) and len(value) > MOST_ITEMS:
        return {"kind": "other", "type": f"{len(value)} items"}
    if isinstance(value, list | tuple):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": kind, "items": [pack(item, depth + 1) for item in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "items": {str(key): pack(item, depth + 1) for key, item in value.items()}}
    return {"kind": "other", "type": type(value).__name__[:100]}


def pack_tensor(tensor: torch.Tensor) -> dict[str, Any]:
    """Its numbers as bytes, its shape and its type."""
    tensor = tensor.detach().to("cpu", copy=True).contiguous()
    if tensor.dtype is torch.bfloat16:
        tensor = tensor.float()
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in DTYPES or tensor.layout is not torch.strided:
        return {"kind": "other", "type": f"a tensor of {name}"}
    if tensor.numel() > MOST_NUMBERS:
        return {"kind": "other", "type": f"a tensor of {tensor.numel()} numbers"}
    data = base64.b64encode(tensor.numpy().tobytes()).decode()
    return {"kind": "tensor", "dtype": name, "shape": list(tensor.shape), "data": data}


class Other:
    """Stands for a value that could not cross; equal to nothing."""

    def __init__(self, name: str) -> None:
        """What it was, in words."""
        self.name = name

    def __repr__(self) -> str:
        """As a message shows it."""
        return f"<{self.name}>"


def unpack(packed: Any, depth: int = 0) -> Any:
    """The value again. Raises ValueError for whatever `pack` would not have written."""
    if depth > DEEPEST + 1:  # where `pack` says so
        raise ValueError("nested too deeply")
    if isinstance(packed, str):
        return whole(packed[:1000])
    if packed is None or isinstance(packed, bool | float) or (isinstance(packed, int) and abs(packed) < 2**63):
        return packed
    if not isinstance(packed, dict):
        raise ValueError("not a packed value")
    kind, items = packed.get("kind"), packed.get("items")
    if isinstance(items, list | dict) and len(items) > MOST_ITEMS:
        raise ValueError("too many items")
    if kind == "float" and packed.get("text") in ("nan", "inf", "-inf"):
        return float(packed["text"])
    if kind in ("list", "tuple") and isinstance(items, list):
        found = [unpack(item, depth + 1) for item in items]
        return tuple(found) if kind == "tuple" else found
    if kind == "dict" and isinstance(items, dict):
        return {whole(key): unpack(item, depth + 1) for key, item in items.items()}
    if kind == "other":
        return Other(whole(str(packed.get("type"))[:100]))
    if kind == "tensor":
        return unpack_tensor(packed)
    raise ValueError("not a packed value")


def unpack_tensor(packed: dict[str, Any]) -> torch.Tensor:
    """A tensor from its bytes, if type, shape and bytes agree."""
    dtype, shape, data = DTYPES.get(str(packed.get("dtype"))), packed.get("shape"), packed.get("data")
    if dtype is None or not isinstance(shape, list) or not isinstance(data, str) or len(shape) > 8:
        raise ValueError("not a packed tensor")
    if not all(type(size) is int and 0 <= size <= MOST_NUMBERS for size in shape):
        raise ValueError("not the shape of a packed tensor")
    raw = base64.b64decode(data, validate=True)
    count = math.prod(shape)
    if math.prod(size for size in shape if size) > MOST_NUMBERS or len(raw) != count * dtype.itemsize:
        raise ValueError("shape and bytes of a packed tensor disagree")
    if count == 0:
        return torch.zeros(shape, dtype=dtype)
    if dtype is torch.bool and max(raw) > 1:
        raise ValueError("a truth value is 0 or 1")
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape).clone()


def whole(text: str) -> str:
    """Text without halves of characters, which JSON allows and files do not take."""
    return text.encode("utf-8", "replace").decode()


def line(message: Any) -> bytes:
    """A message as one line of bytes."""
    return json.dumps(message, allow_nan=False).encode() + b"\n"
