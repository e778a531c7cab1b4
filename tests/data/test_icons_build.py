"""Icons from the npm package: drawings, near-duplicates, checksums, and `labkit data get icons`."""

import errno
import hashlib
import os
from collections import Counter

import numpy as np
import pytest
from icons_package import read, svg, write_package
from web_server import Answer, serving

from labkit.commands import main
from labkit.data import icons, icons_build
from labkit.data.files import DataError, File, arrays_checksum
from labkit.data.icons_build import drawing, duplicates, package, sets


@pytest.fixture(scope="module")
def tarball(tmp_path_factory):
    return write_package(tmp_path_factory.mktemp("package") / "made.tgz")


def in_class(data, name):
    """The icons of a class, as set:name."""
    rows = data["label"] == data["names"].tolist().index(name)
    return {f"{data['sets'][s]}:{i}" for s, i in zip(data["set"][rows], data["icon"][rows])}


def test_a_class_has_the_drawings_of_different_designers_once_each(tarball, tmp_path):
    data = read(icons_build.build(tarball, tmp_path / "icons.npz"))
    assert data["names"].tolist() == ["alarm", "bell", "home"]
    assert in_class(data, "home") == {"lucide:house", "mdi:home", "mdi:home-outline", "tabler:home"}  # not ph's twin
    assert in_class(data, "bell") == {
        "lucide:bell",
        "mdi:bell",
        "mdi:bell-outline",
        "ph:bell",
        "ph:bell-fill",
        "tabler:bell",
    }
    assert in_class(data, "alarm") == {
        "lucide:alarm",
        "mdi:alarm",
        "mdi:alarm-outline",
        "tabler:alarm",
    }  # ph's is a bell
    assert data["sets"].tolist() == [
        "lucide",
        "mdi",
        "ph",
        "tabler",
    ]  # gridicons' licence forbids, the others are logos
    assert data["images"].shape == (14, 48, 48)
    assert data["images"].dtype == np.uint8
    assert data["split"].tolist() == [icons_build.split_of(name) for name in data["names"]]
    styles = {(data["sets"][s], i): data["styles"][t] for s, i, t in zip(data["set"], data["icon"], data["style"])}
    assert styles["mdi", "home-outline"] == "outline"
    assert styles["mdi", "home"] == styles["ph", "bell-fill"] == "solid"
    assert styles["ph", "bell"] == "outline"  # ph says which of its icons are solid, so the others are not
    assert styles["lucide", "house"] == "plain"


def test_the_wide_form_has_classes_of_two_drawings(tarball, tmp_path):
    data = read(icons_build.build(tarball, tmp_path / "icons.npz", wide=True))
    assert data["names"].tolist() == ["alarm", "bell", "home", "star"]


def test_the_same_package_gives_the_same_bytes(tarball, tmp_path):
    one, other = (icons_build.build(tarball, tmp_path / name) for name in ("one.npz", "other.npz"))
    assert one.read_bytes() == other.read_bytes()


def test_withdrawn_and_moving_icons_are_left_out(tmp_path):
    hidden = {"body": svg(0x2002), "hidden": True}
    moving = svg(0x4002) + '<animate attributeName="d" dur="1s"/>'
    path = write_package(tmp_path / "made.tgz", {"tabler": {"home": hidden, "bell": moving}})
    assert "tabler" not in {icon.prefix for icon in sets.read_icons(path)}


def test_a_drawing_is_fitted_into_the_middle():
    square = {"icons": {"all": {"body": '<path d="M0 0h24v24h-24z"/>'}}, "width": 24, "height": 24}
    flat = {"icons": {"all": {"body": '<path d="M0 0h24v12h-24z"/>', "height": 12}}, "width": 24, "height": 24}
    expected = np.full((48, 48), 255)
    expected[2:46, 2:46] = 0
    assert np.abs(drawing.draw(square, "all") - expected).max() <= 1
    expected[2:13] = expected[35:46] = 255
    assert np.abs(drawing.draw(flat, "all") - expected).max() <= 1


def test_blank_and_black_drawings_are_not_used():
    images = np.full((3, 48, 48), 255, np.uint8)
    images[1] = 0
    images[2, 10:30, 10:30] = 0
    assert drawing.visible(images).tolist() == [False, False, True]


