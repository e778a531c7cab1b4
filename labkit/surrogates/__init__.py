"""Training on metrics that have no useful gradient: by a learned surrogate, by a smooth programme, by sampling."""

from labkit.surrogates.soft_distance import soft_edit_distance
from labkit.surrogates.words import END, decode_words, encode_words

__all__ = ["END", "decode_words", "encode_words", "soft_edit_distance"]
