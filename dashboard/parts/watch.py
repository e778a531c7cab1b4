"""The lower half of the Train page: the queue, and one run as it learns, read anew every second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dashboard.parts.links import run_links
from dashboard.parts.machine import show_machine
from dashboard.parts.runs import read_all
from dashboard.parts.text import as_text, distinct, figure_names
from labkit.base.words import duration, shortened
from labkit.explorers.film.streamlit import film_player
from labkit.figures.comparison import shown
from labkit.figures.results import training_curves
from labkit.runs import Run, RunError
from labkit.runs.film import Film
from labkit.runs.process import stop
from labkit.runs.run import Stamp
from labkit.training import queue as queue_of_runs
from labkit.training.live import HowFar, Watched, log_tail, planned_steps, progress_of, watched
from labkit.training.moving import read_moving, source
from labkit.training.waiting import QUEUE, Queue, read_queue

ICONS = {
    "waiting": "schedule",
    "starting": "hourglass_top",
    "running": "play_circle",
    "finished": "check_circle",
    "interrupted": "pause_circle",
    "killed": "cancel",
    "failed": "error",
    "did not start": "error",
    "stopped before it began": "cancel",
    "unreadable": "help",
}
COLUMNS = (4, 3, 1.5)
LISTED = 25  # rows; a folder may hold hundreds of unfinished runs
CURVES = 7  # lines or classes that colours and shapes can tell apart
MOST_POINTS = 60  # of a class in the film
NAME = 40  # letters in a legend
FOLLOW = "the run that is training"
COMING = 5.0  # seconds that a new worker may take to come
PATIENCE = 10.0  # seconds after which a run that was asked to stop may be ended at once


@st.fragment(run_every=1)
def watch(root: Path, place: Callable[[str], StreamlitPage]) -> None:
    """All that trains, waits or has ended in a folder, and one run of it more closely; place: a page by its name."""
    st.subheader("Queue and runs")
    try:
        queue = read_queue(root)
    except RunError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        queue = Queue()
    if st.session_state.get("told"):
        st.error(as_text(st.session_state["told"]), icon=":material/error:")
    everything = watched(root, queue, read_all((root,)))
    if not everything:
        st.info("Nothing is training or waiting. Choose above, then press Start.", icon=":material/info:")
        return
    show_queue(root, queue, everything)
    for each in everything[:LISTED]:
        show_row(root, each)
    if len(everything) > LISTED:
        st.caption(f"Showing {LISTED} of {len(everything)}; `python -m labkit runs` lists all.")
    begun = {each.name: each for each in everything[:LISTED] if not each.waits}
    if not begun:
        return
    titles = distinct({FOLLOW: FOLLOW} | {name: each.title for name, each in begun.items()})
    if st.session_state.get("watch") not in titles:
        st.session_state["watch"] = FOLLOW
    # not in the address: what is drawn every second must not change it, which would draw the whole page beside it
    chosen = st.selectbox("Watch", list(titles), key="watch", format_func=titles.__getitem__)
    going = [each for each in begun.values() if each.going]
    each = begun[chosen] if chosen in begun else (going or [*begun.values()])[0 if going else -1]
    show_one(each, [other.run for other in begun.values() if other.run is not None], place)


def show_queue(root: Path, queue: Queue, everything: list[Watched]) -> None:
    """How many, and what concerns all of them."""
    going, waiting = sum(each.going for each in everything), sum(each.waits for each in everything)
    words, clearing, stopping = st.columns(COLUMNS, vertical_alignment="center")
    words.markdown(f"**{going}** training, **{waiting}** waiting, **{len(everything) - going - waiting}** ended.")
    with clearing:
        if any(entry.state == "ended" for entry in queue.entries):
            button("Clear ended", "clear", queue_of_runs.forget_ended, root, help="Off this list; folders stay.")
    with stopping:
        if queue.working:
            about = "Stops the run that is training; what waits goes on waiting."
            button("Stop all", "stop-all", queue_of_runs.stop_queue, root, icon=":material/stop:", help=about)
        elif queue.stands_still and time.time() - (root / QUEUE).stat().st_mtime > COMING:
            said = as_text(log_tail(root, queue_of_runs.WORKER_LOG))
            words.warning(f"The queue stands still. {said}", icon=":material/pause:")
            button("Go on", "go-on", queue_of_runs.go_on, root, type="primary")


def show_row(root: Path, each: Watched) -> None:
    """One run: name, status, how far, and the one thing that can be done about it."""
    name, status, doing = st.columns(COLUMNS, vertical_alignment="center")
    name.markdown(as_text(each.title))
    asked = st.session_state.setdefault("asked", {})
    if not each.going:
        asked.pop(each.name, None)
    word = "stopping" if each.name in asked else each.status
    icon = f":material/{ICONS.get(word, 'hourglass_bottom')}:"
    if each.run is not None and each.status != "starting":
        far = progress_of(each.run, rows_of(each.run))
        status.progress(1.0 if each.status == "finished" else far.share, f"{icon} {word}{in_words(far, each)}")
    else:
        status.markdown(f"{icon} {word}")
    with doing:
        if each.waits and each.entry is not None:
            button("Remove", f"remove-{each.entry.number}", queue_of_runs.remove, root, each.entry.number)
        elif each.going:
            stop_button(each, asked)
        elif each.resumable:
            button("Resume", f"resume-{each.name}", queue_of_runs.enqueue_resume, root, each.run)


def stop_button(each: Watched, asked: dict[str, float]) -> None:
    """Stop after the step and with a checkpoint; if that takes long, at once."""
    late = each.name in asked and time.monotonic() - asked[each.name] > PATIENCE
    if each.name in asked and not late:
        st.button("Stopping …", key=f"stopping-{each.name}", disabled=True, width="stretch")
        return
    label, about = ("End it now", "Goes back to its last checkpoint.") if late else ("Stop", "It can be resumed.")
    button(label, f"stop-{each.name}-{late}", stop_one, each, late, help=about)


def stop_one(each: Watched, at_once: bool) -> None:
    """A run by the process in its run.json; one that has not written it yet by that of its entry."""
    st.session_state["asked"][each.name] = time.monotonic()
    if each.status == "running" and each.run is not None:
        queue_of_runs.stop_run(each.run, at_once)
    elif each.entry is not None:
        stop(each.entry.pid, each.entry.pid_started, at_once)


def button(label: str, key: str, what: Callable[..., object], *arguments: object, **look: Any) -> None:
    """A button that does something."""
    st.button(label, key=key, width="stretch", on_click=act, args=(what, *arguments), **look)


def act(what: Callable[..., object], *arguments: object) -> None:
    """Do what a button says, before the page is drawn anew; what cannot be done is told there."""
    st.session_state["told"] = ""
    try:
        what(*arguments)
    except (OSError, ValueError) as error:
        st.session_state["told"] = str(error)


def in_words(far: HowFar, each: Watched) -> str:
    """How far a run is."""
    of = f" of {far.steps:,}" if far.steps else ""
    left = f", about {duration(far.seconds_left)} left" if far.seconds_left is not None and each.going else ""
    return f": step {far.step:,}{of}{left}"


def rows_of(run: Run) -> list[dict[str, Any]]:
    """What a run has written into metrics.jsonl by now."""
    return cached_rows(run, run.stamp("metrics.jsonl"))


@st.cache_data(max_entries=200, show_spinner=False)
def cached_rows(_run: Run, files: Stamp) -> list[dict[str, Any]]:
    """The rows; files: the stamp of what is read, for the cache."""
    return _run.curves()


@st.cache_resource(max_entries=10, show_spinner=False)
def cached_moving(_run: Run, files: Stamp) -> Film | str | None:
    """The frames; what is wrong with them, as text; None if there are none."""
    try:
        return read_moving(_run)
    except RunError as error:
        return str(error)


def show_one(each: Watched, begun: list[Run], place: Callable[[str], StreamlitPage]) -> None:
    """Result or reason, curves, and the embedding of one run.

    Each has a place of its own, used or not: what is drawn every second must not find another kind of thing there.
    """
    run = each.run
    reasons, machine, result, curves, embedding = (st.container() for _ in range(5))
    if each.failed:
        reason = run.record.error if run is not None else ""
        if reason:
            reasons.error(as_text(reason), icon=":material/error:")
        reasons.code(log_tail(each.folder) or "It left no message.", language=None, wrap_lines=True)
    if run is None or each.status == "starting":
        return
    if each.going:
        with machine:
            show_machine(run)
    if each.status == "finished":
        found = [(name, run.value(name)) for name in ("R@1", "MAP@R", "nDCG@10")]
        words = ", ".join(f"{name} {shown(value, name)}" for name, value in found if value is not None)
        with result:
            st.markdown(f"Test classes: **{as_text(words or 'not measured')}**.")
            run_links(run, place)
    with curves:
        show_curves(run, [other for other in begun if other.preset == run.preset and other.id != run.id])
    with embedding:
        show_embedding(run, each.going)


def show_curves(run: Run, others: list[Run]) -> None:
    """Loss and R@1 of this run, and of the latest others of its preset to compare with."""
    drawn = [run, *others[-CURVES + 1 :]]
    if not any(rows_of(each) for each in drawn):
        st.caption("No curve yet.")
        return
    files = tuple((each.group, *each.stamp("metrics.jsonl")) for each in drawn)
    steps = None if others else planned_steps(run)
    smooth = st.slider("Smoothing of the loss", 0.0, 0.95, 0.0, 0.05, key="smooth", bind="query-params")
    for column, (metric, split) in zip(st.columns(2), (("loss", "training"), ("R@1", "validation"))):
        column.plotly_chart(
            curve_figure(drawn, files, metric, split, steps, smooth if metric == "loss" else 0.0),
            theme=None,
            key=f"live-{metric}",
            alt=f"{split} {metric} of {len(drawn)} runs against the step.",
        )
    st.caption(f"Showing {len(drawn)} of {len(others) + 1} runs of this preset on this page; thin lines are seeds.")


@st.cache_resource(max_entries=50, show_spinner=False)
def curve_figure(
    _runs: list[Run], files: tuple[Stamp, ...], metric: str, split: str, steps: int | None, smooth: float
) -> Any:
    """Drawn anew only when a run has written more; smooth: the share of what came before in each point of a line."""
    fig = training_curves(_runs, metric, legend_names(_runs), split)
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    fig.update_layout(legend=legend, showlegend=len(legend_names(_runs)) > 1, uirevision=str(_runs[0].path))
    if smooth:
        for trace in fig.data:
            trace.y = smoothed(trace.y, smooth)
    if steps:
        fig.update_xaxes(range=[0, steps])  # the line grows into its place
    if metric == "R@1":
        fig.update_yaxes(range=[0, 105])
    return fig


def smoothed(values: Iterable[float], share: float) -> list[float]:
    """A running mean in which what came before counts with this share; the first point is as it is."""
    found: list[float] = []
    for value in values:
        found.append(float(value) if not found else share * found[-1] + (1 - share) * float(value))
    return found


def legend_names(runs: list[Run]) -> dict[str, str]:
    """The loss where that tells groups apart, else with its settings; short enough for a narrow window."""
    variants = {run.variant for run in runs}
    losses = {variant.name: shortened(variant.loss_title, NAME) for variant in variants}
    return losses if len(set(losses.values())) == len(losses) else figure_names(variants, NAME)


def show_embedding(run: Run, going: bool) -> None:
    """The recorded samples as a film, up to now while it trains."""
    name = source(run)
    film = cached_moving(run, run.stamp(name)) if name else None
    if isinstance(film, str):
        st.warning(as_text(film))
    if not isinstance(film, Film):
        if going:
            st.caption("The embedding appears with the first checkpoint, for presets that record frames.")
        return
    film_player(film, key="moving", height=460, per_class=MOST_POINTS, classes=CURVES)
    count = len(set(film.labels[film.unseen].tolist()))
    drawn = "in the two main directions (PCA) of the last frame" if film.kind == "plane" else "as directions"
    until = " Up to the last checkpoint." if going else ""
    st.caption(f"Showing {min(count, CURVES)} of {count} unseen classes, {drawn}.{until}")
