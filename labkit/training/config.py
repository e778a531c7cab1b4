"""What a run is made of: presets are small TOML files, and `--set key=value` changes one entry."""

from __future__ import annotations

import difflib
import inspect
import tomllib
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from labkit._validate import check_choice
from labkit.data.augment import augment
from labkit.data.transforms import FileImages

PRESETS = Path(__file__).parent / "presets"
BASELINES = ("untrained", "pixels")  # evaluated as they are, without a training step
OPTIMIZERS = ("adamw", "adam", "sgd")
SCHEDULES = ("cosine", "constant", "step")
SAMPLERS = ("balanced", "random")
WHILE_TRAINING = ("R@1", "R@10", "MAP@R", "nDCG@10", "intra", "inter", "CSC")  # what validation measures
ACROSS = ("R@1", "MAP@R")  # measured among other designers, too, where the data name them: "R@1 across" in a record


@dataclass(frozen=True)
class BatchConfig:
    """Batches: balanced (classes × per_class) or random (size); micro: items at a time in two passes, 0 for all."""

    sampler: str = "balanced"
    classes: int = 32
    per_class: int = 4
    size: int = 128
    micro: int = 0
    batch_norm: str = "refuse"


@dataclass(frozen=True)
class OptimizerConfig:
    """Learning rates of the model and of the loss's own vectors (proxies, class weights), and how they fall.

    milestones: shares of the training after which "step" multiplies the rates by decay; warmup: steps of linear rise;
    clip: largest norm of the gradient, 0 for no limit.
    """

    name: str = "adamw"
    lr: float = 3e-3
    proxy_lr: float = 3e-2
    weight_decay: float = 1e-4
    schedule: str = "cosine"
    warmup: int = 0
    milestones: tuple[float, ...] = ()
    decay: float = 0.1
    clip: float = 0.0


@dataclass(frozen=True)
class TrainConfig:
    """Length and rhythm, in steps; epochs, where above 0, decides the length instead of steps.

    patience: evaluations on validation classes without a better one before stopping early, 0 for never.
    select: test the weights that were "best" on validation by the metric, or the "last", whose results vary less.
    """

    steps: int = 2000
    epochs: float = 0.0
    evaluate_every: int = 200
    checkpoint_every: int = 200
    log_every: int = 50
    patience: int = 0
    metric: str = "R@1"
    select: str = "best"


@dataclass(frozen=True)
class RecordConfig:
    """What a finished run keeps: embeddings of test and training points, and frames of them while it learns.

    test=false leaves the test classes alone, as tuning must.
    """

    points: int = 2000
    train_points: int = 0
    frames: int = 0
    train_metrics: bool = False
    nmi: bool = True
    test: bool = True


