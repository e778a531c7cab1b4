"""Wrong answers to the exercises of lesson 9, written before looking at what the checks name."""

import math

import torch
from torch.nn import functional as F


def rest(cosine, labels):
    own = torch.arange(cosine.shape[1]) == labels[:, None]
    return cosine.masked_fill(own, -torch.inf)


def maximum_naive(cosine, labels, gamma):
    own = torch.arange(cosine.shape[1]) == labels[:, None]
    return torch.log((torch.exp(gamma * cosine) * ~own).sum(1)) / gamma


def maximum_with_zeros(cosine, labels, gamma):
    own = torch.arange(cosine.shape[1]) == labels[:, None]
    return torch.logsumexp(gamma * cosine.masked_fill(own, 0), 1) / gamma


def cosines(embeddings, weight):
    return F.normalize(embeddings) @ F.normalize(weight).T


def loss_with_gradient_to_weights(embeddings, labels, weight, gamma):
    c = cosines(embeddings, weight)
    top = torch.logsumexp(gamma * rest(c, labels), 1) / gamma
    return F.softplus(top - c.gather(1, labels[:, None])[:, 0]).mean()


def loss_sign(embeddings, labels, weight, gamma):
    c = cosines(embeddings, weight.detach())
    top = torch.logsumexp(gamma * rest(c, labels), 1) / gamma
    return F.softplus(c.gather(1, labels[:, None])[:, 0] - top).mean()


def loss_relu(embeddings, labels, weight, gamma):
    c = cosines(embeddings, weight.detach())
    top = torch.logsumexp(gamma * rest(c, labels), 1) / gamma
    return F.relu(top - c.gather(1, labels[:, None])[:, 0]).mean()


def loss_sum(embeddings, labels, weight, gamma):
    c = cosines(embeddings, weight.detach())
    top = torch.logsumexp(gamma * rest(c, labels), 1) / gamma
    return F.softplus(top - c.gather(1, labels[:, None])[:, 0]).sum()


WRONG = {
    "soft_maximum": [
        maximum_naive,
        maximum_with_zeros,
        lambda cosine, labels, gamma: torch.logsumexp(gamma * cosine, 1) / gamma,
        lambda cosine, labels, gamma: torch.logsumexp(gamma * rest(cosine, labels), 1),
    ],
    "sgsl_loss": [loss_with_gradient_to_weights, loss_sign, loss_relu, loss_sum],
    "unscaled_floor": [
        lambda num_classes: math.log(num_classes),
        lambda num_classes: -math.log(math.e / (math.e + num_classes - 1)),
        lambda num_classes: -math.log(math.e / (math.e + num_classes * math.exp(-1 / (num_classes - 1)))),
    ],
}
