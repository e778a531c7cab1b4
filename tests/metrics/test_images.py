import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.metrics.images import ms_ssim, psnr, ssim

F64 = torch.float64
SIZES = [(1, 1, 161, 161), (2, 3, 176, 192), (1, 3, 201, 163)]  # the smallest, even, odd


def gauss(size=11, sigma=1.5):
    weights = torch.exp(-((torch.arange(size, dtype=F64) - size // 2) ** 2) / (2 * sigma**2))
    return weights / weights.sum()


def picture(shape, seed):
    """Smooth shapes with an edge and a flat bright corner, values in 0..1."""
    generator = torch.Generator().manual_seed(seed)
    height, width = shape[-2:]
    rows, columns = torch.linspace(0, 6, height, dtype=F64)[:, None], torch.linspace(0, 9, width, dtype=F64)
    phases = 6 * torch.rand(*shape[:2], 1, 1, generator=generator, dtype=F64)
    image = 0.5 + 0.3 * torch.sin(rows * columns / 4 + phases) + 0.2 * (rows + columns > 7)
    image[..., : height // 3, : width // 3] = 0.97
    return image.clamp(0, 1)


def noisy(image, amount, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return (image + amount * torch.randn(image.shape, generator=generator, dtype=F64)).clamp(0, 1)


def slide_ssim(x, y, size, sigma):
    """The slide's formula for one channel, window by window."""
    weights = gauss(size, sigma)
    window = weights[:, None] * weights
    c1, c2 = 0.01**2, 0.03**2
    values = []
    for i in range(x.shape[0] - size + 1):
        for j in range(x.shape[1] - size + 1):
            a, b = x[i : i + size, j : j + size], y[i : i + size, j : j + size]
            mu_a, mu_b = (window * a).sum(), (window * b).sum()
            var_a, var_b = (window * (a - mu_a) ** 2).sum(), (window * (b - mu_b) ** 2).sum()
            cov = (window * (a - mu_a) * (b - mu_b)).sum()
            above = (2 * mu_a * mu_b + c1) * (2 * cov + c2)
            values.append(above / ((mu_a**2 + mu_b**2 + c1) * (var_a + var_b + c2)))
    return torch.stack(values).mean()


@pytest.mark.parametrize(("size", "sigma"), [(11, 1.5), (7, 1.0), (1, 1.5)])
def test_ssim_is_the_formula_of_the_slide(size, sigma):
    x = picture((1, 1, 15, 17), 0)
    for amount in (0.01, 0.2, 1.0):
        y = noisy(x, amount)
        expected = slide_ssim(x[0, 0], y[0, 0], size, sigma)
        found = ssim(x, y, window_size=size, sigma=sigma)[0]
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)
        scaled = ssim(255 * x, 255 * y, data_range=255, window_size=size, sigma=sigma)[0]
        torch.testing.assert_close(scaled, expected, rtol=0, atol=1e-13)


@pytest.mark.peer
@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("amount", [0.002, 0.05, 0.5])
def test_agrees_with_pytorch_msssim(shape, amount):
    import pytorch_msssim

    x = picture(shape, 2)
    y = noisy(x, amount)
    win = gauss().view(1, 1, 1, -1).repeat(shape[1], 1, 1, 1)  # its own window is only float32
    for ours, theirs in ((ssim, pytorch_msssim.ssim), (ms_ssim, pytorch_msssim.ms_ssim)):
        exact = theirs(x, y, data_range=1.0, size_average=False, win=win)
        torch.testing.assert_close(ours(x, y), exact, rtol=0, atol=1e-12)
        torch.testing.assert_close(ours(x.float(), y.float()).double(), exact, rtol=0, atol=1e-6)
        single = theirs(x.float(), y.float(), data_range=1.0, size_average=False)
        torch.testing.assert_close(ours(x.float(), y.float()), single, rtol=0, atol=5e-5)  # its cancellation, not ours


@pytest.mark.peer
def test_agrees_with_scikit_image():
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    x = picture((3, 3, 64, 80), 3)
    for amount in (0.002, 0.05, 0.5):
        y = noisy(x, amount)
        options = {"gaussian_weights": True, "use_sample_covariance": False, "sigma": 1.5, "channel_axis": 0}
        pairs = list(zip(x.numpy(), y.numpy()))
        # scikit-image filters with reflected borders, then averages without them: the same windows as here.
        expected = torch.tensor([structural_similarity(a, b, data_range=1.0, **options) for a, b in pairs], dtype=F64)
        torch.testing.assert_close(ssim(x, y), expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(ssim(x.float(), y.float()), expected.float(), rtol=0, atol=3e-6)
        expected = torch.tensor([peak_signal_noise_ratio(a, b, data_range=1.0) for a, b in pairs], dtype=F64)
        torch.testing.assert_close(psnr(x, y), expected, rtol=1e-12, atol=0)
        torch.testing.assert_close(psnr(255 * x, 255 * y, data_range=255), expected, rtol=1e-12, atol=0)


def test_float32_does_not_cancel():
    x = 0.95 + 0.001 * picture((1, 1, 170, 170), 4)
    y = x + 0.02 * picture((1, 1, 170, 170), 5)
    for metric in (ssim, ms_ssim):
        assert abs(metric(x.float(), y.float()).item() - metric(x, y).item()) < 1e-6


def test_psnr_by_hand():
    x = torch.zeros(2, 1, 2, 2, dtype=F64)
    y = torch.stack((torch.full((1, 2, 2), 0.1, dtype=F64), torch.zeros(1, 2, 2, dtype=F64)))
    found = psnr(x, y)
    assert found[0].item() == pytest.approx(20.0)
    assert found[1].item() == math.inf


def test_gradcheck():
    x = picture((2, 2, 8, 9), 6).requires_grad_()
    y = noisy(x.detach(), 0.1).requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: ssim(a, b, window_size=5), (x, y))
    assert torch.autograd.gradcheck(psnr, (x, y))
    small = picture((1, 1, 23, 21), 7).requires_grad_()
    other = noisy(small.detach(), 0.1)
    assert torch.autograd.gradcheck(lambda a: ms_ssim(a, other, weights=(0.4, 0.6)), (small,), fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda a: ssim(a, y.detach(), window_size=5), (x,), fast_mode=True)


@pytest.mark.peer
def test_gradient_agrees_with_pytorch_msssim():
    import pytorch_msssim

    x = picture(SIZES[2], 8).requires_grad_()
    y = noisy(x.detach(), 0.1)
    win = gauss().view(1, 1, 1, -1).repeat(3, 1, 1, 1)
    for ours, theirs in ((ssim, pytorch_msssim.ssim), (ms_ssim, pytorch_msssim.ms_ssim)):
        (expected,) = torch.autograd.grad(theirs(x, y, data_range=1.0, win=win), x)
        torch.testing.assert_close(torch.autograd.grad(ours(x, y).sum(), x)[0], expected, rtol=1e-8, atol=1e-12)


@pytest.mark.peer
def test_negative_contrast_scores_zero_with_finite_gradient():
    import pytorch_msssim

    x = picture((2, 1, 161, 170), 9).float().requires_grad_()
    y = torch.cat((1 - x[:1], 0.9 * x[1:])).detach()  # a negative, and a darker copy
    found = ms_ssim(x, y)
    expected = pytorch_msssim.ms_ssim(x, y, data_range=1.0, size_average=False)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    assert found[0] == 0 < found[1] < 1
    (slope,) = torch.autograd.grad(found.sum(), x)
    assert torch.isfinite(slope).all()
    assert (slope[0] == 0).all()
    assert (slope[1] != 0).any()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 2.0), st.sampled_from([torch.float32, F64]), st.booleans())
def test_symmetric_at_most_one_and_one_for_equal_images(seed, amount, dtype, two_scales):
    def metric(a, b):
        return ms_ssim(a, b, weights=(0.5, 0.5)) if two_scales else ssim(a, b)

    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2, 2, 21, 24, generator=generator, dtype=F64).to(dtype)
    y = x + amount * torch.randn(2, 2, 21, 24, generator=generator, dtype=F64).to(dtype)
    found = metric(x, y)
    assert found.shape == (2,)
    assert (found <= 1).all()
    assert (found >= -1).all()
    torch.testing.assert_close(found, metric(y, x), rtol=0, atol=1e-12 if dtype == F64 else 1e-6)
    assert (metric(x, x) == 1).all()
    torch.testing.assert_close(psnr(x, y), psnr(y, x))


def test_images_do_not_mix_and_devices_and_dtypes():
    x = picture((3, 2, 161, 165), 10).float()
    y = noisy(x.double(), 0.1).float()
    for metric in (psnr, ssim, ms_ssim):
        found = metric(x, y)
        torch.testing.assert_close(found, torch.cat([metric(a[None], b[None]) for a, b in zip(x, y)]))
        assert metric(x, y.double()).dtype == F64
        half = metric(x.bfloat16(), y.bfloat16())
        assert half.dtype == torch.float32
        assert torch.equal(half, metric(x.bfloat16().float(), y.bfloat16().float()))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(metric(x, y), found)
        meta = x.to("meta").requires_grad_()
        metric(meta, y.to("meta")).sum().backward()
        assert meta.grad is not None
        assert metric(x[..., ::1].transpose(2, 3), y.transpose(2, 3)).shape == (3,)  # not contiguous


@pytest.mark.parametrize("metric", [psnr, ssim, ms_ssim])
def test_bad_input_names_the_argument(metric):
    good = torch.rand(1, 1, 170, 170)
    bad_ones = [
        (good[0], r"\(N, C, H, W\)"),
        (good[:0], "none of them empty"),
        ((255 * good).to(torch.uint8), "floating-point dtype"),
        (good * math.nan, "NaN"),
        (None, "torch.Tensor"),
    ]
    for bad, message in bad_ones:
        with pytest.raises(ValueError, match=rf"^x .*{message}"):
            metric(bad, good)
        with pytest.raises(ValueError, match=rf"^y .*{message}"):
            metric(good, bad)
    with pytest.raises(ValueError, match="y must have the shape of x"):
        metric(good, good.expand(1, 3, 170, 170))
    with pytest.raises(ValueError, match="data_range"):
        metric(good, good, data_range=0)


def test_bad_sizes_and_settings_name_the_argument():
    small = torch.rand(1, 1, 160, 300)
    with pytest.raises(ValueError, match="x must be at least 161 pixels"):
        ms_ssim(small, small)
    assert ms_ssim(small, small, weights=(0.2, 0.3, 0.3, 0.2)).item() == 1
    with pytest.raises(ValueError, match="x must be at least 11 pixels"):
        ssim(small[:, :, :10], small[:, :, :10])
    for size in (0, 4, 5.0, True):
        with pytest.raises(ValueError, match="window_size"):
            ssim(small, small, window_size=size)
    with pytest.raises(ValueError, match="sigma"):
        ssim(small, small, sigma=0.0)
    for weights in ((), (0.5, -0.1), (0.5, math.nan)):
        with pytest.raises(ValueError, match="weights"):
            ms_ssim(small, small, weights=weights)
