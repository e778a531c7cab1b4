"""What the pages share: the runs, how they are called, and what to say when there are none."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from labkit.runs import Run, default_roots, find_runs

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from labkit.runs.claims import Finding

FRESH = 3.0  # seconds for which the list of runs is not read anew


def roots() -> tuple[Path, ...]:
    """Where runs are: LABKIT_RUNS (several folders as in PATH), or the recorded ones and ./runs."""
    chosen = os.environ.get("LABKIT_RUNS")
    return tuple(map(Path, chosen.split(os.pathsep))) if chosen else default_roots()


@st.cache_resource(show_spinner=False)
def known_runs() -> dict:
    """Runs that were read before, for all visitors: hundreds take longer to read than to look whether they changed."""
    return {}


@st.cache_resource(ttl=FRESH, show_spinner=False)
def read_all(where: tuple[Path, ...]) -> list[Run]:
    return find_runs(*where, known=known_runs())


def all_runs() -> list[Run]:
    return read_all(roots())


@st.cache_data(ttl=60, show_spinner=False)
def findings_of(where: tuple[Path, ...], count: int) -> list[Finding]:
    from labkit.runs.claims import findings

    return list(findings(all_runs()))


def all_findings() -> list[Finding]:
    """Every claim with what the runs say about it; at most a minute old."""
    return findings_of(roots(), len(all_runs()))


def finished_runs() -> list[Run]:
    """Runs with results; if there are none, the page says what to do and ends."""
    runs = all_runs()
    warn_about_problems(runs)
    finished = [run for run in runs if run.status == "finished" and run.summary is not None and not run.problems]
    if not finished:
        where = ", ".join(f"`{path}`" for path in roots())
        st.info(
            f"There is no finished run in {where}. Train one with `python -m labkit train toy`; `make runs` makes the "
            "recorded ones. This page looks again when it is reloaded.",
            icon=":material/info:",
        )
        st.stop()
    return finished


def warn_about_problems(runs: list[Run]) -> None:
    """Runs that cannot be read are named; the others work."""
    broken = [run for run in runs if run.problems]
    if broken:
        with st.expander(
            f"{len(broken)} run folder{'s' * (len(broken) > 1)} cannot be used", icon=":material/warning:"
        ):
            st.table(
                [{"folder": as_text(str(r.path)), "what is wrong": as_text("; ".join(r.problems))} for r in broken],
                border="horizontal", hide_index=True,
            )  # fmt: skip


def as_text(text: str, longest: int = 300) -> str:
    """Text that Markdown shows as it is: names of runs may hold anything."""
    short = text if len(text) <= longest else f"{text[:longest]}…"
    return "".join(f"\\{mark}" if mark in r"\`*_{}[]<>()#+-.!|~$:&" else mark for mark in short)


def choose_preset(runs: list[Run]) -> tuple[str, list[Run]]:
    """A menu of the presets there are, in the URL; the chosen one and its runs."""
    presets = sorted({run.preset for run in runs if run.preset})
    chosen = st.selectbox("Data set and setting (preset)", presets, key="preset", bind="query-params")
    return chosen, [run for run in runs if run.preset == chosen]


def short_names(runs: list[Run]) -> dict[str, str]:
    """Groups without their preset, which the page has said: "pnp-dq, alpha=4.0" for "omniglot_pnp-dq_alpha=4.0"."""
    found = {}
    for group, preset in {run.group: run.preset for run in runs}.items():
        loss, _, settings = group.removeprefix(f"{preset}_").partition("_")
        # a name of a setting may hold "_": only the one behind a value stands between two of them
        found[group] = ", ".join(filter(None, (loss, re.sub(r"(=[^_]*)_", r"\1, ", settings))))
    return found


def figure_names(names: dict[str, str], longest: int = 36) -> dict[str, str]:
    """Names that leave room for the figure: of long ones only the settings in which those of one loss differ."""
    long: dict[str, dict[str, list[str]]] = {}
    for group, name in names.items():
        if len(name) > longest:
            loss, *settings = name.split(", ")
            long.setdefault(loss, {})[group] = settings
    shown = dict(names)
    for loss, found in long.items():
        same = set.intersection(*map(set, found.values())) if len(found) > 1 else set()
        for group, settings in found.items():
            own = ", ".join([loss, *(one for one in settings if one not in same)])
            shown[group] = f"{own[:longest]}…"
    for name in list(shown.values()):
        others = [other for other in shown if shown[other] == name]
        for number, other in enumerate(others[1:], 2):  # a figure would take equal names for one
            shown[other] = f"{name} ({number})"
    return shown


def devices(runs: list[Run]) -> str:
    """What the runs were made on, in words."""
    made = sorted({f"{run.device} ({run.text('device_name') or 'unnamed'})" for run in runs if run.device})
    return "; ".join(made) or "not recorded"


def show_tabs(contents: dict[str, Callable[[], None]], key: str = "view") -> None:
    """Tabs of which only the open one is drawn; which one is in the URL."""
    for tab, show in zip(st.tabs(list(contents), key=key, on_change="rerun", bind="query-params"), contents.values()):
        if tab.open:
            with tab:
                show()


def legend_on_top(fig: go.Figure) -> go.Figure:
    """Beside a figure it would take half of a narrow window."""
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}
    return fig.update_layout(legend=legend, margin={"t": 70}, height=(fig.layout.height or 380) + 40)
