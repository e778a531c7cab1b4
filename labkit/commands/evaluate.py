"""python -m labkit evaluate: every metric of a run's weights, or of embeddings in a file."""

from __future__ import annotations

import argparse
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from labkit.base.paths import OWN, RECORDED
from labkit.commands.arguments import new_folder, whole

if TYPE_CHECKING:
    from torch import Tensor

    from labkit.runs.run import Run


HELP = "measure a run's weights again, or embeddings of your own"
DESCRIPTION = (
    "Every metric of a run that kept its checkpoints, or of a .npz or .safetensors file that holds embeddings (N, D) "
    "and labels (N,)."
)


def register(parser: argparse.ArgumentParser) -> None:
    """What to measure, and which metrics."""
    parser.add_argument("target", help="a run (its folder or id) or a .npz or .safetensors file")
    parser.add_argument("--split", choices=("test", "validation", "train"), default="test", help="default test")
    parser.add_argument("--weights", choices=("best", "last"), help="which checkpoint (default: the run's own choice)")
    parser.add_argument("--ks", type=whole((1, 10**9)), nargs="+", default=[1, 10, 100], help="default 1 10 100")
    parser.add_argument("--nmi", action="store_true", help="also cluster, for NMI")
    parser.add_argument("--runs", type=new_folder, default=OWN, help="where runs are (default runs/)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the metrics as JSON, too")
    parser.set_defaults(run=run_evaluate)


def run_evaluate(args: argparse.Namespace) -> int:
    """Print the metrics."""
    from labkit import metrics
    from labkit.base.files import json_bytes, write_output
    from labkit.runs.read import open_run
    from labkit.training.devices import choose_device

    choose_device(args.device)  # a wrong one is refused before anything is read
    path = Path(args.target)
    if path.suffix in (".npz", ".safetensors"):
        sides = read_file(path)
    else:
        sides = embed_run(open_run(path if path.is_dir() else args.target, args.runs, RECORDED), args)
    found = metrics.evaluate(*sides[:2], ks=args.ks, nmi=args.nmi, gallery=sides[2], gallery_labels=sides[3])
    for name, value in found.items():
        print(f"{name:22} {value:.6g}")
    if args.json:
        write_output(args.json, json_bytes(found))
    return 0


Sides = tuple["Tensor", "Tensor", "Tensor | None", "Tensor | None"]


def read_file(path: Path) -> Sides:
    """Embeddings and labels of a file; gallery and gallery_labels if it has them."""
    if not path.exists():
        raise ValueError(f"no file {path}")
    if not path.is_file():
        raise ValueError(f"{path} is not an ordinary file: put a copy there")
    if path.suffix == ".npz":
        arrays = read_npz(path)
    else:
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            arrays = load_file(path)
        except SafetensorError as error:
            raise ValueError(f"{path} is not a whole safetensors file ({error})") from None
    if not {"embeddings", "labels"} <= arrays.keys():
        raise ValueError(f"{path} must hold embeddings and labels; it holds {', '.join(sorted(arrays)) or 'nothing'}")
    return arrays["embeddings"], arrays["labels"], arrays.get("gallery"), arrays.get("gallery_labels")


def read_npz(path: Path) -> dict[str, Any]:
    """The arrays of a file that numpy.savez wrote."""
    import numpy as np

    try:
        with ZipFile(path), np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
        raise ValueError(f"{path} is not a whole .npz file of plain arrays (numpy.savez): {error}") from None


def embed_run(run: Run, args: argparse.Namespace) -> Sides:
    """Embed a split with the weights of a checkpoint."""
    import torch

    from labkit.training.config import config_of
    from labkit.training.devices import choose_device
    from labkit.training.evaluation import embed
    from labkit.training.inputs import load_data
    from labkit.training.state import build_state, load_model

    folder = run.path
    if run.problems:
        raise ValueError(f"{folder} cannot be used: {run.problems[0]}")
    config = config_of(run.record.config)
    path = folder / "checkpoints" / f"{args.weights or config.train.select}.safetensors"
    if not path.exists():
        raise ValueError(
            f"{folder} has no checkpoint {path.name}; runs keep theirs with --keep all, recorded ones none"
        )
    splits = load_data(config)
    if config.loss != "pixels":
        config = replace(config, loss="untrained", loss_options={})  # a loss of somebody's own is not run for this
    state = build_state(config, splits.train.num_classes, 0, choose_device(args.device))
    load_model(path.read_bytes(), state, folder)
    data = getattr(splits, args.split)
    sides: list[torch.Tensor | None] = [embed(state, data, config), data.labels]
    against = splits.gallery if args.split == "test" else None
    sides += [None, None] if against is None else [embed(state, against, config), against.labels]
    return tuple(sides)  # type: ignore[return-value]
