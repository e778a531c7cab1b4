"""Runs as a table: what its columns hold, which runs pass the filters, in which order they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import streamlit as st

from dashboard.parts.links import ICONS, LABELS, address_of
from labkit.base.words import is_share
from labkit.runs import Run
from labkit.runs.notes import Notes, is_recorded
from labkit.runs.select import made_with

METRICS = ("R@1", "MAP@R", "nDCG@10", "NMI", "CSC")
FACTS: dict[str, Callable[[Run], Any]] = {
    "name": lambda run: run.title if run.record.loss else run.id,
    "preset": lambda run: run.preset,
    "loss": lambda run: run.variant.loss_title,
    "settings": lambda run: ", ".join(run.variant.phrases),
    "seed": lambda run: run.seed,
    "status": lambda run: "cannot be used" if run.problems else run.status,
    "started": lambda run: run.record.started[:16].replace("T", " "),
    "device": lambda run: run.device,
    "device name": lambda run: run.record.device_name,
    "minutes": lambda run: None if run.seconds is None else round(run.seconds / 60, 2),
    "data": lambda run: run.data_name,
    "dimension": lambda run: run.record.config.model.get("dim"),
    "parameters": lambda run: run.record.parameters,
    "commit": lambda run: (run.record.commit or "")[:9],
    "yours": lambda run: "" if is_recorded(run) else "✓",
    "folder": lambda run: run.id,
}
WRITTEN = ("tags", "note")
COLUMNS = ("name", "preset", *METRICS, *(name for name in FACTS if name not in ("name", "preset")), *WRITTEN)
FIRST = ["name", "preset", "R@1", "MAP@R", "status", "started", "tags"]


@dataclass(frozen=True)
class Filters:
    """What runs must be like; empty: anything."""

    presets: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    words: str = ""
    first: date | None = None
    last: date | None = None
    own: bool = False


def passing(runs: list[Run], filters: Filters, notes: Mapping[str, Notes]) -> list[Run]:
    """The runs that pass; a word with "=" is a setting, any other is looked for in names and notes."""
    words = filters.words.split()
    conditions = [word for word in words if "=" in word]
    texts = [word.casefold() for word in words if "=" not in word]
    chosen = {"preset": filters.presets, "loss": filters.losses, "device": filters.devices, "status": filters.statuses}
    checks = [(FACTS[name], set(values)) for name, values in chosen.items() if values]
    found = [run for run in made_with(runs, conditions) if all(fact(run) in wanted for fact, wanted in checks)]
    if filters.own:
        found = [run for run in found if not is_recorded(run)]
    if filters.tags:
        found = [run for run in found if set(filters.tags) <= set(notes.get(str(run.path), Notes()).tags)]
    if filters.first or filters.last:
        low, high = str(filters.first or ""), str(filters.last or "9999")
        found = [run for run in found if low <= run.record.started[:10] <= high]
    return [run for run in found if all(text in said(run, notes) for text in texts)] if texts else found


def said(run: Run, notes: Mapping[str, Notes]) -> str:
    """All words that a run can be found by."""
    written = notes.get(str(run.path), Notes())
    return " ".join((run.id, run.preset, run.title, *written.tags, written.note)).casefold()


def value(run: Run, column: str, notes: Mapping[str, Notes]) -> Any:
    """What stands in a column."""
    if column in METRICS:
        found = run.value(column)
        return None if found is None else 100 * found if is_share(column) else found
    if column in WRITTEN:
        written = notes.get(str(run.path), Notes())
        return ", ".join(written.tags) if column == "tags" else written.note
    return FACTS[column](run)


def in_order(runs: list[Run], column: str, falling: bool, notes: Mapping[str, Notes]) -> list[Run]:
    """By a column; those that have nothing in it come last."""
    keyed = [(value(run, column, notes), run) for run in runs]
    some = [(key, run) for key, run in keyed if key not in (None, "")]
    some.sort(key=lambda pair: pair[0], reverse=falling)
    return [*(run for _, run in some), *(run for key, run in keyed if key in (None, ""))]


def columns_of(runs: list[Run], columns: list[str], notes: Mapping[str, Notes]) -> dict[str, list[Any]]:
    """The table, with a link to every page that shows the run."""
    table = {name: [value(run, name, notes) for run in runs] for name in columns}
    links = known_links()
    ways = {LABELS[page]: [links(page, run) for run in runs] for page in LABELS}
    name = {"name": table.pop("name")} if "name" in table else {}
    return name | ways | table  # beside the name, where a narrow window shows them, too


@st.cache_resource(ttl=20, show_spinner=False)
def known_links() -> Callable[[str, Run], str]:
    """Addresses as they were found in the last seconds: of thousands of runs it takes a while to look for files."""
    found: dict[tuple[str, str], str] = {}

    def address(page: str, run: Run) -> str:
        key = page, str(run.path)
        if key not in found:
            found[key] = address_of(page, run)
        return found[key]

    return address


def looks(columns: list[str]) -> dict[str, Any]:
    """How columns are shown."""
    config: dict[str, Any] = {
        LABELS[page]: st.column_config.LinkColumn(
            LABELS[page], width=62, display_text=f":material/{icon}:", help=f"{LABELS[page]} of this run, in a new tab"
        )
        for page, icon in ICONS.items()
    }
    for name in columns:
        if name in METRICS:
            unit = " (%)" if is_share(name) else ""
            config[name] = st.column_config.NumberColumn(f"test {name}{unit}", format="%.1f" if unit else "%.3f")
    wide = {"name": 200, "note": 260, "settings": 240}
    config |= {name: st.column_config.TextColumn(name, width=wide[name]) for name in columns if name in wide}
    return config
