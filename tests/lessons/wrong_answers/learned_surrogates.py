"""Wrong answers to the exercises of lesson 10, written before looking at what the checks name."""

import torch


def scores_by_truth(distances, read, truth):
    n = torch.tensor([max(len(word), 1) for word in truth])
    return torch.stack(((distances == 0).double().mean(), (1 - distances / n).mean(), distances.sum().double()))


def scores_as_error(distances, read, truth):
    n = torch.tensor([max(len(a), len(b), 1) for a, b in zip(read, truth)])
    return torch.stack(((distances == 0).double().mean(), (distances / n).mean(), distances.sum().double()))


def scores_of_all_letters(distances, read, truth):
    total = sum(max(len(a), len(b), 1) for a, b in zip(read, truth))
    return torch.stack(
        ((distances == 0).double().mean(), 1 - distances.sum().double() / total, distances.sum().double())
    )


def scores_without_care(distances, read, truth):
    n = torch.tensor([max(len(a), len(b)) for a, b in zip(read, truth)])
    return torch.stack(((distances == 0).double().mean(), (1 - distances / n).mean(), distances.sum().double()))


def scores_averaged(distances, read, truth):
    n = torch.tensor([max(len(a), len(b), 1) for a, b in zip(read, truth)])
    d = distances.double()
    return torch.stack(((d == 0).double().mean(), (1 - d / n).mean(), d.mean()))


def lengths_with_own_slot(p, end):
    on = torch.cumprod(1 - p[:, end], 0)
    return torch.cat((on * p[:, end], on[-1:]))


def lengths_too_few(p, end):
    on = torch.cumprod(torch.cat((torch.ones(1, dtype=p.dtype), 1 - p[:, end])), 0)[:-1]
    return on * p[:, end]


def lengths_no_product(p, end):
    return torch.cat((p[:, end], torch.prod(1 - p[:, end]).reshape(1)))


WRONG = {
    "word_scores": [scores_by_truth, scores_as_error, scores_of_all_letters, scores_without_care, scores_averaged],
    "surrogate_distance": [
        lambda h_z, h_y: torch.sqrt(((h_z - h_y) ** 2).sum(1)),
        lambda h_z, h_y: ((h_z - h_y) ** 2).sum(1),
        lambda h_z, h_y: (h_z - h_y).abs().sum(dim=1),
        lambda h_z, h_y: torch.sqrt(((h_z - h_y) ** 2).mean(1) + 1e-12),
        lambda h_z, h_y: (h_z - h_y).norm(),
    ],
    "length_distribution": [lengths_with_own_slot, lengths_too_few, lengths_no_product],
}
