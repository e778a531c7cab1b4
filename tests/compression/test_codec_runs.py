"""The learned codec trained as a run: presets, a step on any device, stopping and going on, the command line."""

import json

import numpy as np
import pytest
import torch

from labkit.commands import main
from labkit.compression import codec_run, codec_step
from labkit.compression.codec_config import LOSSES, load_codec_config
from labkit.compression.codec_run import resume_codec, start_codec
from labkit.compression.codec_step import build_state, crops, objective, train_step
from labkit.compression.learned import LearnedCodec
from labkit.compression.network import LAMBDAS
from labkit.data.files import DataError
from labkit.data.photographs import Photographs
from labkit.data.samplers import generator
from labkit.runs.read import read_run

SMALL = {
    "batch.size": 2,
    "data.crop": 64,
    "model.width": 8,
    "model.latent": 8,
    "model.hyper": 4,
    "model.slices": 2,
    "train.steps": 5,
    "train.evaluate_every": 5,
    "train.checkpoint_every": 2,
    "train.log_every": 1,
}


def small(loss="mse", **settings):
    return load_codec_config("codec", loss, SMALL | settings)


@pytest.fixture(autouse=True)
def pictures(monkeypatch):
    """Smooth pictures in the place of photographs; without Kodak, as in a clone."""

    def made(name):
        if name == "kodak":
            raise DataError("not here")
        rng = np.random.default_rng(len(name))
        small = rng.integers(0, 256, (8, 10, 12, 3), dtype=np.uint8)
        images = tuple(np.kron(image, np.ones((30, 30, 1), np.uint8)) for image in small)
        return Photographs(name, tuple(map(str, range(8))), images, name)

    monkeypatch.setattr(codec_step, "photographs", made)
    monkeypatch.setattr(codec_run, "photographs", made)
    return made


def weights(folder):
    content = (folder / "checkpoints" / "last.safetensors").read_bytes()
    return content[8 + int.from_bytes(content[:8], "little") :]  # times are in the header


def test_settings_are_checked():
    config = small(**{"optimizer.lr": "1e-4", "data.crop": "128"})
    assert (config.optimizer.lr, config.data["crop"]) == (1e-4, 128)
    for key, value, why in (
        ("data.crop", "100", "multiple of 64"),
        ("data.crop", "big", "data.crop must be like 128"),
        ("data.name", "omniglot", "no setting 'data.name'"),
        ("model.slices", "3", "multiple of slices"),
        ("weight", "1", "no setting 'weight'"),
        ("batch.micro", "2", "no setting 'batch.micro'"),
        ("nowhere.x", "1", "no section 'nowhere'"),
        ("train.steps", "0", "train.steps"),
    ):
        with pytest.raises(ValueError, match=why):
            small(**{key: value})
    with pytest.raises(ValueError, match="loss must be one of"):
        load_codec_config("codec", "pnp-dq")
    with pytest.raises(ValueError, match="at least 192"):
        small("ms-ssim")
    with pytest.raises(ValueError, match="preset must be one of"):
        load_codec_config("omniglot")


def test_the_preset_is_the_network_of_the_readme():
    config = load_codec_config("codec")
    state = build_state(config, 0, torch.device("cpu"))
    assert sum(p.numel() for p in state.module.parameters()) == 1_615_360
    assert not any(p.requires_grad for p in state.loss.parameters())


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_on_the_meta_device(loss, monkeypatch):
    config = small(loss, **{"data.crop": 192})
    with torch.device("meta"):
        state = build_state(config, 0, torch.device("meta"))
    found = train_step(state, config, 0)
    assert {value.device.type for value in found.values()} == {"meta"}


def test_crops_are_pieces_of_the_photographs(pictures):
    config = small()
    pieces = crops(config, generator(0, 1, 2))
    assert pieces.shape == (2, 3, 64, 64)
    assert torch.equal(pieces, crops(config, generator(0, 1, 2)))
    photographs = [image for name in ("bsds500 train", "bsds500 val") for image in pictures(name).images]
    colours = {tuple(colour) for image in photographs for colour in image[::30, ::30].reshape(-1, 3)}
    seen = (pieces * 255).round().to(torch.uint8).permute(0, 2, 3, 1).reshape(-1, 3).tolist()
    assert {tuple(colour) for colour in seen} <= colours


