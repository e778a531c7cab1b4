"""All that training changes: the model, the loss's own vectors, the optimizer; and its file on disk.

Random numbers are not part of it: they depend on (seed, step) alone.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from labkit.base.files import write_safetensors
from labkit.losses import CATALOG
from labkit.losses.own import is_own, run_file
from labkit.models import build
from labkit.runs.record import OptimizerConfig
from labkit.training.config import BASELINES, Config
from labkit.training.devices import grad_scaler
from labkit.training.distributed import data_parallel


@dataclass
class Progress:
    """How far a run is, and what it found; saved with every checkpoint."""

    step: int = 0
    best_step: int = -1
    best: dict[str, float] = field(default_factory=dict)
    without_better: int = 0
    loss: float | None = None
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_mb: float = 0.0
    frame_steps: list[int] = field(default_factory=list)


@dataclass
class State:
    """What a training step works on. `module` is the bare model, `model` the one that several processes share."""

    module: nn.Module
    model: nn.Module
    loss: nn.Module
    optimizer: torch.optim.Optimizer
    scaler: torch.amp.GradScaler | None
    device: torch.device
    progress: Progress = field(default_factory=Progress)
    frames: list[Tensor] = field(default_factory=list)


def build_state(config: Config, num_classes: int, seed: int, device: torch.device, loss_sha256: str = "") -> State:
    """Everything at its start, the same for the same seed whatever the device; loss_sha256: of a loss of one's own."""
    torch.manual_seed(seed)
    module = build_model(config)
    loss = build_loss(config, num_classes, loss_sha256)
    # weights keep their usual layout: channels-last weights would meet a checkpoint's ordinary moments, which fused
    # optimizers read wrongly; the images are channels-last, which is what counts
    module, loss = module.to(device), loss.to(device)
    model = data_parallel(module, device)
    return State(
        module, model, loss, build_optimizer(module, loss, config.optimizer, device), grad_scaler(device), device
    )


def build_model(config: Config) -> nn.Module:
    """The network with its first weights."""
    options = dict(config.model)
    if missing := [f"model.{name}" for name in ("name", "dim") if name not in options]:
        raise ValueError(f"the configuration has no {' and no '.join(missing)}")
    name, dim = options.pop("name"), options.pop("dim")
    try:
        return build("pixels", dim) if config.loss == "pixels" else build(name, dim, **options)
    except TypeError as error:
        given = ", ".join(f"model.{option}={value!r}" for option, value in options.items())
        raise ValueError(f"the network {name} cannot be built with {given[:300]}: {error}") from error


def build_loss(config: Config, num_classes: int, sha256: str = "") -> nn.Module:
    """The loss with its options, a baseline has none; sha256: the checksum that the file of an own loss must have."""
    if config.loss in BASELINES:
        return nn.Identity()
    card = run_file(config.loss, sha256) if is_own(config.loss) else CATALOG[config.loss]
    return card.build(num_classes, config.model["dim"], **config.loss_options)


def build_optimizer(
    model: nn.Module, loss: nn.Module, config: OptimizerConfig, device: torch.device
) -> torch.optim.Optimizer:
    """One optimizer, two learning rates: the model's and that of the loss's own vectors."""
    groups: list[dict[str, Any]] = [
        {"params": [p for p in part.parameters() if p.requires_grad], "lr": rate, "rate": rate}
        for part, rate in ((model, config.lr), (loss, config.proxy_lr))
    ]
    groups = [group for group in groups if group["params"]] or [
        {"params": [nn.Parameter(torch.zeros(()))], "rate": 0.0}
    ]
    fused = device.type == "cuda"
    if config.name == "sgd":
        return torch.optim.SGD(groups, momentum=0.9, nesterov=True, weight_decay=config.weight_decay, fused=fused)
    kind = torch.optim.AdamW if config.name == "adamw" else torch.optim.Adam
    return kind(groups, weight_decay=config.weight_decay, fused=fused)


def set_learning_rate(optimizer: torch.optim.Optimizer, config: OptimizerConfig, step: int, steps: int) -> float:
    """Set the rates for this step; returns the share of the full rate."""
    share = learning_rate_share(config, step, steps)
    for group in optimizer.param_groups:
        group["lr"] = group["rate"] * share
    return share


def learning_rate_share(config: OptimizerConfig, step: int, steps: int) -> float:
    """1 at full rate: linear warm-up, then cosine to 0, constant, or steps at the milestones."""
    if step < config.warmup:
        return (step + 1) / config.warmup
    done = (step - config.warmup) / max(1, steps - config.warmup)
    if config.schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * done))
    if config.schedule == "step":
        return float(config.decay ** sum(done >= milestone for milestone in config.milestones))
    return 1.0


def save_checkpoint(path: Path, state: State) -> None:
    """Write everything to one safetensors file, atomically."""
    tensors = {f"model.{name}": t for name, t in state.module.state_dict().items()}
    tensors |= {f"loss.{name}": t for name, t in state.loss.state_dict().items()}
    for number, entry in state.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": torch.as_tensor(t) for name, t in entry.items() if t is not None}
    if state.frames:
        tensors["frames"] = torch.stack(state.frames)
    header = {"progress": json.dumps(asdict(state.progress))}
    if state.scaler is not None:
        header["scaler"] = json.dumps(state.scaler.state_dict())
    # tied or shared storage would be refused by the format; clones are safe and small
    write_safetensors(path, {name: t.clone() for name, t in tensors.items()}, header)


def load_checkpoint(content: bytes, state: State, folder: Path) -> None:
    """Put a checkpoint's content into a state that was built from the same configuration."""
    tensors, header = read_checkpoint(content, folder)
    fill(state, tensors)
    current = state.optimizer.state_dict()
    entries: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, number, key = name.split(".", 2)
            entries.setdefault(int(number), {})[key] = tensor
    state.optimizer.load_state_dict({"state": entries, "param_groups": current["param_groups"]})
    if state.scaler is not None and "scaler" in header:
        state.scaler.load_state_dict(json.loads(header["scaler"]))
    state.progress = Progress(**json.loads(header["progress"]))
    state.frames = list(tensors["frames"]) if "frames" in tensors else []


def load_weights_of(content: bytes, state: State, folder: Path, step: int) -> bool:
    """Model and loss only, if the checkpoint is that of the given step."""
    tensors, header = read_checkpoint(content, folder)
    if json.loads(header["progress"])["step"] != step:
        return False
    fill(state, tensors)
    return True


def read_checkpoint(content: bytes, folder: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and header of a checkpoint; one that is cut short is refused."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        tensors = load(content)
        size = int.from_bytes(content[:8], "little")  # the format: length of the header, header as JSON, numbers
        header: dict[str, str] = json.loads(content[8 : 8 + size])["__metadata__"]
    except (SafetensorError, ValueError, KeyError) as error:
        raise ValueError(
            f"{folder}: a checkpoint is not whole ({error}); delete it to start from an older one"
        ) from None
    return tensors, header


def fill(state: State, tensors: dict[str, Tensor]) -> None:
    """Put weights into the model and the loss."""
    for part, prefix in ((state.module, "model."), (state.loss, "loss.")):
        fill_part(part, tensors, prefix)


def fill_part(part: nn.Module, tensors: dict[str, Tensor], prefix: str) -> None:
    """Put those weights into a module whose names begin so."""
    part.load_state_dict({n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)})


def load_model(content: bytes, state: State, folder: Path) -> None:
    """The network's weights alone: looking at a run does not need its loss, which may be somebody's file."""
    fill_part(state.module, read_checkpoint(content, folder)[0], "model.")
