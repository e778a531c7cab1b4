"""Presets: small TOML files that say what a run is made of; a configuration of one is made in the room that trains it.

`labkit.training.config` does it for networks that embed, `labkit.surrogates.word_config` for readers of words,
`labkit.compression.codec_config` for codecs.
"""

from __future__ import annotations

import json
import re
import tomllib
from copy import deepcopy
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from labkit.base.paths import PACKAGE

EMBEDDING, WORDS, CODEC = "embedding", "words", "codec"  # what is trained
FOLDERS = {
    EMBEDDING: PACKAGE / "training" / "presets",
    WORDS: PACKAGE / "surrogates" / "presets",
    CODEC: PACKAGE / "compression" / "presets",
}
DEFAULTS = PACKAGE / "runs" / "defaults.json"  # of the losses' options; `python -m labkit.training.defaults` writes it


def preset_names(*kinds: str) -> list[str]:
    """Names that `labkit train` knows, of these kinds or of all."""
    return [path.stem for kind in kinds or FOLDERS for path in sorted(FOLDERS[kind].glob("*.toml"))]


def kind_of(preset: str) -> str | None:
    """What a preset trains, None if there is no such preset; the name may come from a file and hold anything."""
    if re.fullmatch(r"[a-z0-9-]{1,100}", preset) is None:
        return None
    return next((kind for kind, folder in FOLDERS.items() if (folder / f"{preset}.toml").is_file()), None)


def file_of(preset: str) -> Path:
    """The file of a preset."""
    kind = kind_of(preset)
    if kind is None:
        raise ValueError(f"no preset {preset[:100]!r}; there are: {', '.join(preset_names())}")
    return FOLDERS[kind] / f"{preset}.toml"


def describe(preset: str) -> str:
    """The comment at the top of a preset."""
    return file_of(preset).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def preset_content(preset: str) -> dict[str, Any]:
    """The sections of a preset and its default loss."""
    content = deepcopy(read_toml(file_of(preset)))
    return {name: value for name, value in content.items() if name not in ("tuned", "losses")}


def own_settings(preset: str, loss: str) -> dict[str, Any]:
    """What a preset itself says of a loss."""
    found: dict[str, Any] = read_toml(file_of(preset)).get("losses", {}).get(loss, {})
    return dict(found)


def tuned_settings(preset: str, loss: str) -> dict[str, Any]:
    """What tuning on the data set that the preset names has found to suit a loss."""
    path = file_of(preset)
    tuned = read_toml(path).get("tuned")
    found: dict[str, Any] = read_toml(path.parent / "tuned" / f"{tuned}.toml").get(loss, {}) if tuned else {}
    return dict(found)


@cache
def default_options() -> dict[str, dict[str, Any]]:
    """Loss -> option -> default, of the catalogue, which itself would load torch."""
    found: dict[str, dict[str, Any]] = json.loads(DEFAULTS.read_text(encoding="utf-8"))
    return found


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file, read again when it has changed."""
    return parsed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=100)
def parsed(path: Path, changed: int) -> dict[str, Any]:
    """A TOML file as it was at that time."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
