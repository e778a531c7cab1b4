"""Rarer wrong answers, written from the statements after those of the other files had been mended."""

import math

import numpy as np
import torch
from scipy import stats
from torch.nn.functional import cosine_similarity, normalize, softplus


def nearest_by_l1(embeddings):
    unit = normalize(embeddings, dim=1)
    distance = torch.cdist(unit, unit, p=1)
    distance.fill_diagonal_(torch.inf)
    return distance.argmin(1)


def nearest_labels_of_pairs(embeddings):
    similarity = cosine_similarity(embeddings[None], embeddings[:, None], dim=2)
    return similarity.fill_diagonal_(-1).argmax()


def recall_any_of_two(embeddings, labels):
    unit = normalize(embeddings, dim=1)
    s = unit @ unit.T
    s.fill_diagonal_(-torch.inf)
    top = s.topk(min(2, len(s))).indices
    hit = (labels[top] == labels[:, None]).any(1)
    has = (labels[:, None] == labels).sum(1) > 1
    return hit[has].double().mean()


def recall_by_class_size(embeddings, labels):
    unit = normalize(embeddings, dim=1)
    s = unit @ unit.T
    s.fill_diagonal_(-torch.inf)
    hit = (labels[s.argmax(1)] == labels).double()
    size = (labels[:, None] == labels).sum(1)
    return (hit / size).sum() / (size > 1).sum()


def ap_interpolated(relevance, k, num_relevant):
    precision = [sum(relevance[: i + 1]) / (i + 1) for i in range(min(k, len(relevance)))]
    return sum(max(precision[i:]) for i, r in enumerate(relevance[:k]) if r) / min(k, num_relevant)


def ap_first_hit(relevance, k, num_relevant):
    return next((1 / rank for rank, r in enumerate(relevance[:k], 1) if r), 0.0)


def ndcg_linear(relevance, k, num_relevant):
    def dcg(gains):
        return sum(g / rank for rank, g in enumerate(gains, 1))

    return dcg(relevance[:k]) / dcg([1] * min(k, num_relevant))


def ndcg_exponential_gain(relevance, k, num_relevant):
    def dcg(gains):
        return sum(2**g / math.log2(rank + 1) for rank, g in enumerate(gains, 1))

    return dcg(relevance[:k]) / dcg([1] * min(k, num_relevant))


def soft_rank_tanh(similarity, tau):
    return 0.5 + torch.tanh((similarity[None, :] - similarity[:, None]) / tau).sum(1)


def soft_rank_wrong_axis(similarity, tau):
    return 0.5 + torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau).sum(0)


def smooth_ap_mean_counts(similarity, positive, tau):
    before = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)
    before = before - torch.diag(before.diagonal())
    a, b = before[positive][:, positive].mean(1), before[positive][:, ~positive].mean(1)
    return 1 - ((1 + a) / (1 + a + b)).mean()


def smooth_ap_precision_of_rank(similarity, positive, tau):
    before = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)
    rank = 0.5 + before[positive].sum(1)
    return 1 - (1 / rank).mean()


def share_strict_absolute(differences, tau, threshold):
    return (differences.abs() / tau <= 1 / threshold).double().mean()


def hard_recall_all(similarity, positive, k):
    rank = (similarity[None, :] >= similarity[:, None]).sum(1)
    return (rank[positive] <= k).all().double()


def hard_recall_over_gallery(similarity, positive, k):
    rank = (similarity[None, :] >= similarity[:, None]).sum(1)
    return ((rank <= k) & positive).double().mean()


def surrogate_one_sigmoid(similarity, positive, k, tau_rank, tau_sim):
    rank = (similarity[None, :] >= similarity[:, None]).sum(1)
    return torch.sigmoid((k - rank[positive]) / tau_rank).mean()


def surrogate_outer_turned(similarity, positive, k, tau_rank, tau_sim):
    before = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau_sim)
    return torch.sigmoid((before.sum(1)[positive] + 0.5 - k) / tau_rank).mean()


def floor_of_one_rank(num_positives, ks, tau_rank):
    return 1 - sum(1 / (1 + math.exp(-(k - num_positives) / tau_rank)) for k in ks) / len(ks)


def floor_times_tau(num_positives, ks, tau_rank):
    k, rank = torch.tensor(ks)[:, None], torch.arange(1, num_positives + 1)
    return 1 - torch.sigmoid((k - rank) * tau_rank).mean().item()


def pnp_log(similarity, positive, alpha, tau):
    R = torch.sigmoid((similarity[~positive][None, :] - similarity[positive][:, None]) / tau).sum(1)
    return torch.log(1 + R).mean() * alpha


def pnp_hard(similarity, positive, alpha, tau):
    R = (similarity[~positive][None, :] > similarity[positive][:, None]).sum(1)
    return 1 - ((1.0 + R) ** -alpha).mean()


def variance_plain(embeddings):
    return embeddings.var(0, unbiased=False).sum()


def variance_mean_after(embeddings):
    return 1 - normalize(embeddings.mean(0), dim=0).norm()


def drop_of_first_common(plain, merged):
    seed = min(plain.keys() & merged.keys())
    return plain[seed] - merged[seed]


