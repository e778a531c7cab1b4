"""Rate and likeness of every codec at every quality, picture by picture: kept as it comes, so that nothing is lost.

One CSV is both the result and the memory: what stands in it is not computed again, unless a codec's library changed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from tqdm import tqdm

from labkit.base.checks import check_choice
from labkit.base.files import write_bytes
from labkit.compression.codecs import CODECS, bits_per_pixel, check_quality, decode, encode, weights_path
from labkit.compression.likeness import likeness


@dataclass(frozen=True)
class Point:
    """One picture, coded once: bits per pixel of the real bytes, PSNR in dB, MS-SSIM, and what coded it."""

    codec: str
    quality: int
    picture: str
    bpp: float
    psnr: float
    ms_ssim: float
    library: str


COLUMNS = tuple(field.name for field in fields(Point))
FEATURES = {"jpeg": "libjpeg_turbo", "jpeg2000": "jpg_2000", "webp": "webp", "avif": "avif"}


def library(codec: str) -> str:
    """Name and version of what codes: a result depends on it."""
    if codec in FEATURES:
        from PIL import features

        return f"{FEATURES[codec]} {features.version(FEATURES[codec])}"
    if codec == "learned":
        from hashlib import sha256

        return f"labkit {sha256(weights_path().read_bytes()).hexdigest()[:8]}"
    from importlib.metadata import version

    extra = CODECS[codec].extra
    assert extra is not None
    return f"{extra.package} {version(extra.package)}"


def sweep(
    pictures: Mapping[str, np.ndarray], codecs: Sequence[str], qualities: Sequence[int], path: Path
) -> list[Point]:
    """Code all pictures with all codecs at all qualities; goes on from what the file holds, with a progress bar.

    Every point is written as soon as it is known, so a sweep that is stopped loses nothing; at the end the file is
    sorted. Returns all points of the file.
    """
    for codec in codecs:
        check_choice("codec", codec, CODECS)
    for quality in qualities:
        check_quality(quality)
    versions = {codec: library(codec) for codec in codecs}
    known = {
        (point.codec, point.quality, point.picture): point
        for point in read_points(path)
        if versions.get(point.codec, point.library) == point.library
    }
    jobs = [(codec, quality, name) for codec in codecs for quality in qualities for name in pictures]
    left = [job for job in dict.fromkeys(jobs) if job not in known]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_points(path, known.values())
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for codec, quality, name in tqdm(left, desc="coding", unit="picture", delay=2):
            known[codec, quality, name] = point = measured(pictures[name], codec, quality, name, versions[codec])
            writer.writerow(astuple(point))
            file.flush()
    write_points(path, known.values())
    return read_points(path)


def measured(image: np.ndarray, codec: str, quality: int, name: str, version: str) -> Point:
    """Code one picture; numbers are rounded as they are written."""
    data = encode(image, codec, quality)
    psnr, ms_ssim = likeness(image, decode(data))
    return Point(
        codec, quality, name, round(bits_per_pixel(data, image), 5), round(psnr, 4), round(ms_ssim, 6), version
    )


def read_points(path: Path) -> list[Point]:
    """The points of a file; a last line that was cut off does not count."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    if lines and tuple(lines[0]) != COLUMNS:
        raise ValueError(f"{path} is not a file of rates: its columns are {', '.join(lines[0])[:100]}")
    found = []
    for line in lines[1:]:
        try:
            codec, quality, picture, bpp, psnr, ms_ssim, version = line
            found.append(Point(codec, int(quality), picture, float(bpp), float(psnr), float(ms_ssim), version))
        except ValueError:
            if line is not lines[-1]:
                raise ValueError(f"{path}: a line of rates cannot be read: {','.join(line)[:100]}") from None
    return found


def write_points(path: Path, points: Iterable[Point]) -> None:
    """Sorted by codec, quality and picture."""
    order = list(CODECS)
    rows = sorted(points, key=lambda p: (order.index(p.codec) if p.codec in order else 99, p.quality, p.picture))
    lines = [",".join(map(str, line)) for line in (COLUMNS, *map(astuple, rows))]
    write_bytes(path, ("\n".join(lines) + "\n").encode())


def curve(points: Iterable[Point], codec: str) -> list[tuple[int, float, float, float]]:
    """Quality, and the means over pictures of bits per pixel, PSNR and MS-SSIM, by rising quality.

    Every quality must have coded the same pictures: else the means could not be compared.
    """
    own = [point for point in points if point.codec == codec]
    pictures = {quality: {p.picture for p in own if p.quality == quality} for quality in {p.quality for p in own}}
    if len(set(map(frozenset, pictures.values()))) > 1:
        raise ValueError(f"{codec}: not every quality has coded the same pictures; let the sweep come to its end")
    found = []
    for quality in sorted(pictures):
        means = np.mean([(p.bpp, p.psnr, p.ms_ssim) for p in own if p.quality == quality], axis=0)
        found.append((quality, float(means[0]), float(means[1]), float(means[2])))
    return found


def at_rate(points: Iterable[Point], codec: str, bpp: float) -> tuple[float, float]:
    """PSNR and MS-SSIM of the mean curve at a rate, straight lines over the logarithm of the rate between qualities.

    MS-SSIM is interpolated in decibels, −10 log10(1 − MS-SSIM), in which curves are nearly straight.
    """
    found = np.array(curve(points, codec))
    if len(found) == 0 or not found[:, 1].min() <= bpp <= found[:, 1].max():
        raise ValueError(f"{codec} has no curve around {bpp} bits per pixel")
    place, rates = np.log(bpp), np.log(found[:, 1])
    decibels = np.interp(place, rates, -10 * np.log10(1 - found[:, 3]))
    return float(np.interp(place, rates, found[:, 2])), float(1 - 10 ** (-decibels / 10))
