"""Wrong answers to lessons 8 to 12, written from the statements alone, before the checks were looked at."""

import math

import numpy as np
import torch
from scipy import stats
from torch.nn.functional import cross_entropy, normalize, softplus


def class_over_classes(x, w, gamma):
    s = w @ x
    return (torch.softmax(s / gamma, 0) * s).sum(1)


def class_times_gamma(x, w, gamma):
    s = w @ x
    return (torch.softmax(s * gamma, 1) * s).sum(1)


def class_weights_fixed(x, w, gamma):
    s = w @ x
    return (torch.softmax(s / gamma, 1).detach() * s).sum(1)


def class_soft_maximum(x, w, gamma):
    return gamma * torch.logsumexp((w @ x) / gamma, 1)


def anchor(similarity, labels, alpha, delta, *, log=torch.logsumexp, classes_of_pull=None, sign=1.0):
    zero = similarity.new_zeros(1)
    pull, push = [], []
    for c in range(similarity.shape[1]):
        own = labels == c
        if own.any():
            pull.append(log(torch.cat([zero, -alpha * (similarity[own, c] - sign * delta)]), 0))
        push.append(log(torch.cat([zero, alpha * (similarity[~own, c] + sign * delta)]), 0))
    P, N = torch.stack(pull), torch.stack(push)
    return P.sum() / (classes_of_pull or len(P)) + N.mean()


def anchor_naive(similarity, labels, alpha, delta):
    return anchor(similarity, labels, alpha, delta, log=lambda u, d: torch.log(torch.exp(u).sum(d)))


def anchor_all_classes(similarity, labels, alpha, delta):
    return anchor(similarity, labels, alpha, delta, classes_of_pull=similarity.shape[1])


def anchor_margin_sign(similarity, labels, alpha, delta):
    return anchor(similarity, labels, alpha, delta, sign=-1.0)


def anchor_without_one(similarity, labels, alpha, delta):
    pull, push = [], []
    for c in range(similarity.shape[1]):
        own = labels == c
        if own.any():
            pull.append(torch.logsumexp(-alpha * (similarity[own, c] - delta), 0))
        if (~own).any():
            push.append(torch.logsumexp(alpha * (similarity[~own, c] + delta), 0))
    return torch.stack(pull).mean() + torch.stack(push).mean()


def anchor_softplus_each(similarity, labels, alpha, delta):
    own = torch.nn.functional.one_hot(labels, similarity.shape[1]).bool()
    pull = softplus(-alpha * (similarity - delta)) * own
    push = softplus(alpha * (similarity + delta)) * ~own
    return pull.sum() / own.any(0).sum() + push.sum() / similarity.shape[1]


def anchor_pull_only(similarity, labels, alpha, delta):
    zero = similarity.new_zeros(1)
    pull = [
        torch.logsumexp(torch.cat([zero, -alpha * (similarity[labels == c, c] - delta)]), 0) for c in labels.unique()
    ]
    return torch.stack(pull).mean()


def pairs_of(v, unit=True):
    w = normalize(v, dim=-1) if unit else v
    t, s = torch.triu_indices(v.shape[1], v.shape[1], offset=1)
    return w[:, s], w[:, t]


def reg_root(v):
    a, b = pairs_of(v)
    C, K, _ = v.shape
    return torch.sqrt(2 - 2 * (a * b).sum(-1)).sum() / max(1, C * K * (K - 1))


def reg_mean_over_pairs(v):
    a, b = pairs_of(v)
    return (a - b).norm(dim=-1).mean()


def reg_not_normalised(v):
    a, b = pairs_of(v, unit=False)
    C, K, _ = v.shape
    return (a - b).norm(dim=-1).sum() / max(1, C * K * (K - 1))


def reg_both_orders(v):
    w = normalize(v, dim=-1)
    C, K, _ = v.shape
    return torch.cdist(w, w).sum() / max(1, C * K * (K - 1))


def reg_squared(v):
    a, b = pairs_of(v)
    C, K, _ = v.shape
    return ((a - b) ** 2).sum() / max(1, C * K * (K - 1))


def reg_negative(v):
    a, b = pairs_of(v)
    C, K, _ = v.shape
    return -(a - b).norm(dim=-1).sum() / max(1, C * K * (K - 1))


def maximum_with_own(cosine, labels, gamma):
    return torch.logsumexp(gamma * cosine, 1) / gamma


def maximum_naive(cosine, labels, gamma):
    e = torch.exp(gamma * cosine).scatter(1, labels[:, None], 0.0)
    return torch.log(e.sum(1)) / gamma


def maximum_not_divided(cosine, labels, gamma):
    return torch.logsumexp(gamma * cosine.scatter(1, labels[:, None], -torch.inf), 1)


def maximum_zero_for_own(cosine, labels, gamma):
    return torch.logsumexp(gamma * cosine.scatter(1, labels[:, None], 0.0), 1) / gamma


def maximum_hard(cosine, labels, gamma):
    return cosine.scatter(1, labels[:, None], -torch.inf).max(1).values


def maximum_times(cosine, labels, gamma):
    return gamma * torch.logsumexp(cosine.scatter(1, labels[:, None], -torch.inf) / gamma, 1)


