"""labkit: train on what you measure. Losses and metrics for what is not differentiable, and lessons about them."""

__version__ = "0.1.0"
