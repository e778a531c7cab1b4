"""What a run is made of: presets are small TOML files, and `--set key=value` changes one entry."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any

from labkit.base.checks import check_choice
from labkit.base.typed import kinds_of, read_into
from labkit.data.augment import augment
from labkit.data.transforms import FileImages
from labkit.runs.bounds import check_bounds
from labkit.runs.presets import EMBEDDING, own_settings, preset_content, preset_names, tuned_settings
from labkit.runs.record import FREE, OPTIMIZERS, SECTIONS, RunSettings
from labkit.runs.variant import full_key, parse
from labkit.training.large_batch import BATCH_NORM

BASELINES = ("untrained", "pixels")  # evaluated as they are, without a training step
SCHEDULES = ("cosine", "constant", "step")
SAMPLERS = ("balanced", "random")
WHILE_TRAINING = ("R@1", "R@10", "MAP@R", "nDCG@10", "intra", "inter", "CSC", "mean-norm")  # what validation measures
ACROSS = ("R@1", "MAP@R")  # measured among other designers, too, where the data name them: "R@1 across" in a record


@dataclass(frozen=True)
class Config(RunSettings):
    """Settings that a run can be started with: what could only fail later is refused."""

    def __post_init__(self) -> None:
        """Refuse what could only fail later."""
        check_choice("batch.sampler", self.batch.sampler, SAMPLERS)
        check_choice("optimizer.name", self.optimizer.name, OPTIMIZERS)
        check_choice("optimizer.schedule", self.optimizer.schedule, SCHEDULES)
        check_choice("train.select", self.train.select, ("best", "last"))
        check_choice("train.metric", self.train.metric, (*WHILE_TRAINING, *(f"{name} across" for name in ACROSS)))
        check_choice("batch.batch_norm", self.batch.batch_norm, BATCH_NORM)
        if self.train.patience and self.train.select == "last":
            raise ValueError(
                'train.patience stops when the best weights get no better, so it needs train.select = "best"'
            )
        if self.record.frames == 1:
            raise ValueError("record.frames must be 0, or 2 and more: the first and the last are always taken")
        for section, function in (("augment", augment), ("images", FileImages)):
            known = [*inspect.signature(function).parameters][2:] + ["workers"] * (section == "images")
            for name in getattr(self, section):
                if name not in known:
                    raise ValueError(f"no setting {section}.{name}; there are: {', '.join(known)}{hint(name, known)}")
        check_bounds(self)
        loss_options(self.loss)

    def as_dict(self) -> dict[str, Any]:
        """For run.json."""
        return asdict(self)


def load_config(preset: str, loss: str | None = None, settings: Mapping[str, Any] | None = None) -> Config:
    """A preset with its default or another loss, and settings over it (values, or text as after `--set`)."""
    if preset not in preset_names(EMBEDDING):
        known = preset_names()
        raise ValueError(f"no preset {preset!r}; there are: {', '.join(known)}{hint(preset, known)}")
    content = preset_content(preset)
    loss = content["loss"] if loss is None else loss
    config = from_dict(content | {"preset": preset, "loss": loss})
    for key, value in (tuned_settings(preset, loss) | own_settings(preset, loss)).items():
        config = set_value(config, key, value)
    # another network first: it takes the preset's options for the old one away, not those that are set here
    for key, text in sorted((settings or {}).items(), key=lambda entry: entry[0] != "model.name"):
        config = set_value(config, key, parse(text) if isinstance(text, str) else text)
    return config


def from_dict(content: Mapping[str, Any]) -> Config:
    """The Config of a preset file or of a run.json; unknown entries are refused."""
    entries = dict(content)
    unknown = entries.keys() - {f.name for f in fields(Config)}
    if unknown:
        raise ValueError(f"unknown sections in the configuration: {', '.join(sorted(unknown))}")
    for name, section in SECTIONS.items():
        given = entries.get(name, {})
        entries[name] = section(**{key: cast(name, key, value) for key, value in given.items()})
    return Config(**entries)


def config_of(settings: RunSettings) -> Config:
    """Settings that were read from a run, to be used again."""
    return Config(**{entry.name: getattr(settings, entry.name) for entry in fields(settings)})


def set_value(config: Config, key: str, value: Any) -> Config:
    """Change one entry: `section.key`, an option of the loss, or a key that only one section has."""
    section, _, name = key.rpartition(".")
    if not section:
        options = loss_options(config.loss)
        section = full_key(key).rpartition(".")[0]
        if (name in options) if options is not None else not section:
            return replace(config, loss_options=config.loss_options | {name: value})
        if not section:
            known = [*(options or ()), *(f"{s}.{f.name}" for s, kind in SECTIONS.items() for f in fields(kind))]
            raise ValueError(f"no setting {key!r} for {config.loss}; there are: {', '.join(known)}{hint(key, known)}")
    if key == "model.name" and value != config.model["name"]:
        return replace(config, model={"name": value} | options_for_network(value, config.model))
    if section in FREE:
        return replace(config, **{section: getattr(config, section) | {name: value}})
    if section not in SECTIONS:
        raise ValueError(f"no section {section!r}; there are: {', '.join([*SECTIONS, *FREE])}")
    changes = {name: cast(section, name, value)}
    if key in ("steps", "train.steps"):
        changes["epochs"] = 0.0  # a preset in epochs, told to take so many steps
    changed = replace(getattr(config, section), **changes)
    return replace(config, **{section: changed})


def options_for_network(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Of a preset's options for its own network those that another one has too; weights fit no other network."""
    from labkit.models import options_of

    known = set(options_of(name)) - {"weights"} | {"dim"}
    return {option: value for option, value in options.items() if option in known}


