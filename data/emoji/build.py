"""Draw emoji48.npz anew from the vendors' icon sets.

Needs `pip install resvg-py==0.5.0 numpy pillow tqdm` and, in an empty folder,
    npm install @iconify-json/noto@1.2.9 @iconify-json/noto-v1@1.2.5 @iconify-json/twemoji@1.2.5 \
        @iconify-json/emojione@1.2.3 @iconify-json/fluent-emoji@1.2.7 @iconify-json/fluent-emoji-flat@1.2.6 \
        @iconify-json/fluent-emoji-high-contrast@1.2.6 @iconify-json/emojione-monotone@1.2.1
then
    python data/emoji/build.py FOLDER/node_modules/@iconify-json data/emoji/emoji48.npz

Four sets say which codepoint each icon has. The other four have names only: fluent-emoji those of fluent-emoji-flat,
the older three mostly Noto's names and aliases. dropped.csv lists the matches that show another thing than the rest.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import resvg_py
from PIL import Image
from tqdm import tqdm

VENDORS = (
    "noto",
    "noto-v1",
    "twemoji",
    "emojione",
    "fluent-emoji",
    "fluent-emoji-flat",
    "fluent-emoji-high-contrast",
    "emojione-monotone",
)
WITH_CODEPOINTS = ("noto", "twemoji", "fluent-emoji-flat", "fluent-emoji-high-contrast")
SKIN_TONES = {"1f3fb", "1f3fc", "1f3fd", "1f3fe", "1f3ff"}
FEWEST_VENDORS = 6
SIZE = 48

Pack = dict[str, Any]


def candidates(vendor: str, codepoint: str, characters: dict[str, dict[str, str]], noto: Pack) -> list[str]:
    """Names a vendor may have given a codepoint's icon, the surest first."""
    if vendor in WITH_CODEPOINTS:
        return [characters[vendor][codepoint]] if codepoint in characters[vendor] else []
    given = [characters[other][codepoint] for other in WITH_CODEPOINTS if codepoint in characters[other]]
    if vendor == "fluent-emoji":
        return [*candidates("fluent-emoji-flat", codepoint, characters, noto), *given]
    # Noto's aliases keep the names of older versions, which the older sets still use.
    older = [alias for alias, icon in noto["aliases"].items() if icon["parent"] == characters["noto"].get(codepoint)]
    return [*older, *given]


def match(packs: dict[str, Pack], characters: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """For each codepoint without skin tone that enough vendors draw: the name of its icon with each vendor."""
    matches: dict[str, dict[str, str]] = {}
    for codepoint in sorted(set().union(*(characters[vendor] for vendor in WITH_CODEPOINTS))):
        if SKIN_TONES.intersection(codepoint.split("-")):
            continue
        found = {}
        for vendor, pack in packs.items():
            names = candidates(vendor, codepoint, characters, packs["noto"])
            known = [name for name in names if name in pack["icons"] or name in pack["aliases"]]
            if known:
                found[vendor] = known[0]
        if len(found) >= FEWEST_VENDORS:
            matches[codepoint] = found
    return matches


def draw(pack: Pack, name: str) -> np.ndarray:
    """One icon as (48, 48, 3) bytes on white."""
    alias = pack["aliases"].get(name, {"parent": name})
    icon = pack["icons"][alias["parent"]]
    left, top = icon.get("left", 0), icon.get("top", 0)
    width, height = icon.get("width", pack.get("width", 16)), icon.get("height", pack.get("height", 16))
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{SIZE}" height="{SIZE}" viewBox="{left} {top} {width} {height}">{icon["body"]}</svg>'
    )
    drawing = Image.open(io.BytesIO(bytes(resvg_py.svg_to_bytes(svg_string=svg)))).convert("RGBA")
    if alias.get("hFlip"):
        drawing = drawing.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    # Pillow's blending, not resvg's own background: the two differ in rounding.
    page = Image.new("RGBA", drawing.size, "white")
    page.alpha_composite(drawing)
    return np.asarray(page.convert("RGB"))


def build(folder: Path, dropped: Path) -> dict[str, np.ndarray]:
    """The arrays of emoji48.npz."""
    packs = {vendor: json.loads((folder / vendor / "icons.json").read_text("utf-8")) for vendor in VENDORS}
    characters = {vendor: json.loads((folder / vendor / "chars.json").read_text("utf-8")) for vendor in WITH_CODEPOINTS}
    with dropped.open(encoding="utf-8", newline="") as opened:
        wrong = {(row["codepoint"], row["vendor"]) for row in csv.DictReader(opened)}
    matches = match(packs, characters)
    images, label, vendor_of = [], [], []
    for number, (codepoint, found) in enumerate(tqdm(matches.items(), desc="emoji")):
        for vendor in VENDORS:
            if vendor in found and (codepoint, vendor) not in wrong:
                images.append(draw(packs[vendor], found[vendor]))
                label.append(number)
                vendor_of.append(VENDORS.index(vendor))
    return {
        "images": np.stack(images),
        "label": np.array(label, np.int16),
        "vendor": np.array(vendor_of, np.int8),
        "vendors": np.array(VENDORS),
        "codepoints": np.array(list(matches)),
        "names": np.array([found["noto"] for found in matches.values()]),
    }


def main() -> None:
    """Build from the command line."""
    parser = argparse.ArgumentParser(description="Draw emoji48.npz anew from the vendors' icon sets.")
    parser.add_argument("folder", type=Path, help="node_modules/@iconify-json with the eight packages")
    parser.add_argument("output", type=Path, help="the file to write")
    options = parser.parse_args()
    arrays = build(options.folder, Path(__file__).with_name("dropped.csv"))
    np.savez_compressed(options.output, **arrays)
    print(f"{len(arrays['images']):,} drawings of {len(arrays['codepoints']):,} emoji in {options.output}")


if __name__ == "__main__":
    main()
