"""Metrics of ranked lists, read off the relevance of each position: the definitions, one list or many at a time.

relevance: (..., n), what stands at rank 1, 2, …; nested lists, numpy arrays or tensors; non-zero counts as relevant.
num_relevant: (...), how many relevant items the gallery holds, found or not. Results are float64 tensors (...).
"""

from typing import Any

import torch
from torch import Tensor

from labkit.base.checks import check_choice, check_ks

RECALL_MODES = ("any", "fraction", "capped")
AP_DENOMINATORS = ("k", "relevant", "min", "hits")
GAINS = ("exponential", "linear")


def exact_device(x: Tensor) -> Tensor:
    """Metrics are computed in float64, which Apple GPUs do not have: from there, go to the CPU."""
    return x.cpu() if x.device.type == "mps" else x


def read_lists(relevance: Any, num_relevant: Any = None, name: str = "relevance") -> tuple[Tensor, Tensor]:
    """Relevance as float64 (..., n) and the number of relevant items (...), inf if not given, checked together."""
    rel = torch.as_tensor(relevance, dtype=torch.float64)
    if rel.dim() == 0 or rel.shape[-1] == 0:
        raise ValueError(f"{name} must hold at least one position, got shape {tuple(rel.shape)}")
    if not torch.isfinite(rel).all() or bool((rel < 0).any()):
        raise ValueError(f"{name} must be finite and not negative")
    if num_relevant is None:
        return rel, rel.new_full(rel.shape[:-1], torch.inf)
    total = torch.as_tensor(num_relevant, dtype=torch.float64, device=rel.device)
    if total.dim() > 0 and total.shape != rel.shape[:-1]:
        raise ValueError(
            f"num_relevant must be a number or one per list {tuple(rel.shape[:-1])}, got {tuple(total.shape)}"
        )
    total = total.expand(rel.shape[:-1])
    if not torch.isfinite(total).all() or bool((total < 1).any()) or bool((total != total.round()).any()):
        raise ValueError("num_relevant must be whole numbers, 1 or above: a query without positives has no score")
    if bool(((rel > 0).sum(-1) > total).any()):
        raise ValueError("num_relevant is smaller than the number of relevant items in the list")
    return rel, total


def hits_at_k(relevance: Tensor, k: int) -> Tensor:
    """Relevant items among the first k."""
    (k,) = check_ks("k", (k,))
    return (relevance[..., :k] > 0).sum(-1, dtype=torch.float64)


def recall_at_k(relevance: Any, k: int, num_relevant: Any, mode: str = "any") -> Tensor:
    """Recall@k: "any" hit in the top k (0 or 1), "fraction" hits/R, or "capped" hits/min(k, R).

    The three are what different papers and libraries call recall@k (E-SL-4); any ≥ capped ≥ fraction.
    """
    check_choice("mode", mode, RECALL_MODES)
    rel, total = read_lists(relevance, num_relevant)
    hits = hits_at_k(rel, k)
    if mode == "any":
        return (hits > 0).double()
    return hits / (total if mode == "fraction" else total.clamp_max(k))


def precision_at_k(relevance: Any, k: int) -> Tensor:
    """Precision@k = hits in the top k / k (a list shorter than k counts as filled up with irrelevant items)."""
    rel, _ = read_lists(relevance)
    return hits_at_k(rel, k) / k


def average_precision_at_k(relevance: Any, k: int, num_relevant: Any, denominator: str = "k") -> Tensor:
    """AP@k = Σ_{i≤k} rel_i · precision@i / denominator: "k", "relevant" (R), "min" of both, or "hits" (in the top k).

    The MPA paper divides by k, pytorch-metric-learning by R, torchmetrics and OML by the hits (E-MPA-11, E-MPA-12).
    A list without a hit scores 0.
    """
    check_choice("denominator", denominator, AP_DENOMINATORS)
    rel, total = read_lists(relevance, num_relevant)
    (k,) = check_ks("k", (k,))
    hits = hits_at_k(rel, k)
    found = (rel[..., :k] > 0).double()
    position = torch.arange(1, found.shape[-1] + 1, dtype=torch.float64, device=rel.device)
    summed = (found * found.cumsum(-1) / position).sum(-1)
    divisor = {"k": torch.full_like(total, k), "relevant": total, "min": total.clamp_max(k), "hits": hits.clamp_min(1)}
    return summed / divisor[denominator]