@dataclass(frozen=True)
class Config:
    """Everything that decides a run's result, besides the seed."""

    preset: str
    loss: str
    data: dict[str, Any]
    model: dict[str, Any]
    loss_options: dict[str, Any] = field(default_factory=dict)
    augment: dict[str, Any] = field(default_factory=dict)
    images: dict[str, Any] = field(default_factory=dict)
    batch: BatchConfig = field(default_factory=BatchConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    record: RecordConfig = field(default_factory=RecordConfig)

    def __post_init__(self) -> None:
        """Refuse what could only fail later."""
        check_choice("batch.sampler", self.batch.sampler, SAMPLERS)
        check_choice("optimizer.name", self.optimizer.name, OPTIMIZERS)
        check_choice("optimizer.schedule", self.optimizer.schedule, SCHEDULES)
        check_choice("train.select", self.train.select, ("best", "last"))
        check_choice("train.metric", self.train.metric, (*WHILE_TRAINING, *(f"{name} across" for name in ACROSS)))
        check_choice("batch.batch_norm", self.batch.batch_norm, ("refuse", "freeze"))
        if self.train.patience and self.train.select == "last":
            raise ValueError('train.patience stops after the best weights, so it needs train.select = "best"')
        if self.record.frames == 1:
            raise ValueError("record.frames must be 0, or 2 and more: the first and the last are always taken")
        for section, function in (("augment", augment), ("images", FileImages)):
            known = [*inspect.signature(function).parameters][2:] + ["workers"] * (section == "images")
            for name in getattr(self, section):
                if name not in known:
                    raise ValueError(f"no setting {section}.{name}; there are: {', '.join(known)}{hint(name, known)}")
        for name in ("steps", "evaluate_every", "checkpoint_every", "log_every"):
            if getattr(self.train, name) < (name != "steps"):
                raise ValueError(f"train.{name} is too small: {getattr(self.train, name)}")
        if self.loss not in BASELINES:
            loss_signature(self.loss)

    def as_dict(self) -> dict[str, Any]:
        """For run.json."""
        return asdict(self)


SECTIONS: dict[str, type] = {
    "batch": BatchConfig,
    "optimizer": OptimizerConfig,
    "train": TrainConfig,
    "record": RecordConfig,
}
FREE = ("data", "model", "augment", "images")  # options of functions, which check them themselves


def preset_names() -> list[str]:
    """Names that `labkit train` knows."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def describe(preset: str) -> str:
    """The comment at the top of a preset."""
    lines = (PRESETS / f"{preset}.toml").read_text(encoding="utf-8").splitlines()
    return lines[0].removeprefix("# ")


def load_config(preset: str, loss: str | None = None, settings: Mapping[str, str] | None = None) -> Config:
    """A preset with its default or another loss, and `key=value` settings over it (values as text)."""
    if preset not in preset_names():
        raise ValueError(f"no preset {preset!r}; there are: {', '.join(preset_names())}{hint(preset, preset_names())}")
    content = read_toml(PRESETS / f"{preset}.toml")
    loss = loss or content["loss"]
    # what suits this loss: found by tuning on some data set, and what this preset itself says
    tuned = content.pop("tuned", None)
    suits = read_toml(PRESETS / "tuned" / f"{tuned}.toml").get(loss, {}) if tuned else {}
    suits |= content.pop("losses", {}).get(loss, {})
    config = from_dict(content | {"preset": preset, "loss": loss})
    for key, value in suits.items():
        config = set_value(config, key, value)
    # another network first: it takes the preset's options for the old one away, not those that are set here
    for key, text in sorted((settings or {}).items(), key=lambda entry: entry[0] != "model.name"):
        config = set_value(config, key, parse(text))
    return config


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def from_dict(content: Mapping[str, Any]) -> Config:
    """The Config of a preset file or of a run.json; unknown entries are refused."""
    entries = dict(content)
    unknown = entries.keys() - {f.name for f in fields(Config)}
    if unknown:
        raise ValueError(f"unknown sections in the configuration: {', '.join(sorted(unknown))}")
    for name, section in SECTIONS.items():
        given = dict(entries.get(name, {}))
        names = [f.name for f in fields(section)]
        for key in given:
            if key not in names:
                raise ValueError(f"no setting {name}.{key}; there are: {', '.join(names)}{hint(key, names)}")
        entries[name] = section(**{key: cast(section, key, value) for key, value in given.items()})
    return Config(**entries)


def set_value(config: Config, key: str, value: Any) -> Config:
    """Change one entry: `section.key`, an option of the loss, or a key that only one section has."""
    section, _, name = key.rpartition(".")
    if not section:
        options = {} if config.loss in BASELINES else loss_signature(config.loss)
        if name in options:
            return replace(config, loss_options=config.loss_options | {name: value})
        owners = [s for s, kind in SECTIONS.items() if name in {f.name for f in fields(kind)}]
        if len(owners) != 1:
            known = [*options, *(f"{s}.{f.name}" for s, kind in SECTIONS.items() for f in fields(kind))]
            raise ValueError(f"no setting {key!r} for {config.loss}; there are: {', '.join(known)}{hint(key, known)}")
        section = owners[0]
    if key == "model.name" and value != config.model["name"]:
        return replace(config, model={"name": value} | options_for_network(value, config.model))
    if section in FREE:
        return replace(config, **{section: getattr(config, section) | {name: value}})
    if section not in SECTIONS:
        raise ValueError(f"no section {section!r}; there are: {', '.join([*SECTIONS, *FREE])}")
    names = [f.name for f in fields(SECTIONS[section])]
    if name not in names:
        raise ValueError(f"no setting {key}; {section} has: {', '.join(names)}{hint(name, names)}")
    changes = {name: cast(SECTIONS[section], name, value)}
    if key in ("steps", "train.steps"):
        changes["epochs"] = 0.0  # a preset in epochs, told to take so many steps
    changed = replace(getattr(config, section), **changes)
    return replace(config, **{section: changed})


def options_for_network(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Of a preset's options for its own network those that another one has too; weights fit no other network."""
    from labkit.models import options_of

    known = set(options_of(name)) - {"weights"} | {"dim"}
    return {option: value for option, value in options.items() if option in known}


def cast(section: type, name: str, value: Any) -> Any:
    """Bring a value to the type of its default, so that 1 is accepted for 1.0 but "fast" is not."""
    default = getattr(section, name)
    if isinstance(default, bool) or isinstance(value, bool):
        fits = isinstance(default, bool) and isinstance(value, bool)
    elif isinstance(default, float):
        fits = isinstance(value, int | float)
    elif isinstance(default, tuple):
        fits = isinstance(value, list | tuple)
    else:
        fits = isinstance(value, type(default))
    if not fits:
        raise ValueError(f"{name} must be of the kind {default!r}; got {value!r}")
    return type(default)(value)


def loss_signature(loss: str) -> dict[str, inspect.Parameter]:
    """The options that a loss takes, of the catalogue or FILE.py:NAME."""
    from labkit.losses import CATALOG
    from labkit.losses.own import card_of, is_own

    if loss not in CATALOG and not is_own(loss):
        known = [*CATALOG, *BASELINES, "FILE.py:NAME"]
        raise ValueError(f"no loss {loss!r}; there are: {', '.join(known)}{hint(loss, known)}")
    factory = card_of(loss).factory
    fixed = set(factory.keywords) - {"g"} if isinstance(factory, partial) else set()
    parameters = inspect.signature(factory).parameters
    return {n: p for n, p in parameters.items() if n not in {"num_classes", "dim", "reduction"} | fixed}


def parse(text: str) -> Any:
    """A value from the command line: a number, true or false, a list or tuple; else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def hint(name: str, known: list[str]) -> str:
    """Did you mean …?"""
    close = difflib.get_close_matches(name, known, 1)
    return f" (did you mean {close[0]}?)" if close else ""
