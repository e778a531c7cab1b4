"""Writes the table of the losses' defaults for what must not load torch: `python -m labkit.training.defaults`.

A default is stated in a function's signature alone; a test holds the table to it.
"""

from __future__ import annotations

import json
from typing import Any

from labkit.losses import CATALOG
from labkit.runs.presets import DEFAULTS
from labkit.training.config import catalogue_options


def stated_defaults() -> dict[str, dict[str, Any]]:
    """Loss -> option -> default, as the signatures say."""
    return {loss: {name: p.default for name, p in catalogue_options(loss).items()} for loss in CATALOG}


if __name__ == "__main__":
    lines = (f"  {json.dumps(loss)}: {json.dumps(options)}" for loss, options in stated_defaults().items())
    DEFAULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
