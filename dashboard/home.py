"""Home: what labkit is, and the catalogue of losses."""

import streamlit as st

from labkit.losses import CATALOG, Card
from labkit.papers import PAPERS, errata

ERRATA = errata()
FAMILIES = {
    "ranking": "Ranking: the metric itself, smoothed",
    "proxy": "Proxies: one or several vectors stand for a class",
    "softmax": "Softmax: classification used for retrieval",
    "pair": "Pairs: the baselines the papers compare with",
}


def matches(card: Card, words: str) -> bool:
    text = " ".join((card.name, card.title, card.family, card.paper, card.equation, *card.errata)).lower()
    return all(word in text for word in words.lower().split())


def show(card: Card) -> None:
    with st.expander(f"**{card.title}**  ·  {card.equation}"):
        st.latex(card.latex)
        st.markdown(f"*{card.paper}*, {card.equation}. Name: `{card.name}`.")
        if card.defaults:
            rows = [{"option": k, "default": str(v), "from": source} for k, (v, source) in card.defaults.items()]
            st.table(rows, border="horizontal", hide_index=True)
        if card.errata:
            st.markdown("Errata that concern it")
            st.table([{"id": e, "what": ERRATA[e]} for e in card.errata], border="horizontal", hide_index=True)
        if card.released:
            st.info(f"Released code: {card.released}", icon=":material/code:")


st.title("Train on what you measure")
st.markdown(
    "Recall@k, average precision, nDCG, edit distance, rotated IoU and human perception are not differentiable. "
    "Four papers show ways round that; labkit holds their losses and metrics, exact, and says where paper and "
    "released code differ."
)

left, right = st.columns([3, 1], vertical_alignment="bottom")
words = left.text_input(
    "Find a loss", key="find", bind="query-params", placeholder="name, paper, equation or erratum id"
)
family = right.selectbox("Family", ["all", *FAMILIES], key="family", bind="query-params")

found = [c for c in CATALOG.values() if matches(c, words) and family in ("all", c.family)]
st.caption(f"Showing {len(found)} of {len(CATALOG)} losses")
if not found:
    st.warning("No loss matches. Clear the search box or choose another family.")
for name, heading in FAMILIES.items():
    cards = [c for c in found if c.family == name]
    if cards:
        st.subheader(heading)
        for card in cards:
            show(card)

st.divider()
st.markdown("**Sources**")
for paper in PAPERS.values():
    st.markdown(f"- {paper.citation}")
