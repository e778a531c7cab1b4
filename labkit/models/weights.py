"""Weights from a file, checked name by name: a file that does not fit, or holds more than tensors, is refused."""

import json
import math
import pickle
from pathlib import Path

import torch
from torch import Tensor, nn

_SAFETENSORS_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
}


def load_weights(network: nn.Module, path: Path, *, ignore: str) -> None:
    """Fill network with the state dict in a file; entries whose name starts with ignore (a classifier) are left out."""
    state = {name: value for name, value in read_state(path).items() if not name.startswith(ignore)}
    own = network.state_dict()
    # Files from before PyTorch 0.4.1 do not count batches, and nothing here uses the count.
    missing = [name for name in own if name not in state and not name.endswith("num_batches_tracked")]
    unexpected = [name for name in state if name not in own]
    misshapen = [
        f"{name} {tuple(value.shape)} instead of {tuple(own[name].shape)}"
        for name, value in state.items()
        if name in own and value.shape != own[name].shape
    ]
    wrong = {"missing": missing, "unexpected": unexpected, "wrong shape": misshapen}
    if missing or unexpected or misshapen:
        found = "; ".join(f"{what}: {_some(names)}" for what, names in wrong.items() if names)
        raise ValueError(f"weights: {path} does not fit this network: {found}. Give a file made for this network")
    network.load_state_dict(state, strict=False)


def read_state(path: Path) -> dict[str, Tensor]:
    """The state dict in a .safetensors file or one written by torch.save; nothing in it is executed."""
    if not path.is_file():
        raise ValueError(f"weights: there is no file {path}: check the path")
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ValueError(
            f"weights: {path} holds more than tensors and is not loaded, since reading it could run code: "
            "save the state_dict alone, or as .safetensors"
        ) from error
    except (RuntimeError, EOFError) as error:
        raise ValueError(f"weights: {path} is damaged or not a file of weights: fetch it again") from error
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise ValueError(f"weights: {path} must hold a state_dict, names and tensors alone: save it without the rest")
    return dict(state)


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    """A length, a header in JSON that says where each tensor lies, then the tensors' bytes."""
    data = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    state = {}
    try:
        header = json.loads(data[8:start].decode())
        header.pop("__metadata__", None)
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            dtype = _SAFETENSORS_DTYPES[entry["dtype"]]
            count = math.prod(entry["shape"])
            if first < 0 or last - first != count * dtype.itemsize or start + last > len(data):
                raise ValueError(f"{name} lies outside the file")
            flat = torch.frombuffer(data, dtype=dtype, count=count, offset=start + first) if count else torch.empty(0)
            state[name] = flat.clone().reshape(entry["shape"])  # cloned: at an odd offset it would be misaligned
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"weights: {path} is not a sound .safetensors file ({error}): fetch it again") from error
    return state


def _some(names: list[str]) -> str:
    """The first few names, and how many more."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
