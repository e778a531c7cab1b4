"""Wrong answers to the exercises of lesson 8, written before looking at what the checks name."""

import torch
from torch.nn import functional as F


def similarity_best_centre(x, w, gamma):
    return (w @ x).max(dim=-1).values


def similarity_mean_of_centres(x, w, gamma):
    return (w @ x).mean(-1)


def similarity_over_classes(x, w, gamma):
    s = w @ x
    return (torch.softmax(s / gamma, dim=0) * s).sum(-1)


def similarity_times_gamma(x, w, gamma):
    s = w @ x
    return (torch.softmax(s * gamma, dim=-1) * s).sum(-1)


def anchor_naive_log_sum(similarity, labels, alpha, delta):
    own = F.one_hot(labels, similarity.shape[1]).bool()
    pull = torch.log(1 + (torch.exp(-alpha * (similarity - delta)) * own).sum(0))
    push = torch.log(1 + (torch.exp(alpha * (similarity + delta)) * ~own).sum(0))
    return pull.sum() / own.any(0).sum() + push.mean()


def stable(similarity, labels, alpha, delta, margin=-1.0, one=True):
    own = F.one_hot(labels, similarity.shape[1]).bool()
    low = torch.finfo(similarity.dtype).min / 4
    pull = torch.logsumexp((-alpha * (similarity + margin * delta)).masked_fill(~own, low), 0)
    push = torch.logsumexp((alpha * (similarity - margin * delta)).masked_fill(own, low), 0)
    return F.softplus(pull, threshold=50), F.softplus(push, threshold=50), own


def anchor_mean_over_all_classes(similarity, labels, alpha, delta):
    pull, push, _ = stable(similarity, labels, alpha, delta)
    return pull.mean() + push.mean()


def anchor_margin_of_the_wrong_sign(similarity, labels, alpha, delta):
    pull, push, own = stable(similarity, labels, alpha, delta, margin=1.0)
    return pull.sum() / own.any(0).sum() + push.mean()


def anchor_sums(similarity, labels, alpha, delta):
    pull, push, _ = stable(similarity, labels, alpha, delta)
    return pull.sum() + push.sum()


def distances(w):
    classes, centers, _ = w.shape
    t, s = torch.triu_indices(centers, centers, 1)
    return (w[:, t] - w[:, s]).norm(dim=-1).sum(), classes * centers * (centers - 1)


def reg_not_normalized(v):
    total, count = distances(v)
    return total / max(1, count)


def reg_divided_by_pairs(v):
    total, count = distances(F.normalize(v, dim=-1))
    return total / max(1, count / 2)


def reg_square_root_of_zero(v):
    w = F.normalize(v, dim=-1)
    classes, centers, _ = w.shape
    distance = torch.sqrt(2 - 2 * w @ w.transpose(1, 2))
    return distance.triu(1).sum() / (classes * centers * (centers - 1))


WRONG = {
    "class_similarity": [
        similarity_best_centre,
        similarity_mean_of_centres,
        similarity_over_classes,
        similarity_times_gamma,
    ],
    "proxy_anchor": [
        anchor_naive_log_sum,
        anchor_mean_over_all_classes,
        anchor_margin_of_the_wrong_sign,
        anchor_sums,
    ],
    "proxy_regularizer": [reg_not_normalized, reg_divided_by_pairs, reg_square_root_of_zero],
}
