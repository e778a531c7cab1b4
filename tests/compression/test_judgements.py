"""Agreement with people, the golden set and LPIPS-Comp, each against a naive version, on made-up judgements."""

import csv
import gzip
import itertools

import numpy as np
import pytest
import torch

from labkit.base.paths import shipped
from labkit.compression import features, lpips_comp
from labkit.compression.agreement import Pairs, agreement, agreements, all_pairs, difference, mean_over
from labkit.compression.voters import golden_set, trap_scores
from labkit.data import judgements
from labkit.data.files import DataError, checksum
from labkit.data.judgements import AIC4_METRICS, Aic4, Tid2013, Votes


def made_up(references=8, each=10, channels=12, seed=0):
    """Opinions that depend on three of the channels."""
    rng = np.random.default_rng(seed)
    count = references * each
    found = rng.gamma(1.0, 1.0, (count, channels)) * 10.0 ** -rng.integers(0, 5, channels)
    truth = np.zeros(channels)
    truth[:3] = 1 / found[:, :3].mean(0)
    reference, kind = np.repeat(np.arange(references), each), np.tile(np.arange(each) % 3, references)
    return Tid2013(reference, kind, kind, 9 - found @ truth, {}, found)


def test_agreement_is_the_share_of_pairs_in_which_both_choose_alike():
    rng = np.random.default_rng(0)
    reference, opinion, scores = rng.integers(0, 4, 30), rng.integers(0, 6, 30), rng.integers(0, 5, 30).astype(float)
    values = []
    for a, b in itertools.combinations(range(30), 2):
        if reference[a] == reference[b] and opinion[a] != opinion[b]:
            same = (scores[a] - scores[b]) * (opinion[a] - opinion[b])
            values.append(1.0 if same > 0 else 0.0 if same < 0 else 0.5)
    found = agreement(scores, all_pairs(reference, opinion))
    assert (found.share, found.pairs) == (pytest.approx(np.mean(values)), len(values))
    assert found.low <= found.share <= found.high
    mirrored = agreement(-scores, all_pairs(reference, opinion))
    assert mirrored.share == pytest.approx(1 - found.share)


def test_intervals_draw_whole_references():
    alike = mean_over(np.array([1.0, 0.0] * 50), np.repeat(np.arange(10), 10))
    assert (alike.low, alike.high) == (0.5, 0.5)  # every reference has the same mean
    apart = mean_over(np.repeat([1.0, 0.0], 50), np.repeat(np.arange(10), 10))
    assert apart.low < 0.3
    assert apart.high > 0.7
    assert mean_over(np.ones(4), np.zeros(4)).references == 1


def test_a_difference_is_paired():
    data = made_up()
    pairs, scores = all_pairs(data.reference, data.opinion), np.random.default_rng(1).normal(size=80)
    same = difference(scores, scores, pairs)
    assert (same.share, same.low, same.high) == (0, 0, 0)
    more = difference(data.opinion, scores, pairs)
    assert more.share == pytest.approx(1 - agreements(scores, pairs).mean())


def test_no_pairs_and_no_numbers_are_refused():
    nothing = all_pairs(np.array([0, 1]), np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="at least one pair"):
        agreement(np.zeros(2), nothing)
    with pytest.raises(ValueError, match="NaN"):
        agreement(np.array([np.nan, 1]), all_pairs(np.array([0, 0]), np.array([1.0, 2.0])))
    with pytest.raises(ValueError, match="at least one pair"):
        lpips_comp.learn_weights(np.ones((2, 3)), nothing)
    with pytest.raises(ValueError, match="none of them negative"):
        lpips_comp.learn_weights(-np.ones((2, 3)), all_pairs(np.array([0, 0]), np.array([1.0, 2.0])))


def test_the_loss_of_pairs_is_its_formula():
    distance = torch.tensor([0.3, 1.2, 0.7], dtype=torch.float64)
    first, second, preferred = torch.tensor([0, 1]), torch.tensor([1, 2]), torch.tensor([1.0, 1.0], dtype=torch.float64)
    expected = -np.mean([np.log(1 / (1 + np.exp(-(1.2 - 0.3)))), np.log(1 / (1 + np.exp(-(0.7 - 1.2))))])
    assert float(lpips_comp.pair_loss(distance, first, second, preferred)) == pytest.approx(expected)


def test_weights_are_learned_that_find_the_channels_that_matter():
    data = made_up()
    weights = lpips_comp.learn_weights(data.features, all_pairs(data.reference, data.opinion))
    assert (weights >= 0).all()
    parts = weights * data.features.mean(0)
    assert parts[:3].sum() > 0.9 * parts.sum()
    again = lpips_comp.learn_weights(data.features, all_pairs(data.reference, data.opinion))
    assert (weights == again).all()


def test_nobody_is_judged_by_weights_that_have_seen_him():
    data = made_up()
    held = list(lpips_comp.folds(data.reference, 4))
    assert (np.sum(held, 0) == 1).all()
    assert all(set(data.reference[h]).isdisjoint(data.reference[~h]) for h in held)
    found = lpips_comp.held_out_scores(data, iter(held))
    changed = data.features.copy()
    changed[held[0]] *= 7  # features of a part that is held out have no part in its weights
    again = lpips_comp.held_out_scores(Tid2013(**{**vars(data), "features": changed}), iter(held[:1]))
    np.testing.assert_allclose(again[held[0]], 7 * found[held[0]], rtol=1e-6)
    pairs = all_pairs(data.reference, data.opinion)
    assert agreement(found, pairs).share > agreement(-data.features.sum(1), pairs).share


