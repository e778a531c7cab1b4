"""Presets: small TOML files that say what a run is made of; `labkit.training.config` makes a configuration of one."""

from __future__ import annotations

import re
import tomllib
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from labkit.base.paths import PACKAGE

PRESETS = PACKAGE / "training" / "presets"


def preset_names() -> list[str]:
    """Names that `labkit train` knows."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def is_preset(name: str) -> bool:
    """Whether there is such a preset; the name may come from a file and hold anything."""
    return re.fullmatch(r"[a-z0-9-]{1,100}", name) is not None and (PRESETS / f"{name}.toml").is_file()


def describe(preset: str) -> str:
    """The comment at the top of a preset."""
    lines = (PRESETS / f"{preset}.toml").read_text(encoding="utf-8").splitlines()
    return lines[0].removeprefix("# ")


def preset_content(preset: str) -> dict[str, Any]:
    """The sections of a preset and its default loss."""
    content = deepcopy(read_toml(PRESETS / f"{preset}.toml"))
    return {name: value for name, value in content.items() if name not in ("tuned", "losses")}


def own_settings(preset: str, loss: str) -> dict[str, Any]:
    """What a preset itself says of a loss."""
    found: dict[str, Any] = read_toml(PRESETS / f"{preset}.toml").get("losses", {}).get(loss, {})
    return dict(found)


def tuned_settings(preset: str, loss: str) -> dict[str, Any]:
    """What tuning on the data set that the preset names has found to suit a loss."""
    tuned = read_toml(PRESETS / f"{preset}.toml").get("tuned")
    found: dict[str, Any] = read_toml(PRESETS / "tuned" / f"{tuned}.toml").get(loss, {}) if tuned else {}
    return dict(found)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file, read again when it has changed."""
    return parsed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=100)
def parsed(path: Path, changed: int) -> dict[str, Any]:
    """A TOML file as it was at that time."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
