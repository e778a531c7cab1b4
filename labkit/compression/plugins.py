"""Codecs that Pillow does not have itself: packages of the extra "codecs", loaded when they are needed."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True)
class Plugin:
    """A package from PyPI and the module in it."""

    title: str
    package: str
    module: str

    @property
    def install(self) -> str:
        """What to do where it is missing."""
        return 'pip install "labkit[codecs]"'


HEVC = Plugin("HEVC intra", "pillow-heif", "pillow_heif")
JXL = Plugin("JPEG XL", "pillow-jxl-plugin", "pillow_jxl")
RANGE_CODER = Plugin("the learned codec", "constriction", "constriction")
SSIMULACRA2 = Plugin("SSIMULACRA2", "ssimulacra2", "ssimulacra2")


def plugin_is_there(plugin: Plugin) -> bool:
    """Whether the package is installed."""
    return find_spec(plugin.module) is not None


@cache
def plugin(wanted: Plugin) -> Any:
    """The module, made known to Pillow; a ValueError says how to get it."""
    try:
        module = importlib.import_module(wanted.module)
    except ModuleNotFoundError:
        raise ValueError(f"{wanted.title} needs the package {wanted.package}: {wanted.install}") from None
    if wanted == HEVC:
        module.register_heif_opener()
    return module