def test_the_objective_is_its_formula():
    images, decoded = torch.rand(3, 3, 192, 192), torch.rand(3, 3, 192, 192)
    bits, level = torch.tensor([1e4, 2e4, 3e4]), torch.tensor([0.0, 2.5, 5.0])
    found = objective(small(), images, decoded, bits, level)
    total = 0.0
    for n, weight in enumerate((LAMBDAS[0], (LAMBDAS[2] * LAMBDAS[3]) ** 0.5, LAMBDAS[5])):
        error = float(((images[n] - decoded[n]).double() ** 2).mean())
        total += (weight * 255**2 * error + float(bits[n]) / 192**2) / (weight / LAMBDAS[2]) ** 0.5 / 3
    assert float(found["loss"]) == pytest.approx(total, rel=1e-5)
    worse = objective(small("ms-ssim", **{"data.crop": 192}), images, decoded, bits, level)
    same = objective(small("ms-ssim", **{"data.crop": 192}), images, images, bits, level)
    assert float(worse["loss"]) > float(same["loss"])


def test_training_lowers_the_loss_of_a_batch():
    config = small(**{"optimizer.lr": 1e-2, "optimizer.warmup": 0})
    state = build_state(config, 0, torch.device("cpu"))
    losses = [float(train_step(state, config, 0)["loss"]) for _ in range(60)]  # the step's number stays: one batch
    assert losses[-1] < 0.4 * losses[0]


def test_a_run_that_was_cut_off_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    start_codec(small(), 0, tmp_path / "whole", device="cpu")
    calls = 0

    def cut_off(*arguments):
        nonlocal calls
        calls += 1
        if calls == 4:
            raise RuntimeError("the power failed")
        return train_step(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(codec_run, "train_step", cut_off)
        with pytest.raises(RuntimeError, match="the power failed"):
            start_codec(small(), 0, tmp_path / "cut", device="cpu")
    assert read_run(tmp_path / "cut").status == "failed"
    resume_codec(tmp_path / "cut", device="cpu")
    whole, cut = read_run(tmp_path / "whole"), read_run(tmp_path / "cut")
    assert (cut.status, cut.problems, cut.record.resumed[0].step) == ("finished", (), 2)
    assert weights(tmp_path / "cut") == weights(tmp_path / "whole")
    rows = whole.curves()
    assert [row["step"] for row in rows if "bpp" in row] == [1, 2, 3, 4, 5]
    assert {"bpp low", "PSNR high"} <= whole.summary.validation.keys()
    with pytest.raises(ValueError, match="is finished"):
        resume_codec(tmp_path / "cut", device="cpu")


def test_a_run_leaves_a_codec_and_another_can_begin_with_it(tmp_path):
    start_codec(small(), 0, tmp_path / "run", device="cpu")
    codec = LearnedCodec((tmp_path / "run" / "codec.safetensors").read_bytes())
    assert (codec.facts["steps"], codec.facts["trained_on"]) == ("5", "BSDS500 train + val")
    image = np.full((30, 40, 3), 90, np.uint8)
    assert codec.decode(codec.encode(image, 50)).shape == image.shape
    first = build_state(small(**{"data.start": str(tmp_path / "run")}), 1, torch.device("cpu"))
    last = codec_step.weights_of(tmp_path / "run")
    assert all(torch.equal(value, last[name]) for name, value in first.module.state_dict().items())
    with pytest.raises(ValueError, match="holds no trained codec"):
        build_state(small(**{"data.start": str(tmp_path / "nothing")}), 1, torch.device("cpu"))


def test_kodak_is_coded_with_real_bytes_at_the_end(tmp_path, monkeypatch, pictures):
    images = pictures("bsds500 test").images[:1]
    kodak = Photographs("kodak", ("01",), images, "")
    monkeypatch.setattr(codec_run, "photographs", lambda name: kodak if name == "kodak" else pictures(name))
    start_codec(small(), 0, tmp_path / "run", device="cpu")
    test = read_run(tmp_path / "run").summary.test
    codec = LearnedCodec((tmp_path / "run" / "codec.safetensors").read_bytes())
    data = codec.encode(images[0], 75)
    assert test["bpp@75"] == 8 * len(data) / (300 * 360)
    error = np.mean((codec.decode(data) / 255.0 - images[0] / 255.0) ** 2)
    assert test["PSNR@75"] == pytest.approx(-10 * np.log10(error))


def test_the_command_line(tmp_path, capsys):
    settings = [f"{key}={value}" for key, value in SMALL.items()]
    assert main(["train", "codec", "--runs", str(tmp_path), "--device", "cpu", "--set", *settings]) == 0
    folder = next(path for path in tmp_path.iterdir() if path.is_dir())
    content = json.loads((folder / "run.json").read_text())
    assert (content["preset"], content["loss"], content["status"]) == ("codec", "mse", "finished")
    assert main(["train", "--resume", str(folder)]) == 2
    assert "finished" in capsys.readouterr().err
    assert main(["sweep", "codec", "--runs", str(tmp_path)]) == 2
    assert "one run at a time" in capsys.readouterr().err
