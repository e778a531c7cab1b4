import pytest
import torch
from torch import nn

from labkit import models

# name, options, channels and side of the images
NETWORKS = [
    ("toy-mlp", {}, None),
    ("small-cnn", {}, (1, 28)),
    ("small-cnn", {"channels": (8, 16, 32, 64), "in_channels": 3, "size": 48}, (3, 48)),
    ("small-cnn", {"channels": (8, 12), "size": 29, "norm": "group"}, (1, 29)),
    ("five-layer-cnn", {}, (1, 28)),
    ("five-layer-cnn", {"in_channels": 3, "size": 32}, (3, 32)),
    ("small-resnet", {}, (1, 28)),
    ("small-resnet", {"pool": "avg", "neck": "bn", "last": "rbr", "in_channels": 3}, (3, 33)),
    ("small-resnet", {"blocks": (1, 2), "width": 8, "pool": "avg+max", "neck": "ln", "last": "extra-bn-relu"}, (1, 28)),
    ("small-resnet", {"last": "rbr-released"}, (1, 28)),
    ("resnet50", {"neck": "bn", "pool": "avg+max", "last": "rbr"}, (3, 33)),
    ("resnet101", {"pool": "avg"}, (3, 33)),
    ("vit", {"neck": "ln"}, (3, 224)),
    ("efficientnet-lite0", {"weights": None, "neck": "ln", "last": "rbr"}, (3, 33)),
]
each = pytest.mark.parametrize(
    ("name", "options", "image"), NETWORKS, ids=[" ".join([n, *map(str, o.values())]) for n, o, _ in NETWORKS]
)


def inputs(image, count=4, device=None):
    shape = (count, 2) if image is None else (count, image[0], image[1], image[1])
    return torch.rand(shape, device=device)


def test_names_are_those_of_the_builders_and_each_is_tested():
    assert {name for name, _, _ in NETWORKS} | {"pixels"} == set(models.NAMES)


@each
def test_embeddings_have_dim_numbers_of_moderate_size_and_are_not_normalised(name, options, image):
    torch.manual_seed(0)
    with torch.no_grad():
        embeddings = models.build(name, 5, **options)(inputs(image))
    assert embeddings.shape == (4, 5)
    assert embeddings.dtype == torch.float32
    norms = embeddings.norm(dim=1)
    assert bool(((norms > 0.01) & (norms < 100)).all())  # far from both and it would not train
    assert not torch.allclose(norms, torch.ones(4), atol=1e-3)


@each
def test_gradients_reach_every_parameter_and_all_stays_contiguous(name, options, image):
    torch.manual_seed(0)
    network = models.build(name, 5, **options).train()
    embeddings = network(inputs(image, count=8))
    (embeddings * torch.randn_like(embeddings)).sum().backward()
    assert [n for n, p in network.named_parameters() if p.grad is None or not p.grad.any()] == []
    # channels_last weights and contiguous moments, read back from a checkpoint, break a fused optimiser's step
    assert all(p.is_contiguous() and p.grad.is_contiguous() for p in network.parameters())


@each
def test_a_training_step_on_the_meta_device_needs_no_value(name, options, image):
    with torch.device("meta"):
        network = models.build(name, 5, **options).train()
        embeddings = network(inputs(image))
        embeddings.square().mean().backward()
    assert embeddings.device.type == "meta"
    assert all(p.grad is not None for p in network.parameters())


