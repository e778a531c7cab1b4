"""Before anybody asks for them, a server loads what pages import: Train and Losses need torch, which takes seconds."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from importlib import import_module

from dashboard.pages import PAGES

PAUSE = 4.0  # seconds for the first page, which somebody waits for


def warm_up() -> None:
    """Load the pages one after the other, in the background."""
    threading.Thread(target=load_pages, daemon=True).start()


def load_pages() -> None:
    """Import every page; one that cannot be imported says why when it is visited."""
    time.sleep(PAUSE)
    for name in PAGES:
        with suppress(Exception):
            import_module(f"dashboard.pages.{name}")
