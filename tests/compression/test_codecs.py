"""Codecs: what is encoded comes back, rates are those of the bytes, and wrong bytes are told apart from right ones."""

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from labkit import compression
from labkit.commands import main
from labkit.compression import plugins
from labkit.metrics import psnr

PILLOW = ("jpeg", "jpeg2000", "webp", "avif", "hevc", "jxl")


def scene(height=48, width=70):
    """A small picture with a ramp, an edge and some texture."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:height, :width]
    image = np.stack((x * 3, y * 4, 128 + 60 * np.sin(x / 5)), -1) + rng.normal(0, 4, (height, width, 3))
    image[10:30, 20:40] = (220, 40, 30)
    return image.clip(0, 255).astype(np.uint8)


def likeness(a, b):
    import torch

    return float(psnr(*(torch.from_numpy(i).permute(2, 0, 1)[None] / 255 for i in (a, b))))


@pytest.mark.parametrize("codec", PILLOW)
def test_more_quality_is_more_bytes_and_more_likeness(codec):
    image = scene()
    coded = [compression.encode(image, codec, quality) for quality in (0, 50, 100)]
    found = [likeness(compression.decode(data), image) for data in coded]
    assert [len(data) for data in coded] == sorted(len(data) for data in coded)
    assert found == sorted(found)
    assert found[-1] > 28
    assert all(compression.codec_of(data) == codec for data in coded)
    assert compression.bits_per_pixel(coded[0], image) == 8 * len(coded[0]) / (48 * 70)


@pytest.mark.parametrize("codec", PILLOW)
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (1, 200), (17, 16)])
def test_odd_sizes_come_back_at_their_size(codec, shape):
    image = scene(*shape)
    for quality in (0, 100):
        decoded = compression.decode(compression.encode(image, codec, quality))
        assert (decoded.shape, decoded.dtype) == (image.shape, np.uint8)


@pytest.mark.parametrize("codec", PILLOW)
def test_bytes_that_are_cut_short_are_refused(codec):
    data = compression.encode(scene(), codec, 50)
    for length in np.linspace(0, len(data) - 8, 25).astype(int):
        with pytest.raises(ValueError, match="data|picture"):
            compression.decode(data[:length])


@pytest.mark.parametrize("codec", PILLOW)
def test_damaged_bytes_give_a_picture_or_a_value_error(codec):
    data = compression.encode(scene(), codec, 50)
    rng = np.random.default_rng(1)
    for _ in range(40):
        damaged = bytearray(data)
        for place in rng.integers(0, len(data), 3):
            damaged[place] = rng.integers(256)
        try:
            assert compression.decode(bytes(damaged)).dtype == np.uint8
        except ValueError as error:
            assert str(error)  # noqa: PT017 (either may happen)


def test_jpeg_is_what_pillow_writes_with_these_settings():
    image, target = scene(), io.BytesIO()
    Image.fromarray(image).save(target, "JPEG", quality=30, subsampling="4:2:0", optimize=True)
    assert compression.encode(image, "jpeg", 30) == target.getvalue()
    assert (compression.decode(target.getvalue()) == np.array(Image.open(target))).all()


def test_jpeg2000_keeps_to_the_rate_that_it_is_told():
    image = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    for quality, rate in ((30, 0.05 * 160**0.3), (60, 0.05 * 160**0.6)):
        found = compression.bits_per_pixel(compression.encode(image, "jpeg2000", quality), image)
        assert 0.8 * rate < found < 1.02 * rate  # noise does not fill it


@pytest.mark.parametrize("wrong", [scene().astype(float), scene()[:, :, :2], scene()[:, :, 0], "text", scene()[:0]])
def test_other_images_are_refused(wrong):
    with pytest.raises(ValueError, match="image must"):
        compression.encode(wrong, "jpeg", 50)


@pytest.mark.parametrize("quality", [-1, 101, 50.0, True, "50", None])
def test_other_qualities_are_refused(quality):
    with pytest.raises(ValueError, match="quality must be a whole number 0 … 100"):
        compression.encode(scene(), "jpeg", quality)


def test_other_codecs_and_other_bytes_are_refused():
    with pytest.raises(ValueError, match="codec must be one of 'jpeg'"):
        compression.encode(scene(), "gif", 50)
    with pytest.raises(ValueError, match="begins like none of the codecs"):
        compression.decode(b"GIF89a and so on")
    with pytest.raises(ValueError, match="holds no bytes"):
        compression.decode(b"")
    with pytest.raises(ValueError, match="must be bytes"):
        compression.decode("text")


@pytest.mark.parametrize(("codec", "package"), [("hevc", "pillow-heif"), ("jxl", "pillow-jxl-plugin")])
def test_a_missing_extra_is_named(codec, package, monkeypatch):
    data = compression.encode(scene(), codec, 50)
    plugins.plugin.cache_clear()
    module = plugins.HEVC.module if codec == "hevc" else plugins.JXL.module
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(plugins, "find_spec", lambda name: None if name == module else True)
    assert codec not in compression.available()
    with pytest.raises(ValueError, match=rf"needs the package {package}.*labkit\[codecs\]"):
        compression.encode(scene(), codec, 50)
    with pytest.raises(ValueError, match=rf"needs the package {package}.*labkit\[codecs\]"):
        compression.decode(data)
    plugins.plugin.cache_clear()


def test_the_room_loads_no_plugin_by_itself():
    code = "import sys, labkit.compression; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert {"pillow_heif", "pillow_jxl", "constriction", "ssimulacra2"}.isdisjoint(done.stdout.split())


def test_commands_encode_and_decode_a_file(tmp_path, capsys):
    image = scene()
    Image.fromarray(image).save(tmp_path / "scene.png")
    assert main(["compress", f"{tmp_path}/scene.png", "-o", f"{tmp_path}/scene.webp", "--quality", "40"]) == 0
    data = (tmp_path / "scene.webp").read_bytes()
    assert data == compression.encode(image, "webp", 40)
    assert f"{8 * len(data) / (48 * 70):.3f} bits per pixel" in capsys.readouterr().out
    assert main(["decompress", f"{tmp_path}/scene.webp", "-o", f"{tmp_path}/back.png"]) == 0
    assert (np.array(Image.open(tmp_path / "back.png")) == compression.decode(data)).all()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("compress missing.png -o a.webp", "missing.png is not a file"),
        ("compress scene.png -o a.xyz", "--codec is needed"),
        ("compress scene.png -o a.webp --codec gif", "codec must be one of"),
        ("decompress scene.png -o b.png", "scene.png: data begins like none"),
        ("decompress scene.png -o b.jpg", "written as PNG"),
    ],
)
def test_wrong_commands_say_what_is_wrong(command, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(scene()).save("scene.png")
    assert main(command.split()) == 2
    assert words in capsys.readouterr().err
