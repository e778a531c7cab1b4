"""Every loss as a function of embeddings and labels (and proxies or class vectors, where it has them)."""

from labkit.losses.blackbox import blackbox_ap, blackbox_recall
from labkit.losses.class_similarity import class_similarities, proxy_regularizer
from labkit.losses.margin import margin_loss
from labkit.losses.n_pair import n_pair
from labkit.losses.pairs import (
    contrastive,
    lifted_structure,
    multi_similarity,
    ranked_list,
    soft_margin_triplet,
    triplet,
)
from labkit.losses.pnp import pnp, pnp_derivative, pnp_value, smooth_ap
from labkit.losses.proxies import mpa, mpa_all_pairs, mpa_data_wise, proxy_anchor, proxy_nca, soft_triple
from labkit.losses.quantized_ap import fast_ap, listwise_ap
from labkit.losses.recall_at_k import recall_at_k
from labkit.losses.simix import draw_pairs, mix_embeddings, mix_similarities
from labkit.losses.softmax import (
    center,
    norm_softmax,
    norm_softmax_floor,
    ring,
    sgsl,
    smoothed_floor,
    softmax,
    softmax_center,
    softmax_ring,
    softmax_sgsl,
)

__all__ = [
    "blackbox_ap",
    "blackbox_recall",
    "center",
    "class_similarities",
    "contrastive",
    "draw_pairs",
    "fast_ap",
    "lifted_structure",
    "listwise_ap",
    "margin_loss",
    "mix_embeddings",
    "mix_similarities",
    "mpa",
    "mpa_all_pairs",
    "mpa_data_wise",
    "multi_similarity",
    "n_pair",
    "norm_softmax",
    "norm_softmax_floor",
    "pnp",
    "pnp_derivative",
    "pnp_value",
    "proxy_anchor",
    "proxy_nca",
    "proxy_regularizer",
    "ranked_list",
    "recall_at_k",
    "ring",
    "sgsl",
    "smooth_ap",
    "smoothed_floor",
    "soft_margin_triplet",
    "soft_triple",
    "softmax",
    "softmax_center",
    "softmax_ring",
    "softmax_sgsl",
    "triplet",
]
