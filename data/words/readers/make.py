"""Writes the weights beside this file and readers.csv: `python data/words/readers/make.py [RUN]`.

RUN is the folder of `python -m labkit train words` with --keep all: the readers are what it held after 15, 30, 60 and
100 % of its training; without it they stay as they are. The surrogates, made if they are not there, have learned from
random pairs alone, before any reader is tuned.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2]))

import torch  # noqa: E402

from labkit.base.files import write_safetensors  # noqa: E402
from labkit.data.files import checksum  # noqa: E402
from labkit.runs import provenance  # noqa: E402
from labkit.runs.read import read_run  # noqa: E402
from labkit.surrogates import SequenceEmbedding, Surrogate, random_word_pairs, surrogate_loss  # noqa: E402
from labkit.surrogates.objectives import descend  # noqa: E402
from labkit.surrogates.word_config import load_word_config  # noqa: E402
from labkit.surrogates.word_source import source_of  # noqa: E402

STAGES = {"base-15": 15, "base-30": 30, "base-60": 60, "base": 100}  # per cent of the training
SURROGATES = {"surrogate": "words", "surrogate-scene": "scene-text"}
STEPS, PAIRS, RATE, LAM = 1500, 64, 3e-3, 0.1


def readers(folder: Path) -> None:
    """Copy what the run kept on its way."""
    steps = read_run(folder).record.config.train.steps
    for name, share in STAGES.items():
        shutil.copyfile(folder / "checkpoints" / f"{steps * share // 100}.safetensors", HERE / f"{name}.safetensors")


def surrogate(name: str, preset: str) -> None:
    """Equation 6 on random pairs, by Adam, its rate falling to 0."""
    torch.manual_seed(0)
    config = load_word_config(preset)
    source = source_of(config)
    learner = Surrogate(SequenceEmbedding(source.slots, source.symbols))
    optimizer = torch.optim.Adam(learner.parameters(), RATE)
    pairs = random_word_pairs(source.words(config), source.alphabet, source.slots, PAIRS)
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = RATE * (1 - step / STEPS)
        z, y = pairs(step)
        descend(optimizer, surrogate_loss(learner, z, y, source.task.exact(z, y), lam=LAM).loss, 5.0)
    tensors = {f"loss.{name}": tensor.half() for name, tensor in learner.state_dict().items()}
    facts = {"commit": str(provenance.code_version()["commit"]), "steps": str(STEPS), "lam": str(LAM)}
    write_safetensors(HERE / f"{name}.safetensors", tensors, facts)


def facts_of(path: Path) -> str:
    """What stands in the header of a file of weights."""
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return ", ".join(f"{name} {value}" for name, value in header["__metadata__"].items())


def main() -> int:
    """Write all, then the table."""
    for name, preset in SURROGATES.items():
        if not (HERE / f"{name}.safetensors").is_file():
            surrogate(name, preset)
    if len(sys.argv) > 1:
        readers(Path(sys.argv[1]))
    paths = [HERE / f"{name}.safetensors" for name in (*STAGES, *SURROGATES)]
    rows = [(path.stem, checksum(path), facts_of(path)) for path in paths]
    with (HERE / "readers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("name", "sha256", "facts"), *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
