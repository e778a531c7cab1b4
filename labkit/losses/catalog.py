"""Every loss by its name: what the dashboard, the lessons and the docs show, and how the command line builds it."""

from __future__ import annotations

from labkit.losses.cards import pair, proxy, ranking, softmax
from labkit.losses.cards.card import Card as Card

CARDS = (*ranking.CARDS, *proxy.CARDS, *softmax.CARDS, *pair.CARDS)
CATALOG: dict[str, Card] = {card.name: card for card in CARDS}
