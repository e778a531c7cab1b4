"""A step of every preset on the meta device: a tensor left on the CPU or a hidden wait for the device fails there."""

import pytest
import torch

from labkit.losses import CATALOG
from labkit.runs.presets import EMBEDDING, preset_names
from labkit.training.config import load_config
from labkit.training.devices import choose_device, device_name, peak_memory_mb, present_devices, seed_random
from labkit.training.inputs import Batch
from labkit.training.state import build_state
from labkit.training.step import train_step

META = torch.device("meta")


def inputs_of(config) -> torch.Tensor:
    """A batch as the preset's data would give it."""
    items = config.batch.classes * config.batch.per_class if config.batch.sampler == "balanced" else config.batch.size
    options = config.model
    if options["name"] == "toy-mlp":
        return torch.empty(items, 2, device=META)
    if options["name"] in ("resnet50", "efficientnet-lite0"):
        side = config.images.get("crop", options.get("size", 224))
        return torch.empty(8, 3, side, side, device=META)
    side = options.get("size", 28)
    return torch.empty(items, options.get("in_channels", 1), side, side, device=META)


def step_on_meta(config) -> None:
    built = build_state(config, 12, 0, META)
    built.model.train()
    rows = inputs_of(config)
    labels = torch.empty(len(rows), dtype=torch.long, device=META)
    if config.loss == "recall-at-k-simix":  # which pairs to mix is decided by the labels' values, on the host
        labels = torch.arange(len(rows)) // config.batch.per_class
    value = train_step(built, Batch(0, rows, labels), config)
    assert value.device == META
    assert value.shape == ()


@pytest.mark.parametrize("preset", preset_names(EMBEDDING))
def test_a_step_of_every_preset_stays_on_its_device(preset):
    config = load_config(preset)
    if "weights" in config.model:
        config.model["weights"] = None
    step_on_meta(config)


@pytest.mark.parametrize("loss", sorted(set(CATALOG) - {"from-derivative"}))
def test_a_step_of_every_loss_stays_on_its_device(loss):
    step_on_meta(load_config("omniglot", loss, {"classes": "4"}))


def test_auto_takes_what_there_is_and_a_missing_device_is_refused():
    expected = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    assert choose_device("auto").type == expected
    with pytest.raises(ValueError, match="device must be"):
        choose_device("warp")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="no CUDA"):
            choose_device("cuda")


@pytest.mark.parametrize(("gpus", "offered"), [(0, []), (1, ["cuda"]), (2, ["cuda:0", "cuda:1"])])
def test_devices_on_offer_are_those_that_are_there(monkeypatch, gpus, offered):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert present_devices() == ["auto", "cpu", *offered]


def test_the_device_has_a_name_and_memory():
    device = torch.device("cpu")
    assert len(device_name(device)) > 2
    assert peak_memory_mb(device) > 10


def test_seeding_gives_the_same_numbers_as_torch():
    seed_random(5, torch.device("cpu"))
    first = torch.rand(4)
    torch.manual_seed(5)
    assert torch.equal(first, torch.rand(4))


def test_meta_really_catches_a_hidden_wait():
    with pytest.raises(RuntimeError):
        bool(torch.empty(3, device=META).sum() > 0)
