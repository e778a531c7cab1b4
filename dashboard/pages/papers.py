"""Papers: every table of the four papers, errata marked, and what our own runs say about their claims."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.parts.runs import all_findings
from dashboard.parts.text import as_text
from labkit.base.words import RULE, VERDICTS, with_mark
from labkit.data.papers import PAPERS, errata, pivot, tables
from labkit.data.papers import table as rows_of
from labkit.figures.forest import forest
from labkit.runs.claims import Finding, evidence, limited

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler


def page() -> None:
    """One table as printed, and the claims of its paper."""
    st.title("Papers")
    st.caption(
        "The papers' numbers are theirs, ours are in the table beneath: other data, other networks, never one column."
    )
    left, right = st.columns([2, 1])
    key = left.selectbox(
        "Paper", list(PAPERS), key="paper", bind="query-params", format_func=lambda k: f"{k}: {PAPERS[k].title}"
    )
    names = list(tables(key)["table"].unique())
    table = right.selectbox("Table", names, key="table", bind="query-params")
    st.markdown(as_text(PAPERS[key].citation, 600))
    show_table(key, table)
    show_errata(key, table)
    st.subheader("What our runs say about this paper's claims")
    found = [finding for finding in all_findings() if finding.claim.paper == key]
    show_claims(with_seeds(found))


def show_table(key: str, table: str) -> None:
    """The rows whose method matches a search."""
    words = st.text_input("Find a method", key="find", bind="query-params", placeholder="part of a method's name")
    wide, texts, errors = pivot(key, table), pivot(key, table, printed=True), pivot(key, table, column="errata")
    names = [" ".join(filter(None, column)) for column in wide.columns]
    wide, texts, errors = (frame.set_axis(names, axis=1) for frame in (wide, texts, errors))
    found = wide[[all(word in str(name).lower() for word in words.lower().split()) for name in wide.index]]
    st.caption(f"Showing {len(found)} of {len(wide)} rows of table {as_text(str(table))}")
    if found.empty:
        st.warning("No method matches. Clear the search box.")
    else:
        st.dataframe(as_printed(found, texts.loc[found.index], errors.loc[found.index]))


def as_printed(numbers: pd.DataFrame, texts: pd.DataFrame, errors: pd.DataFrame) -> Styler:
    """Numbers, so that they can be sorted, shown with the paper's decimals; † marks those with an erratum."""
    decimals: dict[Any, Any] = {name: dict(zip(numbers[name], texts[name])).get for name in numbers.columns}
    styled = numbers.style.format(decimals, na_rep="–")
    printed: dict[Any, dict[Any, Any]] = texts.to_dict("index")
    for row, cells in errors.fillna("").to_dict("index").items():
        for column in (column for column, errata_ids in cells.items() if errata_ids):
            styled.format(f"{printed[row][column]} †", subset=([row], [column]))
    return styled


def show_errata(key: str, table: str) -> None:
    """What is wrong with the numbers marked †."""
    marked = [row for row in rows_of(key, table, printed=True).to_dict("records") if row["errata"]]
    if not marked:
        return
    with st.expander(f"{len(marked)} numbers of this table, marked †, have errata", icon=":material/edit_note:"):
        known = errata()
        st.table(
            [
                {
                    "number": f"{row['method']}, {row['dataset']}, {measure(row)}: {row['value']}",
                    "erratum": "; ".join(
                        f"{name}: {known[name]}" for name in row["errata"].split(";") if name in known
                    ),
                }
                for row in marked
            ],
            border="horizontal",
            hide_index=True,
        )


def measure(row: dict[Hashable, Any]) -> str:
    """The metric's name with its k, if it has one."""
    return str(row["metric"]) if math.isnan(row["k"]) else f"{row['metric']}@{row['k']:g}"


def with_seeds(found: list[Finding]) -> list[Finding]:
    """The findings from the first seeds only, as many as the reader chooses: what would fewer have shown?"""
    most = max((len(difference.seeds) for finding in found for difference in finding.differences), default=0)
    if most <= 2:
        return found
    seeds = st.slider("Seeds that count", 2, most, most, key="seeds", help="What would fewer seeds have shown?")
    return [limited(finding, seeds) for finding in found]


def show_claims(findings: list[Finding]) -> None:
    """Every claim with its verdict and the evidence for that."""
    counts = {verdict: sum(finding.verdict == verdict for finding in findings) for verdict in VERDICTS}
    st.caption(", ".join(f"{with_mark(verdict)}: {count}" for verdict, count in counts.items() if count))
    st.plotly_chart(forest(findings), key="forest")
    st.table(
        [
            {
                "where": finding.claim.where,
                "claim": finding.claim.statement,
                "here": with_mark(finding.verdict),
                "paired differences over seeds, 95 % interval": "\n\n".join(
                    as_text(evidence(difference), 400) for difference in finding.differences
                )
                or as_text(finding.claim.why_not),
            }
            for finding in findings
        ],
        border="horizontal",
        hide_index=True,
    )
    st.caption(RULE)
