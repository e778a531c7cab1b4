"""Playgrounds of the Losses page: sliders round figure functions, one for each kind of loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts.circle import TAUS, draw, on_circle, own_options, pick
from dashboard.parts.layout import show_tabs
from dashboard.parts.text import as_text
from labkit.explorers.formula import ALLOWED
from labkit.explorers.lessons.design_a_loss import PRESETS, SEEDS, curve, embedding, made, trained
from labkit.figures.lessons.design_a_loss import ap_against_pnp, gradient_assignment
from labkit.figures.lessons.proxies import LOSSES, ONE_PROXY, gradient_arrows
from labkit.figures.lessons.recall_at_k import GALLERY, moved_gallery
from labkit.figures.lessons.sgsl import GAMMAS, OTHERS, gate, shares, soft_maximum
from labkit.figures.lessons.smoothing_a_rank import smoothed_cutoff, smoothed_step, smoothed_step_slope
from labkit.losses import Card

if TYPE_CHECKING:
    pass

OF_VARIANT = {
    "pnp-o": "PNP-O",
    "pnp-iu": "PNP-I_u, Eq. 6",
    "pnp-iu-exact": "PNP-I_u, Eq. 6",
    "pnp-ib": "PNP-I_b, b = 2",
    "pnp-ds": "PNP-D_s",
    "pnp-dq": "PNP-D_q, α = 1",
    "from-derivative": "nothing beyond R = 5",
}


@st.fragment
def pnp(card: Card) -> None:
    """Gradient assignment, the derivative designer, and the circle."""
    show_tabs(
        {
            "Gradient assignment": assign,
            "Derivative designer": lambda: design(card),
            "On the circle": lambda: on_circle(card, "tau"),
        }
    )


def assign() -> None:
    """The derivative of every PNP loss."""
    left, middle, right = st.columns(3)
    alpha = left.slider("α of D_q", 0.5, 8.0, 1.0, 0.5, key="alpha", bind="query-params")
    b = middle.slider("b of I_b", 0.5, 8.0, 4.0, 0.5, key="b", bind="query-params")
    largest = right.slider("largest R", 2, 50, 10, key="largest", bind="query-params")
    draw(
        gradient_assignment(alpha, b, float(largest)),
        "assignment",
        f"Derivative of every PNP loss over R, α = {alpha:g}, b = {b:g}: I rises, D falls (PNP Fig. 3).",
    )


def design(card: Card) -> None:
    """Any derivative as text, its loss, and a toy network trained with it when asked for."""
    names = list(PRESETS)
    left, right = st.columns([1, 2])
    preset = left.selectbox(
        "Start from", names, names.index(OF_VARIANT[card.name]), key=f"preset-{card.name}", bind="query-params"
    )
    typed = right.text_input(
        "∂L/∂R, a formula of R",
        key="formula",
        bind="query-params",
        placeholder=PRESETS[preset],
        help=f"Empty: the preset's. Allowed: {as_text(ALLOWED)}.",
    )
    text = typed.strip() or PRESETS[preset]
    try:
        loss = made(text)
    except ValueError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    st.caption("R: negatives before the positive. Left its pull ∂L/∂R, right the loss, its integral.")
    curves = curve(loss.derivative, "∂L/∂R", 0), curve(loss.value, "loss", 1)
    alts = f"The derivative {text} over R.", f"The loss whose derivative is {text}, over R."
    for column, fig, key, alt in zip(st.columns(2), curves, ("derivative", "integral"), alts):
        fig.update_xaxes(title={"text": "R"})  # the caption says what it is; more would be cut off
        with column:
            draw(fig, key, alt)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    seed = left.slider("Seed of the toy", min(SEEDS), max(SEEDS), 1, key="seed", bind="query-params")
    if right.button("Train the toy", width="stretch"):
        st.session_state["designed"] = (text, seed)
    if st.session_state.get("designed") == (text, seed):
        show_toy(text, seed)


def show_toy(text: str, seed: int) -> None:
    """The toy's unseen classes before and after 150 steps with this loss."""
    try:
        with st.spinner("Training the toy"):
            found = trained(text, seed)
    except ValueError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    before, after = found.recall
    alt = f"Unseen classes on the circle: R@1 {100 * before:.0f} % before training, {100 * after:.0f} % after."
    draw(embedding(found), "toy", alt)
    st.caption(f"One network, seed {seed}, 150 steps, trained just now on this CPU. Other seeds differ: try them.")


