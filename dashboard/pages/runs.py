"""Runs: all there are, to filter, sort, tick and compare, to tag and note, and to delete."""

from __future__ import annotations

from datetime import date
from typing import Any

import streamlit as st

from dashboard.pages import place
from dashboard.parts.access import may_change
from dashboard.parts.links import run_links
from dashboard.parts.run_table import COLUMNS, FIRST, METRICS, Filters, columns_of, in_order, looks, passing
from dashboard.parts.runs import all_runs, is_own, no_runs, own_first, own_root, warn_about_problems
from dashboard.parts.text import as_text
from labkit.explorers.columns import side_by_side
from labkit.runs import Run, RunError
from labkit.runs.delete import delete_run
from labkit.runs.notes import LONGEST_NOTE, Notes, read_notes, write_notes

OWN_FIRST = "yours first, then by name"
LABELS = {"preset": "Preset", "losses": "Loss", "device": "Device", "status": "Status", "tags": "Tags (all of these)"}
IN_ADDRESS = (*LABELS, "from", "until", "mine")
MOST_NAMED = 12  # ticked runs that are named one by one


def page() -> None:
    """Filters, the table, and what can be done with what is ticked."""
    st.title("Runs")
    runs = own_first(all_runs())
    warn_about_problems(runs)
    if not runs:
        no_runs()
        return
    own = own_root()
    notes = {str(run.path): read_notes(run, own) for run in runs}
    filters, columns, sort_by, falling = choose(runs, notes)
    try:
        shown = passing(runs, filters, notes)
    except RunError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    if sort_by != OWN_FIRST:
        shown = in_order(shown, sort_by, falling, notes)
    what = "compare, tag or delete them" if may_change() else "compare them"
    st.caption(f"Showing {len(shown):,} of {len(runs):,} runs. Tick some to {what}.")
    if not shown:
        st.warning("No run passes these filters. Take one away.")
        return
    ticked = [shown[row] for row in show_table(shown, columns, notes) if row < len(shown)]
    if ticked:
        show_ticked(ticked, notes)


def choose(runs: list[Run], notes: dict[str, Notes]) -> tuple[Filters, list[str], str, bool]:
    """What is shown, in which columns, sorted by which and whether from the largest down; all in the address."""
    find, sort, rest = side_by_side("choose", [4, 3, 5], 220, vertical_alignment="bottom")
    words = find.text_input(
        "Find",
        key="find",
        bind="query-params",
        placeholder="name, tag, note; tau=0.02",
        help="Words of a name, tag or note; settings as tau=0.02 or model.dim=3.",
    )
    sort_by = sort.selectbox("Sort by", [OWN_FIRST, *COLUMNS], key="sort", bind="query-params")
    active = sum(name in st.query_params for name in IN_ADDRESS)
    label = f"Filters ({active})" if active else "Filters"
    with rest, st.container(horizontal=True, vertical_alignment="center"):
        fixed = sort_by == OWN_FIRST
        falling = st.toggle("Largest first", value=True, key="falling", bind="query-params", disabled=fixed)
        with st.popover(label, icon=":material/filter_list:", width="content"):
            filters = choose_filters(runs, notes, words)
        with st.popover("Columns", icon=":material/view_column:", width="content"):
            columns = st.multiselect("Columns", COLUMNS, FIRST, key="columns", bind="query-params")
    return filters, columns or FIRST, sort_by, falling


def choose_filters(runs: list[Run], notes: dict[str, Notes], words: str) -> Filters:
    """The filters; a run passes if it has one of the values of each, and all of the tags."""
    offered = {
        "preset": {run.preset for run in runs if run.preset},
        "losses": {run.variant.loss_title for run in runs if run.loss},
        "device": {run.device for run in runs if run.device},
        "status": {run.status for run in runs},
        "tags": {tag for each in notes.values() for tag in each.tags},
    }
    chosen = {
        name: tuple(st.multiselect(LABELS[name], sorted(values), key=name, bind="query-params", placeholder="any"))
        for name, values in offered.items()
    }
    begin, end = st.columns(2)
    day: dict[str, Any] = {"value": None, "min_value": date(2000, 1, 1), "bind": "query-params"}
    first, last = begin.date_input("Started from", key="from", **day), end.date_input("until", key="until", **day)
    own = st.toggle("Only mine", key="mine", bind="query-params")
    return Filters(
        chosen["preset"],
        chosen["losses"],
        chosen["device"],
        chosen["status"],
        chosen["tags"],
        words,
        first,
        last,
        own,
    )


