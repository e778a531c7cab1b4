"""A run that takes a second and has everything in it: batch statistics, augmentation, random mixing, proxies."""

import pytest

from labkit.training.config import load_config

SMALL = {
    "data.subset": "embedded",
    "data.per_class": "30",
    "model.name": "small-cnn",
    "model.dim": "8",
    "augment.degrees": "10.0",
    "sampler": "balanced",
    "classes": "8",
    "per_class": "4",
    "steps": "24",
    "evaluate_every": "8",
    "checkpoint_every": "6",
    "log_every": "3",
    "points": "60",
    "frames": "5",
    "nmi": "false",
}


@pytest.fixture
def small():
    """A configuration of the small run, with other settings over it."""

    def configure(loss="recall-at-k-simix", **settings):
        return load_config("fashion-mnist", loss, SMALL | {k.replace("__", "."): v for k, v in settings.items()})

    return configure


@pytest.fixture
def small_arguments():
    """The same as a command line."""

    def spell(**settings):
        return ["--set", *(f"{name}={value}" for name, value in (SMALL | settings).items())]

    return spell
