"""Wrong answers to the exercises of lesson 3, written before looking at what the checks name."""

import torch


def shares(similarity, tau):
    soft = torch.sigmoid((similarity[None] - similarity[:, None]) / tau)
    return soft * (1 - torch.eye(len(similarity), dtype=similarity.dtype))


def rank_detached(similarity, tau):
    return 1 + shares(similarity, tau).detach().sum(1)


def rank_of_floats(similarity, tau):
    return torch.tensor([1 + float(row.sum()) for row in shares(similarity, tau)])


def rank_hard(similarity, tau):
    return 1 + (similarity[None] > similarity[:, None]).double().sum(1)


def ap_positives_only(similarity, positive, tau):
    r = shares(similarity, tau)
    return 1 - (1 / (1 + r[:, ~positive].sum(1)))[positive].mean()


def ap_without_the_one(similarity, positive, tau):
    r = shares(similarity, tau)
    return 1 - (r[:, positive].sum(1) / r.sum(1))[positive].mean()


def ap_not_a_loss(similarity, positive, tau):
    r = shares(similarity, tau)
    return ((1 + r[:, positive].sum(1)) / (1 + r.sum(1)))[positive].mean()


def ap_sum_over_positives(similarity, positive, tau):
    r = shares(similarity, tau)
    return 1 - ((1 + r[:, positive].sum(1)) / (1 + r.sum(1)))[positive].sum()


def share_of_the_sigmoid(differences, tau, threshold):
    return (torch.sigmoid(differences / tau) >= threshold).double().mean()


def share_of_absolute_slope(differences, tau, threshold):
    g = torch.sigmoid(differences / tau)
    return (g * (1 - g) / tau >= threshold).double().mean()


def share_within_one_temperature(differences, tau, threshold):
    return (differences.abs() <= tau).double().mean()


WRONG = {
    "soft_rank": [
        rank_detached,
        rank_of_floats,
        rank_hard,
        lambda similarity, tau: 1 + torch.sigmoid((similarity[:, None] - similarity[None]) / tau).sum(1),
        lambda similarity, tau: torch.sigmoid((similarity[None] - similarity[:, None]) / tau).sum(1),
    ],
    "smooth_ap": [ap_positives_only, ap_without_the_one, ap_not_a_loss, ap_sum_over_positives],
    "share_with_gradient": [share_of_the_sigmoid, share_of_absolute_slope, share_within_one_temperature],
}