def map_at_r(relevance: Any, num_relevant: Any) -> Tensor:
    """MAP@R of each list: 1/R Σ_{i≤R} rel_i · precision@i (Musgrave et al. 2020)."""
    rel, total = read_lists(relevance, num_relevant)
    position = torch.arange(1, rel.shape[-1] + 1, dtype=torch.float64, device=rel.device)
    found = (rel > 0).double() * (position <= total[..., None])
    return (found * found.cumsum(-1) / position).sum(-1) / total


def r_precision(relevance: Any, num_relevant: Any) -> Tensor:
    """R-precision: hits in the top R / R."""
    rel, total = read_lists(relevance, num_relevant)
    position = torch.arange(1, rel.shape[-1] + 1, dtype=torch.float64, device=rel.device)
    return ((rel > 0) & (position <= total[..., None])).sum(-1) / total


def reciprocal_rank(relevance: Any) -> Tensor:
    """1 / rank of the first relevant item, 0 if the list has none; its mean is MRR."""
    rel, _ = read_lists(relevance)
    position = torch.arange(1, rel.shape[-1] + 1, dtype=torch.float64, device=rel.device)
    return torch.where(rel > 0, 1 / position, torch.zeros_like(rel)).amax(-1)


def dcg_at_k(relevance: Tensor, k: int, gain: str = "exponential") -> Tensor:
    """DCG@k = Σ_{i≤k} (2^rel_i − 1) / log₂(i + 1), MPA Eq. 19; "linear" gain has rel_i itself."""
    check_choice("gain", gain, GAINS)
    (k,) = check_ks("k", (k,))
    top = relevance[..., :k].double()
    position = torch.arange(1, top.shape[-1] + 1, dtype=torch.float64, device=top.device)
    return ((torch.exp2(top) - 1 if gain == "exponential" else top) / torch.log2(position + 1)).sum(-1)


def ndcg_at_k(
    relevance: Any, k: int, num_relevant: Any = None, *, ideal: Any = None, gain: str = "exponential"
) -> Tensor:
    """nDCG@k = DCG@k / best DCG@k, MPA Eqs 19, 20.

    Binary: give num_relevant, the best list starts with that many ones. Graded: give ideal (..., m), the relevances of
    the whole gallery in any order; without either, the list itself is the gallery.
    """
    if num_relevant is not None and ideal is not None:
        raise ValueError("ideal: give either num_relevant (binary) or ideal (graded), not both")
    rel, total = read_lists(relevance, num_relevant)
    (k,) = check_ks("k", (k,))
    if num_relevant is not None:
        if bool(((rel != 0) & (rel != 1)).any()):
            raise ValueError("relevance must be 0 or 1 with num_relevant; for graded relevance give ideal")
        position = torch.arange(1, k + 1, dtype=torch.float64, device=rel.device)
        best = ((position <= total[..., None]) / torch.log2(position + 1)).sum(-1)
    else:
        pool = rel if ideal is None else read_lists(ideal, name="ideal")[0]
        if pool.shape[:-1] != rel.shape[:-1]:
            raise ValueError(f"ideal must have one list per list of relevance {tuple(rel.shape[:-1])}")
        best = dcg_at_k(pool.sort(-1, descending=True).values, k, gain)
        if bool((best <= 0).any()):
            raise ValueError("ideal: a list without any relevant item has no nDCG")
    found = dcg_at_k(rel, k, gain)
    if bool((found > best * (1 + 1e-12)).any()):
        raise ValueError("ideal must hold the relevances of the whole gallery: the list scores more than this ideal")
    return found / best
