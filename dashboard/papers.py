"""Papers: every table of the four papers, errata marked, and what our own runs say about their claims."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import streamlit as st
from common import all_findings, as_text

from labkit.papers import PAPERS, errata, pivot, tables
from labkit.papers import table as rows_of
from labkit.runs.claims import VERDICTS, evidence

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

MARK = dict(zip(VERDICTS, ("✓ ", "± ", "✗ ", "– ", "… ")))


def measure(row) -> str:
    """The metric's name with its k, if it has one."""
    return row.metric if math.isnan(row.k) else f"{row.metric}@{row.k:g}"


def as_printed(numbers: pd.DataFrame, texts: pd.DataFrame, errors: pd.DataFrame) -> Styler:
    """Numbers, so that they can be sorted, shown with the paper's decimals; † marks those with an erratum."""
    shown = {name: dict(zip(numbers[name], texts[name])) for name in numbers.columns}
    styled = numbers.style.format(
        {name: lambda value, known=known: known[value] for name, known in shown.items()}, na_rep="–"
    )
    for row, column in errors.fillna("").ne("").stack().loc[lambda marked: marked].index:
        styled.format(lambda _, text=texts.at[row, column]: f"{text} †", subset=([row], [column]))
    return styled


st.title("Papers")
st.caption(
    "The papers' numbers are theirs, ours are in the table beneath: other data, other networks, never one column."
)
left, right = st.columns([2, 1])
key = left.selectbox(
    "Paper", list(PAPERS), key="paper", bind="query-params", format_func=lambda k: f"{k}: {PAPERS[k].title}"
)
rows = tables(key)
table = right.selectbox("Table", list(rows["table"].unique()), key="table", bind="query-params")
st.markdown(as_text(PAPERS[key].citation, 600))
words = st.text_input("Find a method", key="find", bind="query-params", placeholder="part of a method's name")

wide, texts, errors = pivot(key, table), pivot(key, table, printed=True), pivot(key, table, column="errata")
wide.columns = texts.columns = errors.columns = [" ".join(filter(None, column)) for column in wide.columns]
marks = rows_of(key, table, printed=True).query("errata != ''")
found = wide[[all(word in str(name).lower() for word in words.lower().split()) for name in wide.index]]
st.caption(f"Showing {len(found)} of {len(wide)} rows of table {as_text(str(table))}")
if found.empty:
    st.warning("No method matches. Clear the search box.")
else:
    st.dataframe(as_printed(found, texts.loc[found.index], errors.loc[found.index]))
if len(marks):
    with st.expander(f"{len(marks)} numbers of this table, marked †, have errata", icon=":material/edit_note:"):
        known = errata()
        st.table(
            [
                {
                    "number": f"{row.method}, {row.dataset}, {measure(row)}: {row.value}",
                    "erratum": "; ".join(f"{name}: {known[name]}" for name in row.errata.split(";") if name in known),
                }
                for row in marks.itertuples()
            ],
            border="horizontal", hide_index=True,
        )  # fmt: skip

st.subheader("What our runs say about this paper's claims")
ours = [finding for finding in all_findings() if finding.claim.paper == key]
counts = {verdict: sum(finding.verdict == verdict for finding in ours) for verdict in VERDICTS}
st.caption(", ".join(f"{MARK[verdict]}{verdict}: {count}" for verdict, count in counts.items() if count))
st.table(
    [
        {
            "where": finding.claim.where,
            "claim": finding.claim.statement,
            "here": f"{MARK[finding.verdict]}{finding.verdict}",
            "paired differences over seeds, 95 % interval": "\n\n".join(
                as_text(evidence(difference), 400) for difference in finding.differences
            )
            or as_text(finding.claim.why_not),
        }
        for finding in ours
    ],
    border="horizontal", hide_index=True,
)  # fmt: skip
st.caption(
    "Held: the interval of every difference lies on the claimed side of zero. A difference that these seeds cannot "
    "show did not hold at this scale, which is not to say that it is false at the paper's."
)
