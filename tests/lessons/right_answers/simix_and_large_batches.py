"""Right answers to the exercises of lesson 5, in different styles."""

import math

import torch


def mix_loop(similarity, first, second, a):
    columns = []
    for x, z, weight in zip(first.tolist(), second.tolist(), a.tolist()):
        columns.append(weight * similarity[:, x] + (1 - weight) * similarity[:, z])
    return torch.stack(columns, dim=1)


def mix_by_matrix(similarity, first, second, a):
    unit = torch.eye(len(similarity), dtype=similarity.dtype)
    mixing = a[:, None] * unit[first] + (1 - a[:, None]) * unit[second]
    return similarity @ mixing.T


def mix_by_lerp(similarity, first, second, a):
    return torch.lerp(similarity.index_select(1, second), similarity.index_select(1, first), a)


def size_by_comb(class_sizes):
    return sum(class_sizes) + sum(math.comb(m, 2) for m in class_sizes)


def size_by_loops(class_sizes):
    total = 0
    for m in class_sizes:
        for i in range(m):
            total += 1 + sum(1 for _ in range(i))
    return total


def size_by_tensor(class_sizes):
    m = torch.tensor(class_sizes)
    return (m * (m + 1) / 2).sum()


def scalar_einsum(embeddings, gradient):
    return torch.einsum("nd,nd->", embeddings, gradient)


def scalar_trace(embeddings, gradient):
    return (embeddings @ gradient.T).trace()


def scalar_dot(embeddings, gradient):
    return embeddings.flatten() @ gradient.flatten()


RIGHT = {
    "simix_similarities": [mix_loop, mix_by_matrix, mix_by_lerp],
    "simix_size": [size_by_comb, size_by_loops, size_by_tensor],
    "second_pass": [scalar_einsum, scalar_trace, scalar_dot],
}
