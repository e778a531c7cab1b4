"""Words drawn on the fly: curated words in open fonts, distorted; all from the clone, in memory, from a seed.

Picture n of a split depends on (seed, split, n) alone, so training never repeats a picture unless it is told to, and a
resumed run sees what it would have seen.
"""

from __future__ import annotations

import csv
import hashlib
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import torch

from labkit.base.checks import check_choice, check_count, check_not_negative
from labkit.data.files import File, locate
from labkit.data.samplers import key
from labkit.data.word_images import HEIGHT, LETTERS, WIDTH, Picture, WordImages

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

LICENCE = "words CC-BY (EFF); fonts OFL-1.1 and Apache-2.0"
SPLITS = ("train", "validation", "test")
LONGEST = 9  # letters of the longest word
WORDS = File("eff-long.txt", "words", "6d557f0693958fb5e650b68b5bee585eb82cf4da32965505c789e924743bc522", shipped=True)
FONTS = File("fonts.csv", "words", "2d42ee0d08af6e8b04b3c24603fb92294a225bf8482e42d2cba1e248d1f5ae86", shipped=True)
SIZE = 32  # of a letter before it is distorted, in pixels


def rendered_words(split: str, count: int, *, first: int = 0, seed: int = 0, distortion: float = 1.0) -> WordImages:
    """Pictures first … first + count - 1 of a split: its words in its fonts, in lower, title or upper case.

    The words are given in lower case. distortion: how far corners move and how much blur and noise there is; 0 is
    clean print.
    """
    check_choice("split", split, SPLITS)
    check_count("count", count)
    check_not_negative("first", first)
    check_not_negative("distortion", distortion)
    words, fonts = words_of(split), fonts_of(split)
    pictures, chosen, ids = [], [], []
    for n in range(first, first + count):
        rng = np.random.default_rng(key(seed, SPLITS.index(split), n))
        word, font = words[rng.integers(len(words))], fonts[rng.integers(len(fonts))]
        pictures.append(render(in_some_case(word, rng), font, rng, distortion))
        chosen.append(word)
        ids.append(f"{split}/{seed}/{n}/{font}")
    images = torch.from_numpy(np.stack(pictures))[:, None]
    return WordImages(f"rendered words, {split}", images, tuple(chosen), tuple(ids))


@cache
def words_of(split: str) -> tuple[str, ...]:
    """The words of a split: by a hash of the word, eight tenths, one tenth and one tenth."""
    check_choice("split", split, SPLITS)
    every = locate(WORDS).read_text(encoding="utf-8").split()
    tenth = {
        word: int(hashlib.sha256(word.encode()).hexdigest(), 16) % 10 for word in every if set(word) <= set(LETTERS)
    }
    inside = {"train": range(2, 10), "validation": (0,), "test": (1,)}[split]
    return tuple(word for word, part in tenth.items() if part in inside)


@cache
def fonts_of(split: str) -> tuple[str, ...]:
    """The names of the fonts of a split."""
    check_choice("split", split, SPLITS)
    with locate(FONTS).open(encoding="utf-8", newline="") as file:
        return tuple(row["font"] for row in csv.DictReader(file) if row["split"] == split)


@cache
def open_font(name: str) -> FreeTypeFont:
    """A font, its file verified."""
    from PIL import ImageFont

    with locate(FONTS).open(encoding="utf-8", newline="") as file:
        checksums = {row["font"]: row["sha256"] for row in csv.DictReader(file)}
    check_choice("font", name, checksums)
    path = locate(File(f"fonts/{name}.woff2", "words", checksums[name], shipped=True))
    return ImageFont.truetype(str(path), SIZE, layout_engine=ImageFont.Layout.BASIC)


def in_some_case(word: str, rng: np.random.Generator) -> str:
    """As it is, with a capital, or in capitals."""
    return (word, word, word.capitalize(), word.upper())[rng.integers(4)]


def render(word: str, font: str, rng: np.random.Generator, distortion: float = 1.0) -> Picture:
    """One word as a picture (32, 100), stretched to it as crops of scene text are; the empty word is a blank one."""
    from PIL import Image, ImageDraw, ImageFilter

    face = open_font(font)
    left, top, right, bottom = face.getbbox(word)
    margin = SIZE // 2
    width, height = max(int(right - left), 1), max(int(bottom - top), 1)
    paper, ink = grey_levels(rng)
    sheet = Image.new("L", (width + 2 * margin, height + 2 * margin), paper)
    ImageDraw.Draw(sheet).text((margin - left, margin - top), word, font=face, fill=ink)
    # the picture shows a quadrangle of the sheet: the word's box and two pixels round it, its corners moved outwards
    outwards = np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]])
    away = np.minimum(2 + distortion * rng.uniform(0, 1, (4, 2)) * (0.3 * SIZE, 0.2 * SIZE), margin)
    corners = margin + (outwards > 0) * (width, height) + outwards * away
    picture = sheet.transform((WIDTH, HEIGHT), Image.Transform.QUAD, tuple(corners.ravel()), Image.Resampling.BILINEAR)
    picture = picture.filter(ImageFilter.GaussianBlur(distortion * rng.uniform(0, 1)))
    noise = rng.normal(0, distortion * rng.uniform(0, 12), (HEIGHT, WIDTH))
    return (np.asarray(picture) + noise).clip(0, 255).astype(np.uint8)


def grey_levels(rng: np.random.Generator) -> tuple[int, int]:
    """Paper and ink, dark on light or light on dark, at least 60 of 255 apart."""
    apart = int(rng.integers(60, 220))
    low = int(rng.integers(0, 256 - apart))
    return (low + apart, low) if rng.random() < 0.5 else (low, low + apart)
