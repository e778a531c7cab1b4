"""Who is looking: a person at a live notebook, a notebook being built to be committed, or the book."""

from __future__ import annotations

import os

from labkit.base.checks import check_choice

MODES = ("live", "notebook", "book")


def mode() -> str:
    """ "live" unless LABKIT_BUILD says "notebook" or "book"."""
    found = os.environ.get("LABKIT_BUILD") or "live"
    check_choice("LABKIT_BUILD", found, MODES)
    return found


def fast() -> bool:
    """Whether only a sign of life is wanted, as in tests: LABKIT_FAST=1."""
    return os.environ.get("LABKIT_FAST") == "1"
