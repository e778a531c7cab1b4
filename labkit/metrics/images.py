"""Likeness of two images: PSNR, SSIM and MS-SSIM, one value per image, differentiable by autograd.

Only elementwise operations and shifted sums are used (no convolution), so neither autocast nor TF32 can lower the
precision, and every device gives the same value.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad

from labkit.base.checks import check_positive
from labkit.base.tensors import HALF_DTYPES, has_values

K1, K2 = 0.01, 0.03  # of the SSIM paper: c_1 = (K1 data_range)^2, c_2 = (K2 data_range)^2
WINDOW_SIZE, SIGMA = 11, 1.5
MS_SSIM_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)  # finest scale first, Wang et al. 2003


def _check_images(x: Tensor, y: Tensor, data_range: float, smallest: int = 1) -> tuple[Tensor, Tensor]:
    """Both images at one dtype, at least float32, or a ValueError that names the argument."""
    for name, value in (("x", x), ("y", y)):
        if not isinstance(value, Tensor):
            raise ValueError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
        if not value.is_floating_point():
            raise ValueError(f"{name} must have a floating-point dtype, got {value.dtype}")
        if value.dim() != 4 or 0 in value.shape:
            raise ValueError(
                f"{name} must hold images (N, C, H, W), none of them empty, got shape {tuple(value.shape)}"
            )
        if min(value.shape[-2:]) < smallest:
            raise ValueError(
                f"{name} must be at least {smallest} pixels high and wide for this window and number of scales, "
                f"got {value.shape[-2]} x {value.shape[-1]}"
            )
        if has_values(value) and not torch.isfinite(value).all():
            raise ValueError(f"{name} contains NaN or infinite values")
    if x.shape != y.shape:
        raise ValueError(f"y must have the shape of x, {tuple(x.shape)}, got {tuple(y.shape)}")
    check_positive("data_range", data_range)
    dtype = torch.promote_types(x.dtype, y.dtype)
    dtype = torch.float32 if dtype in HALF_DTYPES else dtype
    return x.to(dtype), y.to(dtype)


def psnr(x: Tensor, y: Tensor, data_range: float = 1.0) -> Tensor:
    """Measure the peak signal-to-noise ratio of each image pair in decibels; higher is better, equal images give +inf.

    PSNR = 10 log10(data_range^2 / MSE),  MSE = mean of (x - y)^2 over channels and pixels

    Slides, "Peak Signal to Noise Ratio". x and y are (N, C, H, W), the result is (N,), float32 for half inputs. The
    gradient at equal images is not defined.
    """
    x, y = _check_images(x, y, data_range)
    mse = ((x - y) / data_range).square().mean((1, 2, 3))
    return -10 * torch.log10(mse)


def _window(size: int, sigma: float) -> list[float]:
    """The weights of a Gaussian window, which sum to 1."""
    positions = torch.arange(size, dtype=torch.float64) - (size - 1) / 2
    weights = torch.exp(-positions.square() / (2 * sigma**2))
    return (weights / weights.sum()).tolist()


class _ShiftedSum(torch.autograd.Function):
    """sum_k window[k] maps[k : k + length] along one dimension, for a symmetric window.

    Autograd would keep and add up one full-sized gradient per shift; the gradient is the same sum, of padded maps.
    """

    @staticmethod
    def forward(ctx: Any, maps: Tensor, window: list[float], dim: int) -> Tensor:
        ctx.window, ctx.dim = window, dim
        length = maps.shape[dim] - len(window) + 1
        total = maps.narrow(dim, 0, length) * window[0]
        for shift, weight in enumerate(window[1:], start=1):
            total.add_(maps.narrow(dim, shift, length), alpha=weight)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        border = [len(ctx.window) - 1] * 2
        padded = pad(grads[0], border if ctx.dim == -1 else [0, 0, *border])
        return _ShiftedSum.apply(padded, ctx.window, ctx.dim), None, None


def _blur(maps: Tensor, window: list[float]) -> Tensor:
    """Weighted mean over each square window that lies wholly inside: each side shrinks by the window's size - 1."""
    blurred: Tensor = _ShiftedSum.apply(_ShiftedSum.apply(maps, window, -2), window, -1)
    return blurred


