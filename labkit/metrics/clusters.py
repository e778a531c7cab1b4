"""How the classes lie in the embedding space: compactness, separation, agreement with a clustering.

CSC, intra and inter need only class sums: O(N·D), no pairwise matrix.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from labkit.base.tensors import check_float_matrix, check_labels, unit_rows, working_precision

PART = 1024  # rows taken to float64 at a time: few enough to stay in the cache


@dataclass(frozen=True)
class ClassSums:
    """All that CSC, intra and inter need: class means (C, D) and sizes (C,) in float64, Σ‖x‖² and Σ‖x − μ_class‖²."""

    means: Tensor
    size: Tensor
    squared_norms: float
    squared_deviations: float


def read(embeddings: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Checked embeddings, class index (N,), class sizes (C,)."""
    check_float_matrix("embeddings", embeddings)
    check_labels("labels", labels, embeddings.shape[0])
    return labeled(embeddings.detach(), labels)


def class_sums(x: Tensor, index: Tensor, size: Tensor, normalize: bool = True, part: int = PART) -> ClassSums:
    """Two passes, in float64: deviations are centred before they are squared, E[x²] − μ² would cancel.

    Rows are normalised in float64, part by part: the rounding of unit float32 rows would outweigh a compact class.
    They are taken relative to one member of their class, so that equal rows deviate by exactly 0.
    """

    def wide(rows: Tensor) -> Tensor:
        return unit_rows(rows.double()) if normalize else rows.double()

    member = torch.empty_like(index[: len(size)]).index_copy_(0, index, torch.arange(len(x), device=x.device))
    anchor = wide(x[member])
    sums = torch.zeros_like(anchor)
    squared_norms = squared_deviations = 0.0
    for rows, classes in zip(x.split(part), index.split(part)):
        unit = wide(rows)
        sums.index_add_(0, classes, unit - anchor[classes])
        squared_norms += float(torch.linalg.vector_norm(unit) ** 2)
    offset = sums / size[:, None]
    for rows, classes in zip(x.split(part), index.split(part)):
        squared_deviations += float(torch.linalg.vector_norm(wide(rows) - anchor[classes] - offset[classes]) ** 2)
    return ClassSums(anchor + offset, size.double(), squared_norms, squared_deviations)


def traces(sums: ClassSums) -> tuple[float, float]:
    """tr(S_b), tr(S_w)."""
    n = sums.size.sum()
    center = (sums.size[:, None] * sums.means).sum(0) / n
    between = (sums.size * (sums.means - center).square().sum(1)).sum() / n
    return float(between), sums.squared_deviations / float(n)


def scatter_traces(embeddings: Tensor, labels: Tensor, normalize: bool = True) -> tuple[float, float]:
    """tr(S_b), tr(S_w) of SGSL Eq. 9: S_b = Σ p_c (μ_c−μ_0)(μ_c−μ_0)ᵀ, S_w = Σ p_c E[(x−μ_c)(x−μ_c)ᵀ], p_c = n_c/N."""
    return traces(class_sums(*read(embeddings, labels), normalize))


def csc_of(sums: ClassSums) -> float:
    """tr(S_b)/tr(S_w), inf where every class is a point."""
    between, within = traces(sums)
    return between / within if within > 0 else math.inf


def intra_of(sums: ClassSums) -> float:
    """Σ_{i≠j} x_i·x_j = ‖Σ x‖² − Σ‖x‖² for each class of unit vectors; NaN without a pair."""
    pairs = float((sums.size * (sums.size - 1)).sum())
    products = float((sums.size[:, None] * sums.means).square().sum()) - sums.squared_norms
    return 1 - products / pairs if pairs else math.nan


def inter_of(sums: ClassSums) -> float:
    """The same sum over unit class means, all one class; NaN for a single class."""
    centers = unit_rows(sums.means)
    pairs = len(centers) * (len(centers) - 1)
    return 1 - float(centers.sum(0).square().sum() - centers.square().sum()) / pairs if pairs else math.nan


