"""Sweeps: every point is that of the bytes, nothing is computed twice, what is cut off is made again."""

import csv

import numpy as np
import pytest

from labkit.base.paths import shipped
from labkit.compression import bits_per_pixel, decode, encode, sweep


def pictures(count=2):
    rng = np.random.default_rng(0)
    small = rng.integers(0, 256, (count, 9, 9, 3), dtype=np.uint8)
    return {f"{number}": np.kron(image, np.ones((20, 20, 1), np.uint8)) for number, image in enumerate(small)}


def test_points_are_those_of_the_bytes(tmp_path):
    images = pictures()
    points = sweep.sweep(images, ["jpeg", "webp"], [10, 60], tmp_path / "rates.csv")
    assert len(points) == 8
    point = next(p for p in points if (p.codec, p.quality, p.picture) == ("webp", 60, "1"))
    data = encode(images["1"], "webp", 60)
    assert point.bpp == pytest.approx(bits_per_pixel(data, images["1"]), abs=1e-5)
    error = np.mean((decode(data).astype(float) - images["1"]) ** 2)
    assert point.psnr == pytest.approx(10 * np.log10(255**2 / error), abs=1e-4)
    quality, bpp, psnr, _ = sweep.curve(points, "webp")[1]
    own = [p for p in points if (p.codec, p.quality) == ("webp", 60)]
    assert (quality, bpp, psnr) == (60, np.mean([p.bpp for p in own]), np.mean([p.psnr for p in own]))


def test_a_sweep_goes_on_and_computes_nothing_twice(tmp_path, monkeypatch):
    images, path = pictures(), tmp_path / "rates.csv"
    whole = sweep.sweep(images, ["jpeg"], [10, 60], path)
    content = path.read_text()
    path.write_text(content[: content.rindex("\n", 0, -1) + 9])  # the last line is cut off
    calls, measured = [], sweep.measured
    monkeypatch.setattr(sweep, "measured", lambda *arguments: calls.append(arguments[1:4]) or measured(*arguments))
    assert sweep.sweep(images, ["jpeg"], [10, 60], path) == whole
    assert calls == [("jpeg", 60, "1")]
    assert path.read_text() == content
    monkeypatch.setattr(sweep, "library", lambda codec: "another")
    again = sweep.sweep(images, ["jpeg"], [10], path)  # another library: what it wrote is made again, all of it
    assert {p.library for p in again} == {"another"}


def test_wrong_files_codecs_and_half_curves_are_refused(tmp_path):
    path = tmp_path / "rates.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="not a file of rates"):
        sweep.read_points(path)
    with pytest.raises(ValueError, match="codec must be one of"):
        sweep.sweep({}, ["gif"], [1], tmp_path / "other.csv")
    with pytest.raises(ValueError, match="quality must"):
        sweep.sweep({}, ["jpeg"], [101], tmp_path / "other.csv")
    point = sweep.Point("jpeg", 10, "a", 0.1, 20.0, 0.9, "x")
    other = sweep.Point("jpeg", 20, "b", 0.4, 30.0, 0.99, "x")
    with pytest.raises(ValueError, match="same pictures"):
        sweep.curve([point, other], "jpeg")


def test_a_curve_is_read_between_its_points():
    points = [
        sweep.Point("jpeg", 10, "a", 0.1, 20.0, 0.9, "x"),
        sweep.Point("jpeg", 20, "a", 0.4, 30.0, 0.99, "x"),
    ]
    psnr, ms_ssim = sweep.at_rate(points, "jpeg", 0.2)  # half way in the logarithm
    assert psnr == pytest.approx(25)
    assert ms_ssim == pytest.approx(1 - 10**-1.5)
    with pytest.raises(ValueError, match="no curve around 0.5"):
        sweep.at_rate(points, "jpeg", 0.5)


def test_the_published_curves_rise():
    with (shipped() / "papers" / "kodak_curves.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for codec in ("jpeg", "jpeg2000", "webp"):
        found = np.array([[float(r[n]) for n in ("bpp", "psnr", "ms_ssim")] for r in rows if r["codec"] == codec])
        assert len(found) > 10
        assert (np.diff(found, axis=0) > 0).all()
