"""Two processes under plain DistributedDataParallel: the gradient is that of one process with the whole batch."""

import copy
import os
import warnings

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from labkit import losses

BATCH, DIM = 12, 6
SHARES = (slice(0, 5), slice(5, BATCH))  # unequal on purpose


def whole_batch():
    draw = torch.Generator().manual_seed(0)
    return torch.randn(BATCH, 7, generator=draw, dtype=torch.float64), torch.arange(BATCH) % 4


def network(name):
    """A model and a loss, the same in every process."""
    torch.manual_seed(1)
    smooth = {o: 0.2 for o in ("tau", "tau_sim") if o in losses.CATALOG[name].options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a gate that cannot open
        loss = losses.CATALOG[name].build(4, DIM, **smooth)
    return nn.Linear(7, DIM).double(), loss.double()


def gradients(*parts):
    return [p.grad for part in parts for p in part.parameters() if p.grad is not None]


def work(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    found = {}
    for name in losses.CATALOG:
        model, loss = network(name)
        wrapped = DistributedDataParallel(model)
        x, labels = (part[SHARES[rank]] for part in whole_batch())
        torch.manual_seed(7 + rank)  # SiMix must not depend on each process's own numbers
        value = losses.distributed(loss)(wrapped(x), labels)
        value.backward()
        found[name] = [value.detach(), *gradients(model, loss)]
    torch.save(found, os.path.join(folder, f"{rank}.pt"))
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    mp.spawn(work, args=(str(folder),), nprocs=2)
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(2)]


@pytest.mark.parametrize("name", losses.CATALOG)
def test_the_gradient_is_that_of_the_global_batch(name, two_processes):
    for mine, other in zip(*(found[name] for found in two_processes)):
        torch.testing.assert_close(mine, other, rtol=1e-12, atol=1e-14)
    if "simix" in name:
        return  # mixes at random
    model, loss = network(name)
    x, labels = whole_batch()
    value = loss(model(x), labels)
    value.backward()
    for found, expected in zip(two_processes[0][name], [value.detach(), *gradients(model, loss)], strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)


def test_what_is_no_loss_is_refused():
    with pytest.raises(ValueError, match=r"^loss must be a loss .* SmoothAP, a class: did you forget \(\)"):
        losses.distributed(losses.SmoothAP)
    with pytest.raises(ValueError, match="^loss must be a loss .* 'pnp'"):
        losses.distributed("pnp")


def test_in_one_process_it_is_the_loss_itself():
    x, labels = whole_batch()
    loss = losses.distributed(losses.SmoothAP())
    assert torch.equal(loss(x, labels), losses.SmoothAP()(x, labels))
    assert loss(x, labels, return_parts=True)[1].skipped == 0
    assert copy.deepcopy(loss).state_dict().keys() == loss.state_dict().keys()
