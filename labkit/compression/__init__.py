"""Perceptual compression: codecs and honest rates, metrics beside people's judgements, a learned codec."""

from labkit.compression.codecs import CODECS, available, bits_per_pixel, codec_of, decode, encode
from labkit.compression.pictures import Picture, read_picture

__all__ = ["CODECS", "Picture", "available", "bits_per_pixel", "codec_of", "decode", "encode", "read_picture"]
