"""What colours stand for, what a search finds, and the picture grid: against the files and numpy."""

import io
import re
import shutil
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from test_embedding import FASHION, HOSTILE, OMNIGLOT, TOY, unpacked

from labkit.explorers.embedding import explorer_data
from labkit.explorers.embedding.choice import projections_of, same_samples
from labkit.explorers.embedding.data import Grouping, subset
from labkit.explorers.embedding.grid import picture_grid
from labkit.explorers.embedding.groups import (
    CLASS,
    CORRECT,
    correctness,
    first_neighbours,
    groupings,
    matching,
    neighbour_table,
)
from labkit.explorers.embedding.picture import still
from labkit.figures import style
from labkit.runs.contents import read_samples
from labkit.runs.project import project
from labkit.runs.read import read_run
from labkit.runs.record import RunRecord
from labkit.runs.schema import RunError

MEANING = ("right", "wrong")


@pytest.fixture(scope="module")
def fashion():
    return explorer_data(read_run(FASHION))


@pytest.fixture(scope="module")
def omniglot(tmp_path_factory):
    run = read_run(shutil.copytree(OMNIGLOT, tmp_path_factory.mktemp("runs") / OMNIGLOT.name))
    project(run, ["pca"])
    return run, explorer_data(run)


def test_colours_can_stand_for_columns_that_say_something_new(omniglot):
    run, data = omniglot
    found = groupings(run, data)
    assert list(found) == [CLASS, "alphabet", "drawer", CORRECT]  # not character: the class by another name
    samples = read_samples(run).set_index("id")
    grouping = found["alphabet"]
    assert [grouping.names[k] for k in grouping.numbers] == list(samples.loc[list(data.ids), "alphabet"])


def test_missing_and_odd_values_are_groups_too(tmp_path):
    path = shutil.copytree(TOY, tmp_path / TOY.name)
    samples = pd.read_parquet(path / "samples.parquet")
    samples["odd"] = [None, 1.5, np.nan] * 200
    samples.to_parquet(path / "samples.parquet")
    run = read_run(path)
    found = groupings(run, explorer_data(run))
    assert set(found["odd"].names) == {"(none)", "1.5"}
    samples["bytes"] = [b"a", b"\xff"] * 300
    samples.to_parquet(path / "samples.parquet")
    with pytest.raises(RunError, match="bytes in samples.parquet"):
        groupings(read_run(path), explorer_data(run))


def test_groups_travel_beside_the_classes(fashion):
    numbers = (np.arange(len(fashion)) % 3).astype(np.int32)
    data = replace(fashion, grouping=Grouping("third", numbers, ("a", "b", "c")))
    head, _ = unpacked(replace(data, grouping=None).packed)
    assert head["grouped"] is None
    grouped, arrays = unpacked(data.packed)
    assert grouped["grouped"] == {"by": "third", "names": ["a", "b", "c"]}
    assert grouped["colors"] == list(style.COLORS[:3])
    assert tuple(grouped["classes"]) == fashion.classes
    np.testing.assert_array_equal(arrays["labels"], fashion.labels)
    np.testing.assert_array_equal(arrays["groups"], numbers)
    few = subset(data, np.array([4, 2, 0]))
    assert few.grouping.numbers.tolist() == [1, 2, 0]
    assert len(still([data]).legends[0].get_texts()) == 3


def test_right_and_wrong_are_about_classes_whatever_the_colours(fashion):
    cosines = fashion.embeddings @ fashion.embeddings.T
    np.fill_diagonal(cosines, -np.inf)
    right = fashion.labels[cosines.argmax(axis=1)] == fashion.labels
    colored = replace(fashion, grouping=Grouping("all", np.zeros(len(fashion), np.int32), ("one",)))
    assert ((correctness(colored).numbers == 0) == right).all()
    near, similarity = first_neighbours(fashion, np.array([9, 3]))
    assert near.tolist() == cosines[[9, 3]].argmax(axis=1).tolist()
    np.testing.assert_allclose(similarity, cosines[[9, 3]].max(axis=1), atol=1e-6)


@pytest.mark.parametrize(
    ("search", "names"),
    [("SHIRT", {"T-shirt/top", "Shirt"}), (" bag, ankle ", {"Bag", "Ankle boot"}), (".*", set()), ("<b>", set())],
)
def test_a_search_looks_into_the_names(fashion, search, names):
    assert {fashion.classes[k] for k in matching(fashion, search)} == names
    assert matching(fashion, " , ") is None
    table, count = neighbour_table(fashion, search, most=30)
    assert (len(table), count) == (min(30, 100 * len(names)), 100 * len(names))


def test_the_grid_shows_each_sample_its_own_picture_in_escaped_words(fashion):
    data = replace(fashion, classes=(HOSTILE, *fashion.classes[1:]), ids=(HOSTILE, *fashion.ids[1:]))
    rows = [7, 0, 500, 7]
    html = picture_grid(data, rows, [True, False, True, False], MEANING)
    assert HOSTILE not in html
    assert "</script>" not in html
    assert re.findall(r'class="(same|other)"', html) == ["same", "other", "same", "other"]
    whole = fashion.sheet.open()
    shown = re.findall(r"base64,([^\"]+)", html)
    assert len(shown) == len(rows)
    for row, content in zip(rows, shown):
        mine = np.asarray(Image.open(io.BytesIO(b64decode(content))).convert("RGB"), float)
        assert np.abs(mine - np.asarray(whole.crop(fashion.sheet.box(int(fashion.cells[row]))), float)).mean() < 12


def test_a_grid_without_pictures_or_with_a_damaged_sheet_has_words(fashion):
    toy = explorer_data(read_run(TOY))
    damaged = replace(fashion, sheet=replace(fashion.sheet, data=fashion.sheet.data[:100]))
    for data in (toy, damaged):
        html = picture_grid(data, [0, 1], [True, False], MEANING)
        assert "<img" not in html
        assert html.count('role="listitem"') == 2


def test_runs_of_the_same_samples_belong_together():
    merged = OMNIGLOT.parents[1] / "omniglot-merged" / "omniglot-merged_pnp-dq_s0"
    plain, other, toy = read_run(OMNIGLOT), read_run(merged), read_run(TOY)
    random = read_run(TOY.parents[1] / "toy-random" / "toy_pnp-dq_layout=random_s0")
    assert same_samples(plain, other)
    assert not same_samples(plain, toy)
    assert not same_samples(toy, random)
    assert not same_samples(replace(toy, record=RunRecord()), replace(toy, record=RunRecord()))


def test_a_stamp_changes_with_the_files(tmp_path):
    run = read_run(shutil.copytree(TOY, tmp_path / TOY.name))
    before = run.stamp()
    assert projections_of(run) == ["pca"]
    (run.path / "projections" / "pca.parquet").unlink()
    assert projections_of(run) == []
    assert run.stamp() != before
