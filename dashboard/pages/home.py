"""Home: a network before and after training, three things to try, the runs and the claims at a glance."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.pages import PAGES, place
from dashboard.parts.before_after import before_and_after, show_before_and_after, state_of_pair
from dashboard.parts.runs import all_findings, all_runs, devices, no_runs, warn_about_problems
from dashboard.parts.text import as_text
from labkit.base.words import RULE, VERDICTS, with_mark
from labkit.runs import Run

WIDTHS = [0.7, 1.1, 0.7, 1.1, 1.4, 1.4]  # of the columns of VERDICTS: room for their words in a narrow window
TO_TRY = (
    (
        "retrieval",
        "See what goes wrong",
        ":material/image_search:",
        "The hardest queries first: what two networks find for the same picture, and where the right ones are.",
    ),
    (
        "losses",
        "Design a loss",
        ":material/functions:",
        "Type how strong the pull on a positive with R negatives before it is, see the loss, train a toy with it.",
    ),
    (
        "compare",
        "Weigh a difference",
        ":material/bar_chart:",
        "Every seed, intervals, and paired differences to a baseline of your choice.",
    ),
)


def page() -> None:
    """A picture, things to try, runs and claims."""
    st.title("Train on what you measure")
    st.markdown(
        "What we report, such as Recall@k, average precision or edit distance, is not differentiable; four papers show "
        "ways to train on it nevertheless."
    )
    usable = [run for run in all_runs() if not run.problems]
    pair = before_and_after(usable)
    if pair:
        with st.container(key="look"):  # the one thing to do first: it looks like a button
            label, icon = "Look closer: neighbours, lasso, classes", ":material/bubble_chart:"
            state = state_of_pair(*pair)
            st.page_link(place("embeddings"), label=label, icon=icon, query_params=state, width="content")
        show_before_and_after(*pair)
    st.subheader("Three things to try")
    for column, (name, label, icon, words) in zip(st.columns(3), TO_TRY):
        with column.container(border=True, height="stretch"):
            st.page_link(place(name), label=f"**{label}**", icon=icon)
            st.caption(words)
    if "playground" in PAGES:
        st.page_link(place("playground"), label="**The playground**: train in this page, with your own settings")
    st.subheader("The runs at a glance")
    show_runs()
    st.subheader("The papers' claims in these runs")
    show_claims()


def show_runs() -> None:
    """How many there are of each preset, and what they were made on."""
    runs = all_runs()
    warn_about_problems(runs)
    usable = [run for run in runs if not run.problems]
    if not usable:
        no_runs()
        return
    st.markdown(f"{len(usable)} runs. Made on: **{as_text(devices(usable))}**.")
    if all(run.device == "cpu" for run in usable if run.device):
        st.caption(
            "No GPU was used. Networks and data sets are small: absolute results of the papers are out of reach."
        )
    st.dataframe(at_a_glance(usable), hide_index=True)


def at_a_glance(runs: list[Run]) -> list[dict[str, Any]]:
    """A row a preset: how many runs, losses and seeds there are, and how many runs have not finished."""
    rows = []
    for preset in sorted({run.preset for run in runs}):
        own = [run for run in runs if run.preset == preset]
        rows.append(
            {
                "preset": preset or "not known",
                "runs": len(own),
                "configurations": len({run.group for run in own}),
                "seeds": len({run.seed for run in own if run.seed is not None}),
                "not finished": sum(run.status != "finished" for run in own),
                "CPU hours": round(sum(hours(run) for run in own), 2),
            }
        )
    return rows


def hours(run: Run) -> float:
    """CPU hours of a run, 0 if not recorded."""
    seconds = run.summary.cpu_seconds if run.summary else None
    return (seconds or 0.0) / 3600


def show_claims() -> None:
    """How many claims of the papers held, and the way to the evidence."""
    found = [finding.verdict for finding in all_findings()]
    for column, verdict in zip(st.columns(WIDTHS), VERDICTS):
        column.metric(with_mark(verdict), found.count(verdict))
    st.caption(RULE)
    st.page_link(place("papers"), label="Every claim with its evidence", icon=":material/article:")
