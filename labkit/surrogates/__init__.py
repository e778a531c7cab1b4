"""Training on metrics that have no useful gradient: by a learned surrogate, by a smooth programme, by sampling."""

from labkit.surrogates.algorithm import AlgorithmState, Epoch, Settings, begin, train_with_surrogate
from labkit.surrogates.boxes import BOX_FEATURES, box_features, box_task, random_box_pairs
from labkit.surrogates.embedding import SequenceEmbedding, Surrogate, VectorEmbedding
from labkit.surrogates.filters import Filter
from labkit.surrogates.learning import Learned, surrogate_loss
from labkit.surrogates.objectives import cross_entropy, objective_step, soft_distance
from labkit.surrogates.reinforce import reinforce
from labkit.surrogates.soft_distance import soft_edit_distance
from labkit.surrogates.task import Task
from labkit.surrogates.word_task import random_word_pairs, word_task
from labkit.surrogates.words import END, decode_words, encode_words

__all__ = [
    "BOX_FEATURES",
    "END",
    "AlgorithmState",
    "Epoch",
    "Filter",
    "Learned",
    "SequenceEmbedding",
    "Settings",
    "Surrogate",
    "Task",
    "VectorEmbedding",
    "begin",
    "box_features",
    "box_task",
    "cross_entropy",
    "decode_words",
    "encode_words",
    "objective_step",
    "random_box_pairs",
    "random_word_pairs",
    "reinforce",
    "soft_distance",
    "soft_edit_distance",
    "surrogate_loss",
    "train_with_surrogate",
    "word_task",
]