def test_feature_distances_are_their_formula():
    torch.manual_seed(0)
    network = features.efficientnet_lite0(1280, weights=None).eval()
    x, y = torch.rand(1, 3, 64, 48), torch.rand(1, 3, 64, 48)
    with torch.no_grad():
        found = features.channel_distances(x, y, network)[0]
        maps = [features.feature_maps(network, image) for image in (x, y)]
    assert found.shape == (sum(features.CHANNELS),) == (496,)
    at = 0
    for a, b in zip(*maps):
        a, b = a[0].double().numpy(), b[0].double().numpy()
        for c in range(0, len(a), 7):
            expected = np.mean((a / np.sqrt((a**2).sum(0)) - b / np.sqrt((b**2).sum(0)))[c] ** 2)
            assert float(found[at + c]) == pytest.approx(expected, rel=1e-3, abs=1e-7)
        at += len(a)
    with torch.no_grad():
        assert float(features.channel_distances(x, x, network).abs().max()) == 0


def votes_of(rows):
    worker, left, right, answer, kind = zip(*rows)
    return Votes(np.array(worker), np.ones(len(rows), int), list(left), list(right), np.array(answer), np.array(kind))


def test_the_golden_set_parts_voters():
    reference, good, bad = ("", 0), ("A", 1), ("B", 2)
    scale = Aic4(np.array([1, 1]), np.array(["A", "B"]), np.array([1, 2]), np.array([0.5, 2.0]), {})
    traps = [(1, reference, bad, 1, "trap"), (1, bad, reference, -1, "trap"), (2, reference, bad, -1, "trap")]
    traps += [(2, bad, reference, 0, "trap")]
    cross = [(1, good, bad, 1, "cross"), (1, bad, good, -1, "cross"), (2, good, bad, -1, "cross")]
    cross += [(2, good, bad, 1, "cross"), (2, good, bad, 0, "cross"), (3, good, bad, -1, "cross")]
    cast = votes_of(traps + cross)
    assert trap_scores(cast) == {1: 1.0, 2: 0.0}
    found = golden_set(cast, scale)
    assert (found.voters, found.failing) == (2, 1)
    assert (found.passing_agreement.share, found.passing_agreement.pairs) == (1.0, 2)
    assert (found.failing_agreement.share, found.failing_agreement.pairs) == (0.5, 2)  # not sure and strangers are out
    assert golden_set(cast, scale, 0.0).failing_agreement is None
    with pytest.raises(ValueError, match="bar must be a share"):
        golden_set(cast, scale, 70)


def test_files_of_judgements_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    for read in (judgements.tid2013, judgements.aic4, lambda: judgements.votes("plain")):
        with pytest.raises(DataError, match="was not found.*LABKIT_DATA"):
            read()
    lines = "worker,img_num,img_left,img_right,img_pivot,is_same,is_cross,is_trap,response,response_time\n"
    lines += "5,2,PTC_00002_0ref_00.png,PTC_00002_JPEG-AI_10.png,PTC_00002_0ref_00.png,0,0,1,right,1\n"
    lines += "5,2,PTC_00002_VVC_03.png,PTC_00002_JPEG-AI_10.png,PTC_00002_0ref_00.png,0,1,0,notsure,1\n"
    lines += "5,2,PTC_00002_VVC_03.png,PTC_00002_JPEG-AI_10.png,PTC_00002_0ref_00.png,0,1,0,skip,1\n"
    path = tmp_path / "jpegai_ptc_votes.csv.gz"
    path.write_bytes(gzip.compress(lines.encode()))
    with pytest.raises(DataError, match="damaged or not the expected file"):
        judgements.votes("plain")
    monkeypatch.setitem(judgements.VOTES, "plain", judgements.File(path.name, "human_votes", checksum(path)))
    found = judgements.votes("plain")
    assert (found.left, found.right) == ([("", 0), ("VVC", 3)], [("JPEG-AI", 10)] * 2)
    assert (found.answer.tolist(), found.kind.tolist()) == ([1, 0], ["trap", "cross"])
    row = {
        "img_distorted": "PTC_00002_AVIF_01.png",
        "img_num": "2",
        "distortion": "0.5",
        **dict.fromkeys(AIC4_METRICS, "1"),
    }
    path = tmp_path / "jpeg_aic4_metrics_jnd.csv"
    path.write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n")
    monkeypatch.setattr(judgements, "AIC4", judgements.File(path.name, "human_votes", checksum(path)))
    assert (judgements.aic4().codec.tolist(), judgements.aic4().metrics["CVVDP"].tolist()) == (["AVIF"], [1.0])


def test_the_recorded_tables_hold_together():
    """Made by data/compression/judgements.py; what must hold of them whatever the numbers are."""
    with (shipped() / "compression" / "agreement.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["data"] for row in rows} == {
        "TID2013",
        "JPEG AIC-4",
        "JPEG-AI votes, boosted",
        "JPEG-AI votes, plain",
    }
    assert all(float(row["low"]) <= float(row["agreement"]) <= float(row["high"]) for row in rows)
    pairs = Pairs(*(np.zeros(3),) * 4)
    assert len(pairs) == 3
