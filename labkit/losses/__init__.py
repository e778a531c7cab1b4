"""Losses for training on what you measure. Functions in `functional`, Modules here, a card for each in `CATALOG`."""

from labkit.losses import functional
from labkit.losses.catalog import CATALOG, Card
from labkit.losses.distributed import distributed
from labkit.losses.memory import CrossBatchMemory
from labkit.losses.modules.pair import (
    Contrastive,
    LiftedStructure,
    MarginLoss,
    MultiSimilarity,
    NPair,
    RankedList,
    SoftMarginTriplet,
    Triplet,
)
from labkit.losses.modules.proxy import MPA, MPAAllPairs, MPADataWise, ProxyAnchor, ProxyNCA, SoftTriple
from labkit.losses.modules.ranking import (
    PNP,
    BlackboxAP,
    BlackboxRecall,
    FastAP,
    FromDerivative,
    ListwiseAP,
    RecallAtK,
    SmoothAP,
    from_derivative,
)
from labkit.losses.modules.softmax import SGSL, CenterLoss, NormSoftmax, RingLoss, SGSLAlone, Softmax

__all__ = [
    "CATALOG",
    "MPA",
    "PNP",
    "SGSL",
    "BlackboxAP",
    "BlackboxRecall",
    "Card",
    "CenterLoss",
    "Contrastive",
    "CrossBatchMemory",
    "FastAP",
    "FromDerivative",
    "LiftedStructure",
    "ListwiseAP",
    "MPAAllPairs",
    "MPADataWise",
    "MarginLoss",
    "MultiSimilarity",
    "NPair",
    "NormSoftmax",
    "ProxyAnchor",
    "ProxyNCA",
    "RankedList",
    "RecallAtK",
    "RingLoss",
    "SGSLAlone",
    "SmoothAP",
    "SoftMarginTriplet",
    "SoftTriple",
    "Softmax",
    "Triplet",
    "distributed",
    "from_derivative",
    "functional",
]
