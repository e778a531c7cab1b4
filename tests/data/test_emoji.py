"""Emoji: what is in the file, what was left out, and that no test vendor or class leaks into training."""

import csv
import importlib.util
import io
import json
import sys
from collections import Counter, defaultdict
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from labkit.base.paths import ROOT
from labkit.data import emoji as module
from labkit.data import files
from labkit.data.emoji import TEST_VENDOR, VALIDATION_VENDORS, VENDORS, contact_sheet, emoji, read
from labkit.data.files import DataError

FOLDER = ROOT / "data" / "emoji"


@pytest.fixture(scope="module")
def everything():
    return read()


@pytest.fixture(scope="module")
def by_class():
    return emoji()


@pytest.fixture(scope="module")
def by_vendor():
    return emoji(split="vendor")


def dropped():
    with (FOLDER / "dropped.csv").open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_the_file_has_9226_drawings_of_1190_emoji_by_8_vendors(everything):
    assert everything.inputs.shape == (9226, 3, 48, 48)
    assert everything.inputs.dtype == torch.uint8
    assert everything.num_classes == len(set(everything.class_names)) == 1190
    assert set(everything.columns["vendor"]) == set(VENDORS)
    assert len(set(everything.ids)) == 9226
    assert torch.bincount(everything.labels).min() >= 5


def test_ids_names_and_codepoints_belong_together(everything):
    i = everything.ids.index("1f98a/noto")
    assert everything.class_names[everything.labels[i]] == everything.columns["name"][i] == "fox"
    assert (everything.columns["codepoint"][i], everything.columns["vendor"][i]) == ("1f98a", "noto")


def test_no_drawing_stands_for_two_emoji(everything):
    emoji_of = defaultdict(set)
    for image, label in zip(everything.inputs.numpy(), everything.labels.tolist()):
        emoji_of[image.tobytes()].add(label)
    assert max(map(len, emoji_of.values())) == 1


def test_every_drawing_has_ink(everything):
    assert (everything.inputs.flatten(1).min(1).values < 250).all()


def test_what_was_dropped_is_not_in_the_file_and_has_a_reason(everything):
    rows = dropped()
    assert len(rows) == 82
    ids = {f"{row['codepoint']}/{row['vendor']}" for row in rows}
    assert len(ids) == 82
    assert not ids & set(everything.ids)
    assert all(len(row["reason"]) > 20 for row in rows)
    assert {row["codepoint"] for row in rows} <= set(everything.columns["codepoint"])


def test_the_attribution_names_every_vendor_and_licence():
    text = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for part in (*VENDORS, "Google", "Twitter", "EmojiOne", "Microsoft", "Apache-2.0", "CC-BY-4.0", "MIT"):
        assert part in text


def test_the_class_split_halves_the_emoji_and_shares_none(by_class):
    parts = (by_class.train, by_class.validation, by_class.test)
    assert [data.num_classes for data in parts] == [536, 59, 595]
    assert len({name for data in parts for name in data.class_names}) == 1190
    assert sum(map(len, parts)) == len({name for data in parts for name in data.ids}) == 9226
    assert by_class.gallery is None


def test_the_class_split_is_said_by_its_seed(by_class, everything):
    assert module.by_class(everything, 0).test.fingerprint() == by_class.test.fingerprint()
    other = set(module.by_class(everything, 1).test.class_names)
    assert len(other) == 595
    assert 200 < len(other & set(by_class.test.class_names)) < 400
    # a change here would change every recorded number
    assert by_class.test.class_names[:3] == ("keycap-pound", "keycap-6", "keycap-7")


def test_the_vendor_split_shows_training_and_gallery_nothing_of_the_test_vendor(by_vendor):
    assert set(by_vendor.test.columns["vendor"]) == {TEST_VENDOR}
    assert set(by_vendor.gallery.columns["vendor"]) == set(VENDORS) - {TEST_VENDOR, VALIDATION_VENDORS[0]}
    assert not set(by_vendor.gallery.ids) & (
        set(by_vendor.test.ids) | set(by_vendor.validation.ids) - set(by_vendor.train.ids)
    )
    assert by_vendor.train.ids == by_vendor.gallery.ids
    assert (len(by_vendor.test), by_vendor.test.num_classes) == (1190, 1190)


def test_every_query_of_the_vendor_split_has_an_answer_in_the_gallery(by_vendor):
    assert by_vendor.test.class_names == by_vendor.gallery.class_names
    assert set(by_vendor.test.labels.tolist()) <= set(by_vendor.gallery.labels.tolist())


def test_validation_of_the_vendor_split_pairs_an_unseen_vendor_with_a_seen_one(by_vendor):
    vendors = defaultdict(Counter)
    for label, vendor in zip(by_vendor.validation.labels.tolist(), by_vendor.validation.columns["vendor"]):
        vendors[label][vendor] += 1
    assert set(map(frozenset, vendors.values())) == {frozenset(VALIDATION_VENDORS)}
    assert all(pair.total() == 2 for pair in vendors.values())
    assert len(vendors) == by_vendor.validation.num_classes == 1147
    assert VALIDATION_VENDORS[0] not in by_vendor.train.columns["vendor"]


