"""The learned codec at work: pictures to bytes and back, by one file of weights and tables.

Bytes: "LKC1", 4 bytes that name the file of weights, quality (1), height and width (2 each), CRC-32 of all else (4),
then the range coder's words: z, then y slice by slice. What is guaranteed: with the same file of weights, every machine
that has float64 as IEEE 754 defines it decodes the same pixels, whatever its threads, since the decoder computes in
whole numbers (fixed_point.py) and its tables are whole numbers of the file. Encoding is done in floating point: two
machines may write different bytes of a picture, which both decode.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from labkit.base.files import write_safetensors
from labkit.compression import fixed_point as fixed
from labkit.compression.network import DOWN, LAMBDAS, SCALES, STEP, Network, Sizes, between
from labkit.compression.plugins import RANGE_CODER, plugin
from labkit.compression.range_coding import LIMIT, Tables, decode_numbers, encode_numbers, gaussian_tables

MAGIC = b"LKC1"
HEADER = struct.Struct("<4s4sBHHI")
MAX_PIXELS = 4_000_000  # the decoder takes some 400 bytes for each
QUALITIES = 101
ENCODER = ("analysis", "hyper_analysis")


def decoder_parts(network: Network) -> dict[str, torch.nn.Module]:
    """What the decoder computes, by name."""
    slices = {f"slice{number}": part for number, part in enumerate(network.slices)}
    return {"hyper_synthesis": network.hyper_synthesis, **slices, "synthesis": network.synthesis}


@torch.no_grad()
def write_codec(path: Path, network: Network, facts: dict[str, str] | None = None) -> None:
    """Write a trained network as a codec: the decoder and all tables in whole numbers, the encoder in float16."""
    counts, reaches = gaussian_tables()
    tensors = {"counts": counts, "reaches": reaches}
    for name, part in decoder_parts(network).items():
        whole = fixed.whole_weights(part)
        fixed.check_room(whole)
        tensors |= {f"{name}.{key}": value for key, value in whole.items()}
    level = torch.linspace(0, len(LAMBDAS) - 1, QUALITIES, dtype=torch.float64)
    gain, hyper_gain, hyper_index = (
        between(table.detach().cpu().double(), level)
        for table in (network.log_gain, network.hyper_log_gain, network.hyper_index)
    )
    tensors |= {
        "step": fixed.grid(torch.exp(-gain), fixed.FRACTION),
        "index": fixed.grid(gain / STEP + 16, fixed.FRACTION),
        "hyper_step": fixed.grid(torch.exp(-hyper_gain), fixed.FRACTION),
        "hyper_index": hyper_index.round().clamp(0, SCALES - 1).to(torch.int32),
    }
    for part_name in ENCODER:
        for key, value in getattr(network, part_name).state_dict().items():
            tensors[f"{part_name}.{key}"] = value.detach().cpu().half()
    write_safetensors(path, tensors, {"sizes": json.dumps(vars(network.sizes)), **(facts or {})})


class LearnedCodec:
    """A codec of one file."""

    def __init__(self, content: bytes) -> None:
        """The bytes of a file that `write_codec` wrote; ValueError if they are not."""
        from safetensors import SafetensorError
        from safetensors.torch import load

        try:
            tensors = load(content)
            size = int.from_bytes(content[:8], "little")
            self.facts: dict[str, str] = json.loads(content[8 : 8 + size])["__metadata__"]
            self.network = Network(Sizes(**json.loads(self.facts["sizes"])))
            for name in ENCODER:
                part = own(tensors, name)
                getattr(self.network, name).load_state_dict({key: value.float() for key, value in part.items()})
            self.parts = {name: (module, own(tensors, name)) for name, module in decoder_parts(self.network).items()}
            self.tables = Tables(tensors["counts"], tensors["reaches"])
            self.step, self.index = tensors["step"].double(), tensors["index"].double()
            self.hyper_step, self.hyper_index = tensors["hyper_step"].double(), tensors["hyper_index"]
        except (SafetensorError, KeyError, TypeError, RuntimeError, json.JSONDecodeError) as error:
            raise ValueError(f"this is not a whole file of a learned codec ({error})") from None
        for _, weights in self.parts.values():
            fixed.check_room(weights)
        self.id = sha256(content).digest()[:4]

    def run(self, name: str, x: Tensor) -> Tensor:
        """A part of the decoder on whole numbers."""
        return fixed.run(*self.parts[name], x)

    @torch.no_grad()
    def encode(self, image: np.ndarray, quality: int) -> bytes:
        """The bytes of a picture, uint8 H × W × 3."""
        height, width = image.shape[:2]
        if height * width > MAX_PIXELS:
            raise ValueError(f"the learned codec takes up to {MAX_PIXELS:,} pixels, got {height} × {width}")
        x = torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1)[None] / 255
        x = F.pad(x, (0, -width % DOWN, 0, -height % DOWN), mode="replicate")
        y = self.network.analysis(x - 0.5)
        z = self.network.hyper_analysis(y).double() * fixed.ONE / self.hyper_step[quality][:, None, None]
        y, encoder = y.double(), plugin(RANGE_CODER).stream.queue.RangeEncoder()

        def hyper(indices: np.ndarray) -> np.ndarray:
            numbers = limited(z)
            encode_numbers(encoder, self.tables, numbers, indices)
            return numbers

        def part(chosen: slice, mean: Tensor, step: Tensor, indices: np.ndarray) -> np.ndarray:
            numbers = limited((y[:, chosen] * fixed.ONE - mean) / step)
            encode_numbers(encoder, self.tables, numbers, indices)
            return numbers

        self.latents(quality, (z.shape[2], z.shape[3]), hyper, part)
        body: bytes = encoder.get_compressed().astype("<u4").tobytes()
        head = (MAGIC, self.id, quality, height, width)
        return HEADER.pack(*head, crc(*head, body)) + body

    @torch.no_grad()
    def decode(self, data: bytes) -> np.ndarray:
        """The picture that bytes stand for; ValueError says what is wrong with them."""
        quality, height, width, body = self.read_header(data)
        words = np.frombuffer(body, "<u4").astype(np.uint32)
        decoder = plugin(RANGE_CODER).stream.queue.RangeDecoder(words)
        shape = -(-height // DOWN), -(-width // DOWN)
        try:
            y = self.latents(
                quality,
                shape,
                lambda indices: decode_numbers(decoder, self.tables, indices),
                lambda chosen, mean, step, indices: decode_numbers(decoder, self.tables, indices),
            )
        except AssertionError as error:  # how constriction says it
            raise ValueError(f"data are not what this codec writes ({error})") from None
        module, weights = self.parts["synthesis"]
        fine = fixed.run_exact(fixed.layers_of(module), weights, y)[0, :, :height, :width]
        bits = fixed.FRACTION + fixed.WEIGHT
        fine = (fine.clamp(-(2.0 ** (bits + 2)), 2.0 ** (bits + 2)) + 2.0 ** (bits - 1)) * 255  # 0 is mid-grey
        pixels = torch.floor(fine * 2.0**-bits + 0.5).clamp(0, 255)
        return pixels.to(torch.uint8).permute(1, 2, 0).contiguous().numpy()

    def latents(
        self,
        quality: int,
        shape: tuple[int, int],
        hyper: Callable[[np.ndarray], np.ndarray],
        part: Callable[[slice, Tensor, Tensor, np.ndarray], np.ndarray],
    ) -> Tensor:
        """The latents as the decoder knows them; `hyper` and `part` write or read the numbers of z and of a slice."""
        sizes = self.network.sizes
        indices = self.hyper_index[quality].numpy()[None, :, None, None]
        numbers = hyper(np.broadcast_to(indices, (1, sizes.hyper, *shape)))
        step = self.hyper_step[quality][:, None, None]
        features = self.run("hyper_synthesis", clamped(torch.from_numpy(numbers).double() * step))
        known: list[Tensor] = []
        for number in range(sizes.slices):
            size = sizes.latent // sizes.slices
            chosen = slice(number * size, (number + 1) * size)
            mean, index = self.run(f"slice{number}", torch.cat((features, *known), 1)).chunk(2, 1)
            index = fixed.shifted(index * 8 + self.index[quality][chosen, None, None], fixed.FRACTION)
            step = self.step[quality][chosen, None, None]
            numbers = part(chosen, mean, step, index.clamp(0, SCALES - 1).long().numpy())
            known.append(clamped(mean + torch.from_numpy(numbers).double() * step))
        return torch.cat(known, 1)

    def read_header(self, data: bytes) -> tuple[int, int, int, bytes]:
        """Quality, height, width and what follows."""
        if len(data) < HEADER.size or data[:4] != MAGIC:
            raise ValueError(f"data are not of the learned codec, or end within its header ({len(data)} bytes)")
        magic, name, quality, height, width, check = HEADER.unpack(data[: HEADER.size])
        body = data[HEADER.size :]
        if check != crc(magic, name, quality, height, width, body):
            raise ValueError("data are damaged or cut short: their checksum is another one")
        if name != self.id:
            raise ValueError(
                f"data were written with other weights ({name.hex()}) than those at hand ({self.id.hex()}): "
                f"decode them with that file"
            )
        if quality >= QUALITIES or min(height, width) < 1 or height * width > MAX_PIXELS or len(body) % 4:
            raise ValueError(f"data announce quality {quality} and {width} × {height} pixels, which cannot be")
        return quality, height, width, body


def crc(magic: bytes, name: bytes, quality: int, height: int, width: int, body: bytes) -> int:
    """Of header and content."""
    return zlib.crc32(body, zlib.crc32(HEADER.pack(magic, name, quality, height, width, 0)))


def own(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    """The tensors of one part."""
    return {key.removeprefix(f"{name}."): value for key, value in tensors.items() if key.startswith(f"{name}.")}


def limited(values: Tensor) -> np.ndarray:
    """Rounded, within what can be written."""
    found: np.ndarray = values.round().clamp(-LIMIT, LIMIT - 1).long().numpy()
    return found


def clamped(x: Tensor) -> Tensor:
    """Within what the decoder's sums have room for."""
    return x.clamp(-fixed.TOP, fixed.TOP)
