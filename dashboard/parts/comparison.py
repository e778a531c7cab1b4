"""A comparison: what is compared, its figures as the toggles have them, its table, and all of it to take along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.parts.access import for_visitors
from dashboard.parts.export import picture, report, sweep_lines
from dashboard.parts.runs import devices, is_own
from dashboard.parts.text import figure_names
from labkit.figures.comparison import cost_against_quality, differences, differences_to, profiles, shown
from labkit.figures.results import results, training_curves
from labkit.runs import Run, to_csv, to_latex

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from labkit.runs.compare import PairedDifference
    from labkit.runs.variant import Variant

LEAST = 3  # seeds of which an interval says something
CURVES = 7  # lines that colours and dashes can tell apart


@dataclass(frozen=True)
class Chosen:
    """What is compared: the runs, those of them that figures show, and their variants by the names of their groups."""

    preset: str
    metric: str
    baseline: str
    runs: list[Run]
    near: list[Run]
    frame: pd.DataFrame
    variants: dict[str, Variant]

    @property
    def labels(self) -> dict[str, str]:
        """Names short enough for a figure."""
        return figure_names(self.variants.values())

    @property
    def best(self) -> list[Run]:
        """The runs of the best configurations, as many as lines can be told apart."""
        best = set(self.frame["variant"][:CURVES])
        return [run for run in self.runs if run.variant in best]

    @property
    def differences(self) -> list[PairedDifference]:
        """Each of those that figures show minus the baseline."""
        near = {run.variant for run in self.near}
        return differences_to(self.runs, near, self.variants[self.baseline], self.metric)


def figures_of(chosen: Chosen) -> dict[str, Callable[[], go.Figure]]:
    """Every figure of the comparison as the toggles have it, by the name of its tab; drawn when asked for."""
    near, metric, labels = chosen.near, chosen.metric, chosen.labels
    return {
        "Results": lambda: results(near, metric, labels),
        "Differences": lambda: differences(chosen.differences, labels),
        "During training": lambda: training_curves(chosen.best, metric, labels),
        "All metrics": lambda: profiles(chosen.best, labels),
        "Cost": lambda: cost_against_quality(near, metric, labels),
    }


def results_table(chosen: Chosen) -> list[dict[str, Any]]:
    """A row for each configuration, the user's own first, then by their mean."""
    metric, mine = chosen.metric, {run.variant for run in chosen.runs if is_own(run)}
    columns = ("variant", "n", "mean", "low", "high", "bootstrap_low", "bootstrap_high", "values")
    rows = []
    for variant, n, mean, low, high, blow, bhigh, values in zip(*(chosen.frame[name] for name in columns)):
        row = {"configuration": variant.title} | ({"yours": "✓" * (variant in mine)} if mine else {})
        row |= {"seeds": n, metric: shown(mean, metric)}
        row["95 % interval"] = "too few" if n < LEAST else f"{shown(low, metric)} … {shown(high, metric)}"
        row["bootstrap"] = "" if n < LEAST else f"{shown(blow, metric)} … {shown(bhigh, metric)}"
        row["every seed"] = ", ".join(shown(value, metric) for value in values)
        rows.append(row)
    return sorted(rows, key=lambda row: not row.get("yours"))


def show_export(chosen: Chosen) -> None:
    """Table, figures and the whole as files, and the commands that make the runs again."""
    name = f"{chosen.preset}_{chosen.metric}".replace("@", "")
    drawn = figures_of(chosen)
    which = st.selectbox("Figure", list(drawn), key="figure", bind="query-params")
    files: dict[str, Any] = {
        f"{which} as .{kind}": (partial(draw_picture, drawn[which], kind), kind) for kind in ("png", "svg", "pdf")
    }
    files |= {"Table as .csv": (to_csv(chosen.frame), "csv"), "Table as .tex": (to_latex(chosen.frame), "tex")}
    files["All as one page (.html)"] = (partial(whole, chosen), "html")
    with st.container(horizontal=True):
        for label, (content, kind) in files.items():
            st.download_button(label, content, f"{name}.{kind}", on_click="ignore", icon=":material/download:")
    st.caption("Pictures are for print (300 dots an inch, or lines); the page needs neither network nor Python.")
    st.markdown("Command lines that make these runs again")
    st.code(for_visitors("\n".join(sweep_lines(chosen.runs))), language="bash", wrap_lines=True)


def draw_picture(draw: Callable[[], go.Figure], kind: str) -> bytes:
    """A figure as a file, drawn when it is asked for."""
    return picture(draw(), kind)


def whole(chosen: Chosen) -> str:
    """The comparison as one page."""
    facts = [
        f"{len(chosen.frame)} configurations, {len(chosen.runs)} runs, made on {devices(chosen.runs)}.",
        f"Intervals are Student's, 95 %, over seeds; fewer than {LEAST} seeds are too few for one.",
        *chosen.frame.attrs["notes"],
    ]
    drawn = {name: draw() for name, draw in figures_of(chosen).items()}
    lines = [for_visitors(line) for line in sweep_lines(chosen.runs)]
    return report(f"{chosen.preset}: {chosen.metric} on test classes", facts, drawn, results_table(chosen), lines)
