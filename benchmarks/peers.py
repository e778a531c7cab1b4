"""What labkit is compared with: floors that no implementation can beat by much, and the released codes' formulas.

The formulas are written here from their description, in the shape the released code computes them.
"""

import torch
from torch import Tensor


def similarity_floor(e: Tensor, upstream: Tensor) -> None:
    """Forward and backward of E·Eᵀ alone: three B×B×D products that every ranking loss needs."""
    torch.autograd.grad(e @ e.T, e, upstream)


def tiled_product(e: Tensor, tile: int = 1024) -> None:
    """All similarities of N items, a tile at a time: what an evaluation that looks at each of them must do."""
    out = e.new_empty(tile, tile)
    for rows in e.split(tile):
        for columns in e.split(tile):
            torch.mm(rows, columns.T, out=out.view(-1)[: len(rows) * len(columns)].view(len(rows), len(columns)))


def recall_loop(e: Tensor, labels: Tensor, ks: tuple[int, ...] = (1, 2, 4, 8, 16), tau: float = 0.01) -> Tensor:
    """RS@k in the order the released code works: query by query, the similarities of each by a product with all rows,
    the query kept in its own ranking.
    """
    total = e.new_zeros(())
    for q in range(len(labels)):
        similarities = (e[q] * e).sum(1)
        positives = torch.nonzero((labels == labels[q]) & (torch.arange(len(labels)) != q)).squeeze(1)
        before = torch.sigmoid((similarities[None, :] - similarities[positives][:, None]) / tau)
        rank = 1 + before.sum(1) - 0.5  # without the item's own tie
        for k in ks:
            hits = torch.sigmoid(k - rank).sum().clamp_max(k)
            total = total + (1 - hits / min(k, len(positives))) / len(ks)
    return total / len(labels)


def smooth_ap_cube(e: Tensor, labels: Tensor, tau: float = 0.01) -> Tensor:
    """Smooth-AP as released: all B×B×B differences at once."""
    similarities = e @ e.T
    before = torch.sigmoid((similarities[:, None, :] - similarities[:, :, None]) / tau)
    before = before * ~torch.eye(len(labels), dtype=torch.bool)[None]
    same = labels[:, None] == labels
    rank, rank_among_same = 1 + before.sum(-1), 1 + (before * same[:, None, :]).sum(-1)
    return 1 - ((rank_among_same / rank * same).sum(1) / same.sum(1)).mean()


def full_matrix_regularizer(w: Tensor) -> Tensor:
    """Eq. 3 from the (CK)² matrix of all centres, masked to pairs of one class, as released SoftTriple does."""
    classes, centers, dim = w.shape
    rows = w.reshape(-1, dim)
    owner = torch.arange(classes).repeat_interleave(centers)
    pair = (owner[:, None] == owner) & torch.ones(len(rows), len(rows), dtype=torch.bool).triu(1)
    return torch.sqrt(2 + 1e-5 - 2 * (rows @ rows.T)[pair]).sum() / (classes * centers * (centers - 1))
