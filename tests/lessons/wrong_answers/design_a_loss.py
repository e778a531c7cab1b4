"""Wrong answers to the exercises of lesson 6, written before looking at what the checks name."""

import torch


def counts(similarity, positive, tau):
    d = (similarity[~positive][None] - similarity[positive][:, None]) / tau
    return torch.sigmoid(d).sum(1)


def query_counts_everybody(similarity, positive, alpha, tau):
    d = torch.sigmoid((similarity[None] - similarity[positive][:, None]) / tau).sum(1) - 0.5
    return 1 - ((1 + d) ** -alpha).mean()


def query_wrong_direction(similarity, positive, alpha, tau):
    d = (similarity[positive][:, None] - similarity[~positive][None]) / tau
    return 1 - ((1 + torch.sigmoid(d).sum(1)) ** -alpha).mean()


WRONG = {
    "dq_derivative": [
        lambda R, alpha: -alpha / (1 + R) ** (alpha + 1),
        lambda R, alpha: alpha / (1 + R) ** alpha,
        lambda R, alpha: alpha / (1 + R) ** (alpha - 1),
        lambda R, alpha: 1 / (1 + R) ** (alpha + 1),
        lambda R, alpha: alpha / R ** (alpha + 1),
    ],
    "iu_exact": [
        lambda R: (1 + R) * torch.log(1 + R),
        lambda R: (1 + R) * torch.log(1 + R) - R - 1,
        lambda R: 1 / (1 + R),
        lambda R: torch.log(1 + R),
    ],
    "pnp_dq": [
        query_counts_everybody,
        query_wrong_direction,
        lambda similarity, positive, alpha, tau: 1 - ((1 + counts(similarity, positive, tau)) ** -alpha).sum(),
        lambda similarity, positive, alpha, tau: ((1 + counts(similarity, positive, tau)) ** -alpha).mean(),
        lambda similarity, positive, alpha, tau: 1 - (1 / (1 + counts(similarity, positive, tau))).mean(),
    ],
}
