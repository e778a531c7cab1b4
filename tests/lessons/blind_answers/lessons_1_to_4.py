"""Wrong answers to lessons 1 to 4, written from the statements alone, before the checks were looked at."""

import math

import torch
from torch.nn.functional import cosine_similarity, normalize, softmax


def nearest_with_self(embeddings):
    unit = normalize(embeddings, dim=1)
    return (unit @ unit.T).topk(2, dim=1).indices[:, 0]


def nearest_zero_diagonal(embeddings):
    unit = normalize(embeddings, dim=1)
    similarity = unit @ unit.T
    similarity.fill_diagonal_(0)
    return similarity.argmax(dim=1)


def nearest_values(embeddings):
    unit = normalize(embeddings, dim=1)
    similarity = unit @ unit.T
    similarity.fill_diagonal_(-torch.inf)
    return similarity.max(dim=1).values


def nearest_euclidean(embeddings):
    distance = torch.cdist(embeddings, embeddings)
    distance.fill_diagonal_(torch.inf)
    return distance.argmin(1)


def nearest_whole_norm(embeddings):
    unit = embeddings / embeddings.norm()
    similarity = unit @ unit.T
    similarity.fill_diagonal_(-torch.inf)
    return similarity.argmax(1)


def recall_alone_counts_as_miss(embeddings, labels):
    unit = normalize(embeddings, dim=1)
    s = unit @ unit.T
    s.fill_diagonal_(-torch.inf)
    return (labels[s.argmax(1)] == labels).double().mean()


def recall_finds_itself(embeddings, labels):
    unit = normalize(embeddings, dim=1)
    nearest = (unit @ unit.T).argmax(1)
    return (labels[nearest] == labels).double().mean()


def recall_without_unit_length(embeddings, labels):
    s = embeddings @ embeddings.T
    s.fill_diagonal_(-torch.inf)
    hit = labels[s.argmax(1)] == labels
    has = (labels[:, None] == labels).sum(1) > 1
    return hit[has].double().mean()


def recall_mask_counts_itself(embeddings, labels):
    unit = normalize(embeddings, dim=1)
    s = unit @ unit.T
    s.fill_diagonal_(-torch.inf)
    hit = labels[s.argmax(1)] == labels
    has = (labels[:, None] == labels).sum(1) > 0
    return hit[has].double().mean()


def recall_number_of_hits(embeddings, labels):
    unit = normalize(embeddings, dim=1)
    s = unit @ unit.T
    s.fill_diagonal_(-torch.inf)
    hit = labels[s.argmax(1)] == labels
    has = (labels[:, None] == labels).sum(1) > 1
    return hit[has].sum()


def ap_rank_from_zero(relevance, k, num_relevant):
    hits, total = 0, 0.0
    for rank, relevant in enumerate(relevance[:k]):
        hits += relevant
        if relevant:
            total += hits / (rank or 1)
    return total / min(k, num_relevant)


def ap_all_ranks(relevance, k, num_relevant):
    return sum(sum(relevance[:i]) / i for i in range(1, k + 1)) / min(k, num_relevant)


def ap_by_hits(relevance, k, num_relevant):
    hits, total = 0, 0.0
    for rank, relevant in enumerate(relevance[:k], 1):
        if relevant:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


def ap_without_k(relevance, k, num_relevant):
    hits, total = 0, 0.0
    for rank, relevant in enumerate(relevance, 1):
        if relevant:
            hits += 1
            total += hits / rank
    return total / num_relevant


def ap_reciprocal_ranks(relevance, k, num_relevant):
    return sum(r / rank for rank, r in enumerate(relevance[:k], 1)) / min(k, num_relevant)


def dcg(gains, log=math.log2, start=1):
    return sum(gain / log(rank + 1) for rank, gain in enumerate(gains, start))


def ndcg_ideal_of_seen(relevance, k, num_relevant):
    best = dcg(sorted(relevance, reverse=True)[:k])
    return dcg(relevance[:k]) / best if best else 0.0


def ndcg_log_of_rank(relevance, k, num_relevant):
    def one(gains):
        return sum(g / math.log2(rank) if rank > 1 else g for rank, g in enumerate(gains, 1))

    return one(relevance[:k]) / one([1] * min(k, num_relevant))