def cast(section: str, name: str, value: Any) -> Any:
    """Bring a value to the kind of its setting, so that 1 is accepted for 1.0 but "fast" is not."""
    kinds = {known: kind for known, kind, _ in kinds_of(SECTIONS[section])}
    if name not in kinds:
        raise ValueError(f"no setting {section}.{name}; {section} has: {', '.join(kinds)}{hint(name, list(kinds))}")
    found: dict[str, Any] = {}
    wrong: list[str] = []
    read_into(found, name, kinds[name], value, f"{section}.{name}", wrong)
    if wrong:
        raise ValueError(f"{wrong[0]}: {value!r}")
    return found[name]


def loss_options(loss: str) -> dict[str, inspect.Parameter] | None:
    """The options that a loss takes; of FILE.py:NAME, which is read as text, None where that does not tell."""
    from labkit.losses import CATALOG
    from labkit.losses.own import is_own, own_options

    if is_own(loss):
        found = own_options(loss)
        return None if found is None else {name: p for name, p in found.items() if name not in GIVEN}
    if loss not in CATALOG and loss not in BASELINES:
        if loss.endswith(".py"):
            raise ValueError(f"loss: which class of {loss}? A loss of your own is named FILE.py:NAME, as {loss}:MyLoss")
        known = [*CATALOG, *BASELINES, "FILE.py:NAME"]
        raise ValueError(f"no loss {loss!r}; there are: {', '.join(known)}{hint(loss, known)}")
    return catalogue_options(loss) if loss in CATALOG else {}


def catalogue_options(loss: str) -> dict[str, inspect.Parameter]:
    """The options of a loss of the catalogue, with their defaults."""
    from labkit.losses import CATALOG

    factory = CATALOG[loss].factory
    fixed = set(factory.keywords) - {"g"} if isinstance(factory, partial) else set()
    parameters = inspect.signature(factory).parameters
    return {name: p for name, p in parameters.items() if name not in GIVEN | fixed}


GIVEN = {"num_classes", "dim", "reduction"}  # by training itself


def hint(name: str, known: list[str]) -> str:
    """Did you mean …?"""
    close = difflib.get_close_matches(name, known, 1)
    return f" (did you mean {close[0]}?)" if close else ""
