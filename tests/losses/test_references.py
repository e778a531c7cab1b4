"""References, weights, the cross-batch memory and validate=False: against the loss of a batch, and loops."""

import copy
import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from labkit import losses
from labkit.losses import CATALOG, functional

BATCH = torch.arange(12) // 3
COMPARING = [name for name in CATALOG if CATALOG[name].build(num_classes=4, dim=6).takes_others]
WITH_REFERENCES = [name for name in COMPARING if name not in ("lifted-structure", "recall-at-k-simix")]


def rows(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, 6, dtype=torch.float64, generator=generator).requires_grad_()


def built(name, **options):
    return CATALOG[name].build(num_classes=4, dim=6, **options).double()


def test_which_losses_compare_items():
    assert {"pnp-dq", "recall-at-k", "contrastive", "fast-ap", "n-pair", "from-derivative"} <= set(COMPARING)
    assert {"proxy-anchor", "mpa", "sgsl", "center", "norm-softmax"}.isdisjoint(COMPARING)


@pytest.mark.parametrize("name", WITH_REFERENCES)
def test_one_query_against_the_others_is_its_share_in_the_batch(name):
    """A query against the rest of its batch as references has the loss that it has within the batch."""
    x = rows(12)
    within = built(name, reduction="none")(x, BATCH)
    scale = 0.5 if name in ("contrastive", "margin") else 1.0  # there either member has half of a pair
    for q in (0, 7):
        rest = torch.arange(12) != q
        alone = built(name, reduction="sum")(
            x[q : q + 1], BATCH[q : q + 1], ref_embeddings=x[rest], ref_labels=BATCH[rest]
        )
        torch.testing.assert_close(scale * alone, within[q], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", WITH_REFERENCES)
def test_queries_without_a_positive_references_of_unequal_classes_and_the_mean(name):
    x, y = rows(5), torch.tensor([0, 1, 1, 7, 2])
    r, ry = rows(9, 1), torch.tensor([0, 0, 0, 1, 2, 2, 9, 9, 9])
    loss = built(name)
    loss(x, y, ref_embeddings=r, ref_labels=ry).backward()
    assert torch.isfinite(x.grad).all()
    assert torch.isfinite(r.grad).all()
    assert bool(r.grad.any())
    with pytest.raises(ValueError, match="ref_labels: no query has a positive"):
        loss(x, y, ref_embeddings=r, ref_labels=ry + 100)
    nothing = built(name, empty="zero")(x, y, ref_embeddings=r, ref_labels=ry + 100)
    assert nothing.item() == 0
    assert nothing.requires_grad


def test_recall_against_references_is_the_formula():
    x, y, r, ry = rows(2), torch.tensor([0, 1]), rows(5, 1), torch.tensor([0, 0, 1, 2, 1])
    found = functional.recall_at_k(x, y, ks=(1, 2), tau_rank=1.0, tau_sim=0.1, ref_embeddings=r, ref_labels=ry)
    unit = torch.nn.functional.normalize
    s = (unit(x) @ unit(r).T).tolist()

    def sigmoid(v):
        return 1 / (1 + math.exp(-v))

    total = 0.0
    for q in range(2):
        own = [i for i in range(5) if ry[i] == y[q]]
        for i in own:
            before = sum(sigmoid((s[q][j] - s[q][i]) / 0.1) for j in range(5) if j != i)
            total += sum(1 - sigmoid(k - 1 - before) for k in (1, 2)) / 2 / len(own) / 2
    assert abs(found.item() - total) < 1e-12


def test_losses_that_cannot_refuse_by_name():
    x, y = rows(12), BATCH
    given = {"ref_embeddings": x.detach(), "ref_labels": y}
    for name in ("proxy-anchor", "sgsl"):
        with pytest.raises(ValueError, match="ref_embeddings: not taken by .*class vectors"):
            built(name)(x, y, **given)
        with pytest.raises(ValueError, match='weights: not taken by .*reduction="none"'):
            built(name)(x, y, weights=torch.ones(12))
    with pytest.raises(ValueError, match="ref_embeddings: lifted structure"):
        built("lifted-structure")(x, y, **given)
    with pytest.raises(ValueError, match="simix=True"):
        built("recall-at-k-simix")(x, y, **given)
    with pytest.raises(ValueError, match='negatives="all"'):
        losses.NPair(negatives="pairs")(x, y, **given)
    with pytest.raises(ValueError, match="go together"):
        losses.PNP()(x, y, ref_labels=y)
    with pytest.raises(ValueError, match="ref_embeddings must have 6 columns"):
        losses.PNP()(x, y, ref_embeddings=torch.ones(3, 5), ref_labels=torch.zeros(3, dtype=torch.int64))
    with pytest.raises(TypeError, match=r"weigths: not taken by PNP; did you mean weights\?"):
        losses.PNP()(x, y, weigths=None)
    with pytest.raises(TypeError, match=r"tua: no option of PNP; did you mean tau\?"):
        losses.PNP(tua=0.1)


@pytest.mark.parametrize("name", [name for name in COMPARING if name != "recall-at-k-simix"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_weights_multiply_each_share(name, reduction):
    x, weights = rows(12), torch.linspace(0, 2, 12)
    shares = built(name, reduction="none")(x, BATCH)
    found = built(name, reduction=reduction)(x, BATCH, weights=weights)
    wanted = weights.double() * shares
    if reduction == "mean":  # divided by what the mean without weights is divided by
        wanted = wanted.sum() * built(name)(x, BATCH) / shares.sum()
    torch.testing.assert_close(found, wanted.sum() if reduction == "sum" else wanted, rtol=1e-9, atol=1e-12)


def test_weights_of_a_streamed_loss():
    x, weights = rows(12), torch.linspace(0, 2, 12)
    plain, streamed = (losses.PNP(method=method)(x, BATCH, weights=weights) for method in ("plain", "streamed"))
    torch.testing.assert_close(plain, streamed)
    for loss in (plain, streamed):
        torch.testing.assert_close(*(torch.autograd.grad(value, x, retain_graph=True)[0] for value in (plain, loss)))


@pytest.mark.parametrize(
    ("weights", "words"),
    [(torch.ones(3), r"\(12,\), got \(3,\)"), ([1] * 12, "got list"), (-torch.ones(12), "0 or above")],
)
def test_wrong_weights_are_named(weights, words):
    with pytest.raises(ValueError, match=f"weights must be .*{words}"):
        losses.PNP()(rows(12), BATCH, weights=weights)


def test_the_memory_is_the_batch_plus_the_batch_against_earlier_ones():
    loss = losses.Contrastive(margin=1.0)
    memory = losses.CrossBatchMemory(loss, dim=6, size=20, weight=0.5).double()
    first, second, third = rows(12), rows(12, 1), rows(12, 2)
    torch.testing.assert_close(memory(first, BATCH), loss(first, BATCH))
    found = memory(second, BATCH)
    against = loss(second, BATCH, ref_embeddings=first.detach(), ref_labels=BATCH)
    torch.testing.assert_close(found, loss(second, BATCH) + 0.5 * against)
    found.backward()
    assert first.grad is None  # what is remembered gets no gradient
    assert sorted(memory.rows[:, 0].tolist()) == sorted([*first[4:, 0].tolist(), *second[:, 0].tolist()])
    again = losses.CrossBatchMemory(loss, dim=6, size=20, weight=0.5).double()
    again.load_state_dict(memory.state_dict())
    before = copy.deepcopy(memory.state_dict())
    memory.eval()
    torch.testing.assert_close(memory(third, BATCH), again(third, BATCH))
    torch.testing.assert_close(memory.rows, before["rows"])


def test_the_memory_stands_new_classes_and_refuses_what_does_not_compare():
    memory = losses.CrossBatchMemory(losses.PNP(), dim=6, size=4)
    memory(rows(12), BATCH)
    assert torch.isfinite(memory(rows(12, 1), BATCH + 50))
    with pytest.raises(ValueError, match=r"such as losses.Contrastive\(\), got ProxyAnchor"):
        losses.CrossBatchMemory(losses.ProxyAnchor(4, 6), dim=6)


class Reads(TorchDispatchMode):
    """Counts truth values and floating-point numbers that are read back from a tensor: on a GPU each would wait."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        read = function is torch.ops.aten._local_scalar_dense.default
        self.count += read and (args[0].dtype == torch.bool or args[0].is_floating_point())
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", list(CATALOG))
def test_without_validation_nothing_is_read_back(name):
    x, counts, values = rows(12), [], []
    for validate in (True, False):
        torch.manual_seed(0)
        loss = built(name, validate=validate)
        with Reads() as reads:
            values.append(loss(x, BATCH))
        counts.append(reads.count)
    assert counts[0] > 0
    assert counts[1] == 0
    torch.testing.assert_close(*values)


@pytest.mark.parametrize(
    "kind", [losses.SmoothAP, losses.PNP, losses.RecallAtK, losses.RankedList, losses.FastAP, losses.NPair]
)
def test_a_memory_without_the_batchs_classes_adds_nothing_even_unchecked(kind):
    rows = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.tensor([0, 0, 1, 1, 2, 2])
    memory = losses.CrossBatchMemory(kind(validate=False), 4)
    memory(rows, labels)
    found = memory(rows, labels + 10)
    alone = kind()(rows, labels)
    norms = 0.0 if kind is not losses.NPair else found.detach() - alone.detach()  # its norms count in both terms
    assert torch.allclose(found, alone + norms)
    assert torch.autograd.grad(found, rows)[0].isfinite().all()


def test_a_memory_can_be_trained_with_a_loss_that_does_not_normalise():
    rows, labels = torch.randn(6, 4, requires_grad=True), torch.tensor([0, 0, 1, 1, 2, 2])
    memory = losses.CrossBatchMemory(losses.NPair(), 4, size=20)
    for _ in range(3):
        memory(rows, labels).backward()
    assert rows.grad.isfinite().all()


@pytest.mark.parametrize("name", ["contrastive", "pnp", "n_pair", "smooth_ap", "recall_at_k", "triplet"])
def test_a_misspelt_option_of_a_function_is_refused(name):
    rows, labels = torch.randn(6, 4), torch.tensor([0, 0, 1, 1, 2, 2])
    with pytest.raises(TypeError, match="unexpected keyword argument 'weigths'"):
        getattr(losses.functional, name)(rows, labels, weigths=torch.ones(6))
