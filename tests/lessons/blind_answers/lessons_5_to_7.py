"""Wrong answers to lessons 5 to 7, written from the statements alone, before the checks were looked at."""

import torch
from torch.nn.functional import normalize


def simix_unit(similarity, first, second, a):
    mixed = a * similarity[:, first] + (1 - a) * similarity[:, second]
    return normalize(mixed, dim=0)


def simix_one_row(similarity, first, second, a):
    return a * similarity[first, second] + (1 - a) * similarity[second, first]


def pnp_counts(similarity, positive, tau):
    return torch.sigmoid((similarity[~positive][None, :] - similarity[positive][:, None]) / tau).sum(1)


def pnp_every_item(similarity, positive, alpha, tau):
    R = torch.sigmoid((similarity[None, :] - similarity[positive][:, None]) / tau).sum(1)
    return (1 - (1 + R) ** -alpha).mean()


def pnp_by_negative(similarity, positive, alpha, tau):
    R = torch.sigmoid((similarity[~positive][None, :] - similarity[positive][:, None]) / tau).sum(0)
    return (1 - (1 + R) ** -alpha).mean()


def pnp_mean_count(similarity, positive, alpha, tau):
    R = torch.sigmoid((similarity[~positive][None, :] - similarity[positive][:, None]) / tau).mean(1)
    return (1 - (1 + R) ** -alpha).mean()


def pnp_of_mean(similarity, positive, alpha, tau):
    return 1 - (1 + pnp_counts(similarity, positive, tau).mean()) ** -alpha


def pnp_derivative_instead(similarity, positive, alpha, tau):
    return (alpha / (1 + pnp_counts(similarity, positive, tau)) ** (alpha + 1)).mean()


def pnp_reversed(similarity, positive, alpha, tau):
    R = torch.sigmoid((similarity[positive][:, None] - similarity[~positive][None, :]) / tau).sum(1)
    return (1 - (1 + R) ** -alpha).mean()


def variance_of_angles(embeddings):
    return torch.atan2(embeddings[:, 1], embeddings[:, 0]).var()


def variance_of_unit(embeddings):
    return normalize(embeddings, dim=1).var(0).sum()


def drop_of_means(plain, merged):
    return sum(plain.values()) / len(plain) - sum(merged.values()) / len(merged)


def drop_reversed(plain, merged):
    seeds = plain.keys() & merged.keys()
    return sum(merged[s] - plain[s] for s in seeds) / len(seeds)


def drop_by_all(plain, merged):
    return sum(plain[s] - merged[s] for s in plain if s in merged) / len(plain)


def drop_in_order(plain, merged):
    pairs = list(zip(plain.values(), merged.values()))
    return sum(p - m for p, m in pairs) / len(pairs)


def drop_relative(plain, merged):
    seeds = plain.keys() & merged.keys()
    return sum((plain[s] - merged[s]) / plain[s] for s in seeds) / len(seeds)


WRONG = {
    "simix_similarities": [
        lambda similarity, first, second, a: (1 - a) * similarity[:, first] + a * similarity[:, second],
        lambda similarity, first, second, a: (similarity[:, first] + similarity[:, second]) / 2,
        lambda similarity, first, second, a: a * similarity[:, first] + a * similarity[:, second],
        lambda similarity, first, second, a: a[:, None] * similarity[first] + (1 - a)[:, None] * similarity[second],
        simix_unit,
        simix_one_row,
    ],
    "simix_size": [
        lambda class_sizes: sum(m * (m - 1) // 2 for m in class_sizes),
        lambda class_sizes: sum(m + m * (m - 1) for m in class_sizes),
        lambda class_sizes: sum(m + m**2 for m in class_sizes),
        lambda class_sizes: sum(class_sizes) + sum(class_sizes) * (sum(class_sizes) - 1) // 2,
        lambda class_sizes: 2 * sum(class_sizes),
    ],
    "second_pass": [
        lambda embeddings, gradient: (embeddings * gradient).mean(),
        lambda embeddings, gradient: (embeddings * gradient).sum(1),
        lambda embeddings, gradient: ((embeddings - gradient) ** 2).sum(),
        lambda embeddings, gradient: (embeddings.detach() * gradient).sum(),
        lambda embeddings, gradient: embeddings @ gradient.T,
        lambda embeddings, gradient: (embeddings + gradient).sum(),
    ],
    "dq_derivative": [
        lambda R, alpha: -alpha * (1 + R) ** (-alpha - 1),
        lambda R, alpha: alpha * (1 + R) ** (-alpha + 1),
        lambda R, alpha: (1 + R) ** (-alpha - 1),
        lambda R, alpha: 1 - (1 + R) ** -alpha,
        lambda R, alpha: alpha / (1 + R) ** alpha,
        lambda R, alpha: alpha / (1 + R) ** 2,
    ],
    "iu_exact": [
        lambda R: (1 + R) * torch.log(1 + R),
        lambda R: (1 + R) * torch.log(1 + R) - (1 + R),
        lambda R: R * torch.log(1 + R) - R,
        lambda R: 1 / (1 + R),
        lambda R: torch.log(1 + R) ** 2 / 2,
        lambda R: torch.log(1 + R),
    ],
    "pnp_dq": [
        pnp_every_item,
        pnp_by_negative,
        pnp_mean_count,
        pnp_of_mean,
        pnp_derivative_instead,
        pnp_reversed,
    ],
    "circular_variance": [
        variance_of_angles,
        variance_of_unit,
        lambda embeddings: 1 - embeddings.mean(0).norm(),
        lambda embeddings: normalize(embeddings, dim=1).mean(0).norm(),
        lambda embeddings: 1 - normalize(embeddings, dim=1).mean(1).norm(),
        lambda embeddings: 1 - normalize(embeddings, dim=0).mean(0).norm(),
    ],
    "merge_labels": [
        lambda labels, k: labels % k,
        lambda labels, k: labels / k,
        lambda labels, k: (labels - 1) // k,
        lambda labels, k: labels // (k + 1),
        lambda labels, k: torch.round(labels / k).long(),
    ],
    "mean_drop": [drop_of_means, drop_reversed, drop_by_all, drop_in_order, drop_relative],
}
