"""The part of the icons that comes with labkit: the whole's classes, their split, credits."""

import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from icons_package import read, write_package

from labkit.data import files, icons, icons_build
from labkit.data.icons_build import __main__ as anew
from labkit.data.icons_build import sets, small

FOLDER = files.shipped() / "icons"
SHIPPED = FOLDER / "icons48_small.npz"


def test_a_part_has_the_drawings_of_its_classes_and_only_their_sets(tmp_path):
    whole = read(icons_build.build(write_package(tmp_path / "made.tgz"), tmp_path / "icons.npz"))
    part = small.of_classes(whole, np.array([0, 2]))
    assert part["names"].tolist() == ["alarm", "home"]
    assert part["sets"].tolist() == ["lucide", "mdi", "tabler"]
    assert set(part) == set(whole)
    assert {name: part[name].dtype.kind for name in part} == {name: whole[name].dtype.kind for name in whole}
    same_as_the_whole(part, whole)
    assert {name: array.tolist() for name, array in read(small.write(part, tmp_path / "part.npz")).items()} == {
        name: array.tolist() for name, array in part.items()
    }


def same_as_the_whole(part, whole):
    """Every class of the part has the drawings, the split and the words of the whole, in its order."""
    assert part["names"].tolist() == sorted(part["names"].tolist())
    split = dict(zip(whole["names"].tolist(), whole["split"].tolist()))
    assert part["split"].tolist() == [split[name] for name in part["names"].tolist()]
    rows = np.isin(whole["names"][whole["label"]], part["names"])
    assert np.array_equal(part["images"], whole["images"][rows])
    assert np.array_equal(part["icon"], whole["icon"][rows])
    for many, one in (("names", "label"), ("sets", "set"), ("families", "family"), ("styles", "style")):
        assert np.array_equal(part[many][part[one]], whole[many][whole[one]][rows])
    assert np.array_equal(
        part["families"][part["family_of_set"][part["set"]]], whole["families"][whole["family"]][rows]
    )


def test_the_shipped_part_is_what_the_rule_takes_from_the_whole():
    path = files.find(icons.FILES["whole"])
    if path is None:
        pytest.skip("the whole is not here")
    whole, part = read(path), read(SHIPPED)
    made = small.small(whole)
    assert {name: array.dtype for name, array in made.items()} == {name: array.dtype for name, array in part.items()}
    assert all(np.array_equal(made[name], part[name]) for name in part)
    same_as_the_whole(part, whole)


def test_the_part_and_its_credits_are_made_anew_from_the_whole_and_the_package(tmp_path, monkeypatch, capsys):
    tarball = write_package(tmp_path / "made.tgz")
    whole = icons_build.build(tarball, tmp_path / "icons.npz")
    monkeypatch.setattr(small, "FEWEST_IMAGES", 4)
    monkeypatch.setattr(small, "FEWEST_FAMILIES", 3)
    monkeypatch.setattr(small, "SEVERAL_KINDS", "home")
    monkeypatch.setattr(small, "CLASSES", 1)
    monkeypatch.setattr(anew, "fetch_package", lambda folder: tarball)
    monkeypatch.setattr(anew, "locate", lambda file: whole)
    monkeypatch.setattr(anew, "shipped", lambda: tmp_path)
    anew.main()
    part = read(tmp_path / "icons" / "icons48_small.npz")
    assert part["names"].tolist() == ["home"]
    credits_ = (tmp_path / "icons" / "ATTRIBUTION.md").read_text("utf-8")
    assert "4 drawings of 3 icon sets" in credits_
    assert "| mdi | Mdi | A | Apache-2.0 | https://a | 2 |" in credits_
    assert "[ISC](https://opensource.org/license/isc-license-txt)" in credits_
    assert "| ph |" not in credits_
    assert "4 drawings of 1 classes" in capsys.readouterr().out


def test_the_shipped_part_suits_lessons():
    data = read(SHIPPED)
    assert SHIPPED.stat().st_size < 3e6
    assert {*small.SEVERAL_KINDS.split(), *small.ONE_KIND.split()} <= set(data["names"].tolist())
    assert len(data["names"]) == 1000
    assert np.bincount(data["label"]).min() >= 6
    families = np.unique(np.stack([data["label"], data["family"]]), axis=1)[0]
    assert np.bincount(families).min() >= 4
    assert np.bincount(data["split"]).tolist() == [471, 98, 431]


def test_every_set_of_the_shipped_part_is_credited_with_its_licence_and_no_other():
    data = read(SHIPPED)
    text = (FOLDER / "ATTRIBUTION.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")][1:]
    counts = Counter(data["sets"][data["set"]].tolist())
    assert {row[0]: int(row[5].replace(",", "")) for row in rows} == counts
    assert {row[3] for row in rows} <= set(sets.RULES["licences"].split())
    assert all(f"[{row[3]}](" in text for row in rows)


def bare(name):
    """A name without what tells siblings apart."""
    return tuple(sorted(re.sub(r"(?<=\w{3})s$", "", re.sub(r"[0-9]", "", word)) for word in name.split("-")))


def test_no_class_of_the_shipped_part_has_a_sibling_in_another_split():
    data = read(SHIPPED)
    parts = defaultdict(set)
    for name, split in zip(data["names"].tolist(), data["split"].tolist()):
        parts[bare(name)].add(split)
    assert max(map(len, parts.values())) == 1
    assert len(parts) < len(data["names"])  # there are siblings
    assert data["split"].tolist() == [icons_build.split_of(name) for name in data["names"].tolist()]
