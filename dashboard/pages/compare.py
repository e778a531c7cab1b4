"""Compare runs: means, seeds, intervals, differences to a baseline, curves, cost, and the way to repeat it all."""

from __future__ import annotations

import io
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.parts.layout import legend_on_top, show_tabs
from dashboard.parts.menus import one_of, some_of
from dashboard.parts.runs import all_runs, choose_preset, devices, finished_runs, is_own
from dashboard.parts.text import as_text, figure_names, group_titles
from labkit.explorers.columns import side_by_side
from labkit.figures.comparison import METRICS, cost_against_quality, differences, differences_to, profiles, shown
from labkit.figures.results import results, training_curves
from labkit.figures.static import small_multiples
from labkit.runs import Run, table, to_csv, to_latex

if TYPE_CHECKING:
    import pandas as pd

    from labkit.runs.variant import Variant

BASELINES = ("untrained", "pixels")  # not trained: far below, and yet in every table
CURVES = 7  # lines that colours and dashes can tell apart
LEFT_OUT = 5  # damaged runs that are named beside the results; all are in the list at the top


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


def page() -> None:
    """Choose runs and a metric; then tabs."""
    st.title("Compare runs")
    chosen = choose(finished_runs())
    if chosen is None:
        st.warning("These runs have no test results. Choose another preset, or train one with a test.")
        return
    contents = {
        "Results": show_results,
        "Differences": show_differences,
        "During training": show_training,
        "All metrics": show_metrics,
        "Cost": show_cost,
        "Export": show_export,
    }
    show_tabs({name: partial(show, chosen) for name, show in contents.items()})


def choose(everything: list[Run]) -> Chosen | None:
    """The menus; None where nothing was measured on test classes."""
    left, middle, right = st.columns([2, 1, 2])
    with left:
        preset, runs = choose_preset(everything)
    available = [metric for metric in METRICS if any(run.value(metric) is not None for run in runs)]
    if not available:
        return None
    metric = middle.selectbox("Metric", available, key="metric", bind="query-params")
    variants = {variant.name: variant for variant in table(runs, metric)["variant"]}
    plain = [group for group, variant in variants.items() if not variant.changes]
    mine = {run.variant for run in runs if is_own(run)}
    shown_first = [group for group, variant in variants.items() if group in plain or variant in mine]
    titles = group_titles(variants.values())
    accept_old_addresses(preset, titles)
    with right:
        baseline = one_of("Baseline", titles, first_baseline(variants, plain), "baseline")
    groups = some_of("Losses and settings (empty: every loss)", titles, [], "groups")
    left, right = side_by_side("which", 2, 320)
    varied = len(variants) - len(shown_first) if plain and not groups else 0
    if varied and not left.toggle(f"Also the {varied} with settings of their own", key="varied", bind="query-params"):
        groups = shown_first
    kept = {variants[group] for group in (*(groups or variants), baseline)}
    runs = [run for run in runs if run.variant in kept]
    frame = table(runs, metric)
    say_what_is_shown(runs, frame, len(variants))
    say_what_is_left_out(preset)
    with right if varied else left:
        near = only_trained(runs)
    return Chosen(preset, metric, baseline, runs, near, frame, variants)


def accept_old_addresses(preset: str, groups: Collection[str]) -> None:
    """Addresses once said "pnp-dq, alpha=4.0" for the group "omniglot_pnp-dq_alpha=4.0"."""
    for key in ("baseline", "groups"):
        said = st.query_params.get_all(key)
        meant = [name if name in groups else f"{preset}_{name.replace(', ', '_')}" for name in said]
        if meant != said:
            st.query_params[key] = meant


def first_baseline(variants: dict[str, Variant], plain: list[str]) -> str:
    """Smooth-AP where it is there: the ranking loss that the others were built on; else the best."""
    usual = [group for group in plain if variants[group].loss == "smooth-ap"]
    return next(iter(usual or plain or variants))


def say_what_is_shown(runs: list[Run], frame: pd.DataFrame, total: int) -> None:
    """How much, made on what, and what to keep in mind."""
    few = sum(n < 3 for n in frame["n"])
    it = "them" if few > 1 else "it"
    weak = f"; {few} {'have' if few > 1 else 'has'} fewer than three seeds: no claim rests on {it}" if few else ""
    st.caption(
        f"{len(frame)} of {total} configurations, {len(runs)} runs. Made on: {as_text(devices(runs))}. "
        f"Intervals are Student's, 95 %{weak}."
    )
    for note in frame.attrs["notes"]:
        st.warning(as_text(note))


def say_what_is_left_out(preset: str) -> None:
    """Runs that may belong here and cannot be read: a mean without them is told from one with all seeds."""
    broken = [run for run in all_runs() if run.problems and run.preset in (preset, "")]
    if broken:
        more = f"; and {len(broken) - LEFT_OUT} more, listed at the top" if len(broken) > LEFT_OUT else ""
        named = "; ".join(f"{run.id} ({run.broken})" for run in broken[:LEFT_OUT])
        st.warning(f"Left out, since damaged: {as_text(named, 1000)}{more}", icon=":material/warning:")


