"""The edit distance with its minimum made soft: a differentiable dynamic programme on distributions.

The control that the papers lack: where a smooth programme for the metric can be written, nothing need be learned.
"""

import torch
from torch import Tensor

from labkit.base.checks import check_positive
from labkit.base.tensors import autocast_off, has_values, working_precision
from labkit.surrogates.words import check_slots

SUM_TOLERANCE = 1e-2  # wide enough for half precision and for finite differences


def soft_edit_distance(p: Tensor, q: Tensor, temperature: float, *, end: int | None = None) -> Tensor:
    """Align every pair of distributions over words by all ways at once, the cheaper the more it counts.

    D[i, 0] = i,  D[0, j] = j,  smin(x) = -T log sum exp(-x / T),
    D[i, j] = smin(D[i-1, j] + 1, D[i, j-1] + 1, D[i-1, j-1] + 1 - <p_i, q_j>)

    1 - <p_i, q_j> is the chance that symbols drawn from slot i of p and slot j of q differ. On certain words it is
    -T log sum over alignments of exp(-edits / T), so ED - T log N <= D <= ED with N alignments (a Delannoy number), and
    D goes to `metrics.edit_distance` as T goes to 0. For equal words it is below 0, as soft-DTW is (Cuturi and Blondel
    2017), of which this is the variant for edits. Not in the slides: ours, as a control.

    p: (B, L, A), q: (B, M, A), each slot a distribution over A symbols; the result is (B,), float32 for half inputs.
    end: the symbol that ends a word. Then the result is the mean over both lengths, sum_mn P(m) P(n) D[m, n], where
    P(m) = p_m(end) prod_{i<m} (1 - p_i(end)) and a slot within the word is p_i without its end, scaled to sum 1. With
    end=None words fill all slots.
    """
    check_positive("temperature", temperature)
    _check_distributions("p", p)
    _check_distributions("q", q)
    if p.shape[0] != q.shape[0] or p.shape[2] != q.shape[2]:
        raise ValueError(f"p and q must agree in B and in symbols: shapes {tuple(p.shape)} and {tuple(q.shape)}")
    if end is not None and not 0 <= end < p.shape[2]:
        raise ValueError(f"end must be one of the symbols 0..{p.shape[2] - 1}, got {end!r}")
    with autocast_off(p):
        p, q = working_precision(p), working_precision(q)
        if end is None:
            return _table(1 - p @ q.transpose(1, 2), temperature)[:, -1, -1]
        (p_inside, p_lengths), (q_inside, q_lengths) = _lengths(p, end), _lengths(q, end)
        table = _table(1 - p_inside @ q_inside.transpose(1, 2), temperature)
        return torch.einsum("bm,bmn,bn->b", p_lengths, table, q_lengths)


def _check_distributions(name: str, value: Tensor) -> None:
    check_slots(name, value)
    if not has_values(value):
        return
    if not bool(value.isfinite().all()):
        raise ValueError(f"{name} contains NaN or infinite values")
    sums = value.detach().sum(-1)
    if bool((value.detach() < -SUM_TOLERANCE).any()) or bool(((sums - 1).abs() > SUM_TOLERANCE).any()):
        raise ValueError(f"{name} must hold a distribution in every slot: no negative entries, sums of 1")


def _lengths(p: Tensor, end: int) -> tuple[Tensor, Tensor]:
    """Slots given that the word goes on (B, L, A), and the distribution of its length (B, L + 1)."""
    stops = p[..., end]
    letters = torch.cat((p[..., :end], p[..., end + 1 :]), dim=-1)
    goes_on = letters.sum(-1)  # not 1 - stops, which rounds to 0 while there still are letters
    possible = (goes_on > 0)[..., None]
    inside = letters / torch.where(possible, goes_on[..., None], torch.ones_like(goes_on[..., None]))
    reached = torch.cat((torch.ones_like(goes_on[:, :1]), goes_on.cumprod(-1)), dim=-1)
    return inside, torch.cat((reached[:, :-1] * stops, reached[:, -1:]), dim=-1)


def _table(costs: Tensor, temperature: float) -> Tensor:
    """D for all beginnings of both words, (B, L + 1, M + 1), from the costs of substitutions (B, L, M)."""
    columns = torch.arange(costs.shape[2] + 1, device=costs.device, dtype=costs.dtype)
    row = columns.expand(costs.shape[0], -1)
    rows = [row]
    for cost in costs.unbind(1):
        change, delete = row[:, :-1] + cost, row[:, 1:] + 1
        best = -temperature * torch.logaddexp(-change / temperature, -delete / temperature)
        best = torch.cat((row[:, :1] + 1, best), dim=1)
        # D[i, j] is the soft minimum over k <= j of best[k] + (j - k): the insertions, which chain along the row
        row = columns - temperature * torch.logcumsumexp((columns - best) / temperature, dim=1)
        rows.append(row)
    return torch.stack(rows, dim=1)
