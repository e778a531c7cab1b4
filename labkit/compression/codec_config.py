"""What a run that trains the learned codec is made of: a preset, and `--set key=value` over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from labkit.base.checks import check_choice, check_count, check_positive
from labkit.compression.network import DOWN, Sizes
from labkit.runs.bounds import check_bounds
from labkit.runs.presets import CODEC, preset_content, preset_names
from labkit.runs.record import OPTIMIZERS, SECTIONS, RunSettings
from labkit.runs.variant import parse
from labkit.training.config import SCHEDULES, cast

# What distortion is: the squared error, or 1 − MS-SSIM times a weight that makes both of about the same size (ours).
LOSSES: dict[str, dict[str, Any]] = {"mse": {}, "ms-ssim": {"weight": 0.03}}
DATA = {"name": "bsds500", "crop": 128, "start": ""}
MODEL = {"name": "mean-scale-hyperprior", "width": 64, "latent": 96, "hyper": 48, "slices": 4}
FREE = {"data": DATA, "model": MODEL}
USED = {
    "batch": ("size",),
    "optimizer": ("name", "lr", "weight_decay", "schedule", "warmup", "milestones", "decay", "clip"),
    "train": ("steps", "evaluate_every", "checkpoint_every", "log_every"),
}
SMALLEST_MS_SSIM = 192  # pixels of a crop, of which five scales of MS-SSIM need 161


@dataclass(frozen=True)
class CodecConfig(RunSettings):
    """Settings of a run that trains a codec.

    data.start: the folder of a run whose weights training begins with; without one, it begins with random weights.
    """

    def __post_init__(self) -> None:
        """Refuse what could only fail later."""
        check_choice("loss", self.loss, LOSSES)
        check_choice("optimizer.name", self.optimizer.name, OPTIMIZERS)
        check_choice("optimizer.schedule", self.optimizer.schedule, SCHEDULES)
        check_bounds(self)
        check_count("data.crop", self.data["crop"])
        if self.data["crop"] % DOWN or self.data["crop"] > 320:
            raise ValueError(f"data.crop must be a multiple of {DOWN}, at most 320; got {self.data['crop']}")
        if self.loss == "ms-ssim":
            check_positive("weight", self.loss_options["weight"])
            if self.data["crop"] < SMALLEST_MS_SSIM:
                raise ValueError(f"MS-SSIM needs data.crop of at least {SMALLEST_MS_SSIM}, got {self.data['crop']}")
        for section, usual in FREE.items():
            check_choice(f"{section}.name", getattr(self, section)["name"], (str(usual["name"]),))
        self.sizes()

    def sizes(self) -> Sizes:
        """Of the network."""
        return Sizes(**{name: value for name, value in self.model.items() if name != "name"})


def load_codec_config(preset: str, loss: str | None = None, settings: Mapping[str, Any] | None = None) -> CodecConfig:
    """A preset with its own or another loss, and settings over it (values, or text as after `--set`)."""
    check_choice("preset", preset, preset_names(CODEC))
    content = preset_content(preset)
    content |= {"preset": preset, "loss": content["loss"] if loss is None else loss}
    for key, value in (settings or {}).items():
        content = with_value(content, key, parse(value) if isinstance(value, str) else value)
    return from_dict(content)


def with_value(content: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The sections with one entry changed: an option of the loss, or `section.key`."""
    section, _, name = key.rpartition(".")
    known = {"": LOSSES.get(content["loss"], {}), **FREE, **USED}
    if section not in known:
        raise ValueError(f"no section {section!r}; there are: {', '.join(name for name in known if name)}")
    if name not in known[section] or key.endswith(".name"):
        raise ValueError(f"no setting {key!r} for codecs; there are: {', '.join(known[section]) or 'none'}")
    where = section or "loss_options"
    return {**content, where: {**content.get(where, {}), name: value}}


def from_dict(content: Mapping[str, Any]) -> CodecConfig:
    """The configuration of a preset file or of a run.json."""
    check_choice("loss", content["loss"], LOSSES)
    entries = {name: value for name, value in content.items() if name in {f.name for f in fields(CodecConfig)}}
    for name, section in SECTIONS.items():
        entries[name] = section(**{key: cast(name, key, value) for key, value in content.get(name, {}).items()})
    for name, usual in {**FREE, "loss_options": LOSSES[content["loss"]]}.items():
        entries[name] = usual | content.get(name, {})
        for key, value in entries[name].items():
            if key in usual and (type(value) is not type(usual[key])) and not isinstance(usual[key], float):
                raise ValueError(f"{name}.{key} must be like {usual[key]!r}, got {value!r}")
    return CodecConfig(**entries)
