"""Run: everything about one run: result, settings, provenance, curves, files, and how to repeat or move it."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.pages import place
from dashboard.parts.access import for_visitors
from dashboard.parts.layout import show_tabs
from dashboard.parts.links import run_links
from dashboard.parts.menus import one_of, run_titles
from dashboard.parts.runs import all_runs, is_own, no_runs, own_first, say_if_unknown, warn_about_problems
from dashboard.parts.text import as_text
from labkit.figures.comparison import shown
from labkit.figures.results import training_curves
from labkit.runs import Run, RunError, export_runs

PICTURED = "emoji"  # a preset whose runs have points, pictures and curves to look at
HEADLINE = ("R@1", "MAP@R", "nDCG@10", "NMI", "CSC")
FACTS = {
    "commit": "commit",
    "dirty": "uncommitted changes",
    "device": "device",
    "device_name": "device name",
    "threads": "threads",
    "processes": "processes",
    "parameters": "parameters of the network",
    "host": "host",
    "started": "started",
    "ended": "ended",
    "wall_seconds": "wall time (s)",
    "cpu_seconds": "CPU time (s)",
    "peak_memory_mb": "peak memory (MB)",
}


def page() -> None:
    """Choose a run; its result, then tabs."""
    st.title("One run")
    runs = all_runs()
    warn_about_problems(runs)
    readable = {run.id: run for run in own_first(run for run in runs if not run.problems)}
    if not readable:
        no_runs()
        return
    say_if_unknown("run", readable)
    first = first_run(list(readable.values())).id
    run = readable[one_of(f"Run ({len(readable)} there)", run_titles(readable.values()), first, "run")]
    st.caption(
        f"Status: **{run.status}**. Made on {as_text(run.device or 'an unknown device')} "
        f"({as_text(run.record.device_name or 'no name recorded')})."
    )
    run_links(run, place, "run")
    show_result(run)
    contents = {
        "Curves": show_curves,
        "Settings": show_settings,
        "Provenance": show_origin,
        "Files and export": show_files,
    }
    show_tabs({name: partial(show, run) for name, show in contents.items()})


def first_run(runs: list[Run]) -> Run:
    """The newest of the user's own, or of those recorded with pictures the one with the highest test R@1."""
    return runs[0] if is_own(runs[0]) else max(runs, key=lambda r: (r.preset == PICTURED, r.value("R@1") or 0.0))


def flat(content: dict[str, Any], prefix: str = "") -> list[dict[str, str]]:
    """Nested settings as rows."""
    rows = []
    for key, value in content.items():
        name = f"{prefix}{key}"
        rows += (
            flat(value, f"{name}.")
            if isinstance(value, dict)
            else [{"setting": name, "value": for_visitors(str(value))}]
        )
    return rows


def show_result(run: Run) -> None:
    """The headline numbers, test classes first."""
    split = "test" if any(run.value(name) is not None for name in HEADLINE) else "validation"
    found = [(name, run.value(name, split)) for name in HEADLINE]
    measured = [(name, value) for name, value in found if value is not None]
    if not measured:
        st.info(f"No results yet: the run is {run.status}. {as_text(run.advice)}")
        return
    for column, (name, value) in zip(st.columns(len(measured)), measured):
        column.metric(f"{split} {name}", shown(value, name))


def show_curves(run: Run) -> None:
    """One curve of the training, chosen from those it has written."""
    rows = run.curves()
    if wrong := run.log_problem():
        st.warning(as_text(wrong), icon=":material/warning:")
    if not rows:
        st.info("This run has written no curve.")
        return
    metrics = [name for name in ("R@1", "MAP@R", "nDCG@10", "CSC", "loss") if any(name in row for row in rows)]
    chosen = st.selectbox("Curve", metrics, key="curve", bind="query-params")
    st.plotly_chart(
        training_curves([run], chosen).update_layout(showlegend=False),
        theme=None,
        key="curves",
        alt=f"{chosen} of this run during training.",
    )
    st.caption("The loss is that of training batches; all else was measured on validation classes.")


def show_settings(run: Run) -> None:
    """The whole configuration."""
    st.dataframe(flat(asdict(run.record.config)), hide_index=True)


def show_origin(run: Run) -> None:
    """Where it comes from: commit, machine, versions, data."""
    known = asdict(run.record) | (asdict(run.summary) if run.summary else {})
    facts = [{"what": name, "value": str(known[key])} for key, name in FACTS.items() if known.get(key) is not None]
    facts += [{"what": f"version of {name}", "value": v} for name, v in run.record.versions.items()]
    facts += [{"what": f"data: {name}", "value": str(v)} for name, v in known["data"].items() if v is not None]
    st.dataframe(facts, hide_index=True)


def show_files(run: Run) -> None:
    """Its command, its files, and a zip of it."""
    st.markdown("Make it again")
    st.code(for_visitors(run.record.command) or "not recorded", language="bash")
    listed = [path for path in sorted(run.path.rglob("*")) if path.is_file() and not path.is_symlink()]
    sizes = {str(path.relative_to(run.path)): path.stat().st_size for path in listed}
    sizes |= {name: len(text) for name, text in (run.texts or {}).items()}  # of a pack
    st.dataframe([{"file": name, "kB": round(size / 1000, 1)} for name, size in sizes.items()], hide_index=True)
    show_export(run)


def show_export(run: Run) -> None:
    """The zip is made when asked for: it can be large."""
    if st.button("Make a zip of this run", icon=":material/archive:"):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / f"{run.id}.zip"
            try:
                export_runs([run], target)
            except RunError as error:
                st.error(as_text(str(error)))
                return
            st.download_button("Save the zip", target.read_bytes(), f"{run.id}.zip")
    st.caption("`python -m labkit runs import FILE.zip` brings it in elsewhere.")
