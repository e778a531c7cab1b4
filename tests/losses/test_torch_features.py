"""Torch's own tools on the losses: they work and agree with plain autograd, or refuse in a sentence with a way out."""

import re

import pytest
import torch

from benchmarks.torch_features import FEATURES, RESULTS, batch, tried, value_of
from labkit.losses import CATALOG, functional

DENSE = '; use method="dense"'
RANKING = [name for name, card in CATALOG.items() if "method" in card.options]
ONE_OF_A_KIND = ("pnp-dq", "recall-at-k", "contrastive", "triplet", "ranked-list", "mpa", "sgsl", "fast-ap")
REFUSED = {
    **{(name, "double backward"): DENSE for name in RANKING},
    **{
        (name, feature): "backward()"
        for name in ("blackbox-ap", "blackbox-recall")
        for feature in ("torch.func.grad", "double backward")
    },
    ("recall-at-k-simix", "vmap"): "this loss outside",
    ("recall-at-k-simix", "torch.compile(fullgraph=True)"): "this loss outside",
    ("sgsl", "vmap"): 'convention="official"',
}
COMPILED = "torch.compile(fullgraph=True)"


@pytest.mark.parametrize("feature", [feature for feature in FEATURES if feature != COMPILED])
@pytest.mark.parametrize("name", list(CATALOG))
def test_a_feature_works_or_is_refused(name, feature):
    said = tried(name, feature)
    assert REFUSED.get((name, feature), "") in said
    assert bool(said) == ((name, feature) in REFUSED), said


@pytest.mark.parametrize("name", ONE_OF_A_KIND)  # of every frame one: tracing takes a second each
def test_one_graph(name):
    assert tried(name, COMPILED) == ""


def test_the_table_in_the_repository_is_what_is_tested():
    rows = re.findall(r"^\| ([\w-]+) \| (.*) \|$", RESULTS.read_text(encoding="utf-8"), re.MULTILINE)
    found = {
        name: [cell.startswith("refused") for cell in cells.split(" | ")] for name, cells in rows if name != "loss"
    }
    assert found == {name: [(name, feature) in REFUSED for feature in FEATURES] for name in CATALOG}


@pytest.mark.parametrize("name", [name for name in RANKING if name != "recall-at-k-simix"])
def test_the_dense_way_has_a_second_derivative(name):
    loss = CATALOG[name].build(method="dense")
    rows = batch().requires_grad_()
    (gradient,) = torch.autograd.grad(value_of(loss, rows), rows, create_graph=True)
    (second,) = torch.autograd.grad(gradient.square().sum(), rows)
    assert torch.isfinite(second).all()


def test_the_ranked_lists_weights_are_constants_for_the_gradient_only():
    """The gradient is that of Σ w (α − D) with fixed w; its own derivative follows w."""
    x, y = batch().requires_grad_(), torch.arange(12) // 3
    assert tried("ranked-list", "double backward") == ""
    (found,) = torch.autograd.grad(functional.ranked_list(x, y, temperature=5.0), x)
    D = torch.cdist(*[torch.nn.functional.normalize(x)] * 2)
    inside, other = 1.2 - D, y[:, None] != y
    weight = torch.where(other & (inside > 0), 5.0 * inside.detach(), -torch.inf).softmax(-1)
    own = ~other & ~torch.eye(12, dtype=torch.bool)
    far = (D - 0.8) * (own & (D > 0.8))
    pull = far.sum(-1) / (own & (D > 0.8)).sum(-1).clamp_min(1)
    (wanted,) = torch.autograd.grad((pull + (weight * inside).sum(-1)).mean(), x)
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-9)
