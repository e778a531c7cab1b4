"""The vision transformer against torch's own encoder, and its names against those of the public weights."""

import pytest
import torch
from torch import nn

from labkit import models


def public_names():
    """The names in timm's vit_base_patch32_224, in their order."""
    names = ["cls_token", "pos_embed", "patch_embed.proj.weight", "patch_embed.proj.bias"]
    for block in range(12):
        for part in ("norm1", "attn.qkv", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2"):
            names += [f"blocks.{block}.{part}.{entry}" for entry in ("weight", "bias")]
    return [*names, "norm.weight", "norm.bias", "head.weight", "head.bias"]


@pytest.mark.parametrize(("patch", "parameters"), [(32, 87_455_232), (16, 85_798_656)])
def test_it_has_the_public_names_and_numbers_of_parameters(patch, parameters):
    with torch.device("meta"):
        network = models.build("vit", 768, patch=patch)
    assert {*network.state_dict(), "head.weight", "head.bias"} == set(public_names())
    assert sum(p.numel() for p in network.parameters()) == parameters


def test_it_is_torchs_encoder_with_the_same_weights(tmp_path):
    torch.manual_seed(0)
    own = models.build("vit", 768)
    state = {name: 0.05 * torch.randn_like(value) for name, value in own.state_dict().items()}
    torch.save(state | {"head.weight": torch.zeros(3, 768), "head.bias": torch.zeros(3)}, tmp_path / "vit.pth")
    own = models.build("vit", 768, weights=tmp_path / "vit.pth").eval()
    layer = nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", 1e-6, batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(layer, 12, nn.LayerNorm(768, eps=1e-6), enable_nested_tensor=False)
    named = {"attn.qkv.weight": "self_attn.in_proj_weight", "attn.qkv.bias": "self_attn.in_proj_bias"}
    named |= {f"attn.proj.{e}": f"self_attn.out_proj.{e}" for e in ("weight", "bias")}
    named |= {f"mlp.fc{n}.{e}": f"linear{n}.{e}" for n in (1, 2) for e in ("weight", "bias")}
    named |= {f"norm{n}.{e}": f"norm{n}.{e}" for n in (1, 2) for e in ("weight", "bias")}
    theirs = {f"norm.{e}": state[f"norm.{e}"] for e in ("weight", "bias")}
    for block in range(12):
        theirs |= {f"layers.{block}.{new}": state[f"blocks.{block}.{old}"] for old, new in named.items()}
    encoder.load_state_dict(theirs)
    encoder.eval()
    x = torch.rand(1, 3, 224, 224)
    with torch.no_grad():
        squares = nn.functional.unfold(2 * x - 1, 32, stride=32).transpose(1, 2)  # (1, 49, 3 · 32 · 32)
        weight, bias = (state[f"patch_embed.proj.{e}"] for e in ("weight", "bias"))
        tokens = squares @ weight.flatten(1).T + bias
        tokens = torch.cat([state["cls_token"], tokens], 1) + state["pos_embed"]
        assert torch.allclose(own(x), encoder(tokens)[:, 0], rtol=1e-4, atol=1e-4)


def test_bad_sizes_and_weights_are_refused(tmp_path):
    with pytest.raises(ValueError, match="patch must be 16 or 32, got 8"):
        models.build("vit", 64, patch=8)
    with torch.device("meta"):
        network = models.build("vit", 64)
    with pytest.raises(ValueError, match="images must have 224 × 224 pixels"):
        network(torch.rand(2, 3, 64, 64, device="meta"))
    torch.save({"cls_token": torch.zeros(1, 1, 768)}, tmp_path / "other.pth")
    with pytest.raises(ValueError, match="does not fit this network"):
        models.build("vit", 64, weights=tmp_path / "other.pth")