def blocks(*corners):
    """Drawings with a block of ink at each corner given."""
    images = np.full((len(corners), 48, 48), 255, np.uint8)
    for image, places in zip(images, corners):
        for row, column, height, width in places:
            image[row : row + height, column : column + width] = 0
    return images


def test_a_drawing_is_the_same_at_any_size_and_place():
    images = blocks([(5, 5, 8, 24)], [(30, 10, 10, 30)], [(5, 5, 24, 8)])
    vectors = duplicates.inks(images, 16)
    assert vectors[0] @ vectors[1] > 0.999
    assert vectors[0] @ vectors[2] < 0.9
    assert duplicates.once_in_class(["a", "a", "a"], images).tolist() == [True, False, True]
    assert duplicates.once_in_class(["a", "b", "a"], images).tolist() == [True, True, True]


def test_pairs_under_two_names_are_those_of_a_plain_search():
    rng = np.random.default_rng(0)
    images = blocks(*([tuple(rng.integers(4, 20, 4)), tuple(rng.integers(4, 20, 4))] for _ in range(80)))
    images[40:60] = images[:20]
    keys = [f"class {place % 7}" for place in range(80)]
    vectors = duplicates.inks(images, 24)
    expected = [
        (one, other)
        for one in range(80)
        for other in range(one + 1, 80)
        if keys[one] != keys[other] and vectors[one] @ vectors[other] >= duplicates.SAME_ACROSS
    ]
    assert len(expected) >= 15
    assert sorted(duplicates.same_across(keys, images)) == expected


def test_a_drawing_with_two_names_stays_in_the_larger_class_and_in_neither_of_equal_ones():
    keys = ["a", "a", "a", "b", "b", "c", "c"]
    assert duplicates.one_name(keys, [(0, 3), (4, 5)]).tolist() == [True, True, True, False, False, False, True]


def test_families_take_turns_in_a_class_of_forty():
    made = [
        sets.Icon(prefix, str(number), "star", "star", "", "", 0.0, "plain")
        for prefix, count in (("tabler", 50), ("mdi", 10), ("mdi-light", 10))
        for number in range(count)
    ]
    stays = icons_build.not_too_many(made)
    assert Counter(icon.family for icon, stay in zip(made, stays) if stay) == {"tabler": 20, "mdi": 20}


@pytest.fixture
def published(tarball, monkeypatch):
    """The archive that is expected is the small one; npm does not exist, and the network gives nothing."""
    expected = hashlib.sha256(tarball.read_bytes()).hexdigest()
    monkeypatch.setattr(package.shutil, "which", lambda name: None)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as web:
        made = File("iconify-json-2.2.535.tgz", "icons", expected, (f"{web.base}/made.tgz",))
        monkeypatch.setattr(package, "PACKAGE", made)
        yield web


def npm(tmp_path, monkeypatch, content):
    """An npm that packs what it is told to."""
    (tmp_path / "content").write_bytes(content)
    program = tmp_path / "npm"
    asked = '[ "$*" = "pack --silent @iconify/json@2.2.535" ]'
    program.write_text(f"#!/bin/sh\n{asked} && cp {tmp_path}/content iconify-json-2.2.535.tgz\n")
    program.chmod(0o755)
    monkeypatch.setattr(package.shutil, "which", lambda name: str(program))


def test_the_archive_comes_from_npm_where_there_is_one(published, tarball, tmp_path, monkeypatch):
    npm(tmp_path, monkeypatch, tarball.read_bytes())
    path = package.fetch_package(tmp_path / "cache")
    assert path.read_bytes() == tarball.read_bytes()
    assert os.listdir(tmp_path / "cache") == ["iconify-json-2.2.535.tgz"]


def test_the_archive_comes_from_the_registry_otherwise_and_once(published, tarball, tmp_path):
    published.answers["/made.tgz"] = Answer(tarball.read_bytes())
    path = package.fetch_package(tmp_path / "cache")
    published.answers.clear()
    assert package.fetch_package(tmp_path / "cache") == path


