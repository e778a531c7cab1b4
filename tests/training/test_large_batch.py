"""Two passes give the gradient of one: with dropout, several processes, mixed precision; BatchNorm is refused."""

import copy
import os

import pytest
import torch
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from labkit import losses
from labkit.training import large_batch_step

LOSSES = {
    "pnp": lambda: losses.PNP(tau=0.1),
    "recall-at-k": lambda: losses.RecallAtK(tau_sim=0.1),
    "recall-at-k-simix": lambda: losses.RecallAtK(tau_sim=0.1, simix=True),
    "proxy-anchor": lambda: losses.ProxyAnchor(6, 5).double(),
    "triplet": lambda: losses.Triplet(),
}


def network(dropout=0.5) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 5)).double()


def data(items=24) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(items, 7, generator=generator, dtype=torch.float64), torch.arange(items) % 6


def gradients(model, loss) -> list[torch.Tensor]:
    parameters = [*model.parameters(), *loss.parameters()]
    return [p.grad for p in parameters if p.grad is not None]


def one_pass(model, loss, inputs, labels, micro_batch):
    """The same pieces, all kept in one graph."""
    value = loss(torch.cat([model(piece) for piece in inputs.split(micro_batch)]), labels)
    value.backward()
    return value


@pytest.mark.parametrize("micro_batch", [1, 5, 8, 24, 100])
@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_is_that_of_the_whole_batch_even_with_dropout(name, micro_batch):
    inputs, labels = data()
    first, second = network(), network()
    torch.manual_seed(3)
    loss = LOSSES[name]()
    other = copy.deepcopy(loss)
    torch.manual_seed(5)
    expected = one_pass(first, loss, inputs, labels, micro_batch)
    torch.manual_seed(5)
    value = large_batch_step(second, (inputs, labels), other, micro_batch)
    torch.testing.assert_close(value, expected.detach(), rtol=0, atol=1e-12)
    for a, b in zip(gradients(first, loss), gradients(second, other), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10)
    assert not value.requires_grad


def test_without_the_random_state_dropout_makes_it_wrong(monkeypatch):
    inputs, labels = data()
    good, bad, loss = network(), network(), LOSSES["pnp"]()
    torch.manual_seed(5)
    large_batch_step(good, (inputs, labels), loss, 8)
    monkeypatch.setattr("labkit.training.large_batch.set_random_states", lambda *_: None)
    torch.manual_seed(5)
    large_batch_step(bad, (inputs, labels), loss, 8)
    a, b = (torch.cat([g.flatten() for g in gradients(m, loss)]) for m in (good, bad))
    assert (a - b).norm() > 0.5 * a.norm()


def test_random_numbers_go_on_as_after_a_single_pass():
    inputs, labels = data()
    loss = LOSSES["recall-at-k-simix"]()
    first, second = network(), network()
    torch.manual_seed(5)
    one_pass(first, loss, inputs, labels, 8)
    expected = torch.rand(3)
    torch.manual_seed(5)
    large_batch_step(second, (inputs, labels), loss, 8)
    assert torch.equal(torch.rand(3), expected)


def test_gradients_add_up_like_backward():
    inputs, labels = data()
    model, loss = network(dropout=0.0), LOSSES["pnp"]()
    large_batch_step(model, (inputs, labels), loss, 8)
    once = [g.clone() for g in gradients(model, loss)]
    large_batch_step(model, (inputs, labels), loss, 8)
    for a, b in zip(once, gradients(model, loss)):
        torch.testing.assert_close(2 * a, b)


def with_batch_norm() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(7, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 5)).double()


def test_batch_norm_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r'BatchNorm in training mode \(1\).*batch_norm="freeze"'):
        large_batch_step(with_batch_norm(), data(), LOSSES["pnp"](), 8)


def test_frozen_batch_norm_is_exact_and_thawed_again():
    inputs, labels = data()
    model, loss = with_batch_norm(), LOSSES["pnp"]()
    before = copy.deepcopy(model.state_dict())
    large_batch_step(model, (inputs, labels), loss, 8, batch_norm="freeze")
    assert model[1].training
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
    reference = with_batch_norm()
    reference[1].eval()
    one_pass(reference, loss, inputs, labels, 24)
    for a, b in zip(gradients(model, loss), gradients(reference, loss)):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def test_batch_norm_of_each_micro_batch_is_exact_and_moves_its_statistics_once():
    inputs, labels = data()
    model, reference = with_batch_norm(), with_batch_norm()
    loss = LOSSES["pnp"]()
    value = large_batch_step(model, (inputs, labels), loss, 8, batch_norm="micro")
    expected = one_pass(reference, loss, inputs, labels, 8)
    torch.testing.assert_close(value, expected.detach(), rtol=0, atol=1e-12)
    for a, b in zip(gradients(model, loss), gradients(reference, loss), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10)
    for (name, a), b in zip(model.state_dict().items(), reference.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, msg=name)
    assert model[1].momentum == 0.1
    assert int(model[1].num_batches_tracked) == 3


def test_batch_norm_without_statistics_cannot_be_frozen():
    model = nn.Sequential(nn.Linear(7, 5), nn.BatchNorm1d(5, track_running_stats=False)).double()
    with pytest.raises(ValueError, match="cannot be frozen"):
        large_batch_step(model, data(), LOSSES["pnp"](), 8, batch_norm="freeze")


