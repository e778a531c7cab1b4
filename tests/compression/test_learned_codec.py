"""The learned codec: its numbers are whole and exact, its bytes decode alike everywhere, wrong bytes are refused."""

import os
import subprocess
import sys
import zlib

import numpy as np
import pytest
import torch

from labkit import compression
from labkit.commands import main
from labkit.compression import fixed_point as fixed
from labkit.compression.learned import HEADER, LearnedCodec, write_codec
from labkit.compression.network import LAMBDAS, SCALES, Network, Scaled, Sizes, between, gaussian_bits, scale_of
from labkit.compression.plugins import RANGE_CODER, plugin
from labkit.compression.range_coding import LIMIT, TOTAL, Tables, decode_numbers, encode_numbers, gaussian_tables

SMALL = Sizes(width=8, latent=12, hyper=6, slices=3)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    network = Network(SMALL)
    with torch.no_grad():  # latents of some size, as training makes them
        network.analysis[-1].weight *= 20
    return network


@pytest.fixture(scope="module")
def weights(network, tmp_path_factory):
    path = tmp_path_factory.mktemp("codec") / "codec.safetensors"
    write_codec(path, network, {"steps": "0"})
    return path


@pytest.fixture(scope="module")
def codec(weights):
    return LearnedCodec(weights.read_bytes())


def scene(height=70, width=130):
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:height, :width]
    image = np.stack((x * 2, y * 3, 128 + 60 * np.sin(x / 5)), -1) + rng.normal(0, 4, (height, width, 3))
    return image.clip(0, 255).astype(np.uint8)


def naive_convolution(x, weight, bias):
    """In Python's own whole numbers."""
    x, weight, bias = (t.to(torch.int64).tolist() for t in (x, weight, bias))
    height, width, size = len(x[0]), len(x[0][0]), len(weight[0][0])
    out = [[[b << fixed.WEIGHT for _ in range(width)] for _ in range(height)] for b in bias]
    for o, kernel in enumerate(weight):
        for row in range(height):
            for column in range(width):
                for c, plane in enumerate(kernel):
                    for i, line in enumerate(plane):
                        for j, w in enumerate(line):
                            a, b = row + i - size // 2, column + j - size // 2
                            if 0 <= a < height and 0 <= b < width:
                                out[o][row][column] += w * x[c][a][b]
    return out


def test_convolutions_of_whole_numbers_are_exact(monkeypatch):
    draw = torch.Generator().manual_seed(0)
    x = torch.randint(-fixed.TOP, fixed.TOP + 1, (1, 3, 5, 4), generator=draw).double()
    weight = torch.randint(-(2**19), 2**19, (2, 3, 3, 3), generator=draw)
    bias = torch.randint(-(2**20), 2**20, (2,), generator=draw)
    expected = naive_convolution(x[0], weight, bias)
    assert fixed.convolved(x, weight, bias)[0].long().tolist() == expected
    monkeypatch.setattr(fixed, "STRIP", 2)  # strips make no difference
    assert fixed.convolved(x, weight, bias)[0].long().tolist() == expected


def test_shifts_round_halves_up_and_clamp():
    x = torch.tensor([0.0, 7, 8, 9, -7, -8, -9, 2.0**52, -(2.0**52)], dtype=torch.float64)
    assert fixed.shifted(x, 4).tolist() == [0, 0, 1, 1, 0, 0, -1, fixed.TOP, -fixed.TOP]


def test_whole_numbers_follow_the_network(network):
    x = torch.randn(1, SMALL.latent, 4, 6, generator=torch.Generator().manual_seed(1))
    whole = fixed.whole_weights(network.synthesis)
    found = fixed.run(network.synthesis, whole, (x.double() * fixed.ONE).round()) / fixed.ONE
    with torch.no_grad():
        assert (found - network.synthesis(x)).abs().max() < 2e-3
    assert all(value.dtype in (torch.int16, torch.int32) for value in whole.values())


def test_weights_without_room_are_refused():
    with pytest.raises(ValueError, match="too large"):
        fixed.grid(torch.tensor([1e9]), fixed.WEIGHT)
    with pytest.raises(ValueError, match="too large"):
        fixed.grid(torch.tensor([float("nan")]), fixed.WEIGHT)
    weight = torch.full((1, 600, 3, 3), 2**20, dtype=torch.int32)
    with pytest.raises(ValueError, match="0.weight: sums could reach"):
        fixed.check_room({"0.weight": weight, "0.bias": torch.zeros(1, dtype=torch.int32)})


