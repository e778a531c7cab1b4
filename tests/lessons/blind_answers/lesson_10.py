"""Wrong answers to lesson 10, written from the statements alone, before its known mistakes were looked at."""

import torch


def scores_ratio_of_sums(distances, read, truth):
    longer = torch.tensor([max(len(a), len(b), 1) for a, b in zip(read, truth)])
    d = distances.double()
    return torch.stack([(d == 0).double().mean(), 1 - d.sum() / longer.sum(), d.sum()])


def scores_by_truth(distances, read, truth):
    longer = torch.tensor([max(len(b), 1) for b in truth])
    d = distances.double()
    return torch.stack([(d == 0).double().mean(), (1 - d / longer).mean(), d.sum()])


def scores_distance_not_likeness(distances, read, truth):
    longer = torch.tensor([max(len(a), len(b), 1) for a, b in zip(read, truth)])
    d = distances.double()
    return torch.stack([(d == 0).double().mean(), (d / longer).mean(), d.sum()])


def scores_mean_of_edits(distances, read, truth):
    longer = torch.tensor([max(len(a), len(b), 1) for a, b in zip(read, truth)])
    d = distances.double()
    return torch.stack([(d == 0).double().mean(), (1 - d / longer).mean(), d.mean()])


def scores_zero_by_zero(distances, read, truth):
    longer = torch.tensor([max(len(a), len(b)) for a, b in zip(read, truth)])
    d = distances.double()
    return torch.stack([(d == 0).double().mean(), (1 - d / longer).mean(), d.sum()])


def distance_bare_root(h_z, h_y):
    return (h_z - h_y).square().sum(1).sqrt()


def distance_squared(h_z, h_y):
    return (h_z - h_y).square().sum(1)


def distance_absolute(h_z, h_y):
    return (h_z - h_y).abs().sum(1)


def distance_of_all(h_z, h_y):
    return torch.cdist(h_z, h_y)


def distance_mean(h_z, h_y):
    return ((h_z - h_y).square().mean(1) + 1e-12).sqrt()


def length_without_last(p, end):
    stops = p[:, end]
    reached = torch.cat([torch.ones(1, dtype=p.dtype), (1 - stops).cumprod(0)])
    return reached[:-1] * stops


def length_not_moved(p, end):
    stops = p[:, end]
    reached = (1 - stops).cumprod(0)
    return torch.cat([reached * stops, reached[-1:]])


def length_end_is_zero(p, end):
    stops = p[:, 0]
    reached = torch.cat([torch.ones(1, dtype=p.dtype), (1 - stops).cumprod(0)])
    return torch.cat([reached[:-1] * stops, reached[-1:]])


def length_most_likely(p, end):
    symbols = p.argmax(1).tolist()
    length = symbols.index(end) if end in symbols else len(symbols)
    return torch.eye(len(p) + 1, dtype=p.dtype)[length]


def length_normalised(p, end):
    stops = torch.cat([p[:, end], torch.ones(1, dtype=p.dtype)])
    return stops / stops.sum()


WRONG = {
    "word_scores": [
        scores_ratio_of_sums,
        scores_by_truth,
        scores_distance_not_likeness,
        scores_mean_of_edits,
        scores_zero_by_zero,
    ],
    "surrogate_distance": [
        distance_bare_root,
        distance_squared,
        distance_absolute,
        distance_of_all,
        distance_mean,
    ],
    "length_distribution": [
        length_without_last,
        length_not_moved,
        length_end_is_zero,
        length_most_likely,
        length_normalised,
    ],
}
