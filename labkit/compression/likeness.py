"""Likeness of two pictures, uint8 H × W × 3, by labkit's own metrics."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from labkit.metrics import ms_ssim, psnr


def batch_of(image: np.ndarray) -> Tensor:
    """A picture as (1, 3, H, W) in 0 … 1, float64: metrics of equal pictures are exact."""
    return torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1)[None].double() / 255


def likeness(reference: np.ndarray, image: np.ndarray) -> tuple[float, float]:
    """PSNR over all channels, in dB, and MS-SSIM as the mean of the channels, as papers on learned codecs do."""
    x, y = batch_of(reference), batch_of(image)
    return float(psnr(x, y)), float(ms_ssim(x, y))