def test_scaled_is_its_formula():
    layer, x = Scaled(3, inverse=False), torch.randn(2, 3, 2, 2)
    gamma, beta = layer.root_gamma.detach() ** 2, layer.root_beta.detach() ** 2
    for n in range(2):
        for i in range(3):
            norm = beta[i] + sum(gamma[i, j] * x[n, j].abs() for j in range(3))
            torch.testing.assert_close(layer(x)[n, i], x[n, i] / norm, rtol=1e-4, atol=1e-6)


def test_bits_are_those_of_a_gaussian():
    from scipy.stats import norm

    x, index = torch.tensor([[0.0, 1.3, -4.0, 100.0]]), torch.tensor([[0.0, 20.0, 31.5, 80.0]])
    scales = scale_of(index)[0].double().numpy()
    assert scales[0] == pytest.approx(0.11)
    assert scales[-1] == pytest.approx(256)
    far = np.abs(x[0].numpy().astype(float))
    mass = norm.cdf((0.5 - far) / scales) - norm.cdf((-0.5 - far) / scales)
    assert float(gaussian_bits(x, index)) == pytest.approx(-np.log2(mass).sum(), rel=1e-4)


def test_rates_between_levels_are_interpolated():
    table = torch.tensor([[0.0, 10.0], [1.0, 20.0], [3.0, 40.0]])
    found = between(table, torch.tensor([0.0, 0.5, 1.0, 2.0]))
    assert found.tolist() == [[0, 10], [0.5, 15], [1, 20], [3, 40]]


def test_tables_are_gaussians_and_numbers_come_back():
    counts, reaches = gaussian_tables()
    tables = Tables(counts, reaches)
    assert len(tables.models) == SCALES
    assert all(int(row.sum()) == TOTAL for row in counts.split([2 * r + 2 for r in tables.reach]))
    rng = np.random.default_rng(0)
    indices = rng.integers(0, SCALES, 3000)
    numbers = np.round(rng.normal(0, scale_of(torch.tensor(indices)).numpy())).astype(np.int64)
    numbers[:6] = (LIMIT - 1, -LIMIT, 5000, -5000, 30, -1)  # far out: escapes
    queue = plugin(RANGE_CODER).stream.queue
    encoder = queue.RangeEncoder()
    encode_numbers(encoder, tables, numbers, indices)
    words = encoder.get_compressed()
    assert (decode_numbers(queue.RangeDecoder(words), tables, indices) == numbers).all()
    ideal = float(gaussian_bits(torch.tensor(numbers[None, 6:]).double(), torch.tensor(indices[None, 6:]).double()))
    assert ideal < 32 * len(words) < ideal * 1.01 + 300  # escapes cost about 36 bits each
    with pytest.raises(ValueError, match="within"):
        encode_numbers(encoder, tables, np.array([LIMIT]), np.array([3]))


@pytest.mark.parametrize("shape", [(70, 130), (64, 64), (1, 1), (3, 65)])
def test_pictures_come_back_at_their_size(codec, shape):
    image = scene(*shape)
    data = codec.encode(image, 50)
    assert codec.decode(data).shape == image.shape
    assert codec.encode(image, 50) == data


def test_more_quality_is_more_bytes_and_smaller_steps(codec):
    lengths = [len(codec.encode(scene(), quality)) for quality in (0, 50, 100)]
    assert lengths == sorted(lengths)
    assert (codec.step[100] < codec.step[0]).all()


def test_the_bytes_decode_to_what_the_network_says(network, codec):
    """The same picture through the network in floating point, and the bits that it expects."""
    image, quality = scene(64, 128), 70
    x = torch.from_numpy(image).permute(2, 0, 1)[None] / 255
    silence = (torch.zeros(1, SMALL.latent, 4, 8), torch.zeros(1, SMALL.hyper, 1, 2))
    with torch.no_grad():
        out, bits = network(x, torch.tensor([quality / 100 * (len(LAMBDAS) - 1)]), silence)
    data = codec.encode(image, quality)
    pixels = (out[0].permute(1, 2, 0) * 255).round().clamp(0, 255).numpy()
    difference = np.abs(codec.decode(data).astype(float) - pixels)
    assert np.mean(difference > 1) < 0.02  # a latent at the edge of a step may fall to the other side
    assert 8 * (len(data) - HEADER.size) == pytest.approx(float(bits), rel=0.03, abs=64)