def ndcg_ideal_of_all(relevance, k, num_relevant):
    return dcg(relevance[:k]) / dcg([1] * num_relevant)


def ndcg_ideal_k(relevance, k, num_relevant):
    return dcg(relevance[:k]) / dcg([1] * k)


def ndcg_not_normalised(relevance, k, num_relevant):
    return dcg(relevance[:k]) / min(k, num_relevant)


def soft_rank_itself(similarity, tau):
    return 1 + torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau).sum(1)


def soft_rank_reversed(similarity, tau):
    return 0.5 + torch.sigmoid((similarity[:, None] - similarity[None, :]) / tau).sum(1)


def soft_rank_from_zero(similarity, tau):
    return torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau).sum(1) - 0.5


def soft_rank_times_tau(similarity, tau):
    return 0.5 + torch.sigmoid((similarity[None, :] - similarity[:, None]) * tau).sum(1)


def soft_rank_softmax(similarity, tau):
    return 1 + (len(similarity) - 1) * (1 - softmax(similarity / tau, 0))


def counts(similarity, positive, tau):
    before = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)
    before = before - torch.diag(before.diagonal())
    return before[positive][:, positive].sum(1), before[positive][:, ~positive].sum(1)


def smooth_ap_not_a_loss(similarity, positive, tau):
    R_pos, R_neg = counts(similarity, positive, tau)
    return ((1 + R_pos) / (1 + R_pos + R_neg)).mean()


def smooth_ap_counts_itself(similarity, positive, tau):
    before = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)
    R_pos, R_neg = before[positive][:, positive].sum(1), before[positive][:, ~positive].sum(1)
    return 1 - ((1 + R_pos) / (1 + R_pos + R_neg)).mean()


def smooth_ap_sum(similarity, positive, tau):
    R_pos, R_neg = counts(similarity, positive, tau)
    return 1 - ((1 + R_pos) / (1 + R_pos + R_neg)).sum()


def smooth_ap_over_all(similarity, positive, tau):
    R_pos, R_neg = counts(similarity, positive, tau)
    return 1 - ((1 + R_pos) / (1 + R_pos + R_neg)).sum() / len(similarity)


def smooth_ap_of_sums(similarity, positive, tau):
    R_pos, R_neg = counts(similarity, positive, tau)
    return 1 - (1 + R_pos).sum() / (1 + R_pos + R_neg).sum()


def share_without_four(differences, tau, threshold):
    G = torch.sigmoid(differences / tau)
    return (G * (1 - G) / tau >= threshold).double().mean()


def share_of_largest_seen(differences, tau, threshold):
    G = torch.sigmoid(differences / tau)
    slope = G * (1 - G) / tau
    return (slope >= threshold * slope.max()).double().mean()


def share_count(differences, tau, threshold):
    G = torch.sigmoid(differences / tau)
    return (threshold <= 4 * G * (1 - G)).sum()


def share_below(differences, tau, threshold):
    G = torch.sigmoid(differences / tau)
    return (threshold > 4 * G * (1 - G)).double().mean()


def share_largest_is_one_over_tau(differences, tau, threshold):
    G = torch.sigmoid(differences / tau)
    return (G * (1 - G) / tau >= threshold / tau).double().mean()


def hard_recall_strict_ties(similarity, positive, k):
    rank = 1 + (similarity[None, :] > similarity[:, None]).sum(1)
    return (rank[positive] <= k).double().mean()


def hard_recall_strict_k(similarity, positive, k):
    rank = (similarity[None, :] >= similarity[:, None]).sum(1)
    return (rank[positive] < k).double().mean()


def hard_recall_twice_itself(similarity, positive, k):
    rank = 1 + (similarity[None, :] >= similarity[:, None]).sum(1)
    return (rank[positive] <= k).double().mean()


def hard_recall_any(similarity, positive, k):
    rank = (similarity[None, :] >= similarity[:, None]).sum(1)
    return (rank[positive] <= k).any().double()


def hard_recall_precision(similarity, positive, k):
    top = similarity.argsort(descending=True)[:k]
    return positive[top].double().mean()


def surrogate(similarity, positive, k, tau_rank, tau_sim, *, itself=0.5, plus=1.0):
    before = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau_sim)
    R = before.sum(1) - itself
    return torch.sigmoid((k - plus - R[positive]) / tau_rank)


