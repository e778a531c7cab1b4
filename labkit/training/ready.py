"""Before a run is started: would it start? Settings, options of the loss and data are tried, in well under a second."""

from __future__ import annotations

from importlib import import_module

import torch

from labkit.base.checks import check_choice
from labkit.data import BENCHMARKS, NAMES
from labkit.data.files import find, locate
from labkit.losses.own import is_own
from labkit.training.config import BASELINES, Config
from labkit.training.state import build_loss


def check_loss(config: Config) -> None:
    """Compute a loss of the catalogue for four points: a ValueError says which option it refuses."""
    if config.loss in BASELINES or is_own(config.loss):  # a file runs only where it trains
        return
    with torch.random.fork_rng(devices=[]):  # proxies are drawn at random
        try:
            dim = config.model["dim"]
            points = torch.linspace(-1, 1, 4 * dim).sin().reshape(4, dim).requires_grad_()
            build_loss(config, 2)(points, torch.tensor([0, 0, 1, 1]))
        except (TypeError, RuntimeError, ArithmeticError) as error:
            options = ", ".join(f"{name}={value!r}" for name, value in config.loss_options.items())
            raise ValueError(f"{config.loss} does not work with {options}: {error}") from error


def check_data(config: Config) -> None:
    """A DataError says what to do if files of the data set are not there; their content is not read."""
    name = config.data.get("name", "")
    check_choice("data.name", name, NAMES)
    if name in BENCHMARKS:
        import_module("labkit.data.benchmarks").find(name, config.data.get("root"))
        return
    module = import_module(f"labkit.data.{name.replace('-', '_')}")
    files = module.files()
    if name == "icons":  # each form is a file of its own
        files = [module.FILES.get(config.data.get("form", "whole"), module.FILES["whole"])]
    elif any(file.shipped for file in files) and config.data.get("subset") != "full":
        files = [file for file in files if file.shipped]  # Fashion-MNIST does with the part that comes with labkit
    for file in files:
        if find(file) is None:
            locate(file)


def repair(config: Config) -> str:
    """The command that gets the data, or says where to obtain them."""
    return f"python -m labkit data get {config.data['name']}"
