"""Every ranking metric of a query from the ranks of its positives, r_1 < r_2 < … (1 is the top)."""

import torch
from torch import Tensor


def metrics_from_ranks(ranks: Tensor, ks: tuple[int, ...]) -> dict[str, Tensor]:
    """Per-query metrics (Q,), float64, from ascending ranks (Q, P): the definitions of `lists.py` without the lists.

    The i-th positive in order has precision i/r_i at its place; a metric at k looks only at those with r_i ≤ k.
    """
    r = ranks.double()
    total = ranks.shape[1]
    nth = torch.arange(1, total + 1, dtype=torch.float64, device=ranks.device)
    precision, discount = nth / r, 1 / torch.log2(r + 1)
    best = (1 / torch.log2(nth + 1)).cumsum(0)
    within_r = ranks <= total
    out = {
        "MAP@R": (precision * within_r).sum(1) / total,
        "R-precision": within_r.sum(1, dtype=torch.float64) / total,
        "MRR": 1 / r[:, 0],
    }
    for k in ks:
        top = ranks <= k
        hits = top.sum(1, dtype=torch.float64)
        summed = (precision * top).sum(1)
        least = min(k, total)
        out |= {
            f"R@{k}": (hits > 0).double(),
            f"recall-fraction@{k}": hits / total,
            f"recall-capped@{k}": hits / least,
            f"P@{k}": hits / k,
            f"MAP@{k}/k": summed / k,
            f"MAP@{k}/relevant": summed / total,
            f"MAP@{k}/min": summed / least,
            f"MAP@{k}/hits": summed / hits.clamp_min(1),
            f"nDCG@{k}": (discount * top).sum(1) / best[least - 1],
        }
    return out
