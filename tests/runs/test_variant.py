"""What was chosen is a value: it names runs, is read back, is compared by what it means, and has a name for people."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.base.paths import RECORDED
from labkit.base.titles import PHRASES, TITLES
from labkit.losses import CATALOG
from labkit.runs.presets import EMBEDDING, WORDS, default_options, preset_names, tuned_settings
from labkit.runs.read import find_runs
from labkit.runs.schema import is_run_id
from labkit.runs.variant import Variant, as_value, full_key, short_key
from labkit.surrogates.word_config import ARMS, load_any
from labkit.training.config import BASELINES, catalogue_options, load_config
from labkit.training.defaults import stated_defaults


@pytest.fixture(scope="module")
def recorded():
    return [(Variant(run.preset, run.loss, run.record.overrides), run) for run in find_runs(RECORDED)]


def test_every_recorded_run_has_the_name_that_its_choice_gives(recorded):
    assert len(recorded) > 600
    for variant, run in recorded:
        assert variant.run_id(run.seed) == run.id
        assert Variant.read(variant.name) == variant
        assert Variant.read(variant.name).name == variant.name


def test_titles_tell_recorded_runs_of_a_preset_apart(recorded):
    titles = {}
    for variant, _ in recorded:
        titles.setdefault((variant.preset, variant.title), set()).add(variant)
    assert all(len(same) == 1 for same in titles.values())
    assert len(titles) == len({variant for variant, _ in recorded})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("toy", "pnp-dq", {"lr": "0.001"}), ("toy", "pnp-dq", {"lr": "1e-3"})),
        (("toy", "pnp-dq", {"lr": "0.001"}), ("toy", "pnp-dq", {"optimizer.lr": 0.001})),
        (("toy", "pnp-dq", {}), ("toy", "pnp-dq", {"data.layout": "ring"})),
        (("toy", "pnp-dq", {}), ("toy", "pnp-dq", {"alpha": "4"})),  # the preset's own for this loss
        (("toy", "pnp-dq", {}), ("toy", "pnp-dq", {"tau": "1e-2", "b": 4})),  # the defaults of the signature
        (("toy", "recall-at-k", {}), ("toy", "recall-at-k", {"ks": "[1, 2, 4, 8, 16]"})),
        (("toy", "recall-at-k", {"classes": "8"}), ("toy", "recall-at-k", {"classes": 8, "steps": "600"})),
        (("toy", "recall-at-k", {"ks": "(1,2)"}), ("toy", "recall-at-k", {"ks": [1, 2]})),
        (("toy", "a.py:L", {}), ("toy", "./a.py:L", {})),
        (("toy", "pnp-dq", {"a": "1", "b": "2"}), ("toy", "pnp-dq", {"b": 2.0, "a": 1.0})),
    ],
)
def test_the_same_choice_is_equal_however_it_is_written(one, other):
    assert Variant(*one) == Variant(*other)
    assert hash(Variant(*one)) == hash(Variant(*other))
    assert Variant(*one).title == Variant(*other).title
    assert Variant(*one).is_named(Variant(*other).name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("toy", "a.py:L", {}), ("toy", "b.py:L", {})),
        (("toy", "a.py:L", {}), ("toy", "x/a.py:L", {})),
        (("toy", "pnp-dq", {}), ("toy", "pnp-dq", {"data.layout": "random"})),
        (("toy", "pnp-ds", {}), ("toy", "pnp-ds", {"alpha": "4"})),  # the preset's own for another loss
        (("toy", "pnp-dq", {}), ("toy", "pnp-dq", {"alpha": "1.0"})),  # the default, where the preset says 4
        (("omniglot", "pnp-dq", {}), ("omniglot", "pnp-dq", {"tau": "0.01"})),  # the default, where tuning has decided
        (("omniglot", "pnp-dq", {}), ("omniglot", "pnp-dq", {"lr": "0.001"})),  # the preset's, where tuning has decided
        (("toy", "mine.py:L", {}), ("toy", "mine.py:L", {"tau": "0.01"})),
        (("cub", "mpa", {}), ("cub", "mpa", {"steps": "2000"})),  # the preset counts epochs
        (
            ("in-shop", "sgsl", {"model.name": "resnet18"}),
            ("in-shop", "sgsl", {"model.name": "resnet18", "model.last": "rbr"}),
        ),  # the preset's own of another network
        (("toy", "x", {"optimizer.name": "sgd"}), ("toy", "x", {"model.name": "sgd"})),
        (("emoji", "x", {"augment.scale": "0.2"}), ("emoji", "x", {"scale": "0.2"})),
        (("toy", "x", {"data.layout": "a/b"}), ("toy", "x", {"data.layout": "ab"})),
        (("toy", "x", {}), ("omniglot", "x", {})),
    ],
)
def test_another_choice_is_another_variant(one, other):
    assert Variant(*one) != Variant(*other)
    assert not Variant(*one).is_named(Variant(*other).name) or Variant(*one).name == Variant(*other).name


def test_a_preset_with_what_it_says_itself_changes_nothing():
    for preset in preset_names(EMBEDDING, WORDS):
        config = load_any(preset)
        spelt = {"data.name": config.data["name"], "clip": config.optimizer.clip, "classes": config.batch.classes}
        assert Variant(preset, config.loss, spelt).changes == {}


def test_the_table_of_defaults_is_what_the_signatures_say():
    written = {loss: {name: as_value(v) for name, v in own.items()} for loss, own in default_options().items()}
    stated = {loss: {name: as_value(v) for name, v in own.items()} for loss, own in stated_defaults().items()}
    assert written == stated, "write the table again: python -m labkit.training.defaults"


@pytest.mark.parametrize("preset", ["toy", "omniglot", "icons", "emoji"])
def test_what_is_no_change_gives_the_same_settings(preset):
    for loss, defaults in default_options().items():
        usual = load_config(preset, loss)
        for option, value in defaults.items():
            spelt = load_config(preset, loss, {option: value})
            known = usual.loss_options.get(option, value)
            assert (Variant(preset, loss, {option: value}).changes == {}) == (
                as_value(known) == as_value(value) and option not in tuned_settings(preset, loss)
            )
            assert replace(spelt, loss_options=usual.loss_options) == usual


def test_names_are_safe_and_of_reasonable_length():
    assert Variant("toy", "x", {"ks": "(1, 2)", "nmi": "False"}).name == "toy_x_ks=1,2_nmi=false"
    assert Variant("toy", "my.py:L", {"lr": 0.1}).name == "toy_my.py+L_lr=0.1"
    odd = Variant("toy", "../x/my.py:L", {"data.layout": "../../etc"}).name
    assert odd.startswith("toy_my.py+L_layout=....etc-")
    assert is_run_id(odd)
    many = {f"option{i}": "1" for i in range(20)}
    first, second = Variant("toy", "mpa", many).name, Variant("toy", "mpa", many | {"zzz": "1"}).name
    assert first != second
    assert max(len(first), len(second)) <= 110


texts = st.text(max_size=8)
values = st.none() | st.booleans() | st.integers() | st.floats() | texts


@given(texts, texts, st.dictionaries(texts, values, max_size=3))
def test_anything_can_be_named_read_compared_and_told(preset, loss, overrides):
    variant = Variant(preset, loss, overrides)
    assert variant == Variant(preset, loss, dict(reversed(overrides.items())))
    assert variant.is_named(variant.name)
    assert len(variant.name) <= 110
    assert isinstance(variant.title, str)
    Variant.read(loss)


@pytest.mark.parametrize(
    ("choice", "title"),
    [
        (("omniglot", "pnp-dq", {"alpha": "4.0"}), "PNP-D_q, α = 4"),
        (("toy", "untrained", {"data.layout": "random"}), "untrained network, random layout"),
        (("omniglot", "recall-at-k", {"ks": "(1,)", "steps": "500"}), "RS@k, k in {1}, 500 steps"),
        (("toy", "folder/mine.py:Sharp", {"power": "1.5"}), "Sharp (mine.py), power = 1.5"),
        (("toy", "x", {"{0.x}": "{1}"}), "x, x} = {1}"),
    ],
)
def test_people_see_readable_names(choice, title):
    assert Variant(*choice).title == title


def test_titles_are_those_of_the_catalogue():
    assert {*TITLES} == {*CATALOG, *BASELINES, *ARMS}
    for card in CATALOG.values():
        assert TITLES[card.name] == card.title


def test_no_option_of_a_loss_is_called_as_a_setting():
    for loss in CATALOG:
        for option in catalogue_options(loss):
            assert full_key(option) == option
            assert [key for key in PHRASES if short_key(key) == option] in ([option], [])
