"""Image files to tensors the papers' way, with Pillow: resize to 256, crop 224, flip in training, centre crop in tests.

PNP says that it crops at random after resizing, SGSL that it resizes and crops ("random_crop"), MPA that it resizes at
random while cropping ("random_resized_crop"); the released code of PNP and RS@k does the latter by default, with areas
from 8 % upwards. All three texts say "resized to 256 × 256", while that code makes the shorter side 256 and keeps the
proportions: so do these functions. Like that code, they ignore the orientation noted in EXIF data.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from labkit.base.checks import check_choice
from labkit.data.files import DataError
from labkit.data.samplers import generator

if TYPE_CHECKING:
    from PIL.Image import Image

HOW = ("random_crop", "random_resized_crop")
RATIOS = (3 / 4, 4 / 3)  # least and greatest width / height of a random resized crop
ATTEMPTS = 10


def load_image(path: str | os.PathLike[str]) -> Image:
    """The image of a file in RGB, as stored: its EXIF orientation is ignored."""
    from PIL import Image

    try:
        with Image.open(path) as opened:
            return opened.convert("RGB")
    except Exception as error:  # for damaged files Pillow raises OSError, SyntaxError, ValueError and others
        raise DataError(f"{path} cannot be read as an image ({error}). Unpack it anew from its archive.") from None


def random_crop(image: Image, rng: torch.Generator, *, resize: int = 256, crop: int = 224) -> Image:
    """A square of `crop` pixels from anywhere in the image, whose shorter side is first made `resize` pixels."""
    check_sizes(resize, crop)
    image = resize_shorter(image, resize)
    left = draw_below(image.width - crop + 1, rng)
    top = draw_below(image.height - crop + 1, rng)
    return image.crop((left, top, left + crop, top + crop))


def random_resized_crop(image: Image, rng: torch.Generator, *, crop: int = 224, min_scale: float = 0.08) -> Image:
    """A rectangle of random area (from the share min_scale on) and proportions, resized to `crop` × `crop` pixels.

    Where no rectangle drawn fits after ten attempts, the largest central one with proportions allowed is taken.
    """
    check_sizes(crop, crop)
    if not 0 < min_scale <= 1:
        raise ValueError(f"min_scale must be a share of the image's area, above 0 and at most 1; got {min_scale!r}")
    least, greatest = RATIOS
    for _ in range(ATTEMPTS):
        area = image.width * image.height * draw_between(min_scale, 1, rng)
        ratio = math.exp(draw_between(math.log(least), math.log(greatest), rng))
        width, height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < width <= image.width and 0 < height <= image.height:
            left, top = draw_below(image.width - width + 1, rng), draw_below(image.height - height + 1, rng)
            break
    else:
        width = min(image.width, max(1, round(image.height * greatest)))
        height = min(image.height, max(1, round(image.width / least)))
        left, top = (image.width - width) // 2, (image.height - height) // 2
    return resize_to(image.crop((left, top, left + width, top + height)), crop, crop)


def train_transform(
    image: Image,
    rng: torch.Generator,
    *,
    how: str = "random_crop",
    resize: int = 256,
    crop: int = 224,
    min_scale: float = 0.08,
) -> Tensor:
    """A random crop, mirrored every other time: uint8 (3, crop, crop). All randomness comes from the generator.

    resize counts for how="random_crop" alone, min_scale for "random_resized_crop".
    """
    from PIL import ImageOps

    check_choice("how", how, HOW)
    if how == "random_crop":
        image = random_crop(image, rng, resize=resize, crop=crop)
    else:
        image = random_resized_crop(image, rng, crop=crop, min_scale=min_scale)
    return to_tensor(ImageOps.mirror(image) if draw_below(2, rng) else image)


def test_transform(image: Image, resize: int = 256, crop: int = 224) -> Tensor:  # noqa: PT028 (it is not a test)
    """The centre of the image, whose shorter side is first made `resize` pixels: uint8 (3, crop, crop)."""
    check_sizes(resize, crop)
    image = resize_shorter(image, resize)
    left, top = round((image.width - crop) / 2), round((image.height - crop) / 2)
    return to_tensor(image.crop((left, top, left + crop, top + crop)))


class FileImages(torch.utils.data.Dataset[Tensor]):
    """Image files for a DataLoader: `images[seed_step, index]` is the file at index, uint8 (3, crop, crop).

    In training the transform's random numbers depend on seed_step and index alone, so a resumed run and any number of
    workers see the same crops; seed_step is one number for the run's seed and step. Tests ignore it.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        train: bool,
        resize: int = 256,
        crop: int = 224,
        how: str = "random_crop",
    ) -> None:
        """Files are opened when asked for."""
        check_sizes(resize, crop)
        check_choice("how", how, HOW)
        self.paths = paths
        self.train = train
        self.resize = resize
        self.crop = crop
        self.how = how

    def __len__(self) -> int:
        """Number of files."""
        return len(self.paths)

    def __getitem__(self, key: tuple[int, int]) -> Tensor:
        """The image for the key (seed_step, index)."""
        seed_step, index = key
        image = load_image(self.paths[index])
        if not self.train:
            return test_transform(image, resize=self.resize, crop=self.crop)
        return train_transform(image, generator(seed_step, index), how=self.how, resize=self.resize, crop=self.crop)


def check_sizes(resize: int, crop: int) -> None:
    """Sizes in pixels, of which the crop must fit."""
    for name, value in (("resize", resize), ("crop", crop)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be a whole number of pixels, 1 or above; got {value!r}")
    if crop > resize:
        raise ValueError(f"crop must be at most resize ({resize} pixels); got {crop}")


def resize_shorter(image: Image, size: int) -> Image:
    """The image with its shorter side made `size` pixels and its proportions kept, the longer side rounded down."""
    shorter = min(image.size)
    return resize_to(image, size * image.width // shorter, size * image.height // shorter)


def resize_to(image: Image, width: int, height: int) -> Image:
    """Bilinear, averaging over the pixels that become one, as Pillow does when it makes an image smaller."""
    from PIL import Image

    return image.resize((width, height), Image.Resampling.BILINEAR)


def to_tensor(image: Image) -> Tensor:
    """Pixels as uint8 (3, height, width)."""
    return torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous()


def draw_below(end: int, rng: torch.Generator) -> int:
    """A whole number from 0 to end - 1."""
    return int(torch.randint(end, (), generator=rng))


def draw_between(low: float, high: float, rng: torch.Generator) -> float:
    """A number from low to high."""
    return low + (high - low) * float(torch.rand((), generator=rng))
