"""Losses: a card and a playground for each loss of the catalogue, and all cards to search."""

import streamlit as st

from dashboard.parts.menus import one_of
from dashboard.parts.playgrounds import playground
from dashboard.parts.text import as_text
from labkit.data.papers import PAPERS, errata
from labkit.explorers.columns import side_by_side
from labkit.losses import CATALOG, Card

ERRATA = errata()
FAMILIES = {
    "ranking": "Ranking: the metric itself, smoothed",
    "proxy": "Proxies: one or several vectors stand for a class",
    "softmax": "Softmax: classification used for retrieval",
    "pair": "Pairs: the baselines the papers compare with",
}


def page() -> None:
    """One loss with its playground, then all cards to search."""
    st.title("Losses")
    accept_old_addresses()
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        name = one_of("Loss to play with", {each: card.title for each, card in CATALOG.items()}, "pnp-dq", "loss")
    right.caption(FAMILIES[CATALOG[name].family])
    st.latex(CATALOG[name].latex)
    left, right = side_by_side("card", [3, 2], 330, gap="large")
    with left:
        playground(CATALOG[name])
    with right:
        show_card(CATALOG[name])
    st.header("All losses")
    show_all()
    st.divider()
    st.markdown("**Sources**")
    for paper in PAPERS.values():
        st.markdown(f"- {paper.citation}")


def accept_old_addresses() -> None:
    """Addresses once said PNP-Dq or RS@k for the loss that is pnp-dq or recall-at-k."""
    meant = {title: card.name for card in CATALOG.values() for title in (card.title, card.title.replace("_", ""))}
    if (said := st.query_params.get("loss")) in meant:
        st.query_params["loss"] = meant[said]


def show_all() -> None:
    """The cards that match a search, by family."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    words = left.text_input(
        "Find a loss", key="find", bind="query-params", placeholder="name, paper, equation or erratum id"
    )
    family = right.selectbox("Family", ["all", *FAMILIES], key="family", bind="query-params")
    found = [card for card in CATALOG.values() if matches(card, words) and family in ("all", card.family)]
    st.caption(f"Showing {len(found)} of {len(CATALOG)} losses")
    if not found:
        st.warning("No loss matches. Clear the search box or choose another family.")
    for key, heading in FAMILIES.items():
        cards = [card for card in found if card.family == key]
        if cards:
            st.subheader(heading)
        for card in cards:
            with st.expander(f"**{card.title}**  ·  {card.equation}"):
                st.latex(card.latex)
                show_card(card)


def matches(card: Card, words: str) -> bool:
    """Whether every word is somewhere on the card."""
    text = " ".join((card.name, card.title, card.family, card.paper, card.equation, *card.errata)).lower()
    return all(word in text for word in words.lower().split())


def show_card(card: Card) -> None:
    """Source, defaults, errata, and what the released code does differently."""
    st.markdown(f"`{card.name}`: *{card.paper}*, {card.equation}.")
    if card.defaults:
        # Markdown, for a table of Streamlit's would load pandas
        rows = [f"| {as_text(k)} | {as_text(str(v))} | {as_text(source)} |" for k, (v, source) in card.defaults.items()]
        st.markdown("\n".join(["| option | default | from |", "|---|---|---|", *rows]))
    if card.errata:
        count = f"{len(card.errata)} errata concern it" if len(card.errata) > 1 else "One erratum concerns it"
        with st.expander(count, icon=":material/edit_note:"):
            st.markdown("\n".join(f"- **{name}**: {as_text(ERRATA[name], 2000)}" for name in card.errata))
    if card.released:
        st.info(f"Released code: {card.released}", icon=":material/code:")
