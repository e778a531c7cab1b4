"""What was chosen for a run, as a value: a preset, a loss, and the settings that were changed.

It names the run's folder, is read back from such a name, and is compared by what it means: `lr=1e-3` is
`optimizer.lr=0.001`, a setting spelt out with the preset's own value or the loss's default is no change, and `a.py:L`
is not `b.py:L`.
"""

from __future__ import annotations

import hashlib
import os
import re
from ast import literal_eval
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from typing import Any

from labkit.base.titles import PHRASES, TITLES
from labkit.runs.presets import WORDS, default_options, kind_of, own_settings, preset_content, tuned_settings
from labkit.runs.record import FREE, OPTIMIZERS, SECTIONS

LONGEST = 110  # letters of a name, so that a seed and a number fit behind it
UNSAFE = re.compile(r"[^A-Za-z0-9_.=+,-]")
KEY = r"_[A-Za-z]\w*="
NAME = re.compile(rf"([^_]*)_(.+?)((?:{KEY}.*)?)")
SETTING = re.compile(rf"_([A-Za-z]\w*)=(.*?)(?={KEY}|$)")
OWN_LOSS = re.compile(r"(.+\.py)[:+]([^:+]*)")


@dataclass(frozen=True, eq=False)
class Variant:
    """A preset, a loss (of the catalogue, a baseline, or FILE.py:NAME), and settings as after `--set` or as values."""

    preset: str
    loss: str
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All overrides as values, by their full keys (`optimizer.lr`, and `tau` for an option of the loss)."""
        found = {full_key(key): as_value(value) for key, value in self.overrides.items()}
        return dict(sorted(found.items(), key=lambda entry: (short_key(entry[0]), entry[0])))

    @cached_property
    def changes(self) -> dict[str, Any]:
        """The settings that differ from what the preset says anyway."""
        usual = usual_settings(self.preset, self.loss)
        if self.settings.get("model.name", usual.get("model.name")) != usual.get("model.name"):
            usual = {key: value for key, value in usual.items() if not key.startswith("model.")}  # of another network
        return {key: value for key, value in self.settings.items() if key not in usual or usual[key] != value}

    @cached_property
    def identity(self) -> tuple[Any, ...]:
        """What two variants are compared by."""
        return self.preset, normal_loss(self.loss), frozenset(self.changes.items())

    def __eq__(self, other: object) -> bool:
        """Whether both mean the same run, apart from the seed."""
        return isinstance(other, Variant) and self.identity == other.identity

    def __hash__(self) -> int:
        """For groups of runs."""
        return hash(self.identity)

    @cached_property
    def name(self) -> str:
        """A run's id without its seed: safe as a folder's name, with a checksum where that loses a part."""
        chosen = [f"{short_key(key)}={as_text(value)}" for key, value in self.settings.items()]
        loss = normal_loss(self.loss)
        parts = [self.preset, loss.replace(".py:", ".py+"), *chosen]
        whole, parts[1] = "_".join(filter(None, parts)), os.path.basename(parts[1])
        shown = UNSAFE.sub("", "_".join(filter(None, parts)))
        if shown == whole and len(shown) <= LONGEST:
            return shown
        return f"{shown[: LONGEST - 10]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"

    @classmethod
    def read(cls, name: str) -> Variant:
        """The variant that a name was made of; a name with a checksum has lost a part and gives another variant."""
        found = NAME.fullmatch(name)
        if found is None:
            return cls(name, "")
        preset, loss, settings = found.groups()
        own = OWN_LOSS.fullmatch(loss)
        overrides = {known_key(key, value): value for key, value in SETTING.findall(settings)}
        return cls(preset, f"{own[1]}:{own[2]}" if own else loss, overrides)

    def is_named(self, name: str) -> bool:
        """Whether somebody who writes this name means this variant."""
        return name == self.name or Variant.read(name) == self

    def run_id(self, seed: int) -> str:
        """The name of a run's folder."""
        return f"{self.name}_s{seed}"

    @property
    def loss_title(self) -> str:
        """The loss's name for people."""
        if self.loss == "untrained" and kind_of(self.preset) == WORDS:
            return "reader as it is"  # it was trained before
        own = OWN_LOSS.fullmatch(self.loss)
        return f"{own[2]} ({os.path.basename(own[1])})" if own else TITLES.get(self.loss, self.loss)

    @property
    def phrases(self) -> list[str]:
        """What was changed, in words."""
        return [phrase(key, value) for key, value in self.changes.items()]

    @property
    def title(self) -> str:
        """The name for people, where the preset has been said: "PNP-D_q, α = 4"."""
        return ", ".join([self.loss_title, *self.phrases])

    def __str__(self) -> str:
        """The name for people, with the preset: "omniglot: PNP-D_q, α = 4"."""
        return f"{self.preset}: {self.title}"


