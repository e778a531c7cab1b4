"""Vision transformers with the names of the public weights (timm's vit_base_patch32_224 and vit_base_patch16_224)."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from labkit.models.checks import check_images
from labkit.models.layers import Normalise, embedding
from labkit.models.weights import load_weights

SIDE = 224  # pixels
EPSILON = 1e-6  # of the layer norms


class Attention(nn.Module):
    """Every token looks at all tokens, in several heads."""

    def __init__(self, width: int, heads: int) -> None:
        """width is shared out among the heads."""
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, width) -> (N, T, width)."""
        n, tokens, width = x.shape
        q, k, v = self.qkv(x).reshape(n, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        seen: Tensor = F.scaled_dot_product_attention(q, k, v)
        mixed: Tensor = self.proj(seen.transpose(1, 2).reshape(n, tokens, width))
        return mixed


class Mlp(nn.Module):
    """Two layers at each token."""

    def __init__(self, width: int) -> None:
        """Four times the width in between."""
        super().__init__()
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, width) -> (N, T, width)."""
        result: Tensor = self.fc2(F.gelu(self.fc1(x)))
        return result


class Block(nn.Module):
    """Attention and layers, each after a norm and beside a shortcut."""

    def __init__(self, width: int, heads: int) -> None:
        """One of the transformer's layers."""
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=EPSILON)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = Mlp(width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, width) -> (N, T, width)."""
        x = x + self.attn(self.norm1(x))
        result: Tensor = x + self.mlp(self.norm2(x))
        return result


class Patches(nn.Module):
    """Squares of the image as tokens."""

    def __init__(self, patch: int, width: int) -> None:
        """patch: pixels of a side."""
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, stride=patch)

    def forward(self, images: Tensor) -> Tensor:
        """(N, 3, H, W) -> (N, T, width)."""
        tokens: Tensor = self.proj(images).flatten(2).transpose(1, 2)
        return tokens


class VisionTransformer(nn.Module):
    """Dosovitskiy et al. 2021; the embedding is made of the class token after the last norm."""

    def __init__(self, patch: int, width: int, depth: int, heads: int) -> None:
        """The network before its head."""
        super().__init__()
        self.normalise: nn.Module = nn.Identity()
        self.patch_embed = Patches(patch, width)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + (SIDE // patch) ** 2, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        self.embed: nn.Module = nn.Identity()
        for parameter in (self.cls_token, self.pos_embed):
            nn.init.trunc_normal_(parameter, std=0.02)

    def forward(self, images: Tensor) -> Tensor:
        """Embeddings (N, dim) of images (N, 3, 224, 224) in 0 … 1."""
        check_images(images, 3)
        if images.shape[-2:] != (SIDE, SIDE):
            raise ValueError(f"images must have {SIDE} × {SIDE} pixels for a ViT, got {tuple(images.shape[-2:])}")
        tokens = self.patch_embed(self.normalise(images))
        tokens = torch.cat([self.cls_token.expand(len(tokens), -1, -1), tokens], 1) + self.pos_embed
        embeddings: Tensor = self.embed(self.norm(self.blocks(tokens))[:, 0])
        return embeddings


def vit(dim: int, *, patch: int = 32, weights: str | Path | None = None, neck: str = "none") -> nn.Module:
    """ViT-B/32 or, with patch=16, ViT-B/16, for images of 224 pixels; without a head when dim is 768.

    weights: a file with the public ImageNet-21k weights of timm, .pth or .safetensors; its classifier is left out.
    """
    if patch not in (16, 32):
        raise ValueError(f"patch must be 16 or 32, got {patch!r}")
    network = VisionTransformer(patch, width=768, depth=12, heads=12)
    if weights is not None:  # before anything is added, so that the names must fit exactly
        load_weights(network, Path(weights), ignore="head.")
    network.normalise = Normalise((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    network.embed = embedding(768, dim, neck=neck, head=dim != 768)
    return network
