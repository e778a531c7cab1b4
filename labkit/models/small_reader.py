"""A reader of words small enough for a CPU: a picture goes in, a distribution over symbols for every slot comes out."""

import torch
from torch import Tensor, nn

from labkit.base.checks import check_count

HEIGHT, WIDTH = 32, 100
FRAMES = WIDTH // 4  # columns of features, left to right


class SmallReader(nn.Module):
    """Convolutions shrink the picture to 25 columns; every slot looks where it has learned to look and names a symbol.

    281,125 weights with ten slots, 27 symbols and the default width. No item sees the others of its batch, so batches
    of any size give the same answers, and a picture without contrast is read as well as noise is, never as NaN.
    """

    def __init__(self, slots: int, symbols: int, *, width: int = 96) -> None:
        """slots: the most letters a word may have, and one more if its end should be said; symbols: end and letters."""
        super().__init__()
        for name, value in (("slots", slots), ("symbols", symbols), ("width", width)):
            check_count(name, value)
        if width % 16:
            raise ValueError(f"width must be a multiple of 16, got {width}")
        few, some, many = width // 4, width // 2, width
        self.see = nn.Sequential(
            nn.Conv2d(1, few, 3, stride=2, padding=1),
            nn.GroupNorm(4, few),
            nn.ReLU(),
            nn.Conv2d(few, some, 3, stride=2, padding=1),
            nn.GroupNorm(4, some),
            nn.ReLU(),
            nn.Conv2d(some, many, 3, padding=1),
            nn.MaxPool2d((2, 1)),
            nn.GroupNorm(8, many),
            nn.ReLU(),
            nn.Conv2d(many, many, 3, padding=1),
            nn.MaxPool2d((4, 1)),
            nn.GroupNorm(8, many),
            nn.ReLU(),
        )
        # 29 columns wide, more than there are: to know which letter a column belongs to, those before must be counted
        self.count = nn.ModuleList(
            nn.Sequential(nn.Conv1d(many, many, 5, padding=2 * far, dilation=far), nn.GroupNorm(8, many), nn.ReLU())
            for far in (1, 2, 4)
        )
        self.place = nn.Parameter(torch.randn(many, FRAMES) * 0.1)
        self.ask = nn.Parameter(torch.randn(slots, many) * many**-0.5)
        self.lean = nn.Parameter(first_guess(slots))
        self.name = nn.Linear(many, symbols)

    def forward(self, images: Tensor) -> Tensor:
        """Logits (B, slots, symbols) of pictures (B, 1, 32, 100) in 0…1."""
        if images.dim() != 4 or images.shape[1:] != (1, HEIGHT, WIDTH) or not images.is_floating_point():
            raise ValueError(
                f"images must be floats (B, 1, {HEIGHT}, {WIDTH}), got {tuple(images.shape)} {images.dtype}"
            )
        mean = images.mean((1, 2, 3), keepdim=True)
        spread = (images - mean).square().mean((1, 2, 3), keepdim=True)
        columns = self.see((images - mean) / (spread + 1e-4).sqrt())[:, :, 0] + self.place
        for layer in self.count:
            columns = columns + layer(columns)
        look = (self.ask @ columns + self.lean).softmax(-1)  # (B, slots, columns)
        logits: Tensor = self.name(look @ columns.transpose(1, 2))
        return logits


def first_guess(slots: int) -> Tensor:
    """Where slots look before they have learned: from left to right, as if a word had seven letters, (slots, columns).

    Without it all slots look everywhere, and which of them reads which letter must first be settled by chance.
    """
    centre = (torch.arange(slots) + 0.5) * FRAMES / 7
    columns = torch.arange(FRAMES) + 0.5
    return -(columns - centre[:, None].clamp(max=FRAMES)).square() / (2 * (FRAMES / 7) ** 2)