@cache
def full_key(key: str) -> str:
    """A key with its section, if one of them has it; else it is an option of the loss."""
    owners = [section for section, kind in SECTIONS.items() if key in {entry.name for entry in fields(kind)}]
    return f"{owners[0]}.{key}" if len(owners) == 1 else key


def short_key(key: str) -> str:
    """A key without its section."""
    return key.rpartition(".")[2]


def known_key(key: str, value: str) -> str:
    """The full key that a short one in a name stands for: names leave out the section."""
    if key == "name":  # of a network or of an optimizer
        return "optimizer.name" if value in OPTIMIZERS else "model.name"
    return next((known for known in PHRASES if short_key(known) == key), full_key(key))


@cache
def usual_settings(preset: str, loss: str) -> dict[str, Any]:
    """What a preset, or else the loss's signature, says of every setting; nothing of a preset that is not there.

    What tuning decides is not among it: a setting that was spelt out stays when the tuning is done again.
    """
    if kind_of(preset) is None:
        return {}
    content = preset_content(preset)
    found = {f"{s}.{entry.name}": entry.default for s, kind in SECTIONS.items() for entry in fields(kind)}
    found |= default_options().get(loss, {})
    found |= {f"{s}.{name}": value for s in (*SECTIONS, *FREE) for name, value in content.get(s, {}).items()}
    for key in tuned_settings(preset, loss):
        found.pop(full_key(key), None)
    found |= {full_key(key): value for key, value in own_settings(preset, loss).items()}
    if found["train.epochs"]:  # they decide the length, whatever the steps
        del found["train.steps"]
    return {key: as_value(value) for key, value in found.items()}


def normal_loss(loss: str) -> str:
    """The same file is the same loss, however its path is written."""
    own = OWN_LOSS.fullmatch(loss)
    return f"{os.path.normpath(own[1])}:{own[2]}" if own else loss


def read_settings(entries: Iterable[str]) -> dict[str, str]:
    """Settings as after `--set`, KEY=VALUE each; one that is given twice is refused, also as lr and optimizer.lr."""
    found: dict[str, str] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals or not name:
            raise ValueError(f"--set takes KEY=VALUE, such as tau=0.02; got {entry!r}")
        if twice := [known for known in found if full_key(known) == full_key(name)]:
            raise ValueError(f"--set gives {full_key(name)} twice ({twice[0]}={found[twice[0]]} and {entry}): give one")
        found[name] = value
    return found


def settings_over(before: Mapping[str, str], over: Mapping[str, str]) -> dict[str, str]:
    """The settings of both; where both name the same one, however it is written, the second counts."""
    named = {full_key(key) for key in over}
    return {key: value for key, value in before.items() if full_key(key) not in named} | dict(over)


def parse(text: str) -> Any:
    """A value from the command line: a number, true or false, a list or tuple; else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def as_value(value: Any) -> Any:
    """A setting as it is compared: text is read, lists are tuples."""
    if isinstance(value, str):
        value = parse(value)
    if isinstance(value, list | tuple):
        return tuple(as_value(entry) for entry in value)
    return value if isinstance(value, bool | int | float | str | None) else repr(value)


def as_text(value: Any) -> str:
    """A setting as it is written in a name: (1, 2) as 1,2 and (1,) as 1, with its comma."""
    if isinstance(value, tuple):
        return ",".join(map(as_text, value)) + "," * (len(value) == 1)
    return str(value).lower() if isinstance(value, bool) else str(value)


def phrase(key: str, value: Any) -> str:
    """A setting in words."""
    shown = ", ".join(map(in_words, value)) if isinstance(value, tuple) else in_words(value)
    return PHRASES[key].format(shown) if key in PHRASES else f"{short_key(key).replace('_', ' ')} = {shown}"


def in_words(value: Any) -> str:
    """A value for people: 4 for 4.0."""
    return f"{value:g}" if isinstance(value, float) else as_text(value) or "nothing"
