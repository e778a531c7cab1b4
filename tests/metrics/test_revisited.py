"""The revisited protocol of ROxford and RParis, against its definition written out, on miniatures."""

import numpy as np
import pytest
import torch
from scipy.io import savemat

from labkit.data.benchmarks.landmarks import COUNTS, load_landmarks
from labkit.data.files import DataError
from labkit.metrics import Landmark, evaluate_landmarks
from labkit.metrics.revisited import PROTOCOLS


def by_definition(similarity, landmark, right, left_out):
    """AP and mP@k of one query: walk down the list, skip what is left out, add up trapezoids."""
    positives = {p for kind in right for p in getattr(landmark, kind)}
    ignored = {p for kind in left_out for p in getattr(landmark, kind)}
    listed = [p for p in sorted(range(len(similarity)), key=lambda p: -similarity[p]) if p not in ignored]
    area, hits, last, before = 0.0, 0, 0, 1.0
    for place, p in enumerate(listed, 1):
        if p in positives:
            hits += 1
            area += (before + hits / place) / 2
            last = place
        before = hits / place
    found = {"mAP": area / len(positives)}
    for k in (1, 5, 10):
        top = listed[: min(k, last)]
        found[f"mP@{k}"] = sum(p in positives for p in top) / len(top)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_definition(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(6, 60))
    gallery = torch.from_numpy(rng.normal(size=(size, 4)))
    queries = torch.from_numpy(rng.normal(size=(5, 4)))
    landmarks = []
    for _ in range(5):
        kinds = np.array_split(rng.permutation(size)[: rng.integers(3, size)], 3)
        landmarks.append(Landmark(*(tuple(int(p) for p in kind) for kind in kinds)))
    found = evaluate_landmarks(queries, gallery, landmarks)
    unit = torch.nn.functional.normalize
    similarity = (unit(queries) @ unit(gallery).T).tolist()
    for name, (right, left_out) in PROTOCOLS.items():
        each = [
            by_definition(row, landmark, right, left_out)
            for row, landmark in zip(similarity, landmarks)
            if any(getattr(landmark, kind) for kind in right)
        ]
        assert found[f"queries/{name}"] == len(each)
        for metric in each[0] if each else ():
            assert found[f"{metric}/{name}"] == pytest.approx(np.mean([one[metric] for one in each]), abs=1e-12)


def test_junk_is_as_if_it_were_not_there_and_distractors_only_harm():
    query = torch.tensor([[1.0, 0.0]])
    angles = torch.tensor([0.1, 0.2, 0.3, 0.4])  # in this order
    gallery = torch.stack([angles.cos(), angles.sin()], 1)
    junk_first = evaluate_landmarks(query, gallery, [Landmark(easy=(1,), hard=(2,), junk=(0,))])
    assert junk_first["mAP/medium"] == junk_first["mAP/easy"] == junk_first["mAP/hard"] == 1.0
    more = torch.cat([gallery, torch.tensor([[1.0, 0.0]])])
    assert evaluate_landmarks(query, more, [Landmark(easy=(1,), hard=(2,), junk=(0,))])["mAP/medium"] < 1.0


def test_queries_without_a_positive_do_not_count():
    found = evaluate_landmarks(torch.eye(2), torch.eye(2), [Landmark(easy=(0,)), Landmark(junk=(1,))])
    assert found["queries/easy"] == 1
    assert found["queries/hard"] == 0
    assert np.isnan(found["mAP/hard"])


@pytest.mark.parametrize(
    ("landmarks", "said"),
    [
        ([], "one entry for each of the 1 queries"),
        ([Landmark(easy=(2,))], r"landmarks\[0\] names a picture that is not in 0 … 1"),
        ([Landmark(easy=(0,), junk=(0,))], r"landmarks\[0\] names a picture twice"),
    ],
)
def test_bad_ground_truth_is_named(landmarks, said):
    with pytest.raises(ValueError, match="gallery"):
        evaluate_landmarks(torch.eye(2)[:1], torch.eye(3), landmarks)
    with pytest.raises(ValueError, match=said):
        evaluate_landmarks(torch.eye(2)[:1], torch.eye(2), landmarks)


def write(root, **changes):
    """A miniature of the official file."""
    gnd = [
        {"bbx": [0.0, 0.0, 9.0, 9.0], "easy": [1.0, 2.0], "hard": [3.0], "junk": []},
        {"bbx": [1.0, 2.0, 3.0, 4.0], "easy": [], "hard": 4.0, "junk": [1.0]},
    ]
    (root / "roxford5k").mkdir()
    content = {"imlist": ["a", "b", "c", "d"], "qimlist": ["q", "r"], "gnd": gnd} | changes
    savemat(root / "roxford5k" / "gnd_roxford5k.mat", content)


def test_the_official_file_is_read(tmp_path):
    write(tmp_path)
    found = load_landmarks("roxford5k", tmp_path, check=False)
    assert found.truth == (Landmark((0, 1), (2,), ()), Landmark((), (3,), (0,)))
    assert found.boxes[1] == (1.0, 2.0, 3.0, 4.0)
    assert [path.name for path in (*found.queries, *found.gallery)] == [f"{n}.jpg" for n in "qrabcd"]
    with pytest.raises(DataError, match=r"expected \(70, 4993\)"):
        load_landmarks("roxford5k", tmp_path)
    assert COUNTS["rparis6k"] == (70, 6322)


def test_what_is_missing_damaged_or_leads_elsewhere_is_refused(tmp_path):
    with pytest.raises(DataError, match="is missing"):
        load_landmarks("rparis6k", tmp_path)
    write(tmp_path, imlist=["a", "../b", "c", "d"])
    with pytest.raises(DataError, match="not a picture's name"):
        load_landmarks("roxford5k", tmp_path, check=False)
    path = tmp_path / "roxford5k" / "gnd_roxford5k.mat"
    for wrong in (
        {"easy": [0.0]},
        {"easy": [99.0]},
        {"easy": [1.7]},
        {"easy": [np.inf]},
        {"bbx": [0.0, 0.0, 1.0, np.nan]},
    ):
        path.unlink()
        path.parent.rmdir()
        entry = {"bbx": [0.0, 0.0, 9.0, 9.0], "easy": [1.0], "hard": [3.0], "junk": []}
        write(tmp_path, gnd=[entry | wrong, entry])
        with pytest.raises(DataError):
            load_landmarks("roxford5k", tmp_path, check=False)
    path.write_bytes(b"not a mat file" * 20)
    with pytest.raises(DataError, match="damaged"):
        load_landmarks("roxford5k", tmp_path, check=False)
