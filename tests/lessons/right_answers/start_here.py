"""Right answers to the exercises of lesson 1, in different styles."""

import numpy as np
import torch


def nearest_loop(embeddings):
    found = []
    for q in range(len(embeddings)):
        best, where = -2.0, -1
        for i in range(len(embeddings)):
            s = torch.nn.functional.cosine_similarity(embeddings[q], embeddings[i], dim=0).item()
            if i != q and s > best:
                best, where = s, i
        found.append(where)
    return found


def nearest_masked(embeddings):
    unit = embeddings / embeddings.norm(dim=1, keepdim=True)
    itself = torch.eye(len(unit), dtype=torch.bool)
    return (unit @ unit.T).masked_fill(itself, -torch.inf).max(1).indices


def nearest_by_unit_distance(embeddings):
    unit = torch.nn.functional.normalize(embeddings)
    return (torch.cdist(unit, unit) + 9 * torch.eye(len(unit), dtype=unit.dtype)).argmin(dim=1)


def nearest_with_numpy(embeddings):
    x = embeddings.numpy()
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    s = x @ x.T
    np.fill_diagonal(s, -2)
    return torch.from_numpy(s.argmax(1))


def recall_loop(embeddings, labels):
    right = count = 0
    for q, found in enumerate(nearest_loop(embeddings)):
        if (labels == labels[q]).sum() > 1:
            count += 1
            right += int(labels[found] == labels[q])
    return right / count


def recall_masked(embeddings, labels):
    same = (labels[:, None] == labels[None, :]) & ~torch.eye(len(labels), dtype=torch.bool)
    found = same[torch.arange(len(labels)), nearest_masked(embeddings)]
    return found[same.any(1)].float().mean()


def recall_by_bincount(embeddings, labels):
    kept = torch.bincount(labels)[labels] > 1
    return ((labels[nearest_with_numpy(embeddings)] == labels) & kept).sum() / kept.sum()


RIGHT = {
    "nearest_neighbour": [nearest_loop, nearest_masked, nearest_by_unit_distance, nearest_with_numpy],
    "recall_at_1": [recall_loop, recall_masked, recall_by_bincount],
}