def test_a_refused_batch_norm_leaves_the_others_as_they_were():
    model = nn.Sequential(nn.Linear(7, 5), nn.BatchNorm1d(5), nn.BatchNorm1d(5, track_running_stats=False)).double()
    with pytest.raises(ValueError, match="cannot be frozen"):
        large_batch_step(model, data(), LOSSES["pnp"](), 8, batch_norm="freeze")
    assert model[1].training


def test_batch_norm_in_evaluation_mode_is_welcome():
    large_batch_step(with_batch_norm().eval(), data(), LOSSES["pnp"](), 8)


def test_a_zero_gradient_is_announced():
    inputs, labels = data()
    model = network(dropout=0.0).float()
    with pytest.warns(UserWarning, match="exactly zero gradient"):
        large_batch_step(model, (inputs.float(), labels), losses.RecallAtK(ks=(1,), tau_rank=1e-3, tau_sim=1e-7), 8)


def test_mixed_precision_with_a_scaler():
    inputs, labels = data()
    model, reference = network(dropout=0.0).float(), network(dropout=0.0).float()
    loss = LOSSES["pnp"]()
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        large_batch_step(model, (inputs.float(), labels), loss, 8, scaler=scaler)
        embeddings = torch.cat([reference(piece) for piece in inputs.float().split(8)])
        scaler.scale(loss(embeddings, labels)).backward()
    for a, b in zip(gradients(model, loss), gradients(reference, loss)):
        torch.testing.assert_close(a, b, rtol=0.02, atol=0.02 * float(b.abs().max()))


@pytest.mark.parametrize("micro_batch", [0, -1, 2.5, True, None])
def test_bad_micro_batch_is_named(micro_batch):
    with pytest.raises(ValueError, match="micro_batch"):
        large_batch_step(network(), data(), LOSSES["pnp"](), micro_batch)


def test_bad_batch_and_choice_are_named():
    inputs, labels = data()
    with pytest.raises(ValueError, match="batch"):
        large_batch_step(network(), (inputs, labels[:-1]), LOSSES["pnp"](), 8)
    with pytest.raises(ValueError, match="batch"):
        large_batch_step(network(), (inputs[:0], labels[:0]), LOSSES["pnp"](), 8)
    with pytest.raises(ValueError, match="batch_norm"):
        large_batch_step(network(), (inputs, labels), LOSSES["pnp"](), 8, batch_norm="hope")


def train_in_a_group(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/group", rank=rank, world_size=2)
    inputs, labels = data()
    own = slice(0, 14) if rank == 0 else slice(14, 24)  # unequal shares
    model = DistributedDataParallel(network(dropout=0.0))
    loss = losses.ProxyAnchor(6, 5).double()
    loss.proxies.data = torch.linspace(-1, 1, 30, dtype=torch.float64).view(6, 5).cos()
    value = large_batch_step(model, (inputs[own], labels[own]), loss, 4)
    torch.save([value, *(g for g in gradients(model, loss))], os.path.join(folder, f"{rank}.pt"))
    torch.distributed.destroy_process_group()


def mix_in_a_group(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/group", rank=rank, world_size=2)
    torch.manual_seed(100 + rank)  # different numbers in each process, as in real training
    inputs, labels = data()
    model = DistributedDataParallel(network(dropout=0.0))
    torch.manual_seed(100 + rank)
    value = large_batch_step(model, (inputs[rank::2], labels[rank::2]), LOSSES["recall-at-k-simix"](), 4)
    torch.save([value, *gradients(model, nn.Identity())], os.path.join(folder, f"{rank}.pt"))
    torch.distributed.destroy_process_group()


def test_two_processes_mix_the_same_virtual_samples(tmp_path):
    mp.spawn(mix_in_a_group, args=(str(tmp_path),), nprocs=2)
    first, second = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert torch.equal(first[0], second[0])


def test_two_processes_give_the_gradient_of_the_global_batch(tmp_path):
    mp.spawn(train_in_a_group, args=(str(tmp_path),), nprocs=2)
    inputs, labels = data()
    model, loss = network(dropout=0.0), losses.ProxyAnchor(6, 5).double()
    loss.proxies.data = torch.linspace(-1, 1, 30, dtype=torch.float64).view(6, 5).cos()
    expected = [one_pass(model, loss, inputs, labels, 24).detach(), *gradients(model, loss)]
    for rank in range(2):
        for a, b in zip(expected, torch.load(tmp_path / f"{rank}.pt", weights_only=True), strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def test_a_bare_model_in_a_group_is_refused(monkeypatch):
    monkeypatch.setattr("labkit.training.large_batch.is_distributed", lambda: True)
    with pytest.raises(ValueError, match="DistributedDataParallel"):
        large_batch_step(network(), data(), LOSSES["pnp"](), 8)


def test_meta_device():
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(7, 16), nn.Dropout(0.5), nn.Linear(16, 5))
        inputs, labels = torch.randn(24, 7), torch.zeros(24, dtype=torch.int64)
    large_batch_step(model, (inputs, labels), losses.PNP(), 8)
    assert all(p.grad.device.type == "meta" for p in model.parameters())