def sgsl(embeddings, labels, weight, gamma, *, stop=True, unit=True, join="mean", act=softplus):
    W = weight.detach() if stop else weight
    cosine = (normalize(embeddings, dim=1) if unit else embeddings) @ normalize(W, dim=1).T
    own = cosine.gather(1, labels[:, None]).squeeze(1)
    others = torch.logsumexp(gamma * cosine.scatter(1, labels[:, None], -torch.inf), 1) / gamma
    return getattr(act(others - own), join)()


def sgsl_not_stopped(embeddings, labels, weight, gamma):
    return sgsl(embeddings, labels, weight, gamma, stop=False)


def sgsl_features_not_unit(embeddings, labels, weight, gamma):
    return sgsl(embeddings, labels, weight, gamma, unit=False)


def sgsl_sum(embeddings, labels, weight, gamma):
    return sgsl(embeddings, labels, weight, gamma, join="sum")


def sgsl_relu(embeddings, labels, weight, gamma):
    return sgsl(embeddings, labels, weight, gamma, act=torch.relu)


def sgsl_wrong_stop(embeddings, labels, weight, gamma):
    return sgsl(embeddings.detach(), labels, weight, gamma, stop=False)


def sgsl_cross_entropy(embeddings, labels, weight, gamma):
    return cross_entropy(gamma * normalize(embeddings, dim=1) @ normalize(weight.detach(), dim=1).T, labels)


def interval(values, quantile, ddof=1, root=True):
    n = len(values)
    half = quantile(n) * np.std(values, ddof=ddof) / (n**0.5 if root else 1)
    return np.mean(values) - half, np.mean(values) + half


def paired_of_means(ours, baseline):
    low, high = interval(ours, lambda n: stats.t.ppf(0.975, n - 1))
    a, b = interval(baseline, lambda n: stats.t.ppf(0.975, n - 1))
    return low - b, high - a


def paired_welch(ours, baseline):
    n = len(ours)
    se = (np.var(ours, ddof=1) / n + np.var(baseline, ddof=1) / n) ** 0.5
    half = stats.t.ppf(0.975, 2 * n - 2) * se
    d = np.mean(ours) - np.mean(baseline)
    return d - half, d + half


def paired(ours, baseline, quantile, ddof=1, sign=1):
    return interval([sign * (a - b) for a, b in zip(ours, baseline)], quantile, ddof)


def paired_bounds(ours, baseline):
    a = interval(ours, lambda n: stats.t.ppf(0.975, n - 1))
    b = interval(baseline, lambda n: stats.t.ppf(0.975, n - 1))
    return a[0] - b[0], a[1] - b[1]


def paired_sorted(ours, baseline):
    return paired(sorted(ours), sorted(baseline), lambda n: stats.t.ppf(0.975, n - 1))


WRONG = {
    "class_similarity": [
        class_over_classes,
        class_times_gamma,
        class_weights_fixed,
        class_soft_maximum,
        lambda x, w, gamma: (w @ x).max(1).values,
        lambda x, w, gamma: (w @ x).mean(1),
    ],
    "proxy_anchor": [
        anchor_naive,
        anchor_all_classes,
        anchor_margin_sign,
        anchor_without_one,
        anchor_softplus_each,
        anchor_pull_only,
    ],
    "proxy_regularizer": [
        reg_root,
        reg_mean_over_pairs,
        reg_not_normalised,
        reg_both_orders,
        reg_squared,
        reg_negative,
    ],
    "soft_maximum": [
        maximum_with_own,
        maximum_naive,
        maximum_not_divided,
        maximum_zero_for_own,
        maximum_hard,
        maximum_times,
    ],
    "sgsl_loss": [
        sgsl_not_stopped,
        sgsl_features_not_unit,
        sgsl_sum,
        sgsl_relu,
        sgsl_wrong_stop,
        sgsl_cross_entropy,
    ],
    "unscaled_floor": [
        lambda num_classes: math.log(num_classes),
        lambda num_classes: math.log(1 + (num_classes - 1) * math.exp(-1)),
        lambda num_classes: math.log(1 + (num_classes - 1) * math.exp(-2)),
        lambda num_classes: math.log(1 + num_classes * math.exp(-num_classes / (num_classes - 1))),
        lambda num_classes: math.log(1 + (num_classes - 1) * math.exp(-1 / (num_classes - 1))),
        lambda num_classes: math.e / (math.e + (num_classes - 1) * math.exp(-1 / (num_classes - 1))),
    ],
    "error_reduction": [
        lambda old, new: 100 * (old - new) / new,
        lambda old, new: (old - new) / old,
        lambda old, new: 100 * (new - old) / old,
        lambda old, new: old - new,
        lambda old, new: 100 * new / old,
    ],
    "t_interval": [
        lambda values: interval(values, lambda n: 1.96),
        lambda values: interval(values, lambda n: stats.t.ppf(0.95, n - 1)),
        lambda values: interval(values, lambda n: stats.t.ppf(0.975, n)),
        lambda values: interval(values, lambda n: stats.t.ppf(0.975, n - 1), ddof=0),
        lambda values: interval(values, lambda n: stats.t.ppf(0.975, n - 1), root=False),
        lambda values: (np.quantile(values, 0.025), np.quantile(values, 0.975)),
    ],
    "paired_interval": [
        paired_of_means,
        paired_welch,
        lambda ours, baseline: paired(ours, baseline, lambda n: stats.t.ppf(0.975, n - 1), sign=-1),
        lambda ours, baseline: paired(ours, baseline, lambda n: 1.96),
        paired_bounds,
        paired_sorted,
    ],
}
