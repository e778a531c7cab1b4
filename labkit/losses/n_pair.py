"""N-pair loss: a positive against one negative of every other class at once (Sohn 2016)."""

from typing import Unpack

import torch
from torch import Tensor

from labkit.base.tensors import autocast_off, working_precision
from labkit.losses._common import reduce
from labkit.losses.options import Negatives, NotNegative, Others, Reduction, checked, needs_positives
from labkit.losses.pair_loss import PairParts, Relations, pair_loss
from labkit.losses.proxies import softplus
from labkit.losses.ranking import mean_over_positives


def first_two(relations: Relations) -> tuple[Tensor, Tensor]:
    """Anchors and their positives (B, B) as the paper pairs them: of every class its first two items."""
    earlier = torch.tril(relations.positive).sum(1)  # how many of its class come before an item
    anchor = (earlier == 0) & relations.positive.any(1)
    return anchor, anchor[:, None] & relations.positive & (earlier == 1)


@checked
@needs_positives
def n_pair(
    embeddings: Tensor,
    labels: Tensor,
    *,
    negatives: Negatives = "all",
    l2: NotNegative = 0.002,
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """N-pair loss: mean over anchors of 1/|P| Σ_{p∈P} log(1 + Σ_n exp(f·f_n − f·f_p)), plus l2/2 · mean ‖f‖².

    Sohn 2016, on embeddings that are not normalised; their squared norm is kept small, as the paper asks (l2 as
    in TensorFlow's npairs_loss). negatives="pairs" is the paper's N-pair-mc: the first two items of every class are its
    anchor and positive, and an anchor's negatives are the other classes' positives. negatives="all" uses every item:
    each is an anchor with all its positives, and all items of other classes are negatives. A query without a positive
    is skipped. embeddings (B, D), labels (B,) -> scalar or (B,). Without l2 in the parts.
    """
    if negatives == "pairs" and others.get("ref_embeddings") is not None:
        raise ValueError('ref_embeddings: negatives="pairs" takes its pairs from one batch; use negatives="all"')

    def shares(S: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        anchor, positive, negative = relations.positive.any(1), relations.positive, relations.negative
        if negatives == "pairs":
            anchor, positive = first_two(relations)
            negative = negative & positive.any(0)
        push = torch.logsumexp(torch.where(negative, S, -1e30), 1, keepdim=True)
        return anchor * mean_over_positives(softplus(push - S), positive), anchor.sum()

    result = pair_loss(
        embeddings,
        labels,
        shares,
        reduction=reduction,
        return_parts=return_parts,
        on_distances=False,
        normalize=False,
        **others,
    )
    with autocast_off(embeddings):
        norms = l2 / 2 * working_precision(embeddings).square().sum(1)
        if (weights := others.get("weights")) is not None:
            norms = norms * weights
        extra = reduce(norms, reduction)
    return (result[0] + extra, result[1]) if isinstance(result, tuple) else result + extra
