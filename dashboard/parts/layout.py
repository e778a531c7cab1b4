"""How a page is laid out: tabs of which one is drawn, and figures that leave room in a narrow window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    import plotly.graph_objects as go


def show_tabs(contents: dict[str, Callable[[], None]], key: str = "view") -> None:
    """Tabs of which only the open one is drawn; which one is in the URL."""
    for tab, show in zip(st.tabs(list(contents), key=key, on_change="rerun", bind="query-params"), contents.values()):
        if tab.open:
            with tab:
                show()


def legend_on_top(fig: go.Figure) -> go.Figure:
    """Beside a figure it would take half of a narrow window."""
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}
    return fig.update_layout(legend=legend, margin={"t": 70}, height=(fig.layout.height or 380) + 40)
