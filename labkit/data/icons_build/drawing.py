"""Icons as pixels: each SVG drawn in black on white, its box fitted into 48 × 48 with a margin."""

from __future__ import annotations

import io
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from tqdm import tqdm

from labkit.data.files import DataError
from labkit.data.icons_build.package import Pack, read_sets
from labkit.data.icons_build.sets import Icon

SIZE, MARGIN = 48, 2


def require_renderer() -> None:
    """Refuse in one sentence where the packages that draw are missing, before anything is downloaded."""
    for package in ("resvg_py", "PIL"):
        if find_spec(package) is None:
            raise DataError(f'building the icons needs {package}, which is not installed: pip install "labkit[icons]"')


def draw(pack: Pack, name: str) -> np.ndarray:
    """One icon of a set as (48, 48) bytes, colours as luminance."""
    import resvg_py
    from PIL import Image

    icon = pack["icons"][name]
    left, top = (icon.get(side, pack.get(side, 0)) for side in ("left", "top"))
    width, height = (icon.get(side, pack.get(side, 16)) for side in ("width", "height"))
    side = max(width, height)
    margin = side * MARGIN / (SIZE - 2 * MARGIN)
    box = (left - (side - width) / 2 - margin, top - (side - height) / 2 - margin, side + 2 * margin)
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" color="#000" '
        f'width="{SIZE}" height="{SIZE}" viewBox="{box[0]} {box[1]} {box[2]} {box[2]}">{icon["body"]}</svg>'
    )
    # without the system's fonts: they differ from machine to machine
    png = resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True, background="white")
    return np.asarray(Image.open(io.BytesIO(bytes(png))).convert("L"))


def draw_all(tarball: Path, icons: list[Icon]) -> np.ndarray:
    """The drawings of icons (N, 48, 48) in their order."""
    images = np.full((len(icons), SIZE, SIZE), 255, np.uint8)
    places = defaultdict(list)
    for place, icon in enumerate(icons):
        places[icon.prefix].append(place)
    with tqdm(total=len(icons), desc="icons drawn") as bar:
        for prefix, pack in read_sets(tarball, places):
            for place in places[prefix]:
                images[place] = draw(pack, icons[place].name)
                bar.update()
    return images


def visible(images: np.ndarray) -> np.ndarray:
    """Whether a drawing has ink, and is not one dark square."""
    all_black = 255 * SIZE * SIZE
    ink = all_black - images.sum((1, 2), dtype=np.int64)
    seen: np.ndarray = (ink > 0.008 * all_black) & (ink < 0.9 * all_black)
    return seen
