"""Expected metrics when equal similarities are ordered at random, in closed form (after McSherry and Najork, 2008).

In a group of t tied items, p of them relevant, behind `a` items of which h are relevant, a position i of the group has
E[rel_i] = p/t and E[rel_i · hits up to i] = p/t · (h + 1 + (i−a−1)(p−1)/(t−1)).
"""

import torch
from torch import Tensor


def expected_metrics(similarity: Tensor, relevant: Tensor, ks: tuple[int, ...]) -> dict[str, Tensor]:
    """Expectation of each metric of `from_ranks.py` but MAP@k/hits; similarity, relevant (Q, n), −inf = not there.

    Every query needs a relevant item.
    """
    order = similarity.sort(1, descending=True).indices
    s, rel = similarity.gather(1, order), relevant.gather(1, order).double()
    n = s.shape[1]
    position = torch.arange(1, n + 1, dtype=torch.float64, device=s.device)
    present = ~torch.isneginf(s)
    # group structure: `first` is the position before which the group begins, `last` where it ends
    new_group = torch.cat([torch.ones_like(present[:, :1]), s[:, 1:] != s[:, :-1]], 1)
    before = torch.where(new_group, position - 1, torch.zeros_like(s, dtype=torch.float64)).cummax(1).values
    group = new_group.cumsum(1) - 1
    tied = torch.zeros_like(rel).scatter_add_(1, group, torch.ones_like(rel)).gather(1, group)
    p = torch.zeros_like(rel).scatter_add_(1, group, rel).gather(1, group)
    hits_before = before_group(rel, new_group)
    expected_rel = p / tied * present
    within = (position - before - 1) * (p - 1) / (tied - 1).clamp_min(1)
    expected_ap = expected_rel * (hits_before + 1 + within) / position
    no_hit = no_hit_probability(tied, p, hits_before, position - before)
    first_here = torch.cat([torch.ones_like(no_hit[:, :1]), no_hit[:, :-1]], 1) - no_hit
    total = rel.sum(1)
    discount = 1 / torch.log2(position + 1)
    out = {
        "MAP@R": (expected_ap * (position <= total[:, None])).sum(1) / total,
        "R-precision": (expected_rel * (position <= total[:, None])).sum(1) / total,
        "MRR": (first_here / position).sum(1),
    }
    for k in ks:
        hits, summed = expected_rel[:, :k].sum(1), expected_ap[:, :k].sum(1)
        least = total.clamp_max(k)
        best = (discount * (position <= least[:, None])).sum(1)
        out |= {
            f"R@{k}": 1 - no_hit[:, min(k, n) - 1],
            f"recall-fraction@{k}": hits / total,
            f"recall-capped@{k}": hits / least,
            f"P@{k}": hits / k,
            f"MAP@{k}/k": summed / k,
            f"MAP@{k}/relevant": summed / total,
            f"MAP@{k}/min": summed / least,
            f"nDCG@{k}": (expected_rel * discount)[:, :k].sum(1) / best,
        }
    return out


def before_group(rel: Tensor, new_group: Tensor) -> Tensor:
    """Relevant items before the group each position belongs to."""
    so_far = rel.cumsum(1) - rel
    return torch.where(new_group, so_far, torch.zeros_like(so_far)).cummax(1).values


def no_hit_probability(tied: Tensor, p: Tensor, hits_before: Tensor, drawn: Tensor) -> Tensor:
    """Chance that no relevant item stands at or before a position: C(t−p, m)/C(t, m) after m of the group's t items."""
    left = tied - p - drawn
    log_chance = (
        torch.lgamma(tied - p + 1)
        - torch.lgamma(left.clamp_min(0) + 1)
        - torch.lgamma(tied + 1)
        + torch.lgamma(tied - drawn + 1)
    )
    return torch.where((hits_before > 0) | (left < 0), torch.zeros_like(p), torch.exp(log_chance))
