"""What a run is called: its group says what was chosen, its id adds the seed."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path


def group_name(preset: str, loss: str, settings: dict[str, str]) -> str:
    """A run's id without its seed: what was chosen, readable, and safe as a folder name."""
    chosen = [f"{name.rpartition('.')[2]}={value}" for name, value in sorted(settings.items())]
    parts = [preset, loss.rpartition(":")[2], *chosen]  # of FILE.py:NAME the name
    name = re.sub(r"[^A-Za-z0-9_.=+,-]", "", "_".join(parts))
    if len(name) <= 110:
        return name
    return f"{name[:100]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def free_folder(folder: Path) -> Path:
    """The folder, or the first of folder-2, folder-3, … that holds no run."""
    candidate, number = folder, 1
    while (candidate / "run.json").exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate
