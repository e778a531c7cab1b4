"""load() by name: what it knows, what it refuses, what it does not import."""

import subprocess
import sys

import pytest

from labkit.base.paths import ROOT
from labkit.data import NAMES, Splits, load


def test_the_names_are_the_small_sets_then_the_papers_benchmarks():
    assert NAMES[:5] == ("toy", "fashion-mnist", "omniglot", "emoji", "icons")
    assert NAMES[5:] == ("cub", "cars196", "sop", "in-shop", "vehicle-id", "inaturalist")


def test_load_gives_splits_and_passes_options_on():
    splits = load("toy", layout="grid", samples=7)
    assert isinstance(splits, Splits)
    assert len(splits.train) == 4 * 7


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="name must be one of 'toy', .*'inaturalist'; got 'mnist'"):
        load("mnist")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("toy", "layout, seed, samples, noise"),
        ("fashion-mnist", "subset, per_class, merged"),
        ("omniglot", "merge, validation_alphabets"),
        ("emoji", "split, seed"),
        ("icons", "form, train_kinds"),
        ("cub", "root, validation, seed, check"),
    ],
)
def test_an_unknown_option_is_refused_with_the_known_ones(name, options):
    with pytest.raises(ValueError, match=f"{name} has no option 'colour'; its options are {options}"):
        load(name, colour=1)


def test_importing_the_registry_imports_no_loader_no_pillow_and_no_torch():
    heavy = ("labkit.data.", "PIL", "pandas", "torch")
    code = f"import labkit.data, sys; print(*[n for n in sys.modules if n.startswith({heavy})])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert done.stdout.split() == []
