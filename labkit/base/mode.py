"""Who is looking: a person at a live notebook, a notebook being built to be committed, or the book."""

from __future__ import annotations

import os

MODES = ("live", "notebook", "book")


def mode() -> str:
    """ "live" unless LABKIT_BUILD says "notebook" or "book"."""
    found = os.environ.get("LABKIT_BUILD") or "live"
    if found not in MODES:
        raise ValueError(f"LABKIT_BUILD must be one of {', '.join(MODES)}; got {found!r}")
    return found


def fast() -> bool:
    """Whether only a sign of life is wanted, as in tests: LABKIT_FAST=1."""
    return os.environ.get("LABKIT_FAST") == "1"