def show_table(runs: list[Run], columns: list[str], notes: dict[str, Notes]) -> list[int]:
    """The table; returns the rows that are ticked. Ticks belong to rows: another list is another table, without any."""
    listed = hash(tuple(str(run.path) for run in runs))
    event: Any = st.dataframe(
        columns_of(runs, columns, notes),
        hide_index=True,
        height=min(520, 38 + 35 * len(runs)),
        column_config=looks(columns),
        key=f"table {listed}",
        on_select="rerun",
        selection_mode="multi-row",
        alt=f"{len(runs)} runs with {', '.join(columns)}.",
    )
    return list(event.selection.rows)


def show_ticked(ticked: list[Run], notes: dict[str, Notes]) -> None:
    """What is ticked: the way to each, to their comparison, their tags, and deleting them."""
    st.subheader(f"{len(ticked)} ticked")
    for run in ticked[:MOST_NAMED]:
        left, right = st.columns([3, 4], vertical_alignment="center")
        left.markdown(f"**{as_text(run.preset)}**: {as_text(run.title)}")
        with right:
            run_links(run, place)
    if len(ticked) > MOST_NAMED:
        st.caption(f"and {len(ticked) - MOST_NAMED:,} more")
    compare_link(ticked)
    if may_change():
        edit_notes(ticked, notes)
        offer_deleting(ticked)


def compare_link(ticked: list[Run]) -> None:
    """The way to Compare with these configurations."""
    measured = [run for run in ticked if any(run.value(metric) is not None for metric in METRICS)]
    presets = sorted({run.preset for run in measured})
    if len(presets) > 1:
        st.caption(f"Results of different data cannot be compared; ticked are {as_text(', '.join(presets))}.")
    elif len(groups := list(dict.fromkeys(run.group for run in measured))) > 1:
        st.page_link(
            place("compare"),
            label=f"**Compare the {len(groups)} configurations**, with all their seeds",
            icon=":material/bar_chart:",
            query_params=[("preset", presets[0]), *(("groups", group) for group in groups)],
        )


def edit_notes(ticked: list[Run], notes: dict[str, Notes]) -> None:
    """Tags of all that are ticked; a note for one."""
    known = sorted({tag for each in notes.values() for tag in each.tags})
    alone = notes[str(ticked[0].path)] if len(ticked) == 1 else Notes()
    with st.form("notes", border=True):
        left, right = st.columns([1, 2])
        label = "Tags" if len(ticked) == 1 else "Tags to add to each"
        place_key = str(ticked[0].path) if len(ticked) == 1 else "several"
        tags = left.multiselect(label, known, list(alone.tags), accept_new_options=True, key=f"tags of {place_key}")
        note = alone.note
        if len(ticked) == 1:
            note = right.text_area("Note", note, max_chars=LONGEST_NOTE, height=80, key=f"note of {place_key}")
        if not right.form_submit_button(
            "Keep", icon=":material/save:"
        ):  # not beneath the tags, whose list would cover it
            return
    try:
        for run in ticked:
            before = notes[str(run.path)]
            kept = Notes(tuple(tags), note) if len(ticked) == 1 else Notes((*before.tags, *tags), before.note)
            write_notes(run, own_root(), kept)
    except (RunError, OSError) as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    st.rerun()


def offer_deleting(ticked: list[Run]) -> None:
    """A button that asks first; recorded runs stay."""
    mine = [run for run in ticked if is_own(run)]
    if not mine:
        st.caption(
            "Recorded runs come with labkit and cannot be deleted here; their tags are kept in your runs folder."
        )
    elif st.button(f"Delete {len(mine)} of your runs …", icon=":material/delete:"):
        ask(mine)


@st.dialog("Delete for good?")
def ask(runs: list[Run]) -> None:
    """Names what would go, and deletes it if that is wished."""
    names = [as_text(str(run)) for run in runs[:MOST_NAMED]]
    st.markdown("\n".join(f"- {name}" for name in names))
    if len(runs) > MOST_NAMED:
        st.markdown(f"and {len(runs) - MOST_NAMED:,} more")
    st.caption("All that was kept goes with it: weights, embeddings, notes. Nothing brings it back.")
    with st.container(horizontal=True):
        if st.button("Cancel"):
            st.rerun()
        agreed = st.button(f"Delete {len(runs)} for good", icon=":material/delete_forever:")
    if agreed:
        try:
            for run in runs:
                delete_run(run)
        except (RunError, OSError) as error:
            st.error(as_text(str(error)), icon=":material/error:")
            return
        st.cache_resource.clear()
        st.rerun()