@pytest.mark.parametrize("source", ["npm", "registry"])
def test_another_archive_is_refused_and_not_kept(published, tmp_path, monkeypatch, source):
    if source == "npm":
        npm(tmp_path, monkeypatch, b"something else")
    else:
        published.answers["/made.tgz"] = Answer(b"something else")
    with pytest.raises(DataError, match=r"iconify-json-2.2.535.tgz \(checksum .*could not be downloaded"):
        package.fetch_package(tmp_path / "cache")
    assert not (tmp_path / "cache" / "iconify-json-2.2.535.tgz").exists()


def test_a_damaged_archive_in_the_cache_is_replaced(published, tarball, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "iconify-json-2.2.535.tgz").write_bytes(tarball.read_bytes()[:-100])
    published.answers["/made.tgz"] = Answer(tarball.read_bytes())
    assert package.fetch_package(tmp_path / "cache").read_bytes() == tarball.read_bytes()


def test_the_real_archive_is_named_by_its_checksum_at_the_public_registry():
    assert package.PACKAGE.urls == ("https://registry.npmjs.org/@iconify/json/-/json-2.2.535.tgz",)
    assert len(package.PACKAGE.checksum) == 64


def test_what_is_no_package_is_told(tmp_path):
    (tmp_path / "made.tgz").write_bytes(b"no archive")
    with pytest.raises(DataError, match="made.tgz cannot be read"):
        package.read_collections(tmp_path / "made.tgz")


@pytest.fixture(scope="module")
def expected(tarball, tmp_path_factory):
    """Checksums of the arrays of the whole and the wide form."""
    out = tmp_path_factory.mktemp("expected") / "icons.npz"
    return {wide: arrays_checksum(read(icons_build.build(tarball, out, wide=wide))) for wide in (False, True)}


@pytest.fixture
def get(published, expected, tarball, tmp_path, monkeypatch, capsys):
    """The command, with the small archive on the network and its arrays as those expected."""
    published.answers["/made.tgz"] = Answer(tarball.read_bytes())
    # "0": the bytes are others than the published ones, as with another zlib; the arrays count
    forms = {
        "whole": File("icons48.npz", "icons", "0" * 64, built=expected[False]),
        "wide": File("icons48_wide.npz", "icons", "0" * 64, built=expected[True], optional=True),
    }
    monkeypatch.setattr(icons, "FILES", forms)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LABKIT_DATA", "")

    def call(*arguments):
        capsys.readouterr()
        code = main(["data", "get", "icons", *arguments])
        said = capsys.readouterr().err.splitlines()[-1:]
        return code, said, sorted(os.listdir(tmp_path / "home/labkit/icons"))

    (tmp_path / "home/labkit/icons").mkdir(parents=True)
    return call


def test_get_builds_the_whole_and_with_all_the_wide_form_too(get, published):
    code, _, there = get()
    assert (code, there) == (0, ["iconify-json-2.2.535.tgz", "icons48.npz"])
    assert sum(len(part.labels) for part in (icons.icons().train, icons.icons().validation, icons.icons().test)) == 14
    with pytest.raises(DataError, match="python -m labkit data get icons --all"):
        icons.icons("wide")
    published.answers.clear()  # the archive is there
    assert get("--all")[0] == 0
    assert icons.icons("wide").across == "designer"


def test_get_builds_a_damaged_file_anew(get, tmp_path):
    get()
    path = tmp_path / "home/labkit/icons/icons48.npz"
    path.write_bytes(path.read_bytes()[:-200])
    assert get()[0] == 0
    assert len(read(path)["names"]) == 3


def test_other_drawings_than_expected_are_refused_with_the_versions(get, monkeypatch):
    monkeypatch.setattr(drawing, "MARGIN", 3)
    code, said, there = get()
    assert (code, there) == (2, ["iconify-json-2.2.535.tgz"])
    assert "not the expected one, and was not kept: here are resvg-py 0." in said[0]


def test_a_full_disk_leaves_nothing_half(get, monkeypatch):
    def full(opened, **arrays):
        opened.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    code, said, there = get()
    assert (code, there) == (2, ["iconify-json-2.2.535.tgz"])
    assert "No space left on device. Nothing was kept" in said[0]


def test_a_missing_extra_is_one_sentence_before_anything_is_fetched(get, monkeypatch):
    monkeypatch.setattr(drawing, "find_spec", lambda name: None)
    assert get() == (
        2,
        ['labkit: building the icons needs resvg_py, which is not installed: pip install "labkit[icons]"'],
        [],
    )
