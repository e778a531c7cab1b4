"""One step of training the learned codec; all that is random depends on (seed, step)."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from labkit.compression.codec_config import CodecConfig
from labkit.compression.network import DOWN, LAMBDAS, Network
from labkit.data.photographs import Photographs, photographs
from labkit.data.samplers import generator
from labkit.metrics import ms_ssim
from labkit.training.state import State, build_optimizer, read_checkpoint

DRAWS = 31  # the stream of random numbers that crops, rates and noise are drawn by
AVERAGE = 0.999  # of the weights that are measured and written: a running mean over about a thousand steps


def build_state(config: CodecConfig, seed: int, device: torch.device) -> State:
    """The network, and in the place of a loss's own weights the running mean of its weights."""
    torch.manual_seed(seed)
    network, mean = Network(config.sizes()), Network(config.sizes())
    if config.data["start"]:
        network.load_state_dict(weights_of(Path(config.data["start"])))
    mean.load_state_dict(network.state_dict())
    network, mean = network.to(device), mean.to(device).requires_grad_(False)
    return State(network, network, mean, build_optimizer(network, mean, config.optimizer, device), None, device)


def weights_of(run: Path) -> dict[str, Tensor]:
    """The running mean of the weights that a run trained."""
    path = run / "checkpoints" / "last.safetensors"
    if not path.is_file():
        raise ValueError(f"{run} holds no trained codec (no {path.name} in its checkpoints)")
    tensors, _ = read_checkpoint(path.read_bytes(), run)
    return {name.removeprefix("loss."): tensor for name, tensor in tensors.items() if name.startswith("loss.")}


def training_photographs() -> tuple[Photographs, ...]:
    """BSDS500's parts for training; its test part is for validation, Kodak for the test."""
    return photographs("bsds500 train"), photographs("bsds500 val")


def crops(config: CodecConfig, draw: torch.Generator) -> Tensor:
    """Pieces of photographs (B, 3, crop, crop) in 0 … 1, at random places, mirrored and turned at random."""
    pictures = [image for part in training_photographs() for image in part.images]
    size, pieces = config.data["crop"], []
    for _ in range(config.batch.size):
        number, turns, mirrored = (int(torch.randint(n, (), generator=draw)) for n in (len(pictures), 4, 2))
        image = pictures[number]
        top, left = (int(torch.randint(side - size + 1, (), generator=draw)) for side in image.shape[:2])
        piece = torch.from_numpy(image[top : top + size, left : left + size]).permute(2, 0, 1)
        piece = torch.rot90(piece, turns, (1, 2))
        pieces.append(piece.flip(2) if mirrored else piece)
    return torch.stack(pieces) / 255


def train_step(state: State, config: CodecConfig, seed: int) -> dict[str, Tensor]:
    """Change the weights once, and their running mean."""
    draw = generator(seed, state.progress.step, DRAWS)
    images = crops(config, draw).to(state.device)
    sizes, side, count = config.sizes(), config.data["crop"], config.batch.size
    # rates spread evenly, so that no batch is all of one kind
    level = (torch.arange(count) + torch.rand(count, generator=draw)) / count * (len(LAMBDAS) - 1)
    noise = tuple(
        (torch.rand(count, channels, side // down, side // down, generator=draw) - 0.5).to(state.device)
        for channels, down in ((sizes.latent, 16), (sizes.hyper, DOWN))
    )
    decoded, bits = state.model(images, level.to(state.device), noise)
    found = objective(config, images, decoded, bits, level.to(state.device))
    state.optimizer.zero_grad(set_to_none=True)
    found["loss"].backward()
    if config.optimizer.clip:
        nn.utils.clip_grad_norm_(state.model.parameters(), config.optimizer.clip)
    state.optimizer.step()
    with torch.no_grad():
        share = min(AVERAGE, (state.progress.step + 1) / (state.progress.step + 10))  # soon rid of the first weights
        for mean, now in zip(state.loss.parameters(), state.module.parameters()):
            mean.lerp_(now, 1 - share)
    return {name: value.detach() for name, value in found.items()}


def objective(config: CodecConfig, images: Tensor, decoded: Tensor, bits: Tensor, level: Tensor) -> dict[str, Tensor]:
    """λ D + R, divided by the root of λ so that no rate outweighs the others; D is 255² MSE or its stand-in."""
    logs = torch.tensor(LAMBDAS, device=level.device).log()
    low = level.floor().clamp(max=len(LAMBDAS) - 2).long()
    weight = (logs[low] + (level - low) * (logs[low + 1] - logs[low])).exp()
    rate = bits / (images.shape[2] * images.shape[3])
    error = (decoded - images).square().mean((1, 2, 3))
    distortion = 255**2 * error
    if config.loss == "ms-ssim":
        distortion = 255**2 * config.loss_options["weight"] * (1 - ms_ssim(decoded.clamp(0, 1), images))
    loss = ((weight * distortion + rate) / (weight / LAMBDAS[2]).sqrt()).mean()
    return {"loss": loss, "bpp": rate.mean(), "mse": error.mean()}
