"""What run.json and summary.json hold, declared once: training writes these records, everything else reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from labkit.base.typed import Needed, NeededOrNull, read_as
from labkit.runs.schema import is_run_id

SCHEMA = 1
Metrics = dict[str, float | None]
OPTIMIZERS = ("adamw", "adam", "sgd")
STATUSES = ("running", "finished", "interrupted", "failed")


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
class RunSettings:
    """Everything that decides a run's result, besides the seed. Readers take all of it, training checks what it starts.

    data, model, loss_options, augment and images are options of functions, which check them themselves.
    """

    preset: str = ""
    loss: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    loss_options: dict[str, Any] = field(default_factory=dict)
    augment: dict[str, Any] = field(default_factory=dict)
    images: dict[str, Any] = field(default_factory=dict)
    batch: BatchConfig = field(default_factory=BatchConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    record: RecordConfig = field(default_factory=RecordConfig)


SECTIONS: dict[str, type] = {
    "batch": BatchConfig,
    "optimizer": OptimizerConfig,
    "train": TrainConfig,
    "record": RecordConfig,
}
FREE = ("data", "model", "augment", "images")


@dataclass(frozen=True)
class DataFacts:
    """Sizes of the data and a hash over everything that was trained and tested on."""

    name: Needed[str] = ""
    sha256: Needed[str] = ""
    train: Needed[int] = 0
    validation: Needed[int] = 0
    test: Needed[int] = 0
    train_classes: Needed[int] = 0
    test_classes: Needed[int] = 0
    validation_classes: int = 0
    gallery: int | None = None


@dataclass(frozen=True)
class LossFile:
    """The file of a loss of the user's own, and its checksum when the run began."""

    file: Needed[str] = ""
    sha256: Needed[str] = ""


@dataclass(frozen=True)
class Resumed:
    """A run went on from this step, with this code and on this machine."""

    step: int = 0
    commit: str | None = None
    dirty: bool | None = None
    versions: dict[str, str] = field(default_factory=dict)
    device_name: str = ""


@dataclass(frozen=True)
class RunRecord:
    """run.json: what was chosen, where it was computed, and how far it has come."""

    schema: Needed[int] = 0
    id: Needed[str] = ""
    group: Needed[str] = ""
    preset: Needed[str] = ""
    loss: Needed[str] = ""
    seed: Needed[int | None] = None
    overrides: Needed[dict[str, Any]] = field(default_factory=dict)
    command: Needed[str] = ""
    keep: str = "all"
    config: Needed[RunSettings] = field(default_factory=RunSettings)
    loss_file: LossFile | None = None
    commit: NeededOrNull[str | None] = None
    dirty: NeededOrNull[bool | None] = None
    versions: Needed[dict[str, str]] = field(default_factory=dict)
    host: Needed[dict[str, str]] = field(default_factory=dict)
    device: Needed[str] = ""
    device_name: Needed[str] = ""
    threads: Needed[int] = 0
    processes: Needed[int] = 0
    parameters: int | None = None
    data: Needed[DataFacts] = field(default_factory=DataFacts)
    status: Needed[str] = ""
    error: NeededOrNull[str | None] = None
    started: Needed[str] = ""
    ended: NeededOrNull[str | None] = None
    pid: Needed[int] = 0
    pid_started: NeededOrNull[float | None] = None
    node: str = ""
    resumed: tuple[Resumed, ...] = ()


@dataclass(frozen=True)
class Summary:
    """summary.json: what a finished run found. Metrics of test classes, of the best and the last weights, and so on.

    A metric is null where it came out as NaN; test is null where the test classes were left alone.
    """

    schema: Needed[int] = 0
    steps: int | None = None
    best_step: int | None = None
    validation: Metrics | None = None
    test: Metrics | None = None
    test_last: Metrics | None = None
    train: Metrics | None = None
    loss: float | None = None
    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    peak_memory_mb: float | None = None


def read_record(content: object) -> tuple[RunRecord, list[str]]:
    """The content of run.json as a record, and what is wrong with it."""
    record, wrong = read_as(RunRecord, content, "run.json")
    if not isinstance(content, dict):
        return record, wrong
    if newer := check_schema("run.json", content):
        return record, newer
    texts = {name: getattr(record, name) for name in CHECKS if isinstance(content.get(name), str)}
    wrong += [
        f"run.json: {name} {CHECKS[name][1]}, got {t[:40]!r}" for name, t in texts.items() if not CHECKS[name][0](t)
    ]
    return record, wrong


def read_summary(content: object) -> tuple[Summary, list[str]]:
    """The content of summary.json, and what is wrong with it."""
    summary, wrong = read_as(Summary, content, "summary.json")
    return summary, (check_schema("summary.json", content) if isinstance(content, dict) else []) or wrong


def check_schema(file: str, content: dict[str, Any]) -> list[str]:
    """A schema this version of labkit knows; of another one, nothing else is said."""
    schema = content.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        return [f"{file}: schema must be a whole number, 1 or above"]
    if schema > SCHEMA:
        return [f"{file} has schema {str(schema)[:20]}, this labkit knows {SCHEMA}: update labkit to read it in full"]
    return []


def is_time(text: str) -> bool:
    """A date and time in ISO form."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


IS_ID = (is_run_id, "may hold at most 120 letters, digits and -_.=+, (no dot in front)")
IS_TIME = (is_time, "must be a time such as 2025-01-31T12:00:00+00:00")
CHECKS: dict[str, tuple[Callable[[str], bool], str]] = {
    "id": IS_ID,
    "group": IS_ID,
    "status": (lambda text: text in STATUSES, f"must be one of {', '.join(STATUSES)}"),
    "started": IS_TIME,
    "ended": IS_TIME,
}
