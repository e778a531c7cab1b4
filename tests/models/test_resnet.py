import pytest
import torch
from torch import nn
from torch.nn import functional as F

from labkit import models
from labkit.models.resnet import BasicBlock, Bottleneck

BLOCKS = (3, 4, 6, 3)
BATCH_NORM = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")


def public_names():
    """The 320 names in the public ImageNet ResNet-50, in their order."""
    names = ["conv1.weight", *(f"bn1.{entry}" for entry in BATCH_NORM)]
    for stage, count in enumerate(BLOCKS, start=1):
        for block in range(count):
            for part in (1, 2, 3):
                names.append(f"layer{stage}.{block}.conv{part}.weight")
                names += [f"layer{stage}.{block}.bn{part}.{entry}" for entry in BATCH_NORM]
            if block == 0:
                names.append(f"layer{stage}.0.downsample.0.weight")
                names += [f"layer{stage}.0.downsample.1.{entry}" for entry in BATCH_NORM]
    return [*names, "fc.weight", "fc.bias"]


def resnet50_features(state, x):
    """The published network, written once more without a module: features of normalised images."""

    def conv_norm(x, conv, norm, stride=1, padding=0):
        x = F.conv2d(x, state[f"{conv}.weight"], stride=stride, padding=padding)
        mean, var, weight, bias = (
            state[f"{norm}.{entry}"][:, None, None] for entry in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) / (var + 1e-5).sqrt() * weight + bias

    x = F.max_pool2d(conv_norm(x, "conv1", "bn1", 2, 3).relu(), 3, 2, 1)
    for stage, count in enumerate(BLOCKS, start=1):
        for block in range(count):
            name, stride = f"layer{stage}.{block}", 2 if stage > 1 and block == 0 else 1
            y = conv_norm(x, f"{name}.conv1", f"{name}.bn1").relu()
            y = conv_norm(y, f"{name}.conv2", f"{name}.bn2", stride, 1).relu()
            y = conv_norm(y, f"{name}.conv3", f"{name}.bn3")
            if block == 0:
                x = conv_norm(x, f"{name}.downsample.0", f"{name}.downsample.1", stride)
            x = (x + y).relu()
    return x


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """A file with the public names and random numbers, as one would download it, and the state dict in it."""
    torch.manual_seed(0)
    state = dict(models.build("resnet50", 2048, pool="avg").state_dict())
    for name, value in state.items():
        if name.endswith(("running_mean", "bias")):
            value.normal_(0, 0.1)
        elif name.endswith("running_var") or (value.dim() == 1 and name.endswith("weight")):
            value.uniform_(0.5, 1.5)
    state |= {"fc.weight": torch.randn(1000, 2048), "fc.bias": torch.zeros(1000)}
    path = tmp_path_factory.mktemp("weights") / "resnet50.pth"
    torch.save(state, path)
    return path, state


def test_resnet50_has_the_public_names_and_numbers_of_parameters():
    with torch.device("meta"):
        network = models.build("resnet50", 2048, pool="avg")
    names = public_names()
    assert len(names) == 320
    assert [*network.state_dict(), "fc.weight", "fc.bias"] == names
    parameters = sum(p.numel() for p in network.parameters())
    assert parameters == 23_508_032
    assert parameters + 2048 * 1000 + 1000 == 25_557_032


def test_resnet101_has_the_public_number_of_parameters():
    with torch.device("meta"):
        network = models.build("resnet101", 2048, pool="avg")
    assert sum(p.numel() for p in network.parameters()) + 2048 * 1000 + 1000 == 44_549_160
    assert len(network.get_submodule("layer3")) == 23


def test_resnet50_halves_the_resolution_where_it_should():
    shapes = []
    with torch.device("meta"):
        network = models.build("resnet50", 8)
        for stage in network.stages:
            network.get_submodule(stage).register_forward_hook(lambda _, __, out: shapes.append(tuple(out.shape[1:])))
        network(torch.rand(2, 3, 224, 224))
    assert shapes == [(256, 56, 56), (512, 28, 28), (1024, 14, 14), (2048, 7, 7)]


def test_resnet50_equals_the_published_network_on_the_same_weights(public):
    path, state = public
    network = models.build("resnet50", 2048, weights=path, pool="avg").double().eval()
    state = {name: value.double() for name, value in state.items()}
    x = torch.rand(2, 3, 64, 50, dtype=torch.float64)
    mean, std = torch.tensor([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]]).double().view(2, 3, 1, 1)
    with torch.no_grad():
        expected = resnet50_features(state, (x - mean) / std).mean((2, 3))
        # the mean and std are kept in float32
        assert torch.allclose(network(x), expected, rtol=1e-5, atol=1e-5 * float(expected.max()))