def drop_every_pair(plain, merged):
    return sum(a - b for a in plain.values() for b in merged.values()) / (len(plain) * len(merged))


def class_sum_of_weights(x, w, gamma):
    return torch.softmax((w @ x) / gamma, 1).sum(1)


def anchor_sum_of_means(similarity, labels, alpha, delta):
    own = torch.nn.functional.one_hot(labels, similarity.shape[1]).bool()
    return softplus(-alpha * (similarity[own] - delta)).mean() + softplus(alpha * (similarity[~own] + delta)).mean()


def anchor_halves(similarity, labels, alpha, delta):
    zero = similarity.new_zeros(1)
    pull, push = [], []
    for c in labels.unique():
        own = labels == c
        pull.append(torch.logsumexp(torch.cat([zero, -alpha * (similarity[own, c] - delta)]), 0))
        push.append(torch.logsumexp(torch.cat([zero, alpha * (similarity[~own, c] + delta)]), 0))
    return torch.stack(pull).mean() + torch.stack(push).mean()


def reg_angles(v):
    w = normalize(v, dim=-1)
    t, s = torch.triu_indices(v.shape[1], v.shape[1], offset=1)
    C, K, _ = v.shape
    return torch.acos((w[:, s] * w[:, t]).sum(-1).clamp(-1, 1)).sum() / max(1, C * K * (K - 1))


def maximum_softmax_weighted(cosine, labels, gamma):
    others = cosine.scatter(1, labels[:, None], -torch.inf)
    return (torch.softmax(gamma * others, 1) * cosine).sum(1)


def sgsl_weights_not_unit(embeddings, labels, weight, gamma):
    cosine = normalize(embeddings, dim=1) @ weight.detach().T
    own = cosine.gather(1, labels[:, None]).squeeze(1)
    others = torch.logsumexp(gamma * cosine.scatter(1, labels[:, None], -torch.inf), 1) / gamma
    return softplus(others - own).mean()


def sgsl_scaled_softplus(embeddings, labels, weight, gamma):
    cosine = normalize(embeddings, dim=1) @ normalize(weight.detach(), dim=1).T
    own = cosine.gather(1, labels[:, None]).squeeze(1)
    others = torch.logsumexp(gamma * cosine.scatter(1, labels[:, None], -torch.inf), 1) / gamma
    return softplus(gamma * (others - own)).mean() / gamma


def interval_of_median(values):
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return np.mean(values), half


def interval_normal_99(values):
    half = stats.norm.ppf(0.995) * np.std(values, ddof=1) / len(values) ** 0.5
    return np.mean(values) - half, np.mean(values) + half


def paired_by_root_of_both(ours, baseline):
    d = np.mean(ours) - np.mean(baseline)
    half = stats.t.ppf(0.975, len(ours) - 1) * np.std(ours, ddof=1) / len(ours) ** 0.5
    return d - half, d + half


WRONG = {
    "nearest_neighbour": [nearest_by_l1, nearest_labels_of_pairs],
    "recall_at_1": [recall_any_of_two, recall_by_class_size],
    "recall_at_k": [lambda relevance, k, num_relevant: float(sum(relevance) >= k)],
    "average_precision_at_k": [ap_interpolated, ap_first_hit],
    "ndcg_at_k": [ndcg_linear, ndcg_exponential_gain],
    "soft_rank": [soft_rank_tanh, soft_rank_wrong_axis],
    "smooth_ap": [smooth_ap_mean_counts, smooth_ap_precision_of_rank],
    "share_with_gradient": [share_strict_absolute],
    "hard_recall": [hard_recall_all, hard_recall_over_gallery],
    "recall_surrogate": [surrogate_one_sigmoid, surrogate_outer_turned],
    "recall_floor": [floor_of_one_rank, floor_times_tau],
    "simix_similarities": [lambda similarity, first, second, a: a * similarity[:, first] * similarity[:, second]],
    "simix_size": [lambda class_sizes: sum(2**m - 1 for m in class_sizes)],
    "second_pass": [lambda embeddings, gradient: (embeddings * gradient).sum().detach()],
    "dq_derivative": [lambda R, alpha: alpha * torch.log(1 + R) * (1 + R) ** -alpha],
    "iu_exact": [lambda R: R * torch.log(R + 1e-12) - R],
    "pnp_dq": [pnp_log, pnp_hard],
    "circular_variance": [variance_plain, variance_mean_after],
    "merge_labels": [lambda labels, k: labels * k],
    "mean_drop": [drop_of_first_common, drop_every_pair],
    "class_similarity": [class_sum_of_weights],
    "proxy_anchor": [anchor_sum_of_means, anchor_halves],
    "proxy_regularizer": [reg_angles],
    "soft_maximum": [maximum_softmax_weighted],
    "sgsl_loss": [sgsl_weights_not_unit, sgsl_scaled_softplus],
    "unscaled_floor": [lambda num_classes: 1 / num_classes],
    "error_reduction": [lambda old, new: 100 * (1 - old / new)],
    "t_interval": [interval_of_median, interval_normal_99],
    "paired_interval": [paired_by_root_of_both],
}
