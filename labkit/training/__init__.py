"""Training runs: presets, loop, checkpoints, queue; `large_batch_step` for loops of your own."""

from labkit.training.large_batch import large_batch_step

__all__ = ["large_batch_step"]
