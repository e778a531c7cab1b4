"""Surrogates: words read before and after tuning, what each arm gains, how near ê comes to e, and the hardest words."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.pages import place
from dashboard.parts.layout import legend_on_top, show_tabs
from dashboard.parts.links import run_links
from dashboard.parts.menus import one_of, run_titles
from dashboard.parts.runs import finished_runs, say_if_unknown
from dashboard.parts.text import as_text
from dashboard.parts.word_pictures import picture_of
from labkit.explorers.columns import side_by_side
from labkit.figures.arms import approximation_figure, arms, unit_of
from labkit.figures.outcomes import outcomes_figure
from labkit.figures.word_changes import Reading, changes_html
from labkit.runs import Run, RunError
from labkit.runs.gains import BASE, Gain, base_of, gains
from labkit.runs.readings import approximation, arm_table, changes, readings
from labkit.runs.run import Stamp
from labkit.runs.small_experiments import outcomes

if TYPE_CHECKING:
    import pandas as pd

METRICS = ("TED", "NED", "Acc")
SHOWN = 24  # words a page
KINDS = {
    "mended": lambda t: t["distance_after"] < t["distance_before"],
    "spoilt": lambda t: t["distance_after"] > t["distance_before"],
    "read otherwise": lambda t: t["before"] != t["after"],
    "all words": lambda t: t["distance_before"] >= 0,
}
HARDEST = 40
FIRST = "words-tune"  # the one whose words can be drawn from the clone alone


@st.cache_data(max_entries=64, show_spinner=False)
def read_of(_run: Run, files: Stamp) -> pd.DataFrame | str:
    """What a run read, or what is wrong with it; files: its stamp, for the cache."""
    try:
        return readings(_run)
    except RunError as error:
        return str(error)


@st.cache_data(max_entries=32, show_spinner="Drawing words anew for the intervals")
def gains_of(_runs: list[Run], preset: str, metric: str, files: tuple[Stamp, ...]) -> list[Gain]:
    """Every arm's gain; files: the runs' stamps, for the cache."""
    return gains(_runs, preset, metric)


def page() -> None:
    """Choose data and base, then tabs."""
    st.title("Surrogates")
    st.caption(
        "A reader of words is trained by cross-entropy, then tuned on the edit distance itself: by a learned "
        "surrogate, or by one of the controls. Lesson 10 says what they are."
    )
    every = [run for run in finished_runs() if run.has("samples.parquet") and run.value("TED") is not None]
    presets = sorted({run.preset for run in every if run.loss == BASE}, key=lambda name: (name != FIRST, name))
    if not presets:
        st.info(
            "No reader of words that was tuned is here with its base. Train both: `python -m labkit train words-tune "
            "--loss untrained`, then `python -m labkit train words-tune --loss ls-ed`.",
            icon=":material/info:",
        )
        return
    left, right = side_by_side("which", 2, 320)
    preset = left.selectbox("Data and setting (preset)", presets, key="preset", bind="query-params")
    runs = [run for run in every if run.preset == preset]
    table = arm_table(runs, preset)
    readers = sorted(table.loc[table["loss"] == BASE, "reader"].unique(), key=lambda name: (len(name), name))
    with right:
        reader = one_of("Base that was tuned", {name: reader_title(name) for name in readers}, readers[0], "reader")
    inside = set(table.loc[table["reader"] == reader, "run_id"])
    runs = [run for run in runs if run.id in inside]
    say_what_is_here(table[table["reader"] == reader])
    contents = {
        "Words": show_words,
        "Arms": show_arms,
        "Approximation": show_approximation,
        "Hardest words": show_hardest,
        "Boxes and lists": show_small_experiments,
        "About": show_about,
    }
    show_tabs({name: partial(show, runs, preset) for name, show in contents.items()})


def show_small_experiments(runs: list[Run], preset: str) -> None:
    """The same machinery on two other metrics."""
    for name, title, x in (
        ("boxes", "LS-IoU: a network that finds one rotated box, tuned", "mean IoU of 1,000 test boxes"),
        ("lists", "A third metric: scores of lists of eight items, tuned", "nDCG of 2,000 test lists"),
    ):
        st.subheader(title)
        st.plotly_chart(legend_on_top(outcomes_figure(outcomes(name), x)), theme=None, key=f"small-{name}", alt=title)
    st.caption(
        "Mean over five seeds with its 95 % interval; small marks are single seeds. Overlapping and apart: where the "
        "predicted boxes stood before tuning. All rows are in data/runs/boxes.csv and lists.csv."
    )


def reader_title(name: str) -> str:
    """A base for people: base-15 is the one after 15 % of the training."""
    share = name.removeprefix("base-")
    if name.startswith("base-") and share.isdigit():
        return f"after {share} % of its training"
    return {"base": "fully trained", "": "as it comes with its data"}.get(name, name)


def say_what_is_here(table: pd.DataFrame) -> None:
    """How much there is, and how well the base reads."""
    base = table[table["loss"] == BASE]
    tuned = table[table["loss"] != BASE]
    st.caption(
        f"{tuned['variant'].nunique()} arms, {len(tuned)} runs. The base reads {base['Acc'].mean():.1%} of the test "
        f"words right, NED {base['NED'].mean():.3f}, TED {base['TED'].mean():,.0f} edits."
    )


def show_words(runs: list[Run], preset: str) -> None:
    """Words before and after."""
    tuned = [run for run in runs if run.loss != BASE]
    if not tuned:
        st.info("Only the base is here; no arm has been trained from it yet.")
        return
    say_if_unknown("run", {run.id for run in tuned})
    titles = run_titles(sorted(tuned, key=lambda run: (run.loss != "ls-ed", run.id)))
    chosen = one_of("After tuning by", titles, next(iter(titles)), "run")
    run = next(run for run in tuned if run.id == chosen)
    with st.container():
        run_links(run, place, "surrogates")
    base = base_of(run, runs)
    table = changes_of(base, run) if base else "its base is not here"
    if isinstance(table, str):
        st.warning(f"This run cannot be shown: {as_text(table)}")
        return
    show_cards(table, run)


def changes_of(base: Run, run: Run) -> pd.DataFrame | str:
    """Before and after, or why not."""
    try:
        return changes(base, run)
    except RunError as error:
        return str(error)


@st.fragment
def show_cards(table: pd.DataFrame, run: Run) -> None:
    """A kind of change, a part of a word, and a page of cards."""
    left, middle, right = side_by_side("cards", 3, 220)
    kind = left.selectbox("Show", list(KINDS), key="kind", bind="query-params")
    find = middle.text_input("Part of the word", key="find", bind="query-params", max_chars=30)
    some = table[KINDS[kind](table)]
    if find:
        some = some[some["word"].str.contains(find.lower(), regex=False)]
    pages = max(1, -(-len(some) // SHOWN))
    number = right.number_input(f"Page of {pages}", 1, pages, key="page_of_words")
    better = int((table["distance_after"] < table["distance_before"]).sum())
    worse = int((table["distance_after"] > table["distance_before"]).sum())
    st.caption(
        f"Showing {min(SHOWN, len(some))} of {len(some):,} ({len(table):,} test words; {better:,} mended, "
        f"{worse:,} spoilt). Underlined: a wrong letter; struck out: one too many; □: one is missing."
    )
    part = some.iloc[(number - 1) * SHOWN : number * SHOWN]
    distortion = float(run.record.config.data.get("distortion", 1.0))
    cards = [
        Reading(
            str(row.id), row.word, row.before, row.after, int(row.distance_before), int(row.distance_after),
            picture_of(str(row.id), distortion),
        )
        for row in part.itertuples()
    ]  # fmt: skip
    st.html(changes_html(cards, "Words before and after tuning"))


def show_arms(runs: list[Run], preset: str) -> None:
    """What every arm gains."""
    metric = st.segmented_control("Metric", METRICS, default="TED", key="metric", bind="query-params") or "TED"
    found = gains_of(runs, preset, metric, tuple(run.stamp() for run in runs))
    if not found:
        st.info("No arm shares a seed with its base yet. Train both with the same seeds.")
        return
    scale, unit = unit_of(metric)
    st.plotly_chart(
        arms(found),
        theme=None,
        key="arms",
        alt=f"Gain in {metric} of every arm over the base with 95 % intervals: "
        + "; ".join(f"{gain.title} {scale * gain.mean:+.1f}" for gain in found),
    )
    rows = [
        {
            "arm": gain.title,
            f"gain ({unit})": round(scale * gain.mean, 2),
            "low": round(scale * gain.interval[0], 2),
            "high": round(scale * gain.interval[1], 2),
            "seeds": len(gain.difference.seeds),
            "CPU seconds a run": round(gain.cpu_seconds, 1),
        }
        for gain in found
    ]
    st.dataframe(rows, hide_index=True)
    st.caption(
        "Above 0 is better than the base. Whether a surrogate helps is asked against the controls, not against 0: any "
        "further training may gain or lose. The interval is the wider of Student's over seeds and the bootstrap's over "
        "words; with one seed it is about the words alone."
    )


def show_approximation(runs: list[Run], preset: str) -> None:
    """ê against e of one run."""
    learned = [run for run in runs if run.has("approximation.parquet")]
    if not learned:
        st.info("No run of this base has kept how near its surrogate comes to the edit distance.")
        return
    titles = run_titles(sorted(learned, key=lambda run: (run.loss != "ls-ed", run.id)))
    chosen = one_of("Surrogate of", titles, next(iter(titles)), "surrogate")
    try:
        pairs = approximation(next(run for run in learned if run.id == chosen))
    except RunError as error:
        st.warning(f"This run cannot be shown: {as_text(str(error))}")
        return
    off = (pairs["estimate"] - pairs["exact"]).abs().mean()
    st.plotly_chart(
        legend_on_top(approximation_figure(pairs)),
        theme=None,
        key="approximation",
        alt=f"The surrogate against the true edit distance of {len(pairs)} pairs; mean difference {off:.2f} edits.",
    )
    st.caption(
        f"{len(pairs):,} pairs that it did not learn from: mean |ê − e| {off:.2f} edits, correlation "
        f"{pairs['estimate'].corr(pairs['exact']):.2f}, mean ‖∂ê/∂z‖ {pairs['gradient_norm'].mean():.2f} (asked: 1)."
    )


def show_hardest(runs: list[Run], preset: str) -> None:
    """Words that stay wrong, whatever the arm."""
    tables = [found for run in runs if not isinstance(found := read_of(run, run.stamp()), str)]
    if not tables:
        st.info("No run of this base has kept what it read.")
        return
    import pandas as pd

    whole = pd.concat(tables)
    by_word = whole.groupby(["id", "word"], sort=False).agg(
        mean=("distance", "mean"), right=("distance", lambda d: int((d == 0).sum())), runs=("distance", "size"),
        often=("read", lambda read: read.mode().iloc[0]),
    ).reset_index()  # fmt: skip
    hardest = by_word.sort_values("mean", ascending=False, kind="stable").head(HARDEST)
    hardest["picture"] = [picture_of(str(name), 1.0) for name in hardest["id"]]
    st.caption(f"The {len(hardest)} hardest of {len(by_word):,} test words, over {len(tables)} runs of all arms.")
    shown = hardest[["picture", "word", "often", "mean", "right", "runs"]].rename(
        columns={"often": "read most often as", "mean": "mean edits", "right": "runs that read it right"}
    )
    columns = {"picture": st.column_config.ImageColumn("picture", width="medium")}
    st.dataframe(shown.round({"mean edits": 2}), hide_index=True, column_config=columns, row_height=44, height=620)


def show_about(runs: list[Run], preset: str) -> None:
    """A card for every way."""
    from labkit.data.papers import errata
    from labkit.surrogates.cards import CARDS  # loads torch, which the other tabs do without

    known = errata()
    for card in CARDS:
        with st.expander(f"**{as_text(card.title)}**", expanded=card.name == "ls-ed"):
            st.latex(card.latex)
            st.markdown(f"*{as_text(card.source)}*")
            st.info(f"What is ours: {as_text(card.ours, 600)}", icon=":material/construction:")
            if card.options:
                said = ", ".join(f"{name} = {value}" for name, value in card.options.items())
                st.caption(f"Options and their defaults (ours): {as_text(said, 600)}")
            for name in card.errata:
                st.markdown(f"- **{name}**: {as_text(known[name], 2000)}")
