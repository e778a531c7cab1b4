"""Columns of a Streamlit page that stand beneath each other where there is no room for them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def side_by_side(key: str, widths: int | Sequence[float], least: int, **options: Any) -> list[Any]:
    """As st.columns, but a column that would be narrower than `least` pixels goes to a line of its own.

    Streamlit itself does so in windows below 640 pixels only. key: a name of its own on the page.
    """
    import streamlit as st

    rows = f".st-key-{key} > [data-testid=stLayoutWrapper] > [data-testid=stHorizontalBlock]"
    st.html(f"<style>{rows} > [data-testid=stColumn] {{ min-width: min(100%, {least}px); }}</style>")
    with st.container(key=key):
        columns: list[Any] = st.columns(widths, **options)
    return columns
