"""The official archives of real words, on miniatures of their folders."""

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from labkit.data.files import DataError
from labkit.data.scene_text_archives import ARCHIVES, read_archive


def picture(path, value, size=(60, 20)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (value, value, value)).save(path)


def iiit5k(folder):
    for number, value in enumerate((10, 200)):
        picture(folder / "test" / f"{number}.png", value)
    fields = [{"ImgName": f"test/{n}.png", "GroundTruth": word} for n, word in enumerate(("PRIVATE", "a&b"))]
    savemat(folder / "testdata.mat", {"testdata": fields})
    return ["PRIVATE", "a&b"], [10, 200]


def svt(folder):
    image = Image.new("L", (100, 80), 30)
    image.paste(220, (40, 20, 80, 40))
    (folder / "img").mkdir(parents=True)
    image.save(folder / "img" / "00.png")
    box = '<taggedRectangle height="20" width="40" x="{}" y="{}"><tag>{}</tag></taggedRectangle>'
    boxes = box.format(40, 20, "HOTEL") + box.format(-10, 50, "BAR")
    text = (
        f"<tagset><image><imageName>img/00.png</imageName><taggedRectangles>{boxes}</taggedRectangles></image></tagset>"
    )
    (folder / "test.xml").write_text(text, encoding="utf-8")
    return ["HOTEL", "BAR"], [220, 30]


def icdar03(folder):
    for number, value in enumerate((50, 90, 130)):
        picture(folder / "word" / f"{number}.jpg", value)
    tags = ("Sale", "it's", "no")
    images = "".join(f'<image file="word/{n}.jpg" tag="{tag}" />' for n, tag in enumerate(tags))
    (folder / "word.xml").write_text(f"<imagelist>{images}</imagelist>", encoding="utf-8")
    return ["Sale"], [50]


def icdar13(folder):
    for number, value in enumerate((60, 70, 80), 1):
        picture(folder / f"word_{number}.png", value)
    lines = ['word_1.png, "Tiredness"', r'word_2.png, "say \"hi\""', 'word_3.png, "kills"', ""]
    (folder / "gt.txt").write_text("\n".join(lines), encoding="utf-8-sig")
    return ["Tiredness", "kills"], [60, 80]


BUILDERS = {"IIIT5K": iiit5k, "SVT": svt, "ICDAR'03": icdar03, "ICDAR'13": icdar13}


@pytest.mark.parametrize("name", ARCHIVES)
def test_words_and_pictures_are_those_of_the_list(name, tmp_path):
    words, values = BUILDERS[name](tmp_path)
    found = read_archive(name, tmp_path)
    assert list(found.words) == words
    assert found.images.shape == (len(words), 1, 32, 100)
    means = found.images.double().mean((1, 2, 3))
    assert np.allclose(means, values, atol=2)
    assert len(set(found.ids)) == len(words)


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_folder_without_its_list_says_where_it_is_from(name, tmp_path):
    with pytest.raises(DataError, match="is missing: unpack the archive there"):
        read_archive(name, tmp_path)


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_missing_or_damaged_picture_is_named(name, tmp_path):
    BUILDERS[name](tmp_path)
    first = sorted(p for p in tmp_path.rglob("*") if p.suffix in (".png", ".jpg"))[0]
    first.write_bytes(b"no picture")
    with pytest.raises(DataError, match="is not a whole picture"):
        read_archive(name, tmp_path)
    first.unlink()
    with pytest.raises(DataError, match="is missing: unpack the whole archive"):
        read_archive(name, tmp_path)


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("IIIT5K", "testdata.mat", b"not a mat file" * 30),
        ("SVT", "test.xml", b"<tagset><image>"),
        ("SVT", "test.xml", b'<!DOCTYPE a [<!ENTITY b "b">]><tagset/>'),
        ("SVT", "test.xml", b"<tagset/>"),
        ("SVT", "test.xml", b"<tagset><image><imageName>../x.png</imageName><taggedRectangle/></image></tagset>"),
        ("ICDAR'03", "word.xml", b'<imagelist><image file="/etc/passwd" tag="word"/></imagelist>'),
        ("ICDAR'13", "gt.txt", b"word_1.png; Tiredness"),
        ("ICDAR'13", "gt.txt", b"\xff\xfe\x00"),
    ],
)
def test_a_damaged_list_is_refused(name, file, content, tmp_path):
    BUILDERS[name](tmp_path)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(DataError):
        read_archive(name, tmp_path)


def test_a_box_outside_its_picture_is_named(tmp_path):
    svt(tmp_path)
    text = (tmp_path / "test.xml").read_text().replace('x="40"', 'x="400"')
    (tmp_path / "test.xml").write_text(text)
    with pytest.raises(DataError, match="lies outside the picture"):
        read_archive("SVT", tmp_path)
