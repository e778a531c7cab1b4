"""The runs that pages show: where they are, which can be used, and what to say when there are none."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts.access import read_only
from dashboard.parts.text import as_text
from labkit.base.paths import OWN, RECORDED
from labkit.runs import Run, default_roots, find_runs
from labkit.runs.notes import is_recorded
from labkit.runs.read import Known

if TYPE_CHECKING:
    from labkit.runs.claims import Finding

FRESH = 3.0  # seconds for which the list of runs is not read anew


def roots() -> tuple[Path, ...]:
    """Where runs are: LABKIT_RUNS (several folders as in PATH), or the recorded ones and ./runs."""
    chosen = os.environ.get("LABKIT_RUNS")
    return tuple(map(Path, chosen.split(os.pathsep))) if chosen else default_roots()


def own_root() -> Path:
    """Where new runs go: the last folder of LABKIT_RUNS, else ./runs; never to the recorded ones."""
    own = [path.resolve() for path in roots() if not path.resolve().is_relative_to(RECORDED.resolve())]
    return own[-1] if own else OWN.resolve()


@st.cache_resource(show_spinner=False)
def known_runs() -> Known:
    """Runs that were read before, for all visitors: hundreds take longer to read than to look whether they changed."""
    return {}


@st.cache_resource(ttl=FRESH, show_spinner=False)
def read_all(where: tuple[Path, ...]) -> list[Run]:
    """The runs below some folders, at most a few seconds old."""
    return find_runs(*where, known=known_runs())


def all_runs() -> list[Run]:
    """Every run there is to show, with those that cannot be used."""
    return read_all(roots())


def is_own(run: Run) -> bool:
    """Whether it is the user's, not one of those that come with labkit."""
    return not is_recorded(run)


def own_first(runs: Iterable[Run]) -> list[Run]:
    """The user's own runs, the newest first, then the recorded ones by name."""
    runs = sorted(runs, key=lambda run: run.id)
    own = sorted(filter(is_own, runs), key=lambda run: run.record.started, reverse=True)
    return [*own, *(run for run in runs if not is_own(run))]


@st.cache_data(ttl=60, show_spinner=False)
def findings_of(where: tuple[Path, ...], count: int) -> list[Finding]:
    """The findings; folders and number of runs are for the cache."""
    from labkit.runs.claims import findings

    return list(findings(all_runs()))


def all_findings() -> list[Finding]:
    """Every claim with what the runs say about it; at most a minute old."""
    return findings_of(roots(), len(all_runs()))


def no_runs() -> None:
    """What to do where there is no run at all."""
    st.info(
        f"There is no run in {places()}. Train one: `python -m labkit train toy`; `make runs` makes the recorded ones.",
        icon=":material/info:",
    )


def places() -> str:
    """The folders that are looked into, in words; visitors of a shared server are not told paths."""
    return "the folders of runs" if read_only() else ", ".join(f"`{path}`" for path in roots())


def say_if_unknown(key: str, known: Collection[str]) -> None:
    """A run that the address names but that is not here is said to be so; another one is shown in its place."""
    for name in [name for name in st.query_params.get_all(key) if name not in known][:3]:
        st.warning(
            f"There is no run {as_text(name, 120)} to show here; below is another one.", icon=":material/link_off:"
        )


def finished_runs() -> list[Run]:
    """Runs with results; if there are none, the page says what to do and ends."""
    runs = all_runs()
    warn_about_problems(runs)
    finished = [run for run in runs if run.status == "finished" and run.summary is not None and not run.problems]
    if not finished:
        st.info(
            f"There is no finished run in {places()}. Train one with `python -m labkit train toy`; `make runs` makes "
            "the recorded ones. This page looks again when it is reloaded.",
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
                [
                    {
                        "folder": as_text(r.id if read_only() else str(r.path)),
                        "what is wrong": as_text("; ".join(r.problems)),
                    }
                    for r in broken
                ],
                border="horizontal",
                hide_index=True,
            )


def choose_preset(runs: list[Run]) -> tuple[str, list[Run]]:
    """A menu of the presets there are, in the URL; the chosen one and its runs."""
    presets = sorted({run.preset for run in runs if run.preset})
    chosen = st.selectbox("Data set and setting (preset)", presets, key="preset", bind="query-params")
    return chosen, [run for run in runs if run.preset == chosen]


def devices(runs: list[Run]) -> str:
    """What the runs were made on, in words."""
    made = sorted({f"{run.device} ({run.record.device_name or 'unnamed'})" for run in runs if run.device})
    return "; ".join(made) or "not recorded"