def csc(embeddings: Tensor, labels: Tensor, normalize: bool = True) -> float:
    """Class separability criterion tr(S_b)/tr(S_w), SGSL Eq. 9; embeddings (N, D), labels (N,).

    normalize=False measures raw features, as the paper's Table 5 must have (E-SG-8). inf where every class is a point.
    """
    return csc_of(class_sums(*read(embeddings, labels), normalize))


def intra_class_distance(embeddings: Tensor, labels: Tensor) -> float:
    """Mean cosine distance over all pairs of one class (Roth et al. 2020; PNP's dists@intra); NaN without a pair."""
    return intra_of(class_sums(*read(embeddings, labels)))


def inter_class_distance(embeddings: Tensor, labels: Tensor) -> float:
    """Mean cosine distance between normalised class means (Roth et al. 2020; PNP's dists@inter); NaN for one class."""
    return inter_of(class_sums(*read(embeddings, labels)))


def cluster_metrics(embeddings: Tensor, labels: Tensor) -> dict[str, float]:
    """intra, inter and CSC of the normalised rows from one set of class sums; nothing is checked again."""
    sums = class_sums(*labeled(embeddings.detach(), labels))
    return {"intra": intra_of(sums), "inter": inter_of(sums), "CSC": csc_of(sums)}


def labeled(x: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Embeddings with class index (N,) and class sizes (C,)."""
    index, size = labels.to(x.device).unique(return_inverse=True, return_counts=True)[1:]
    return x, index, size


def normalized_mutual_information(a: Any, b: Any) -> float:
    """NMI of two labelings (N,): I(a; b) / mean(H(a), H(b)); 1 where both have a single cluster."""
    first, second = torch.as_tensor(a), torch.as_tensor(b)
    check_labels("a", first, first.numel())
    check_labels("b", second, len(first))
    if not len(first):
        raise ValueError("a is empty")
    i, size_i = first.unique(return_inverse=True, return_counts=True)[1:]
    j, size_j = second.to(first.device).unique(return_inverse=True, return_counts=True)[1:]
    cell, size = (i * len(size_j) + j).unique(return_counts=True)
    n = len(first)
    p, p_i, p_j = size.double() / n, size_i.double() / n, size_j.double() / n
    information = float((p * torch.log(p / (p_i[cell // len(size_j)] * p_j[cell % len(size_j)]))).sum())
    entropy = -float((p_i * p_i.log()).sum() + (p_j * p_j.log()).sum()) / 2
    return 1.0 if entropy == 0 else min(1.0, max(0.0, information / entropy))


def nmi(embeddings: Tensor, labels: Tensor, seed: int = 0) -> float:
    """NMI between the classes and k-means clusters of the unit embeddings, k = number of classes (PNP Tables 1, 2).

    scikit-learn's k-means up to 20,000 points, faiss beyond where it is installed (`pip install labkit[clusters]`).
    """
    x, index, size = read(embeddings, labels)
    clusters = len(size)
    points = unit_rows(working_precision(x)).float().cpu().numpy()
    if len(points) > 20_000:
        try:
            import faiss
        except ModuleNotFoundError:
            pass
        else:
            means = faiss.Kmeans(points.shape[1], clusters, niter=20, seed=seed, max_points_per_centroid=10**6)
            means.train(points)
            return normalized_mutual_information(index.cpu(), torch.as_tensor(means.index.search(points, 1)[1][:, 0]))
    try:
        from sklearn.cluster import KMeans
    except ModuleNotFoundError:
        raise ImportError("NMI needs a k-means: install scikit-learn with `pip install labkit[clusters]`") from None
    found = KMeans(clusters, n_init=1, random_state=seed).fit_predict(points)
    return normalized_mutual_information(index.cpu(), torch.as_tensor(found, dtype=torch.int64))


def mean_norm(embeddings: Tensor) -> float:
    """Norm of the mean unit embedding (N, D): 0 where they are spread about the origin, 1 where all point one way.

    A value near 1 tells a collapse that a results table hides: whatever the loss, neighbours are then found among
    rounding errors of almost equal vectors.
    """
    check_float_matrix("embeddings", embeddings)
    total = sum(unit_rows(rows.double()).sum(0) for rows in embeddings.detach().split(PART))
    return float(torch.linalg.vector_norm(torch.as_tensor(total)) / len(embeddings))