def test_a_contact_sheet_has_a_row_for_each_class(everything, tmp_path):
    path = contact_sheet(everything, tmp_path / "sheet.png", [everything.class_names.index("fox"), 0])
    page = np.asarray(Image.open(path).convert("RGB"))
    assert page.shape == (40 + 2 * 52, 195 + 8 * 52, 3)
    drawing = everything.inputs[everything.ids.index("1f98a/noto")].permute(1, 2, 0).numpy()
    assert np.array_equal(page[42:90, 197:245], drawing)


def test_the_contact_sheet_of_the_project_is_small_and_readable():
    path = FOLDER / "contact-sheet.webp"
    assert path.stat().st_size <= 300_000
    assert Image.open(path).size == (195 + 8 * 52, 40 + 40 * 52)


def test_only_emoji_have_a_contact_sheet(tmp_path):
    from labkit.data.toy import toy

    with pytest.raises(ValueError, match="dataset must hold emoji"):
        contact_sheet(toy().train, tmp_path / "sheet.png", [0])


@pytest.mark.parametrize("content", [None, b"half a fi"])
def test_a_missing_or_damaged_file_is_named_with_its_remedy(tmp_path, monkeypatch, content):
    monkeypatch.setattr(files, "shipped", lambda: tmp_path)
    if content is not None:
        (tmp_path / "emoji").mkdir()
        (tmp_path / "emoji" / "emoji48.npz").write_bytes(content)
    with pytest.raises(DataError) as error:
        emoji()
    for part in ("emoji48.npz", module.FILE.checksum, "git checkout -- data/emoji/emoji48.npz"):
        assert part in str(error.value)


@pytest.mark.parametrize("options", [{"split": "colour"}, {"seed": 0.5}, {"seed": True}])
def test_bad_options_are_named(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        emoji(**options)


@pytest.fixture
def build(monkeypatch):
    """build.py with a renderer that draws the icon's body: a colour name, left half only."""

    def svg_to_bytes(svg_string):
        body = svg_string.partition(">")[2].partition("<")[0]
        drawing = Image.new("RGBA", (48, 48))
        drawing.paste(Image.new("RGBA", (24, 48), body), (0, 0))
        file = io.BytesIO()
        drawing.save(file, "PNG")
        return file.getvalue()

    monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=svg_to_bytes))
    spec = importlib.util.spec_from_file_location("emoji_build", FOLDER / "build.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_build_matches_by_codepoint_then_by_name_and_older_name(build, tmp_path):
    packs = {
        "noto": ({"cricket": "red", "fist-light": "red"}, {"grasshopper": {"parent": "cricket"}}),
        "noto-v1": ({"grasshopper": "green", "cricket": "blue"}, {}),
        "twemoji": ({"cricket": "red"}, {}),
        "emojione": ({"cricket": "blue"}, {}),
        "fluent-emoji": ({"insect": "red"}, {"bug": {"parent": "insect", "hFlip": True}}),
        "fluent-emoji-flat": ({"bug": "red"}, {}),
        "fluent-emoji-high-contrast": ({"bug": "black"}, {}),
        "emojione-monotone": ({"rugby": "black"}, {}),
    }
    for vendor, (icons, aliases) in packs.items():
        (tmp_path / vendor).mkdir()
        pack = {"icons": {name: {"body": body} for name, body in icons.items()}, "aliases": aliases}
        (tmp_path / vendor / "icons.json").write_text(json.dumps(pack))
        own = "bug" if vendor.startswith("fluent") else "cricket"
        (tmp_path / vendor / "chars.json").write_text(json.dumps({"1f997": own, "270a-1f3fb": "fist-light"}))
    dropped = tmp_path / "dropped.csv"
    dropped.write_text("codepoint,vendor,reason\n1f997,emojione,a bat\n")
    arrays = build.build(tmp_path, dropped)
    vendors = [build.VENDORS[v] for v in arrays["vendor"]]
    assert vendors == [v for v in VENDORS if v not in ("emojione", "emojione-monotone")]
    assert (arrays["codepoints"].tolist(), arrays["names"].tolist()) == (["1f997"], ["cricket"])
    left = dict(zip(vendors, arrays["images"][:, 24, 5].tolist()))
    assert left["noto"] == [255, 0, 0]
    assert left["noto-v1"] == [0, 128, 0]  # Noto's older name is surer than a name that others use now
    assert left["fluent-emoji"] == [255, 255, 255]  # mirrored: the ink is on the right
    assert arrays["images"][vendors.index("fluent-emoji"), 24, 40].tolist() == [255, 0, 0]


def test_build_and_loader_agree_on_the_vendors(build):
    assert build.VENDORS == VENDORS
