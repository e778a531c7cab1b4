"""What the larger convolutional networks share: from images to features, pooling and embedding; frozen batch norms."""

from typing import Self

from torch import Tensor, nn

from labkit.models.checks import check_images
from labkit.models.layers import embedding, pooling


class Embedder(nn.Module):
    """Images in 0 … 1 to embeddings; a subclass makes the feature map and says how many channels it has."""

    channels: int
    freeze_bn = False

    def __init__(self, in_channels: int) -> None:
        """in_channels: 1 for grey images, 3 for colour."""
        super().__init__()
        self.in_channels = in_channels
        self.normalise: nn.Module = nn.Identity()

    def features(self, images: Tensor) -> Tensor:
        """The feature map (N, channels, H', W') of normalised images."""
        raise NotImplementedError

    def finish(
        self, dim: int, *, pool: str, neck: str, head: bool, freeze_bn: bool = False, extra: bool = False
    ) -> None:
        """Add what follows the feature map, as pooling() and embedding() say.

        freeze_bn: the batch norms of the feature map keep their statistics, scale and shift, whatever train() says.
        """
        self.freeze_bn = freeze_bn
        if freeze_bn:
            for norm in self._feature_norms():
                norm.eval().requires_grad_(False)
        self.pool = pooling(pool)
        self.embed = embedding(self.channels, dim, neck=neck, head=head, extra=extra)

    def forward(self, images: Tensor) -> Tensor:
        """Embeddings (N, dim) of images (N, in_channels, H, W)."""
        check_images(images, self.in_channels)
        embeddings: Tensor = self.embed(self.pool(self.features(self.normalise(images))))
        return embeddings

    def train(self, mode: bool = True) -> Self:
        """Training or evaluation mode; frozen batch norms stay in the latter."""
        super().train(mode)
        if self.freeze_bn:
            for norm in self._feature_norms():
                norm.eval()
        return self

    def _feature_norms(self) -> list[nn.BatchNorm2d]:
        """The batch norms of the feature map: those after the pooling are one-dimensional, so not among these."""
        return [module for module in self.modules() if isinstance(module, nn.BatchNorm2d)]
