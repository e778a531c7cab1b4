"""The names of `labkit.metrics` that need torch."""

from labkit.metrics.across import evaluate_across
from labkit.metrics.boxes import box_corners, iou, rotated_iou
from labkit.metrics.clusters import (
    csc,
    inter_class_distance,
    intra_class_distance,
    mean_norm,
    nmi,
    normalized_mutual_information,
    scatter_traces,
)
from labkit.metrics.evaluation import evaluate, per_query_metrics
from labkit.metrics.images import ms_ssim, psnr, ssim
from labkit.metrics.lists import (
    average_precision_at_k,
    map_at_r,
    ndcg_at_k,
    precision_at_k,
    r_precision,
    recall_at_k,
    reciprocal_rank,
)
from labkit.metrics.revisited import Landmark, evaluate_landmarks
from labkit.metrics.strings import (
    edit_distance,
    edit_distance_table,
    edit_distances,
    evaluate_words,
    normalized_edit_distance,
    total_edit_distance,
)

__all__ = [
    "Landmark",
    "average_precision_at_k",
    "box_corners",
    "csc",
    "edit_distance",
    "edit_distance_table",
    "edit_distances",
    "evaluate",
    "evaluate_across",
    "evaluate_landmarks",
    "evaluate_words",
    "inter_class_distance",
    "intra_class_distance",
    "iou",
    "map_at_r",
    "mean_norm",
    "ms_ssim",
    "ndcg_at_k",
    "nmi",
    "normalized_edit_distance",
    "normalized_mutual_information",
    "per_query_metrics",
    "precision_at_k",
    "psnr",
    "r_precision",
    "recall_at_k",
    "reciprocal_rank",
    "rotated_iou",
    "scatter_traces",
    "ssim",
    "total_edit_distance",
]
