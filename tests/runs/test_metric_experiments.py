"""The experiments with boxes and lists: what they measure, and that their tables hold every arm and seed."""

import csv

import pytest
import torch
from test_claims import ROOT, script


def test_what_is_lost_is_one_minus_ndcg():
    record = script("record_lists")
    relevance = torch.tensor([[1.0, 2 / 3, 0.0, 0, 0, 0, 0, 1 / 3], [0.0] * 8])
    assert record.lost(relevance, relevance).tolist() == pytest.approx([0, 0], abs=1e-6)
    turned = -torch.arange(8.0).expand(2, 8)  # as they stand: grades 3, 2, 0, 0, 0, 0, 0, 1
    found = 7 + 3 * float(record.DISCOUNT[1]) + float(record.DISCOUNT[7])
    best = 7 + 3 * float(record.DISCOUNT[1]) + float(record.DISCOUNT[2])
    assert record.lost(turned, relevance).tolist() == pytest.approx([1 - found / best, 0], abs=1e-6)


@pytest.mark.parametrize(("name", "starts"), [("boxes", ("overlapping", "apart")), ("lists", (None,))])
def test_the_tables_hold_every_arm_and_seed(name, starts):
    record = script(f"record_{name}")
    with (ROOT / "data" / "runs" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row.get("start"), row["loss"], int(row["seed"])) for row in csv.DictReader(file)]
    assert len(rows) == len(set(rows))
    assert {*rows} >= {(start, arm, seed) for start in starts for arm in record.ARMS for seed in record.SEEDS}


def test_pictures_show_the_boxes():
    record = script("record_boxes")
    pictures, boxes = record.drawn(3, 0, 0)
    for picture, (cx, cy, *_) in zip(pictures, boxes.tolist()):
        assert float(picture[0, int(cy * 24), int(cx * 24)]) > 0.3  # ink in the middle, noise of 0.3 or not
    assert bool((boxes[:, 2] > boxes[:, 3]).all())