@each
def test_autocast_to_bfloat16_stays_near_float32(name, options, image):
    torch.manual_seed(0)
    network = models.build(name, 5, **options).eval()
    x = inputs(image)
    with torch.no_grad():
        exact = network(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            rough = network(x)
    assert bool(rough.isfinite().all())
    assert float((rough.float() - exact).norm() / exact.norm()) < 0.1


@each
def test_a_state_dict_carries_the_whole_function(name, options, image):
    torch.manual_seed(0)
    network = models.build(name, 5, **options).train()
    x = inputs(image)
    network(x)  # moves the running statistics
    twin = models.build(name, 5, **options)
    twin.load_state_dict(network.state_dict())
    with torch.no_grad():
        assert torch.equal(network.eval()(x), twin.eval()(x))


def test_pixels_have_no_parameters_and_ignore_dim():
    x = torch.rand(3, 1, 4, 5)
    pixels = models.build("pixels", 7)
    assert list(pixels.parameters()) == []
    x[:, :, 0, 0] = 0  # on a black background the pixels themselves
    assert torch.equal(pixels(x), x.reshape(3, 20))
    assert torch.allclose(pixels(1 - x), -x.reshape(3, 20))  # on white, the ink: what is compared is not the paper


def test_the_toy_network_is_2_30_30_dim():
    sizes = [tuple(p.shape) for p in models.build("toy-mlp", 2).parameters()]
    assert sizes == [(30, 2), (30,), (30, 30), (30,), (2, 30), (2,)]


@pytest.mark.parametrize(("size", "channels"), [(28, (16, 32, 32)), (48, (8, 16, 32, 64)), (29, (4, 8))])
@pytest.mark.parametrize("norm", ["batch", "group"])
def test_small_cnn_is_the_network_in_its_description(size, channels, norm):
    """Conv stride 2, norm, ReLU; then conv, norm, ReLU, max-pool: written out plainly, in that order."""
    torch.manual_seed(0)
    network = models.build("small-cnn", 6, channels=channels, size=size, norm=norm)
    plain = []
    for i, module in enumerate(m for m in network.features if isinstance(m, (nn.Conv2d, nn.BatchNorm2d, nn.GroupNorm))):
        plain.append(module)
        plain += [] if i % 2 == 0 else [nn.ReLU()] if i == 1 else [nn.ReLU(), nn.MaxPool2d(2)]
    reference = nn.Sequential(*plain, nn.Flatten(), network.embed)
    x = torch.rand(5, 1, size, size)
    assert torch.allclose(network(x), reference(x), atol=1e-5)
    assert [m.out_channels for m in reference if isinstance(m, nn.Conv2d)] == list(channels)


def test_with_group_norm_no_image_sees_the_others():
    torch.manual_seed(0)
    network = models.build("small-cnn", 6, norm="group").train()
    assert not any(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in network.modules())
    x = torch.rand(5, 1, 28, 28)
    assert torch.allclose(network(x)[:2], network(x[:2]), atol=1e-5)


def test_the_five_layer_network_has_five_layers_with_weights():
    network = models.build("five-layer-cnn", 3)
    kinds = [type(m).__name__ for m in network.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    assert kinds == ["Conv2d"] * 3 + ["Linear"] * 2


@pytest.mark.parametrize(
    ("name", "dim", "options", "message"),
    [
        ("resnet", 8, {}, r"name must be one of 'toy-mlp', .*'resnet50'.*'pixels'.*got 'resnet'"),
        ("small-cnn", 8, {"width": 3}, "small-cnn has no option 'width'; its options are: channels, in_channels, size"),
        ("toy-mlp", 8, {"size": 3}, "toy-mlp has no option 'size'; its options are: none"),
        ("small-cnn", 8, {"dim": 3}, None),
        ("small-cnn", 0, {}, "dim must be a whole number, 1 or above; got 0"),
        ("small-cnn", True, {}, "dim must be a whole number"),
        ("small-cnn", 2.5, {}, "dim must be a whole number"),
        ("pixels", 0, {}, "dim must be a whole number"),
        ("small-cnn", 8, {"norm": "layer"}, "norm must be one of 'batch', 'group'"),
        ("small-cnn", 8, {"channels": ()}, r"channels must be a sequence of whole numbers such as \(1, 2\), got \(\)"),
        ("small-cnn", 8, {"channels": 16}, "channels must be a sequence of whole numbers .*got 16"),
        ("small-cnn", 8, {"channels": (8, 0)}, "channels must be a whole number"),
        ("small-cnn", 8, {"size": 4, "channels": (4, 4, 4, 4)}, "size must be at least 15 for 4 channels; got 4"),
        ("small-resnet", 8, {"blocks": ()}, "blocks must be a sequence of whole numbers"),
        ("small-resnet", 8, {"blocks": (1, 0)}, "blocks must be a whole number"),
        ("small-resnet", 8, {"pool": "max"}, "pool must be one of 'gem', 'avg', 'avg\\+max'"),
        ("small-resnet", 8, {"neck": "in"}, "neck must be one of 'none', 'prebn', 'bn', 'ln'"),
        ("small-resnet", 8, {"last": "relu"}, "last must be one of 'bn-relu', 'rbr', 'rbr-released', 'extra-bn-relu'"),
        ("small-resnet", 8, {"head": False}, "dim must be 64, the number of pooled features"),
        ("efficientnet-lite0", 8, {"last": "rbr-released", "weights": None}, "last must be one of 'bn-relu', 'rbr'"),
    ],
)
def test_a_wrong_request_is_refused_by_name(name, dim, options, message):
    if message is None:  # dim twice is a mistake of the call itself
        with pytest.raises(TypeError):
            models.build(name, dim, **options)
        return
    with pytest.raises(ValueError, match=message):
        models.build(name, dim, **options)


@pytest.mark.parametrize("name", ["small-cnn", "small-resnet", "resnet50"])
def test_wrong_images_are_refused_with_what_to_do(name):
    network = models.build(name, 4).eval()
    channels = 3 if name == "resnet50" else 1
    with pytest.raises(ValueError, match="images must be floats in 0 … 1, got torch.uint8: divide bytes by 255"):
        network(torch.zeros(2, channels, 28, 28, dtype=torch.uint8))
    with pytest.raises(ValueError, match=rf"images must have shape \(N, {channels}, .*got \(2, 2, 28, 28\)"):
        network(torch.zeros(2, 2, 28, 28))
    with pytest.raises(ValueError, match="images must have shape"):
        network(torch.zeros(channels, 28, 28))


def test_small_cnn_refuses_another_size():
    with pytest.raises(ValueError, match=r"\(N, 1, 28, 28\), got \(2, 1, 32, 32\)"):
        models.build("small-cnn", 4)(torch.zeros(2, 1, 32, 32))
