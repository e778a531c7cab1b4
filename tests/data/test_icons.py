"""Icons: what the files hold, that no thing is in two splits, and that designers are known for the honest measure."""

import numpy as np
import pytest
import torch

from labkit.data import icons as module
from labkit.data import load
from labkit.data.files import find
from labkit.data.icons_build.kinds import kind_of


@pytest.fixture(scope="module")
def small():
    return load("icons", form="small")


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_drawings_labels_and_columns_belong_together(small, part):
    data = getattr(small, part)
    assert data.inputs.dtype == torch.uint8
    assert data.inputs.shape[1:] == (1, 48, 48)
    assert set(data.columns) == {"designer", "set", "style", "name"}
    assert len(set(data.ids)) == len(data)
    i = len(data) // 2
    assert data.class_names[data.labels[i]] == data.columns["name"][i]
    assert data.ids[i].startswith(f"{data.columns['name'][i]}/{data.columns['set'][i]}:")
    # ink on white, with a margin: the corner is paper
    assert (data.inputs[:, 0, 0, 0] == 255).all()


def test_no_thing_is_in_two_splits(small):
    names = [set(part.class_names) for part in (small.train, small.validation, small.test)]
    assert len(names[0] | names[1] | names[2]) == sum(map(len, names))


def test_every_thing_is_drawn_by_several_designers(small):
    assert small.across == "designer"
    for part in (small.train, small.validation, small.test):
        designers = np.array(part.columns["designer"])
        for c in range(0, part.num_classes, 17):
            assert len(set(designers[part.labels == c])) >= 2


@pytest.mark.parametrize(
    ("form", "classes", "drawings"), [("whole", (2808, 664, 2802), 66546), ("wide", (10657, 2352, 10590), 107470)]
)
def test_the_large_forms_have_the_published_sizes(form, classes, drawings):
    if find(module.FILES[form]) is None:
        pytest.skip("needs the icons: python -m labkit data get icons")
    splits = load("icons", form=form)
    parts = (splits.train, splits.validation, splits.test)
    assert tuple(part.num_classes for part in parts) == classes
    assert sum(map(len, parts)) == drawings


def test_the_small_form_is_part_of_the_whole(small):
    if find(module.FILES["whole"]) is None:
        pytest.skip("needs the icons: python -m labkit data get icons")
    whole = load("icons")
    for name in ("train", "validation", "test"):
        few, all_ = getattr(small, name), getattr(whole, name)
        place = {item: i for i, item in enumerate(all_.ids)}
        where = torch.tensor([place[item] for item in few.ids])
        assert torch.equal(all_.inputs[where], few.inputs)
        assert all(all_.columns["designer"][i] == d for i, d in zip(where.tolist(), few.columns["designer"]))


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="form must be one of 'small', 'whole', 'wide'; got 'huge'"):
        load("icons", form="huge")


def test_training_on_one_kind_or_on_several_has_equally_many_things():
    one, several = (load("icons", form="small", train_kinds=kinds) for kinds in ("one", "several"))
    assert one.train.num_classes == several.train.num_classes > 40
    assert not set(one.train.class_names) & set(several.train.class_names)
    assert "heart" not in several.train.class_names
    assert len(one.test) == len(several.test)
    assert 0.6 < len(one.train) / len(several.train) < 1.6


def drawing(shape: str, solid: bool, shift: int) -> np.ndarray:
    """A ring or a diagonal cross, as an outline or solid, moved a little."""
    y, x = np.mgrid[:48, :48] - 24 - shift
    inside = x**2 + y**2 < 180 if shape == "disc" else (abs(x - y) < 6) & (abs(x) < 16)
    ink = inside if solid else inside & ~(x**2 + y**2 < 120 if shape == "disc" else (abs(x - y) < 4) & (abs(x) < 14))
    return np.where(ink, 0, 255).astype(np.uint8)


def test_outline_and_solid_are_one_kind_and_two_shapes_are_several():
    discs = [drawing("disc", solid, shift) for solid in (True, False) for shift in range(-2, 3)]
    bars = [drawing("bar", solid, shift) for solid in (True, False) for shift in range(-2, 3)]
    assert kind_of(np.stack(discs)) == "one"
    assert kind_of(np.stack(discs + bars)) == "several"
    assert kind_of(np.stack(discs[:7])) == ""  # too few to tell
    assert kind_of(np.full((9, 48, 48), 255, np.uint8)) == ""  # blank paper
