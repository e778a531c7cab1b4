"""Any loss on the unit circle: samples to move, a slider for each of its options, gradients as arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts.text import as_text
from labkit.base.titles import PHRASES
from labkit.figures.circle import loss_arrows
from labkit.figures.lessons.sgsl import GAMMAS
from labkit.losses import Card

if TYPE_CHECKING:
    import plotly.graph_objects as go

TAUS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]


def draw(fig: go.Figure, key: str, alt: str) -> None:
    """A figure with its words, made for half a page: the title at the very top, the legend beneath."""
    axis = fig.layout.xaxis.visible is not False
    named = sum(trace.showlegend is not False and bool(trace.name) for trace in fig.data)
    rows = -(-named // 2)  # in the narrowest window; else they would lie on the axis
    fig.update_layout(
        margin={"t": 56 if fig.layout.title.text else 20, "b": (65 if axis else 20) + 22 * rows},
        title={"y": 1, "yanchor": "top", "pad": {"t": 14}},
        legend={"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 0, "yanchor": "bottom"},
    )
    st.plotly_chart(fig, theme=None, key=key, alt=alt)


def pick(label: str, options: Sequence[float], value: float, key: str) -> float:
    """A slider over a few values, in the URL."""
    return st.select_slider(label, options, value, key=key, bind="query-params")


def on_circle(card: Card, option: str) -> None:
    """The gradient arrows of any loss, with a slider for each option of its own; option: the one to show first."""
    left, right = st.columns(2)
    angle = left.slider("angle of x, class A (degrees)", 0, 355, 60, 5, key="angle", bind="query-params")
    chosen, other, length = {}, 20, 1.0
    with right:
        if option in ("tau", "tau_sim"):
            chosen[option] = pick("τ on the circle", TAUS, 0.2, "circle-tau")
        if option == "gamma":
            chosen[option] = pick("γ on the circle", list(GAMMAS), 30.0, "circle-gamma")
        if option == "scale":
            chosen[option] = pick("scale s", [1.0, 2.0, 4.0, 8.0, 16.0], 4.0, "scale")
        if card.family == "pair":
            other = st.slider("angle of z, class B (degrees)", 0, 355, 20, 5, key="other", bind="query-params")
        if card.family == "softmax" and not option:
            length = st.slider("length of x", 0.2, 2.0, 1.0, 0.1, key="length", bind="query-params")
    chosen |= own_options(card, option)
    try:
        fig = loss_arrows(card.name, angle, other, length, **chosen)
    except ValueError as error:  # some options must fit each other
        st.error(as_text(str(error)), icon=":material/error:")
        return
    draw(fig, "circle", f"{card.title}: gradient arrows of samples on the unit circle, x at {angle} degrees.")
    st.caption("An arrow shows −∂L/∂x, a step of gradient descent. The longest has always the same length.")


def own_options(card: Card, shown: str, usual: Mapping[str, float] | None = None) -> dict[str, float]:
    """A slider for each number among the loss's options, round its default; those that were changed.

    shown: the option that has a slider already; usual: values that stand in for defaults in a figure.
    """
    defaults = {name: value for name, (value, _) in card.defaults.items()} | dict(usual or {})
    numbers = {
        name: value
        for name, value in defaults.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and name != shown
    }
    found = {}
    for column, (name, value) in zip(st.columns(max(1, len(numbers))), numbers.items()):
        with column:
            now = pick(
                PHRASES.get(name, name).partition(" =")[0].removesuffix(" {}"), steps(value), value, f"circle-{name}"
            )
        if now != value:
            found[name] = now
    return found


def steps(value: float) -> list[float]:
    """Values to choose from, from an eighth to eight times the default; of 0 the shares up to a half."""
    if value == 0:
        return [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5]
    if isinstance(value, int):
        return sorted({max(2, value // 4), max(2, value // 2), value, 2 * value, 4 * value})
    return [float(f"{value * factor:.4g}") for factor in (0.125, 0.25, 0.5)] + [value] + [value * k for k in (2, 4, 8)]
