"""Every loss by its name: what the dashboard, the lessons and the docs show, and how the command line builds it."""

from __future__ import annotations

from labkit.base.words import did_you_mean
from labkit.losses.cards import pair, proxy, ranking, softmax
from labkit.losses.cards.card import Card as Card

CARDS = (*ranking.CARDS, *proxy.CARDS, *softmax.CARDS, *pair.CARDS)


class Catalog(dict[str, Card]):
    """Cards by name; a name that is not there is told with the closest one."""

    def __missing__(self, name: str) -> Card:
        """A KeyError, as of any dict."""
        raise KeyError(f"no loss {name!r}{did_you_mean(str(name), self)}")


CATALOG = Catalog({card.name: card for card in CARDS})
