"""Icons: what the files hold, that no thing is in two splits, and that designers are known for the honest measure."""

import numpy as np
import pytest
import torch

from labkit.data import icons as module
from labkit.data import load
from labkit.data.files import find


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
