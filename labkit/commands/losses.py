"""python -m labkit losses: the catalogue, as text."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from labkit.base.errors import LabkitError
from labkit.base.words import did_you_mean

if TYPE_CHECKING:
    from labkit.surrogates.cards import ArmCard

HELP = "list the losses, or show the card of one"


def register(parser: argparse.ArgumentParser) -> None:
    """Which loss."""
    parser.add_argument("name", nargs="?", help="a loss of the catalogue")
    parser.set_defaults(run=show_losses)


def show_losses(args: argparse.Namespace) -> int:
    """One line per loss, or all about one."""
    from labkit.data.papers import errata
    from labkit.losses import CATALOG
    from labkit.surrogates.cards import BY_NAME

    if args.name is None:
        for card in CATALOG.values():
            authors = card.paper.partition(",")[0]
            print(f"{card.name:20}  {card.title:24}  {card.family:8}  {authors:24}  {card.equation}")
        for way in BY_NAME.values():
            print(f"{way.name:20}  {way.title:24}  {'metric':8}  {way.source.partition(',')[0]:24}")
        return 0
    if args.name in BY_NAME:
        return show_way(BY_NAME[args.name], errata())
    if args.name not in CATALOG:
        meant = did_you_mean(args.name, CATALOG)
        raise LabkitError(f"no loss {args.name!r}{meant or '; `python -m labkit losses` lists them'}")
    card = CATALOG[args.name]
    print(f"{card.title}\n\n  {card.latex}\n\n{card.paper}, {card.equation}")
    known = errata()
    for erratum in card.errata:
        print(f"erratum {erratum}: {known[erratum]}")
    for option, (value, source) in card.defaults.items():
        print(f"  {option} = {value}  ({source})")
    if card.released:
        print(f"released code: {card.released}")
    return 0


def show_way(way: ArmCard, known: dict[str, str]) -> int:
    """All about one way to train a reader on a metric (`python -m labkit train words-tune --loss NAME`)."""
    print(f"{way.title}\n\n  {way.latex}\n\n{way.source}\nours: {way.ours}")
    for erratum in way.errata:
        print(f"erratum {erratum}: {known[erratum]}")
    for option, value in way.options.items():
        print(f"  {option} = {value}  (ours)")
    return 0
