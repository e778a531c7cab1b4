"""What a run that trains a reader of words is made of: presets as small TOML files, `--set key=value` over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from labkit.base.checks import check_choice, check_count, check_not_negative, check_positive
from labkit.runs.bounds import check_bounds
from labkit.runs.presets import WORDS, kind_of, own_settings, preset_content, preset_names, tuned_settings
from labkit.runs.record import OPTIMIZERS, SECTIONS, RunSettings
from labkit.runs.variant import full_key, parse
from labkit.training.config import SCHEDULES, Config, cast, hint, load_config

SURROGATE = {"I_a": 10, "I_b": 25, "eta_a": 1e-3, "lam": 0.1, "pairs": 64, "generator": True, "edits": 6, "ce": 0.0}
FILTER = {"filter": "ramp", "epsilon": 1.0, "shuffled": False, "filter_from": 2}
# What a reader can be trained on, with the options of each; their values are ours, since the slides give none.
ARMS: dict[str, dict[str, Any]] = {
    "cross-entropy": {},
    "ls-ed": SURROGATE,
    "ls-ed-ce": SURROGATE | {"ce": 0.1},
    "feds": SURROGATE | FILTER,
    "feds-hard": SURROGATE | FILTER | {"filter": "hard"},
    "feds-random": SURROGATE | FILTER | {"shuffled": True},
    "soft-edit-distance": {"temperature": 0.1},
    "reinforce": {"samples": 8},
    "untrained": {},
}
RENDERED, SCENE = "rendered-words", "scene-text"
DATA = {
    "name": RENDERED,
    "distortion": 1.0,
    "pool": 0,
    "validation": 500,
    "test": 1000,
    "reader": "",
    "surrogate": "",
}
MODEL = {"name": "small-reader", "width": 96}
METRICS = ("Acc", "NED")


def two_or_more(name: str, value: int) -> None:
    """For samples, each of which has the mean of the others as its baseline."""
    check_count(name, value)
    if value < 2:
        raise ValueError(f"{name} must be 2 or above, got {value!r}")


CHECKS: dict[str, Callable[[str, Any], None]] = {
    **dict.fromkeys(("I_a", "I_b", "pairs", "filter_from"), check_count),
    **dict.fromkeys(("eta_a", "epsilon", "temperature"), check_positive),
    **dict.fromkeys(("lam", "ce", "edits"), check_not_negative),
    **dict.fromkeys(("generator", "shuffled"), lambda name, value: None),
    "filter": lambda name, value: check_choice(name, value, ("ramp", "hard")),
    "samples": two_or_more,
}
FREE: dict[str, dict[str, Any]] = {"data": DATA, "model": MODEL}
NAMES = {"data": (RENDERED, SCENE), "model": ("small-reader", "ctc-reader")}
READER_OF = dict(zip(NAMES["data"], NAMES["model"]))
USED = {
    "batch": ("size",),
    "optimizer": ("name", "lr", "weight_decay", "schedule", "warmup", "milestones", "decay", "clip"),
    "train": ("steps", "evaluate_every", "checkpoint_every", "log_every", "metric"),
    "record": ("frames",),
}


@dataclass(frozen=True)
class WordConfig(RunSettings):
    """Settings of a run that trains a reader; what could only fail later is refused.

    data.reader: a reader that is tuned: one that comes with labkit, by name (`shipped.py`), the folder of a finished
    run, or a file of weights; without it, training starts from random weights. data.surrogate: the same for Φ, which
    Algorithm 1 draws at random. data.pool: that many pictures are drawn once and used again and again; 0: no picture
    comes twice. Of real words, data.test counts those of each set, and every part has them once more, degraded.
    record.frames: how many times, evenly spread over the training, the reader's weights are kept
    (checkpoints/STEP.safetensors of a run that keeps all). The loss "untrained" measures the reader as it is.
    """

    def __post_init__(self) -> None:
        """Refuse what could only fail later."""
        check_choice("loss", self.loss, ARMS)
        check_choice("optimizer.name", self.optimizer.name, OPTIMIZERS)
        check_choice("optimizer.schedule", self.optimizer.schedule, SCHEDULES)
        check_choice("train.metric", self.train.metric, METRICS)
        check_choice("train.select", self.train.select, ("last",))
        check_bounds(self)
        for name in ("validation", "test"):
            check_count(f"data.{name}", self.data[name])
        for name in ("distortion", "pool"):
            check_not_negative(f"data.{name}", self.data[name])
        for section, names in NAMES.items():
            check_choice(f"{section}.name", getattr(self, section)["name"], names)
        if self.model["name"] != READER_OF[self.data["name"]]:
            raise ValueError(f"model.name must be {READER_OF[self.data['name']]!r} for data.name={self.data['name']}")
        if self.data["name"] == SCENE and not self.data["pool"]:
            raise ValueError("data.pool must be 1 or above: real words cannot be drawn without end")
        for name, value in self.loss_options.items():
            CHECKS[name](name, value)


def load_word_config(preset: str, loss: str | None = None, settings: Mapping[str, Any] | None = None) -> WordConfig:
    """A preset with its own or another loss, and settings over it (values, or text as after `--set`)."""
    check_choice("preset", preset, preset_names(WORDS))
    content = preset_content(preset)
    loss = content["loss"] if loss is None else loss
    config = from_dict(content | {"preset": preset, "loss": loss})
    chosen = {**tuned_settings(preset, loss), **own_settings(preset, loss), **(settings or {})}
    for key, text in chosen.items():
        config = set_value(config, full_key(key), parse(text) if isinstance(text, str) else text)
    return config


def load_any(preset: str, loss: str | None = None, settings: Mapping[str, Any] | None = None) -> Config | WordConfig:
    """The configuration of a preset of any kind."""
    return (load_word_config if kind_of(preset) == WORDS else load_config)(preset, loss, settings)


def from_dict(content: Mapping[str, Any]) -> WordConfig:
    """The configuration of a preset file or of a run.json."""
    check_choice("loss", content["loss"], ARMS)
    entries = {name: value for name, value in content.items() if name in {f.name for f in fields(WordConfig)}}
    for name, section in SECTIONS.items():
        entries[name] = section(**{key: cast(name, key, value) for key, value in content.get(name, {}).items()})
    for name, usual in FREE.items():
        entries[name] = usual | content.get(name, {})
    entries["loss_options"] = ARMS[content["loss"]] | content.get("loss_options", {})
    return WordConfig(**entries)


def set_value(config: WordConfig, key: str, value: Any) -> WordConfig:
    """Change one entry: an option of the loss, or `section.key`."""
    section, _, name = key.rpartition(".")
    options = {"": config.loss_options, "data": config.data, "model": config.model}.get(section)
    if options is not None:
        if name not in options:
            known = ", ".join(options) or "none"
            raise ValueError(f"no setting {key!r} for {config.loss}; there are: {known}{hint(name, [*options])}")
        changes: dict[str, Any] = {section or "loss_options": options | {name: like(key, options[name], value)}}
        return replace(config, **changes)
    if section not in USED:
        raise ValueError(f"no section {section!r}; there are: {', '.join([*USED, *FREE])}")
    if name not in USED[section]:
        raise ValueError(f"no setting {key!r} for readers of words; {section} has: {', '.join(USED[section])}")
    return replace(config, **{section: replace(getattr(config, section), **{name: cast(section, name, value)})})


def like(key: str, usual: Any, value: Any) -> Any:
    """A value of the kind that the usual one has, so that 1 is accepted for 1.0 but "fast" is not."""
    if isinstance(usual, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not type(usual):
        raise ValueError(f"{key} must be like {usual!r}, got {value!r}")
    return value
