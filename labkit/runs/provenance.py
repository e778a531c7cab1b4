"""Where a number comes from: code, libraries, machine, data."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from labkit.base.paths import CLONE, ROOT
from labkit.data.dataset import Splits
from labkit.runs.record import DataFacts


def code_version() -> dict[str, Any]:
    """The commit the code is at, and whether files of the package differ from it; None outside a clone."""

    def git(*arguments: str) -> str | None:
        if not CLONE:  # around an installed package there may be another project's repository
            return None
        try:
            command = ["git", *arguments]  # the user's own, wherever it is
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    changed = git("status", "--porcelain", "--", "labkit")
    return {"commit": git("rev-parse", "HEAD"), "dirty": None if changed is None else bool(changed)}


def library_versions() -> dict[str, str]:
    """Versions that may change a result."""
    found = {"python": platform.python_version()}
    for name in ("labkit", "torch", "numpy", "numba", "pillow", "safetensors", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def host() -> dict[str, str]:
    """The kind of machine, not its name."""
    return {"system": platform.system(), "machine": platform.machine()}


def data_facts(splits: Splits) -> DataFacts:
    """Sizes and a hash over everything that was trained and tested on."""
    parts = [part for part in (splits.train, splits.validation, splits.test, splits.gallery) if part is not None]
    digest = hashlib.sha256("".join(part.fingerprint() for part in parts).encode()).hexdigest()
    sizes: dict[str, int] = {}
    for name in ("train", "validation", "test"):
        part = getattr(splits, name)
        sizes |= {name: len(part), f"{name}_classes": len(part.labels.unique())}
    gallery = None if splits.gallery is None else len(splits.gallery)
    return DataFacts(name=splits.train.name, sha256=digest, gallery=gallery, **sizes)
