"""The pictures that people bring, a corpus of nasty ones: each is handled as it should be, or refused in words."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from labkit.compression import pictures, read_picture
from labkit.compression.jxl_header import jxl_size


def bytes_of(image, format, **options):
    target = io.BytesIO()
    image.save(target, format, **options)
    return target.getvalue()


def plain(width=20, height=12):
    y, x = np.mgrid[:height, :width]
    return np.stack((x * 12, y * 20, 255 - x * 10), -1).astype(np.uint8)


def png(width, height, depth=8, kind=2, rows=b""):
    """A PNG with any header."""

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("orientation", range(1, 9))
def test_pictures_are_turned_as_their_exif_says(orientation):
    upright = plain()
    stored = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.transpose(1, 0, 2),
        6: np.rot90(upright),
        7: upright[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(upright, -1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = read_picture(bytes_of(Image.fromarray(np.ascontiguousarray(stored)), "PNG", exif=exif))
    assert (picture.image == upright).all()
    assert bool(picture.notes) == (orientation != 1)


def test_cmyk_becomes_rgb_with_a_note():
    red = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    picture = read_picture(bytes_of(red, "TIFF"))
    assert (picture.image == (255, 0, 0)).all()
    assert "CMYK" in picture.notes[0]
    jpeg = read_picture(bytes_of(red, "JPEG", quality=100)).image
    assert abs(jpeg.astype(int) - (255, 0, 0)).max() < 8


def test_sixteen_bits_become_eight_by_rounding():
    deep = np.array([[0, 128, 129, 257 * 7, 65535, 65406]], np.uint16)
    picture = read_picture(bytes_of(Image.fromarray(deep), "PNG"))
    assert picture.image[0, :, 0].tolist() == [0, 0, 1, 7, 255, 254]
    assert (picture.image[:, :, 0] == picture.image[:, :, 2]).all()
    assert "16 bits" in picture.notes[0]
    rows = b"\0" + struct.pack(">6H", 0, 65535, 257 * 100, 257, 257 * 50, 0)
    assert read_picture(png(2, 1, 16, 2, rows)).image.tolist() == [[[0, 255, 100], [1, 50, 0]]]


def test_palette_grey_one_bit_and_transparency():
    image = Image.fromarray(plain())
    few = image.quantize(16)
    assert (read_picture(bytes_of(few, "PNG")).image == np.array(few.convert("RGB"))).all()
    assert read_picture(bytes_of(image.convert("L"), "PNG")).image.shape == (12, 20, 3)
    assert set(np.unique(read_picture(bytes_of(image.convert("1"), "PNG")).image)) <= {0, 255}
    clear = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    clear.putpixel((1, 1), (0, 0, 255, 255))
    picture = read_picture(bytes_of(clear, "PNG"))
    assert (picture.image[0, 0] == 255).all()
    assert picture.image[1, 1].tolist() == [0, 0, 255]
    assert "white" in picture.notes[0]
    indexed = Image.new("P", (4, 4), 0)
    indexed.putpalette([10, 20, 30])
    assert (read_picture(bytes_of(indexed, "PNG", transparency=0)).image == 255).all()


@pytest.mark.parametrize("format", ["GIF", "PNG", "WEBP", "TIFF", "AVIF"])
def test_animations_and_pages_are_refused(format):
    frames = [Image.new("RGB", (16, 16), colour) for colour in ("red", "green", "blue")]
    data = bytes_of(frames[0], format, save_all=True, append_images=frames[1:])
    with pytest.raises(ValueError, match="has 3 frames or pages"):
        read_picture(data)


def test_a_camera_picture_with_its_preview_is_the_first_one():
    frames = [Image.fromarray(plain()), Image.new("RGB", (8, 8))]
    data = bytes_of(frames[0], "MPO", save_all=True, append_images=frames[1:])
    assert read_picture(data).image.shape == (12, 20, 3)


def test_thirty_two_bits_are_refused():
    with pytest.raises(ValueError, match="samples of 32 bits"):
        read_picture(bytes_of(Image.fromarray(np.ones((4, 4), np.float32)), "TIFF"))


@pytest.mark.parametrize(("width", "height"), [(60_000, 60_000), (20_000, 1), (8_000, 8_000), (2**31 - 1, 2**31 - 1)])
def test_bombs_are_refused_before_they_are_decoded(width, height):
    with pytest.raises(ValueError, match="pixels"):
        read_picture(png(width, height))


def test_a_jpeg_xl_bomb_is_refused_by_its_header(monkeypatch):
    huge = b"\xff\x0a" + (0 | 3 << 1 | (2**30 - 1) << 3 | 1 << 33).to_bytes(14, "little")
    assert jxl_size(huge) == (2**30, 2**30)
    monkeypatch.setattr(pictures.Image, "open", lambda *_, **__: pytest.fail("was decoded"))
    with pytest.raises(ValueError, match="1,073,741,824 × 1,073,741,824"):
        read_picture(huge)


@pytest.mark.parametrize("size", [(8, 8), (16, 8), (20, 12), (256, 256), (640, 480), (1000, 3), (600, 400), (9000, 1)])
@pytest.mark.parametrize("boxes", [False, True])
def test_the_size_of_jpeg_xl_is_read_as_the_library_reads_it(size, boxes):
    pytest.importorskip("pillow_jxl")
    data = bytes_of(Image.new("RGB", size), "JXL", use_container=boxes, effort=1)
    assert jxl_size(data) == size
    assert read_picture(data).image.shape == (size[1], size[0], 3)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "AVIF", "JPEG2000", "PPM"])
def test_truncated_files_are_refused(format):
    noise = np.random.default_rng(0).integers(0, 256, (60, 60, 3), dtype=np.uint8)
    data = bytes_of(Image.fromarray(noise), format)
    for length in (1, 10, len(data) // 2, int(len(data) * 0.9)):
        with pytest.raises(ValueError, match="picture"):
            read_picture(data[:length])


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 100, b"%!PS-Adobe-3.0 EPSF-3.0\n", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%PDF-1.4"]
)
def test_what_is_no_picture_is_refused(data):
    with pytest.raises(ValueError, match="is empty|is not a whole picture"):
        read_picture(data)


def test_files_are_named_and_large_ones_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="nothing.png is not a file"):
        read_picture(tmp_path / "nothing.png")
    with pytest.raises(ValueError, match="is not a file"):
        read_picture(tmp_path)
    path = tmp_path / "notes.png"
    path.write_text("not a picture")
    with pytest.raises(ValueError, match="notes.png is not a whole picture"):
        read_picture(path)
    monkeypatch.setattr(pictures, "MAX_BYTES", 10)
    with pytest.raises(ValueError, match="notes.png has"):
        read_picture(path)
