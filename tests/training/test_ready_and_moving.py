"""Before a run starts its settings are tried; while it runs, its embedding can be seen already."""

import json

import numpy as np
import pytest
import torch

from labkit.data.files import DataError
from labkit.losses import CATALOG
from labkit.runs.presets import EMBEDDING, preset_names
from labkit.runs.read import read_run
from labkit.runs.schema import RunError
from labkit.training import loop
from labkit.training.config import BASELINES, load_config
from labkit.training.moving import CHECKPOINT, read_moving, source
from labkit.training.ready import check_data, check_loss, repair


@pytest.mark.parametrize("loss", [*CATALOG, *BASELINES])
def test_every_loss_works_with_its_defaults(loss):
    before = torch.random.get_rng_state()
    check_loss(load_config("toy", loss))
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("loss", "settings"),
    [
        ("pnp-dq", {"tau": "0"}),
        ("pnp-dq", {"alpha": "many"}),
        ("recall-at-k", {"ks": "0"}),
        ("recall-at-k", {"ks": "()"}),
        ("mpa", {"centers": "0"}),
        ("mpa", {"centers": "1.5"}),
        ("sgsl", {"convention": "mine"}),
        ("from-derivative", {"g": "7"}),
        ("pnp-dq", {"model.dim": "0"}),
        ("pnp-dq", {"model.dim": "two"}),
    ],
)
def test_an_option_that_the_loss_refuses_is_a_value_error(loss, settings):
    with pytest.raises(ValueError, match=r"\w"):
        check_loss(load_config("toy", loss, settings))


def test_data_that_are_not_there_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("labkit.base.paths.SYSTEM", tmp_path)
    for preset in preset_names(EMBEDDING):
        config = load_config(preset)
        if config.data["name"] in ("toy", "fashion-mnist", "emoji") or config.data.get("form") == "small":
            check_data(config)
            continue
        with pytest.raises(DataError, match="not found"):
            check_data(config)
        assert repair(config) == f"python -m labkit data get {config.data['name']}"
    with pytest.raises(DataError, match="not found"):
        check_data(load_config("fashion-mnist", settings={"data.subset": "full"}))
    with pytest.raises(ValueError, match=r"data\.name must be one of"):
        check_data(load_config("toy", settings={"data.name": "7"}))


@pytest.fixture
def half_way(tmp_path, monkeypatch):
    """A toy run that stopped at step 20 of 40."""
    asked = iter(range(1, 100))
    monkeypatch.setattr(loop, "agreed", lambda *_: next(asked) == 20)
    settings = {"steps": "40", "frames": "5", "nmi": "false", "train_metrics": "false"}
    config = load_config("toy", "triplet", settings)
    assert loop.start(config, 0, tmp_path / "run", device="cpu").status == "interrupted"
    return tmp_path / "run"


def test_the_embedding_is_there_before_the_run_has_finished(half_way):
    early = read_moving(read_run(half_way))
    assert source(read_run(half_way)) == CHECKPOINT
    assert early.steps == (0, 5, 14)
    loop.resume(half_way, device="cpu")
    late = read_moving(read_run(half_way))
    assert source(read_run(half_way)) == "frames.safetensors"
    assert late.steps == (0, 5, 14, 26, 40)
    np.testing.assert_array_equal(late.frames[:3], early.frames)
    np.testing.assert_array_equal(late.labels, early.labels)
    assert (late.classes, late.parts) == (early.classes, early.parts)


def test_a_checkpoint_that_is_cut_short_or_foreign_is_told(half_way):
    path = half_way / CHECKPOINT
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(RunError, match="checkpoint"):
        read_moving(read_run(half_way))
    path.write_bytes(content)
    info = json.loads((half_way / "run.json").read_text())
    info["config"]["data"] = {"name": "nobody"}
    (half_way / "run.json").write_text(json.dumps(info))
    assert read_moving(read_run(half_way)) is None
    info["config"] = None
    (half_way / "run.json").write_text(json.dumps(info))
    assert read_moving(read_run(half_way)) is None
    info["config"] = load_config("toy", settings={"points": "77"}).as_dict()
    (half_way / "run.json").write_text(json.dumps(info))
    with pytest.raises(RunError, match="600 points but 377 samples"):
        read_moving(read_run(half_way))


def test_a_run_without_frames_has_nothing_that_moves(tmp_path):
    config = load_config("toy", "untrained", {"frames": "0", "nmi": "false", "train_metrics": "false"})
    loop.start(config, 0, tmp_path / "run", device="cpu")
    assert read_moving(read_run(tmp_path / "run")) is None