def _ssim_parts(x: Tensor, y: Tensor, window: list[float]) -> tuple[Tensor, Tensor]:
    """Mean SSIM and mean contrast-structure term per image and channel, each (N, C), of images with data range 1.

    The textbook variance E[x^2] - mu^2 cancels in float32: on a flat bright region its rounding error is a visible part
    of c_2. Two rearrangements, equal in exact arithmetic, avoid that:
    (2 mu_x mu_y + c_1) / (mu_x^2 + mu_y^2 + c_1) = 1 - (mu_x - mu_y)^2 / (mu_x^2 + mu_y^2 + c_1)
    (2 s_xy + c_2) / (s_x^2 + s_y^2 + c_2)        = 1 - var(x - y) / (s_x^2 + s_y^2 + c_2)
    and variances are taken of images from which their mean has been subtracted. Equal images give exactly 1.
    """
    mean_x, mean_y = (image.mean((-2, -1), keepdim=True).detach() for image in (x, y))
    x, y = x - mean_x, y - mean_y
    mu_x, mu_y, energy, gap = _blur(torch.stack((x, y, x.square() + y.square(), (x - y).square())), window)
    mu_gap = mu_x - mu_y
    gap_variance = (gap - mu_gap.square()).clamp(min=0)  # below 0 only by rounding; so SSIM is never above 1
    contrast = 1 - gap_variance / (energy - mu_x.square() - mu_y.square() + K2**2)
    mu_x, mu_y, mu_gap = mu_x + mean_x, mu_y + mean_y, mu_gap + (mean_x - mean_y)
    luminance = 1 - mu_gap.square() / (mu_x.square() + mu_y.square() + K1**2)
    return (luminance * contrast).mean((-2, -1)), contrast.mean((-2, -1))


def _check_window(window_size: int, sigma: float) -> None:
    if isinstance(window_size, bool) or not isinstance(window_size, int) or window_size < 1 or window_size % 2 == 0:
        raise ValueError(f"window_size must be an odd whole number, 1 or above, got {window_size!r}")
    check_positive("sigma", sigma)


def ssim(x: Tensor, y: Tensor, data_range: float = 1.0, window_size: int = WINDOW_SIZE, sigma: float = SIGMA) -> Tensor:
    """Compare means, variances and covariance of two images in every window: the structural similarity, at most 1.

    SSIM = mean over windows of (2 mu_x mu_y + c_1)(2 s_xy + c_2) / ((mu_x^2 + mu_y^2 + c_1)(s_x^2 + s_y^2 + c_2))

    Slides, "Multi-scale Structural Similarity"; Wang et al. (2004), c_i = (K_i data_range)^2, K_1 = .01, K_2 = .03.
    Gaussian windows that lie wholly inside the image. x and y are (N, C, H, W), the result is the mean over channels,
    (N,), float32 for half inputs.
    """
    _check_window(window_size, sigma)
    x, y = _check_images(x, y, data_range, smallest=window_size)
    return _ssim_parts(x / data_range, y / data_range, _window(window_size, sigma))[0].mean(1)


def ms_ssim(x: Tensor, y: Tensor, data_range: float = 1.0, weights: Sequence[float] = MS_SSIM_WEIGHTS) -> Tensor:
    """Multiply the contrast-structure terms of SSIM over halved scales, and the whole SSIM of the coarsest; at most 1.

    MS-SSIM = (SSIM_S)+^w_S times the product over s < S of (cs_s)+^w_s;  scale s + 1 is the 2 x 2 mean of scale s

    Slides, "Multi-scale Structural Similarity"; Wang, Simoncelli and Bovik (2003); window 11, sigma 1.5. As in the
    pytorch-msssim package, negative terms count as 0 (score 0, gradient 0), odd sides are padded with a line of zeros
    at both ends before halving, and scores are averaged over channels last. The smaller side must exceed
    10 * 2^(S - 1): at least 161 pixels for the five default weights. x and y are (N, C, H, W), the result is (N,),
    float32 for half inputs.
    """
    levels = len(weights)
    if levels == 0:
        raise ValueError("weights must hold one number per scale, at least one")
    for weight in weights:
        check_positive("weights", weight)
    x, y = _check_images(x, y, data_range, smallest=(WINDOW_SIZE - 1) * 2 ** (levels - 1) + 1)
    x, y = x / data_range, y / data_range
    window = _window(WINDOW_SIZE, SIGMA)
    score = torch.ones_like(x[:, :, 0, 0])
    for weight in weights[:-1]:
        score = score * torch.relu(_ssim_parts(x, y, window)[1]) ** weight
        odd = [side % 2 for side in x.shape[-2:]]
        x, y = avg_pool2d(x, 2, padding=odd), avg_pool2d(y, 2, padding=odd)
    score = score * torch.relu(_ssim_parts(x, y, window)[0]) ** weights[-1]
    return score.mean(1)
