"""A sound run with one file damaged: by what kills, disks, editors, other programs and malice leave behind."""

import json
import random
import shutil
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from run_folders import add_arrays, make_run

TEXTS = ("run.json", "summary.json", "metrics.jsonl")
ARRAYS = ("embeddings.safetensors", "frames.safetensors")
TABLES = ("samples.parquet", "projections/pca.parquet")
HUGE = "1" + "0" * 400
# as JSON text, since Python's writer would refuse some
VALUES = [
    *(HUGE, f"-{HUGE}", "1" + "0" * 5000, "1e308", "1e999", "-1e999", "NaN", "Infinity", "9223372036854775808"),
    *("-1", "0", "1.5", "true", "null", '""', "[]", "{}", '"\\ud800"', '"\\u0000"', '"<img src=x onerror=alert(1)>"'),
    *('"../../../etc/passwd"', "[" * 2000 + "]" * 2000, '"' + "x" * 100_000 + '"', f"[{HUGE}]", f'{{"R@1": {HUGE}}}'),
    *('{"a": {"b": {"c": [1, {"d": NaN}]}}}', '["a", 1, null]', '"1' + "0" * 400 + '"', '"finished"', '"running"'),
]


def sound_run(root):
    """The run that is damaged: every file that pages read, with a projection."""
    folder = add_arrays(make_run(root, "a-s0"))
    n = 40
    places = pa.table({"id": [f"sample-{i:03}" for i in range(n)], "x": np.arange(n) / n, "y": np.arange(n) % 7 / 7})
    shutil.rmtree(folder / "checkpoints")  # large, and read by training alone
    (folder / "projections").mkdir()
    pq.write_table(places, folder / "projections" / "pca.parquet")
    return folder


def damage(folder, draw: random.Random) -> str:
    """Damage one file of a run; returns what was done, for whoever looks for the reason."""
    name = draw.choice([*TEXTS, *TEXTS, *ARRAYS, *TABLES])
    path = folder / name
    content = path.read_bytes()
    if name in TEXTS and draw.random() < 0.75:
        how, damaged = damaged_json(name, content.decode(), draw)
    elif name in TABLES and draw.random() < 0.6:
        how, damaged = damaged_table(name, draw)
    elif name in ARRAYS and draw.random() < 0.5:
        how, damaged = damaged_header(content, draw)
    else:
        how, damaged = damaged_bytes(content, draw)
    path.write_bytes(damaged)
    return f"{name}: {how}"


def damaged_bytes(content: bytes, draw: random.Random) -> tuple[str, bytes]:
    """Cut, flipped, filled with zeros, doubled, or with something foreign in it."""
    at = draw.randrange(len(content))
    kind = draw.choice(("cut", "flip", "flips", "zeros", "doubled", "foreign", "empty", "shuffled"))
    if kind == "cut":
        return f"cut at {at}", content[:at]
    if kind in ("flip", "flips"):
        changed = bytearray(content)
        for _ in range(1 if kind == "flip" else draw.randrange(2, 40)):
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        return kind, bytes(changed)
    length = draw.randrange(1, 64)
    return {
        "zeros": (f"zeros at {at}", content[:at] + bytes(length) + content[at + length :]),
        "doubled": ("doubled", content + content),
        "foreign": (f"foreign bytes at {at}", content[:at] + draw.randbytes(length) + content[at:]),
        "empty": ("empty", b""),
        "shuffled": ("halves changed places", content[at:] + content[:at]),
    }[kind]


def damaged_json(name: str, text: str, draw: random.Random) -> tuple[str, bytes]:
    """One value replaced, one name lost or changed, somewhere in the file (of metrics.jsonl: in one of its lines)."""
    lines = text.splitlines() if name.endswith("l") else [text]
    number = draw.randrange(len(lines))
    content = json.loads(lines[number])
    parent, key = draw.choice(list(places_in(content)))
    value, kind = draw.choice(VALUES), draw.choice(("value", "value", "value", "lost", "renamed", "whole"))
    if kind == "whole":
        lines[number] = value
    else:
        old = parent.pop(key)
        if kind != "lost":
            parent["\ud800" if kind == "renamed" else key] = old if kind == "renamed" else "@"
        lines[number] = json.dumps(content).replace('"@"', value)
    return f"{kind} of {key} in line {number + 1}: {value[:40]}", "\n".join(lines).encode("utf-8", "surrogatepass")