@st.fragment
def smooth_ap(card: Card) -> None:
    """The smoothed step, its slope, AP's derivative, and the circle."""

    def step() -> None:
        tau = pick("temperature τ", TAUS, 0.05, "step-tau")
        draw(smoothed_step(tau), "step", f"The step that a rank counts and its sigmoid, τ = {tau:g}.")
        draw(smoothed_step_slope(tau), "slope", f"Where the sigmoid passes a gradient, τ = {tau:g}.")

    def against() -> None:
        alpha = st.slider("α of D_q", 0.5, 8.0, 2.0, 0.5, key="alpha", bind="query-params")
        alt = "AP's derivative for 0 to 3 positives in front, and D_q's: AP pulls less where positives lead."
        draw(ap_against_pnp(alpha), "against", alt)

    show_tabs({"Smoothed step": step, "AP against PNP": against, "On the circle": lambda: on_circle(card, "tau")})


@st.fragment
def recall_at_k(card: Card) -> None:
    """A gallery with one item to move, the smoothed cut-off, and the circle."""
    left, right = st.columns(2)
    with left:
        tau_rank = pick("τ₁, on ranks", [0.1, 0.2, 0.5, 1.0, 2.0, 5.0], 1.0, "tau_rank")
    with right:
        tau_sim = pick("τ₂, on similarities", TAUS, 0.01, "tau_sim")

    def ranking() -> None:
        left, right = st.columns(2)
        item = left.selectbox("Item to move", list(GALLERY), 4, key="item", bind="query-params")
        place = right.slider("its similarity", 0.0, 1.0, GALLERY[item][0], 0.01, key=f"s-{item}", bind="query-params")
        alt = f"Items of a gallery with {item} at similarity {place:g}, the pull on each, recall@k and rs@k."
        draw(moved_gallery(item, place, tau_rank, tau_sim), "gallery", alt)

    def cutoff() -> None:
        draw(smoothed_cutoff(tau_rank), "cutoff", f"The smoothed “among the first k” for five k, τ₁ = {tau_rank:g}.")

    show_tabs({"A ranking": ranking, "Smoothed cut-off": cutoff, "On the circle": lambda: on_circle(card, "tau_sim")})


@st.fragment
def proxies(card: Card) -> None:
    """Three classes with proxies; one sample can be moved."""
    left, right = st.columns(2)
    angle = left.slider("angle of sample x (degrees)", 0, 355, 60, 5, key="angle", bind="query-params")
    centers = right.slider(
        "proxies per class",
        1,
        3,
        2,
        key="centers",
        bind="query-params",
        disabled=card.title in ONE_PROXY,
        help="ProxyNCA and ProxyAnchor have one.",
    )
    chosen = own_options(card, "centers", LOSSES[card.title].keywords)
    alt = f"{card.title}: samples and proxies of three classes with their gradients as arrows, x at {angle} degrees."
    try:
        fig = gradient_arrows(angle, card.title, centers, **chosen)
    except ValueError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return
    draw(fig, "arrows", alt)
    st.caption(
        "It begins with scale 8 and no regulariser: with the papers' 16 to 32 all weights but one vanish in a plane."
    )


@st.fragment
def sgsl(card: Card) -> None:
    """The soft maximum, how it shares out its gradient, the gate, and the circle."""

    def maximum() -> None:
        left, right = st.columns(2)
        others = left.selectbox("Cosines of the other classes", list(OTHERS), key="others", bind="query-params")
        with right:
            gamma = pick("γ", list(GAMMAS), 30.0, "gamma")
        alt = f"The soft maximum of {others} over γ, between the maximum and its bound; chosen: {gamma:g}."
        draw(soft_maximum(others, gamma), "maximum", alt)
        draw(shares(others, gamma), "shares", f"Share of the gradient of each other class at γ = {gamma:g}.")

    def floor() -> None:
        draw(gate(), "gate", "Least softmax loss over label smoothing, for four data sets, and the gate at 3.")

    show_tabs({"Soft maximum": maximum, "The gate": floor, "On the circle": lambda: on_circle(card, "gamma")})


@st.fragment
def softmax(card: Card) -> None:
    """Class vectors and samples; one can be moved, and made longer or shorter where the loss does not normalise."""
    on_circle(card, "scale" if card.name == "norm-softmax" else "")


@st.fragment
def pairs(card: Card) -> None:
    """Two points to move, one of each class."""
    on_circle(card, "")


def playground(card: Card) -> None:
    """The playground that suits a loss."""
    if card.family == "proxy":
        proxies(card)
    elif card.family == "pair":
        pairs(card)
    elif card.name.startswith("sgsl"):
        sgsl(card)
    elif card.family == "softmax":
        softmax(card)
    elif card.name.startswith("recall-at-k"):
        recall_at_k(card)
    elif card.name == "smooth-ap":
        smooth_ap(card)
    elif "tau" in card.options:
        pnp(card)
    else:
        pairs(card)
