"""SiMix: virtual samples between two items of a class (Patel et al., CVPR 2022).

A virtual sample v = a·x + (1−a)·z, a ~ U(0,1), is used as a query, as a positive and as a negative. Its similarities
follow from the real ones, so its embedding is not needed; mixing embeddings gives the same numbers, and streams.
|v| < 1, so these similarities are not cosines (E-SL-5).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from labkit.losses.options import NoPositives
from labkit.losses.softcount import sort_batch


@dataclass(frozen=True)
class Pairs:
    """V virtual samples: rows `first` and `second` of the batch, mixed with weight `a` on the first; each (V,).

    labels: (V,) their class, where the batch's labels live: no need to read the rows back from a GPU.
    """

    first: Tensor
    second: Tensor
    a: Tensor
    labels: Tensor

    def extend_labels(self, labels: Tensor) -> Tensor:
        """Labels of real and virtual samples, (B + V,)."""
        return torch.cat([labels, self.labels])


def draw_pairs(labels: Tensor, generator: torch.Generator | None, device: torch.device, dtype: torch.dtype) -> Pairs:
    """Every same-class pair once, with a fresh weight: m images of a class give m(m−1)/2 virtual ones, for any m."""
    batch = sort_batch(labels, torch.device("cpu"))
    first, second = [], []
    for group in batch.sizes:
        members = batch.order[group.start : group.stop].view(-1, group.size)
        i, j = torch.triu_indices(group.size, group.size, offset=1)
        first.append(members[:, i].flatten())
        second.append(members[:, j].flatten())
    if not first:
        raise NoPositives("labels: no class has two members, so there is nothing to mix")
    source = generator.device if generator is not None else device
    x, z = torch.cat(first), torch.cat(second)
    a = torch.rand(len(x), generator=generator, device=source, dtype=dtype)
    return Pairs(x.to(device), z.to(device), a.to(device), labels[x.to(labels.device)])


def mix_embeddings(e: Tensor, pairs: Pairs) -> Tensor:
    """Real and virtual embeddings, (B, D) -> (B + V, D)."""
    a = pairs.a[:, None]
    virtual = a * e.index_select(0, pairs.first) + (1 - a) * e.index_select(0, pairs.second)
    return torch.cat([e, virtual])


def mix_similarities(s: Tensor, pairs: Pairs) -> Tensor:
    """Similarities of real and virtual samples from the real ones, (B, B) -> (B + V, B + V).

    s(w, v) = a·s(w,x) + (1−a)·s(w,z), and for two virtual samples the same rule on both sides.
    """
    columns = torch.cat([s, pairs.a * s[:, pairs.first] + (1 - pairs.a) * s[:, pairs.second]], dim=1)
    a = pairs.a[:, None]
    rows = a * columns[pairs.first] + (1 - a) * columns[pairs.second]
    return torch.cat([columns, rows])
