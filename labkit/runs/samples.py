"""Who the rows of an embedding file are."""

from __future__ import annotations

from pathlib import Path

from labkit.base.files import atomic
from labkit.data.dataset import Dataset


def write_samples(path: Path, parts: dict[str, Dataset]) -> None:
    """One row a sample, in the order of the embeddings: id, label, class name, split, and what the data set knows."""
    import pandas as pd

    tables = [
        pd.DataFrame(
            {
                "id": data.ids,
                "label": data.labels.tolist(),
                "class_name": [data.class_names[label] for label in data.labels.tolist()],
                "split": split,
                **data.columns,
            }
        )
        for split, data in parts.items()
    ]
    with atomic(path) as temporary:
        pd.concat(tables, ignore_index=True).to_parquet(temporary, index=False, compression="zstd")
