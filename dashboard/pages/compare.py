"""Compare runs: means, seeds, intervals, differences to a baseline, curves, cost, and the way to repeat it all."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.pages import place
from dashboard.parts.comparison import CURVES, LEAST, Chosen, figures_of, results_table, show_export
from dashboard.parts.layout import legend_on_top, show_tabs
from dashboard.parts.links import run_links
from dashboard.parts.menus import one_of, some_of
from dashboard.parts.runs import all_runs, choose_preset, devices, finished_runs, is_own
from dashboard.parts.text import as_text, group_titles
from labkit.explorers.columns import side_by_side
from labkit.figures.comparison import METRICS
from labkit.runs import Run, table

if TYPE_CHECKING:
    import pandas as pd

    from labkit.runs.variant import Variant

BASELINES = ("untrained", "pixels")  # not trained: far below, and yet in every table
LINKED = 8  # configurations with links beneath the table
LEFT_OUT = 5  # damaged runs that are named beside the results; all are in the list at the top


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
    if varied and not left.toggle(f"Also show the {varied} with changed settings", key="varied", bind="query-params"):
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
    few = sum(n < LEAST for n in frame["n"])
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
        legend_on_top(figures_of(chosen)["Results"]()),
        theme=None,
        key="results",
        alt=f"{metric} of every configuration on test classes: seeds, mean and 95 % interval.",
    )
    st.dataframe(results_table(chosen), hide_index=True)
    st.caption(
        "Too few: an interval of fewer than three seeds says nothing. The percentile bootstrap is too narrow with few "
        "seeds (lesson 12); the t interval is the one to read."
    )
    for number, variant in enumerate(chosen.frame["variant"][:LINKED]):
        run = next(run for run in chosen.runs if run.variant == variant)
        name, links = side_by_side(f"links-{number}", [2, 3], 280, vertical_alignment="center")
        name.markdown(as_text(run.title))
        with links:
            run_links(run, place, "compare")


def show_differences(chosen: Chosen) -> None:
    """Every configuration minus the baseline, paired by seed."""
    if not chosen.differences:
        st.info("Nothing shares a seed with the baseline. Choose another baseline, or train more seeds.")
        return
    st.plotly_chart(
        figures_of(chosen)["Differences"](),
        theme=None,
        key="differences",
        alt=f"Difference in {chosen.metric} to the baseline, paired by seed, with 95 % intervals.",
    )
    st.caption("Filled: the interval leaves out zero. Hollow: these seeds cannot tell it from zero.")


def show_training(chosen: Chosen) -> None:
    """Curves of the best."""
    count = min(CURVES, len(chosen.frame))
    st.plotly_chart(
        legend_on_top(figures_of(chosen)["During training"]()),
        theme=None,
        key="curves",
        alt=f"Validation {chosen.metric} during training of the {count} best configurations.",
    )
    st.caption(f"Showing the {count} best of {len(chosen.frame)}; choose configurations above to see others.")


def show_metrics(chosen: Chosen) -> None:
    """Every metric of the best."""
    st.plotly_chart(
        legend_on_top(figures_of(chosen)["All metrics"]()),
        theme=None,
        key="profiles",
        alt="Every metric of the best configurations, each from the lowest to the highest of them.",
    )
    st.caption("Lines that cross: the metrics disagree about the order. intra: smaller is tighter.")


def show_cost(chosen: Chosen) -> None:
    """CPU time against quality."""
    st.caption("With a name: nothing that costs less scores higher. The others show their name under the cursor.")
    st.plotly_chart(
        figures_of(chosen)["Cost"](),
        theme=None,
        key="cost",
        alt=f"CPU time of a run against its {chosen.metric}.",
    )
