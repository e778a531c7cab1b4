import pickle

import pytest
import torch
from torch import nn

from labkit import models
from labkit.base.files import write_safetensors
from labkit.models.weights import load_weights, read_state


class Marker:
    """When unpickled, it would leave a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def network():
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))


def save(path, state):
    if path.suffix == ".safetensors":
        write_safetensors(path, state)
    else:
        torch.save(state, path)
    return path


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_weights_arrive_and_the_classifier_is_left_out(tmp_path, suffix):
    torch.manual_seed(0)
    source, target = network(), network()
    path = save(tmp_path / f"weights{suffix}", source.state_dict() | {"fc.weight": torch.ones(4)})
    load_weights(target, path, ignore="fc.")
    assert all(torch.equal(a, b) for a, b in zip(source.state_dict().values(), target.state_dict().values()))


def test_a_file_that_does_not_count_batches_is_welcome(tmp_path):
    source, target = network(), network()
    state = {name: value for name, value in source.state_dict().items() if "num_batches" not in name}
    load_weights(target, save(tmp_path / "old.pth", state), ignore="fc.")
    assert torch.equal(source[0].weight, target[0].weight)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("0.bias"), r"missing: 0\.bias\. Give"),
        (lambda s: s.update({"2.weight": torch.ones(1)}), r"unexpected: 2\.weight\."),
        (lambda s: s.update({"0.weight": torch.ones(2, 4)}), r"wrong shape: 0\.weight \(2, 4\) instead of \(2, 3\)"),
        (lambda s: s.update({f"x{i}": torch.ones(1) for i in range(9)}), "unexpected: x0, x1, x2, x3, x4 and 4 more"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_by_the_names(tmp_path, change, message):
    state = dict(network().state_dict())
    change(state)
    target = network()
    before = target[0].weight.clone()
    with pytest.raises(ValueError, match=message):
        load_weights(target, save(tmp_path / "weights.pth", state), ignore="fc.")
    assert torch.equal(target[0].weight, before)


@pytest.mark.parametrize("writer", ["torch", "pickle"])
@pytest.mark.parametrize("name", ["resnet50", "efficientnet-lite0"])
def test_a_file_that_could_run_code_is_refused_and_does_not_run(tmp_path, writer, name):
    marker, path = tmp_path / "ran", tmp_path / "weights.pth"
    payload = {"conv1.weight": Marker(marker)}
    if writer == "torch":
        torch.save(payload, path)
    else:
        path.write_bytes(pickle.dumps(payload, protocol=2))
    with torch.device("meta"), pytest.raises(ValueError, match="weights: .*could run code"):
        models.build(name, 8, weights=path)
    assert not marker.exists()


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize("length", [0, 1, 20, 700])
def test_a_damaged_file_is_refused(tmp_path, suffix, length):
    path = save(tmp_path / f"weights{suffix}", network().state_dict())
    path.write_bytes(path.read_bytes()[:length] if length < 700 else b"\x00" * 700)
    with pytest.raises(ValueError, match="weights: .*weights"):
        read_state(path)


@pytest.mark.parametrize("content", [{"epoch": 3, "state_dict": {}}, [torch.ones(1)], torch.ones(2)])
def test_anything_but_a_state_dict_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "weights.pth")
    with pytest.raises(ValueError, match="must hold a state_dict"):
        read_state(tmp_path / "weights.pth")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="weights: there is no file .*nowhere.pth"):
        models.build("resnet50", 8, weights=tmp_path / "nowhere.pth")