@pytest.mark.parametrize("last", ["rbr", "rbr-released", "extra-bn-relu"])
def test_public_weights_load_whatever_the_last_block_becomes(public, last):
    path, state = public
    own = models.build("resnet50", 64, weights=str(path), last=last, neck="bn").state_dict()
    gone = {name for name in state if name not in own}
    removed = {f"layer4.2.bn3.{entry}" for entry in BATCH_NORM} if last.startswith("rbr") else set()
    assert gone == removed | {"fc.weight", "fc.bias"}
    assert all(torch.equal(own[name], state[name]) for name in own if name in state)


def block_output(block, x, *, inner, outer):
    """What a block computes with or without its inner ReLUs and its last BN-ReLU, written out."""
    act = torch.relu if inner else nn.Identity()
    y = act(block.bn1(block.conv1(x)))
    y = block.conv3(act(block.bn2(block.conv2(y)))) if isinstance(block, Bottleneck) else block.conv2(y)
    if outer:
        y = getattr(block, block.last_norm)(y)
    y = y + block.downsample(x)
    return y.relu() if outer else y


@pytest.mark.parametrize("name", ["small-resnet", "resnet50"])
@pytest.mark.parametrize(
    ("last", "inner", "outer"),
    [("bn-relu", True, True), ("extra-bn-relu", True, True), ("rbr", True, False), ("rbr-released", False, False)],
)
def test_the_last_block_ends_as_asked_and_only_the_last(name, last, inner, outer):
    torch.manual_seed(0)
    network = models.build(name, 8, last=last).eval()
    *before, final = [m for m in network.modules() if isinstance(m, (BasicBlock, Bottleneck))]
    with torch.no_grad():
        x = torch.randn(2, final.conv1.in_channels, 4, 4)
        assert torch.allclose(final(x), block_output(final, x, inner=inner, outer=outer), atol=1e-4)
        assert (float(final(x).min()) < 0) != outer
        for block in before[-2:]:
            x = torch.randn(2, block.conv1.in_channels, 4, 4)
            assert torch.allclose(block(x), block_output(block, x, inner=True, outer=True), atol=1e-4)
    assert ("extra" in dict(network.embed.named_children())) == (last == "extra-bn-relu")


@pytest.mark.parametrize(("last", "affine"), [("rbr", False), ("rbr-released", True), ("bn-relu", False)])
def test_only_the_released_last_block_is_affine(last, affine):
    """f(a) + f(b) = f(a + b) + f(0) once batch norms use stored statistics and no ReLU is left."""
    torch.manual_seed(0)
    block = models.build("resnet50", 8, last=last).eval().layer4[-1].double()
    a, b = torch.randn(2, 1, 2048, 3, 3, dtype=torch.float64)
    with torch.no_grad():
        gap = block(a) + block(b) - block(a + b) - block(torch.zeros_like(a))
    assert (float(gap.abs().max()) < 1e-9) == affine


@pytest.mark.parametrize(("pool", "negative"), [("avg", True), ("gem", False)])
def test_gem_discards_the_negative_features_that_rbr_lets_through(pool, negative):
    torch.manual_seed(0)
    network = models.build("small-resnet", 64, last="rbr", pool=pool, head=False).eval()
    with torch.no_grad():
        embeddings = network(torch.rand(16, 1, 28, 28))
    assert (float(embeddings.min()) < 0) == negative


def test_without_a_head_the_features_are_the_embedding():
    assert "head" not in dict(models.build("small-resnet", 64, head=False).embed.named_children())
    assert "head" in dict(models.build("small-resnet", 64).embed.named_children())
    with torch.device("meta"):
        assert len(models.build("resnet50", 2048).embed) == 0
        assert models.build("resnet50", 512).embed.head.weight.shape == (512, 2048)


def test_frozen_batch_norms_stay_as_they_are_in_training_and_the_neck_learns(public):
    network = models.build("resnet50", 16, weights=public[0], neck="bn", freeze_bn=True)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    network.eval().train()(torch.rand(4, 3, 32, 32)).square().sum().backward()
    changed = {name for name, value in network.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == {"embed.neck.running_mean", "embed.neck.running_var", "embed.neck.num_batches_tracked"}
    norms = [m for m in network.modules() if isinstance(m, nn.BatchNorm2d)]
    assert len(norms) == 53
    assert not any(p.requires_grad for norm in norms for p in norm.parameters())
    assert network.conv1.weight.grad is not None


def test_stages_double_the_width_and_take_as_many_blocks_as_asked():
    network = models.build("small-resnet", 4, width=8, blocks=(2, 1, 3, 1), in_channels=3)
    assert [len(network.get_submodule(stage)) for stage in network.stages] == [2, 1, 3, 1]
    assert [network.get_submodule(stage)[-1].conv2.out_channels for stage in network.stages] == [8, 16, 32, 64]
    assert network.features(torch.rand(2, 3, 48, 48)).shape == (2, 64, 6, 6)
