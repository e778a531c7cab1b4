"""Real words from the official archives, unpacked: IIIT5K-Words, Street View Text, ICDAR 2003 and 2013 (task 3).

The pictures become grey, 32 × 100, as those of the prepared file. ICDAR's lists also hold words with signs and words of
one or two letters; the slides' tables leave them out, and so does this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError
from tqdm import tqdm

from labkit.base.checks import check_choice
from labkit.data.benchmarks.lists import OUTSIDE
from labkit.data.files import DataError
from labkit.data.word_images import HEIGHT, WIDTH, WordImages

WHERE = """\
IIIT5K (IIIT5K/testdata.mat …): https://cvit.iiit.ac.in/research/projects/cvit-projects/the-iiit-5k-word-dataset
SVT (svt1/test.xml, svt1/img/*.jpg): http://www.iapr-tc11.org/mediawiki/index.php/The_Street_View_Text_Dataset
ICDAR'03 (word/word.xml): http://www.iapr-tc11.org/mediawiki/index.php/ICDAR_2003_Robust_Reading_Competitions
ICDAR'13 (Challenge2_Test_Task3_Images/gt.txt): https://rrc.cvc.uab.es/?ch=2"""


class Found(NamedTuple):
    """A word in a picture: the file, the part of it (x, y, width, height; all of it if None), and the word."""

    file: Path
    box: tuple[int, int, int, int] | None
    word: str


def iiit5k(folder: Path, part: str) -> Iterator[Found]:
    """traindata.mat or testdata.mat: a list of pictures with their words."""
    from scipy.io import loadmat

    file = folder / f"{part}data.mat"
    with file.open("rb") as opened:
        content = loadmat(opened, simplify_cells=True)[f"{part}data"]
    for entry in content:
        yield Found(inside(folder, file, str(entry["ImgName"])), None, str(entry["GroundTruth"]))


def svt(folder: Path, part: str) -> Iterator[Found]:
    """test.xml: pictures of streets with boxes round words."""
    file = folder / f"{part}.xml"
    for image in parsed(file).iter("image"):
        path = inside(folder, file, image.findtext("imageName") or "")
        for box in image.iter("taggedRectangle"):
            x, y, width, height = (int(box.attrib[name]) for name in ("x", "y", "width", "height"))
            yield Found(path, (x, y, width, height), box.findtext("tag") or "")


def icdar03(folder: Path, part: str) -> Iterator[Found]:
    """word.xml: pictures of words."""
    file = folder / "word.xml"
    for image in parsed(file).iter("image"):
        yield Found(inside(folder, file, image.attrib["file"]), None, image.attrib["tag"])


def icdar13(folder: Path, part: str) -> Iterator[Found]:
    """gt.txt: a line a picture, its name and the word in quotation marks, in which \\" and \\\\ stand for " and \\."""
    file = folder / "gt.txt"
    for number, line in enumerate(file.read_text(encoding="utf-8-sig").splitlines(), 1):
        if not line.strip():
            continue
        match = re.fullmatch(r'\s*([^,]+),\s*"(.*)"\s*', line)
        if not match:
            raise DataError(f'{file}, line {number}: expected `word_1.png, "word"`, got {line[:80]!r}')
        yield Found(inside(folder, file, match[1]), None, re.sub(r"\\(.)", r"\1", match[2]))


class Archive(NamedTuple):
    """How a set is read, the parts it has, and whether words with signs and short ones are left out."""

    read: Callable[[Path, str], Iterator[Found]]
    parts: tuple[str, ...]
    plain_words_only: bool


ARCHIVES = {
    "IIIT5K": Archive(iiit5k, ("train", "test"), False),
    "SVT": Archive(svt, ("train", "test"), False),
    "ICDAR'03": Archive(icdar03, ("test",), True),
    "ICDAR'13": Archive(icdar13, ("test",), True),
}


def read_archive(name: str, folder: Path | str, part: str = "test") -> WordImages:
    """The words of one set of ARCHIVES from its unpacked folder; ids are places in its list."""
    check_choice("name", name, tuple(ARCHIVES))
    archive, folder = ARCHIVES[name], Path(folder)
    check_choice("part", part, archive.parts)
    try:
        listed = list(archive.read(folder, part))
    except DataError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"{error.filename} is missing: unpack the archive there.\n{WHERE}") from None
    except Exception as error:  # a damaged list makes its reader stumble over anything
        raise DataError(f"{folder}: the list of {name} is damaged or another version's ({error!r})") from None
    kept = [(n, found) for n, found in enumerate(listed) if not archive.plain_words_only or is_plain(found.word)]
    if not kept:
        raise DataError(f"{folder}: the list of {name} names no word")
    images = [grey(found) for _, found in tqdm(kept, desc=f"Reading {name}", delay=2, leave=False)]
    ids = tuple(f"{name} {part}/{number}" for number, _ in kept)
    return WordImages(
        f"{name} {part}", torch.from_numpy(np.stack(images))[:, None], tuple(f.word for _, f in kept), ids
    )


def is_plain(word: str) -> bool:
    """Three letters and digits or more, and nothing else."""
    return len(word) >= 3 and word.isascii() and word.isalnum()


def grey(found: Found) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The picture of a word, 32 × 100."""
    try:
        with Image.open(found.file) as image:
            picture = image.convert("L")
            if found.box is not None:
                x, y, width, height = found.box
                left, top = max(0, x), max(0, y)  # some boxes reach over the edge
                right, bottom = min(picture.width, x + width), min(picture.height, y + height)
                if right <= left or bottom <= top:
                    raise DataError(f"{found.file}: the box {found.box} of {found.word!r} lies outside the picture")
                picture = picture.crop((left, top, right, bottom))
            return np.asarray(picture.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC))
    except FileNotFoundError:
        raise DataError(f"{found.file} is missing: unpack the whole archive.\n{WHERE}") from None
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError) as error:
        raise DataError(f"{found.file} is not a whole picture ({error}): unpack the archive anew") from None


def parsed(file: Path) -> ElementTree.Element:
    """An XML list, which may not define entities: a few of them can grow to gigabytes."""
    text = file.read_bytes()
    if b"<!ENTITY" in text:
        raise DataError(f"{file} defines entities, which the official list does not")
    return ElementTree.fromstring(text)  # noqa: S314 (no entities, as checked above)


def inside(folder: Path, file: Path, name: str) -> Path:
    """A picture's path, which must stay inside the folder."""
    if not name or OUTSIDE.search(name):
        raise DataError(f"{file}: the path {name!r} leads out of the data set's folder")
    return folder / name
