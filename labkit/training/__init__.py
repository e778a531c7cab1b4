"""Training: large batches in two passes."""

from labkit.training.large_batch import large_batch_step

__all__ = ["large_batch_step"]
