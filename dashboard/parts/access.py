"""What visitors may do: everything on one's own machine; on a shared server they may only look."""

from __future__ import annotations

import os
import re

import streamlit as st

PATH = re.compile(r"(?<![\w.:/\\])(?:[A-Za-z]:)?[/\\][\w.~-]+[/\\][^\s'\"`,;)]*")  # absolute, of two parts or more
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def read_only() -> bool:
    """Whether the dashboard was started with --read-only: no training, deleting or writing, and no file paths."""
    return os.environ.get("LABKIT_READ_ONLY") == "1"


def may_change() -> bool:
    """Whether runs may be trained, imported, noted and deleted: on this machine only, and not if read-only."""
    return not read_only() and st.get_option("server.address") in LOOPBACK


def for_visitors(text: str) -> str:
    """A text as visitors may see it: on a shared server without the paths of its files."""
    return PATH.sub("…", text) if read_only() else text
