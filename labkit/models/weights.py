"""Weights from a file, checked name by name: a file that does not fit, or holds more than tensors, is refused."""

import pickle
from pathlib import Path

import torch
from torch import Tensor, nn


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
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not path.is_file():
        raise ValueError(f"weights: there is no file {path}: check the path")
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ValueError(
            f"weights: {path} holds something else than tensors and is not read further, since that could run code: "
            "save the state_dict alone, or as .safetensors"
        ) from error
    except (SafetensorError, RuntimeError, EOFError) as error:
        raise ValueError(f"weights: {path} is damaged or not a file of weights: fetch it again") from error
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise ValueError(f"weights: {path} must hold a state_dict, names and tensors alone: save it without the rest")
    return dict(state)


def _some(names: list[str]) -> str:
    """The first few names, and how many more."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