def surrogate_forgets_one(similarity, positive, k, tau_rank, tau_sim):
    return surrogate(similarity, positive, k, tau_rank, tau_sim, plus=0.0).mean()


def surrogate_counts_itself(similarity, positive, k, tau_rank, tau_sim):
    return surrogate(similarity, positive, k, tau_rank, tau_sim, itself=0.0).mean()


def surrogate_swapped(similarity, positive, k, tau_rank, tau_sim):
    return surrogate(similarity, positive, k, tau_sim, tau_rank).mean()


def surrogate_all_items(similarity, positive, k, tau_rank, tau_sim):
    before = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau_sim)
    return torch.sigmoid((k - 0.5 - before.sum(1)) / tau_rank).mean()


def surrogate_negatives_only(similarity, positive, k, tau_rank, tau_sim):
    R = torch.sigmoid((similarity[~positive][None, :] - similarity[positive][:, None]) / tau_sim).sum(1)
    return torch.sigmoid((k - 1 - R) / tau_rank).mean()


def floor(num_positives, ks, tau_rank, first=1):
    k, rank = torch.tensor(ks)[:, None], torch.arange(first, num_positives + first)
    return torch.sigmoid((k - rank) / tau_rank)


def floor_ranks_from_zero(num_positives, ks, tau_rank):
    return 1 - floor(num_positives, ks, tau_rank, 0).mean().item()


def floor_not_a_loss(num_positives, ks, tau_rank):
    return floor(num_positives, ks, tau_rank).mean().item()


def floor_sum_over_k(num_positives, ks, tau_rank):
    return 1 - floor(num_positives, ks, tau_rank).mean(1).sum().item()


def floor_largest_k(num_positives, ks, tau_rank):
    return 1 - floor(num_positives, (max(ks),), tau_rank).mean().item()


def floor_zero(num_positives, ks, tau_rank):
    return 0.0


WRONG = {
    "nearest_neighbour": [
        nearest_with_self,
        nearest_zero_diagonal,
        nearest_values,
        nearest_euclidean,
        nearest_whole_norm,
        lambda embeddings: cosine_similarity(embeddings[:, None], embeddings[None, :], dim=2).argmin(1),
    ],
    "recall_at_1": [
        recall_alone_counts_as_miss,
        recall_finds_itself,
        recall_without_unit_length,
        recall_mask_counts_itself,
        recall_number_of_hits,
    ],
    "recall_at_k": [
        lambda relevance, k, num_relevant: sum(relevance[:k]) / num_relevant,
        lambda relevance, k, num_relevant: sum(relevance[:k]) / k,
        lambda relevance, k, num_relevant: float(relevance[k - 1]),
        lambda relevance, k, num_relevant: sum(relevance[:k]) / min(k, num_relevant),
        lambda relevance, k, num_relevant: float(any(relevance[: k + 1])),
    ],
    "average_precision_at_k": [ap_rank_from_zero, ap_all_ranks, ap_by_hits, ap_without_k, ap_reciprocal_ranks],
    "ndcg_at_k": [ndcg_ideal_of_seen, ndcg_log_of_rank, ndcg_ideal_of_all, ndcg_ideal_k, ndcg_not_normalised],
    "soft_rank": [
        soft_rank_itself,
        soft_rank_reversed,
        soft_rank_from_zero,
        soft_rank_times_tau,
        soft_rank_softmax,
    ],
    "smooth_ap": [
        smooth_ap_not_a_loss,
        smooth_ap_counts_itself,
        smooth_ap_sum,
        smooth_ap_over_all,
        smooth_ap_of_sums,
    ],
    "share_with_gradient": [
        share_without_four,
        share_of_largest_seen,
        share_count,
        share_below,
        share_largest_is_one_over_tau,
    ],
    "hard_recall": [
        hard_recall_strict_ties,
        hard_recall_strict_k,
        hard_recall_twice_itself,
        hard_recall_any,
        hard_recall_precision,
    ],
    "recall_surrogate": [
        surrogate_forgets_one,
        surrogate_counts_itself,
        surrogate_swapped,
        surrogate_all_items,
        surrogate_negatives_only,
    ],
    "recall_floor": [floor_ranks_from_zero, floor_not_a_loss, floor_sum_over_k, floor_largest_k, floor_zero],
}
