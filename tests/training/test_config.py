"""Presets and settings: every preset reads, every loss can be chosen, and a wrong name says what there is."""

import pytest

from labkit.losses import CATALOG
from labkit.runs.presets import EMBEDDING, describe, preset_names
from labkit.runs.variant import parse
from labkit.training.config import from_dict, load_config


@pytest.mark.parametrize("preset", preset_names(EMBEDDING))
def test_a_preset_reads_and_survives_being_written_down(preset):
    config = load_config(preset)
    assert from_dict(config.as_dict()) == config
    assert len(describe(preset)) > 20


@pytest.mark.parametrize("loss", [*CATALOG, "untrained", "pixels"])
def test_every_loss_can_be_chosen(loss):
    assert load_config("omniglot", loss).loss == loss


def test_a_bare_key_is_an_option_of_the_loss_first_then_a_setting():
    config = load_config("omniglot", "pnp-dq", {"tau": "0.02", "lr": "1e-3", "optimizer.clip": "1", "data.merge": "3"})
    assert config.loss_options["tau"] == 0.02
    assert config.optimizer.lr == 1e-3
    assert config.optimizer.clip == 1.0
    assert isinstance(config.optimizer.clip, float)
    assert config.data["merge"] == 3


def test_what_suits_a_loss_is_used_only_for_that_loss_and_can_be_changed():
    assert load_config("toy", "pnp-dq").loss_options["alpha"] == 4.0
    assert "alpha" not in load_config("toy", "pnp-ds").loss_options
    assert load_config("toy", "pnp-dq", {"alpha": "2"}).loss_options["alpha"] == 2


def test_another_network_takes_over_what_it_can():
    changed = load_config("in-shop", None, {"model.neck": "bn", "model.name": "efficientnet-lite0"}).model
    assert changed == {"name": "efficientnet-lite0", "dim": 512, "pool": "gem", "last": "rbr", "neck": "bn"}
    assert load_config("emoji", None, {"model.name": "small-resnet"}).model["in_channels"] == 3
    assert load_config("in-shop", None, {"model.name": "resnet50"}).model["weights"] == "resnet50-imagenet.pth"
    with pytest.raises(ValueError, match="resnet50.*got .resnet51"):
        load_config("in-shop", None, {"model.name": "resnet51"})


@pytest.mark.parametrize(
    ("preset", "loss", "settings", "message"),
    [
        ("omnigolt", None, {}, "did you mean omniglot"),
        ("omniglot", "smooth-app", {}, "did you mean smooth-ap"),
        ("omniglot", "pnp-dq", {"taau": "1"}, "no setting 'taau' for pnp-dq.*did you mean tau"),
        ("omniglot", "pnp-dq", {"variant": "O"}, "no setting 'variant'"),
        ("omniglot", "pnp-dq", {"optimizer.rate": "1"}, "no setting optimizer.rate"),
        ("omniglot", "pnp-dq", {"speed.lr": "1"}, "no section 'speed'"),
        ("omniglot", "pnp-dq", {"lr": "fast"}, "optimizer.lr must be a number, got str: .fast"),
        ("omniglot", "pnp-dq", {"steps": "1.5"}, "train.steps must be a whole number, got float: 1.5"),
        ("omniglot", "pnp-dq", {"nmi": "1"}, "record.nmi must be true or false, got int"),
        ("omniglot", "pnp-dq", {"milestones": "(0.5, 'late')"}, "optimizer.milestones: 1 must be a number, got str"),
        ("omniglot", "pnp-dq", {"optimizer.name": "adamax"}, "optimizer.name"),
        ("omniglot", "pnp-dq", {"steps": "-1"}, "train.steps must be from 1 to 10,000,000; got -1"),
        ("omniglot", "pnp-dq", {"evaluate_every": "0"}, "train.evaluate_every must be from 1 to 10,000,000; got 0"),
    ],
)
def test_a_wrong_setting_says_what_there_is(preset, loss, settings, message):
    with pytest.raises(ValueError, match=message):
        load_config(preset, loss, settings)


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("1e-3", 1e-3), ("True", True), ("false", False), ("(1, 2)", (1, 2)), ("ring", "ring"), ("a=b", "a=b")],
)
def test_values_are_read_as_what_they_look_like(text, value):
    assert parse(text) == value
    assert type(parse(text)) is type(value)


@pytest.mark.parametrize("data", ["omniglot", "emoji", "icons"])
def test_tuned_values_are_those_of_the_best_trial_of_every_loss(data):
    import csv
    from pathlib import Path

    table = Path(__file__).parents[2] / "data" / "runs" / "trials.csv"
    metric = "R@1 across" if data == "icons" else "R@1"
    with table.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["data"] == data]
    losses = {row["loss"] for row in rows} - {"pixels", "untrained"}
    assert len(losses) == 27  # the comparison's: those that came later have no trials
    floor = max(float(row[metric]) for row in rows if row["loss"] in ("pixels", "untrained"))
    for loss in losses:
        best = max((row for row in rows if row["loss"] == loss), key=lambda row: float(row[metric]))
        config = load_config(data, loss)
        assert config.loss_options[best["option"]] == float(best["value"])
        assert config.optimizer.lr == float(best["lr"])
        assert float(best[metric]) > floor, loss  # nothing is recorded before this holds
