"""Right answers to the exercises of lesson 9, in different styles."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def maximum_loop(cosine, labels, gamma):
    found = []
    for row, label in zip(cosine, labels.tolist()):
        others = torch.cat([row[:label], row[label + 1 :]])
        largest = others.max().detach()
        found.append(largest + torch.log(torch.exp(gamma * (others - largest)).sum()) / gamma)
    return torch.stack(found)


def maximum_masked(cosine, labels, gamma):
    own = torch.arange(cosine.shape[1]) == labels[:, None]
    return torch.logsumexp((gamma * cosine).masked_fill(own, float("-inf")), dim=1) / gamma


def maximum_selected(cosine, labels, gamma):
    C = cosine.shape[1]
    others = torch.tensor([[j for j in range(C) if j != y] for y in labels.tolist()])
    return torch.logsumexp(gamma * cosine.gather(1, others), -1).div(gamma)


def sgsl_with_softplus(embeddings, labels, weight, gamma):
    c = F.normalize(embeddings) @ F.normalize(weight.detach()).T
    return F.softplus(maximum_masked(c, labels, gamma) - c[torch.arange(len(c)), labels]).mean()


def sgsl_no_grad(embeddings, labels, weight, gamma):
    with torch.no_grad():
        w = weight / weight.norm(dim=1, keepdim=True)
    total = 0.0
    for f, y in zip(embeddings, labels):
        c = w @ (f / f.norm())
        others = c[torch.arange(len(c)) != y]
        total = total + torch.log1p(torch.exp((gamma * others).logsumexp(0) / gamma - c[y]))
    return total / len(labels)


def sgsl_as_cross_entropy(embeddings, labels, weight, gamma):
    c = F.cosine_similarity(embeddings[:, None], weight.detach()[None], dim=2)
    own = c.gather(1, labels[:, None])
    two = torch.cat([own, maximum_selected(c, labels, gamma)[:, None]], 1)
    return F.cross_entropy(two, torch.zeros(len(c), dtype=torch.long))


def floor_from_a_simplex(num_classes):
    """The loss of vectors that are a simplex: unit vectors minus their mean."""
    C = min(num_classes, 1000)  # beyond that by the formula: the matrix would be large
    if num_classes > C:
        return np.log(1 + (num_classes - 1) * np.exp(-num_classes / (num_classes - 1)))
    w = F.normalize(torch.eye(C, dtype=torch.float64) - 1 / C, dim=1)
    return F.cross_entropy(w @ w.T, torch.arange(C))


def floor_as_probability(num_classes):
    own, other = math.exp(1), math.exp(-1 / (num_classes - 1))
    return -math.log(own / (own + (num_classes - 1) * other))


RIGHT = {
    "soft_maximum": [maximum_loop, maximum_masked, maximum_selected],
    "sgsl_loss": [sgsl_with_softplus, sgsl_no_grad, sgsl_as_cross_entropy],
    "unscaled_floor": [
        floor_from_a_simplex,
        floor_as_probability,
        lambda num_classes: math.log(1 + (num_classes - 1) * math.exp(-num_classes / (num_classes - 1))),
    ],
}