def only_trained(runs: list[Run]) -> list[Run]:
    """The runs that figures show."""
    if not any(run.loss in BASELINES for run in runs):
        return runs
    zoomed = st.toggle(
        "Only trained networks in the figures",
        value=True,
        key="zoom",
        bind="query-params",
        help="Untrained networks and plain pixels lie far below and would press all others together.",
    )
    return [run for run in runs if not zoomed or run.loss not in BASELINES]


def show_results(chosen: Chosen) -> None:
    """Every seed, the mean and its interval, as a figure and as a table."""
    metric = chosen.metric
    st.plotly_chart(
        legend_on_top(results(chosen.near, metric, chosen.labels)),
        theme=None,
        key="results",
        alt=f"{metric} of every configuration on test classes: seeds, mean and 95 % interval.",
    )
    st.dataframe(results_table(chosen), hide_index=True)
    st.caption("The percentile bootstrap is too narrow with few seeds (lesson 12); the t interval is the one to read.")


def results_table(chosen: Chosen) -> list[dict[str, Any]]:
    """A row for each configuration, the user's own first, then by their mean."""
    metric, mine = chosen.metric, {run.variant for run in chosen.runs if is_own(run)}
    columns = ("variant", "n", "mean", "low", "high", "bootstrap_low", "bootstrap_high", "values")
    rows = []
    for variant, n, mean, low, high, blow, bhigh, values in zip(*(chosen.frame[name] for name in columns)):
        row = {"configuration": variant.title} | ({"yours": "✓" * (variant in mine)} if mine else {})
        row |= {"seeds": n, metric: shown(mean, metric)}
        row["95 % interval"] = "one seed: none" if n < 2 else f"{shown(low, metric)} … {shown(high, metric)}"
        row["bootstrap"] = "" if n < 2 else f"{shown(blow, metric)} … {shown(bhigh, metric)}"
        row["every seed"] = ", ".join(shown(value, metric) for value in values)
        rows.append(row)
    return sorted(rows, key=lambda row: not row.get("yours"))


def show_differences(chosen: Chosen) -> None:
    """Every configuration minus the baseline, paired by seed."""
    found = differences_to(
        chosen.runs, {run.variant for run in chosen.near}, chosen.variants[chosen.baseline], chosen.metric
    )
    if not found:
        st.info("Nothing shares a seed with the baseline. Choose another baseline, or train more seeds.")
        return
    st.plotly_chart(
        differences(found, chosen.labels),
        theme=None,
        key="differences",
        alt=f"Difference in {chosen.metric} to the baseline, paired by seed, with 95 % intervals.",
    )
    st.caption("Filled: the interval leaves out zero. Hollow: the seeds there are cannot tell.")


def show_training(chosen: Chosen) -> None:
    """Curves of the best."""
    count = min(CURVES, len(chosen.frame))
    st.plotly_chart(
        legend_on_top(training_curves(chosen.best, chosen.metric, chosen.labels)),
        theme=None,
        key="curves",
        alt=f"Validation {chosen.metric} during training of the {count} best configurations.",
    )
    st.caption(f"Showing the {count} best of {len(chosen.frame)}; choose configurations above to see others.")


def show_metrics(chosen: Chosen) -> None:
    """Every metric of the best."""
    st.plotly_chart(
        legend_on_top(profiles(chosen.best, chosen.labels)),
        theme=None,
        key="profiles",
        alt="Every metric of the best configurations, each from the lowest to the highest of them.",
    )
    st.caption("Lines that cross: the metrics disagree about the order. intra: smaller is tighter.")


def show_cost(chosen: Chosen) -> None:
    """CPU time against quality."""
    st.caption("Named: nothing cheaper is better. The others tell their name under the cursor.")
    st.plotly_chart(
        cost_against_quality(chosen.near, chosen.metric, chosen.labels),
        theme=None,
        key="cost",
        alt=f"CPU time of a run against its {chosen.metric}.",
    )


def show_export(chosen: Chosen) -> None:
    """Table and figure as files, and the commands that make the runs again."""
    files: dict[str, Any] = {"csv": to_csv(chosen.frame), "tex": to_latex(chosen.frame)}
    files |= {kind: partial(picture, chosen, kind) for kind in ("png", "svg")}
    for column, (kind, content) in zip(st.columns(4), files.items()):
        name = f"{chosen.preset}_{chosen.metric}.{kind}".replace("@", "")
        column.download_button(f"Save as .{kind}", content, name, on_click="ignore")
    st.markdown("Command lines that make these runs again")
    commands = {run.record.command for run in chosen.runs if run.record.command}
    st.code("\n".join(sorted(commands)), language="bash")


def picture(chosen: Chosen, kind: str) -> bytes:
    """The figure of the results as a file; drawn when it is asked for."""
    buffer = io.BytesIO()
    small_multiples([results(chosen.runs, chosen.metric, chosen.labels)], columns=1).savefig(buffer, format=kind)
    return buffer.getvalue()
