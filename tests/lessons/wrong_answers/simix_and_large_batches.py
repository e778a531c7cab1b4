"""Wrong answers to the exercises of lesson 5, written before looking at what the checks name."""

import torch


def mix_by_numpy(similarity, first, second, a):
    s = similarity.detach().numpy()
    return a.numpy() * s[:, first.numpy()] + (1 - a.numpy()) * s[:, second.numpy()]


WRONG = {
    "simix_similarities": [
        mix_by_numpy,
        lambda similarity, first, second, a: (1 - a) * similarity[:, first] + a * similarity[:, second],
        lambda similarity, first, second, a: (similarity[:, first] + similarity[:, second]) / 2,
        lambda similarity, first, second, a: a[:, None] * similarity[first] + (1 - a[:, None]) * similarity[second],
    ],
    "simix_size": [
        lambda class_sizes: sum(m * (m - 1) // 2 for m in class_sizes),
        lambda class_sizes: sum(m + m * (m - 1) for m in class_sizes),
        lambda class_sizes: sum(class_sizes) + sum(class_sizes) * (sum(class_sizes) - 1) // 2,
        lambda class_sizes: sum(m * m for m in class_sizes),
    ],
    "second_pass": [
        lambda embeddings, gradient: (embeddings * gradient).mean(),
        lambda embeddings, gradient: (embeddings * gradient).sum(1),
        lambda embeddings, gradient: (embeddings.detach() * gradient).sum(),
        lambda embeddings, gradient: ((embeddings - gradient) ** 2).sum() / 2,
        lambda embeddings, gradient: torch.sum(embeddings @ gradient.T),
    ],
}