def places_in(content):
    """Every object of some JSON with every name in it."""
    for key, value in content.items():
        yield content, key
        if isinstance(value, dict):
            yield from places_in(value)


def damaged_header(content: bytes, draw: random.Random) -> tuple[str, bytes]:
    """A safetensors file that says something else of its numbers."""
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + size])
    tensor = header[draw.choice([key for key in header if key != "__metadata__"])]
    field = draw.choice(("dtype", "shape", "data_offsets", "values", "length"))
    if field == "values":  # not finite
        return "all bits set", content[: 8 + size] + b"\xff" * (len(content) - 8 - size)
    if field == "length":
        return "length of the header", struct.pack("<Q", draw.choice((0, 1, 2**40, 2**63))) + content[8:]
    tensor[field] = draw.choice(
        {
            "dtype": ["BF16", "I16", "U8", "BOOL", "F8_E4M3", "F64", "nothing", 7, "F16"],
            "shape": [[0, 8], [320], [2**40, 2**40], [-1, 8], [1, 40, 8], [], ["a"], [20, 16], [40, 8]],
            "data_offsets": [[0, 2**62], [-1, 4], [8, 0], [], [0, 1]],
        }[field]
    )
    changed = json.dumps(header).encode()
    return f"{field} is {tensor[field]}", struct.pack("<Q", len(changed)) + changed + content[8 + size :]


def damaged_table(name: str, draw: random.Random) -> tuple[str, bytes]:
    """A whole parquet file with columns of another kind."""
    n = 40
    odd = {
        "NaN": pa.array([float("nan")] * n),
        "nulls": pa.array([None] * n, pa.string()),
        "null kind": pa.nulls(n),
        "half precision": pa.array(np.arange(n, dtype=np.float16)),
        "bytes": pa.array([b"\xff\xfe" + bytes([i]) for i in range(n)]),
        "not UTF-8": pa.array([b"\xff\xfe" + bytes([i]) for i in range(n)]).view(pa.string()),
        "dates": pa.array([2**62] * n, pa.timestamp("us")),
        "lists": pa.array([[i] for i in range(n)]),
        "objects": pa.array([{"a": i} for i in range(n)]),
        "huge": pa.array([2**64 - 1 - i for i in range(n)], pa.uint64()),
        "truth": pa.array([i % 2 == 0 for i in range(n)]),
        "decimals": pa.array(list(range(n)), pa.decimal128(38, 2)),
        "dictionary": pa.array([f"x{i % 3}" for i in range(n)]).dictionary_encode(),
        "infinite": pa.array([float("inf")] * n),
        "texts": pa.array(["<script>" * 50] * n),
        "negative": pa.array([-i for i in range(n)]),
    }
    ids = pa.array([f"sample-{i:03}" for i in range(n)])
    labels, names = pa.array([i % 4 for i in range(n)]), pa.array([f"class {i % 4}" for i in range(n)])
    columns = {"id": ids, "label": labels, "class_name": names, "split": pa.array(["test"] * n)}
    if name != "samples.parquet":
        columns = {"id": ids, "x": pa.array(np.arange(n) / n), "y": pa.array(np.arange(n) / n)}
    kind = draw.choice(list(odd))
    column = draw.choice([*columns, "vendor", "\x00", ""])
    table = pa.table(columns | {column: odd[kind]})
    if draw.random() < 0.2:
        table = table.slice(0, draw.choice((0, 1, 39)))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return f"{column!r} holds {kind}, {len(table)} rows", sink.getvalue().to_pybytes()