def test_every_process_decodes_the_same_pixels_whatever_its_threads(codec, weights, tmp_path):
    data = codec.encode(scene(), 60)
    (tmp_path / "scene.lkc").write_bytes(data)
    code = (
        "import sys, hashlib, torch; from pathlib import Path; torch.set_num_threads(int(sys.argv[3]));"
        "from labkit import compression;"
        "found = compression.decode(Path(sys.argv[1]).read_bytes(), Path(sys.argv[2]));"
        "print(hashlib.sha256(found.tobytes()).hexdigest())"
    )
    found = set()
    for threads, native in ((1, "0"), (3, "1")):
        environment = os.environ | {"ATEN_CPU_CAPABILITY": "default" if native == "0" else "avx2"}
        command = [sys.executable, "-c", code, str(tmp_path / "scene.lkc"), str(weights), str(threads)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, env=environment)
        found.add(done.stdout)
    import hashlib

    assert found == {hashlib.sha256(codec.decode(data).tobytes()).hexdigest() + "\n"}


def test_cut_damaged_and_foreign_bytes_are_refused(codec, network, tmp_path):
    data = codec.encode(scene(), 40)
    for length in (0, 3, 16, 17, len(data) // 2, len(data) - 1):
        with pytest.raises(ValueError, match="end within its header|cut short"):
            codec.decode(data[:length])
    for place in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[place] ^= 4
        with pytest.raises(ValueError, match="data"):
            codec.decode(bytes(damaged))
    with torch.no_grad():
        network.log_gain += 0.1
    write_codec(tmp_path / "other.safetensors", network)
    with torch.no_grad():
        network.log_gain -= 0.1
    with pytest.raises(ValueError, match="written with other weights"):
        LearnedCodec((tmp_path / "other.safetensors").read_bytes()).decode(data)


def test_made_up_bytes_with_a_right_checksum_do_no_harm(codec):
    rng = np.random.default_rng(0)
    for length in (0, 4, 400):
        body = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
        head = (b"LKC1", codec.id, 100, 64, 64)
        check = zlib.crc32(body, zlib.crc32(HEADER.pack(*head, 0)))
        try:
            assert codec.decode(HEADER.pack(*head, check) + body).shape == (64, 64, 3)
        except ValueError as error:
            assert "not what this codec writes" in str(error)  # noqa: PT017 (either may happen)
    for quality, height, width in ((101, 64, 64), (50, 0, 64), (50, 65535, 65535)):
        head = (b"LKC1", codec.id, quality, height, width)
        with pytest.raises(ValueError, match="which cannot be"):
            codec.decode(HEADER.pack(*head, zlib.crc32(HEADER.pack(*head, 0))))


def test_files_that_are_no_codec_are_refused(weights):
    content = weights.read_bytes()
    for wrong in (b"", b"text", content[: len(content) // 2]):
        with pytest.raises(ValueError, match="not a whole file of a learned codec"):
            LearnedCodec(wrong)


def test_the_commands_take_weights(weights, tmp_path, capsys, monkeypatch):
    from PIL import Image

    Image.fromarray(scene()).save(tmp_path / "scene.png")
    monkeypatch.chdir(tmp_path)
    with_weights = ["--weights", str(weights)]
    assert main(["compress", "scene.png", "-o", "scene.lkc", "--quality", "30", *with_weights]) == 0
    assert main(["decompress", "scene.lkc", "-o", "back.png", *with_weights]) == 0
    assert "decoded from learned" in capsys.readouterr().out
    expected = compression.decode((tmp_path / "scene.lkc").read_bytes(), weights)
    assert (np.array(Image.open("back.png")) == expected).all()
    assert main(["compress", "scene.png", "-o", "scene.lkc", "--weights", "nothing"]) == 2
    assert "no trained weights" in capsys.readouterr().err
