"""Which runs were made with a setting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from labkit.runs.run import Run
from labkit.runs.schema import RunError
from labkit.runs.variant import as_value, full_key


def made_with(runs: Iterable[Run], conditions: Iterable[str]) -> list[Run]:
    """The runs for which every condition KEY=VALUE holds."""
    chosen = list(runs)
    for condition in conditions:
        key, equals, text = condition.partition("=")
        if not equals or not key:
            raise RunError(f"a setting must have the form KEY=VALUE, such as tau=0.02; got {condition!r}")
        value = as_value(text)
        chosen = [run for run in chosen if (found := setting(run, key)) is not None and found == value]
    return chosen


def setting(run: Run, key: str) -> Any:
    """What a run was made with: a setting that was chosen or came from the preset, or a field of run.json."""
    full = full_key(key)
    if full in run.variant.settings:
        return run.variant.settings[full]
    first, *rest = full.split(".")
    owners = (run.record.config, run.record.config.loss_options, run.record)
    value = next((found for owner in owners if (found := part_of(owner, first)) is not None), None)
    for part in rest:
        value = part_of(value, part)
    return as_value(value)


def part_of(value: Any, name: str) -> Any:
    """A field of a record or an entry of an object; None if it has none."""
    return value.get(name) if isinstance(value, dict) else vars(value).get(name) if hasattr(value, "__dict__") else None
