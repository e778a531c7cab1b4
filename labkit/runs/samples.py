"""Which sample each row of an embedding file belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from labkit.base.files import atomic

if TYPE_CHECKING:
    import pandas as pd

    from labkit.data.dataset import Dataset


def samples_frame(parts: dict[str, Dataset]) -> pd.DataFrame:
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
    return pd.concat(tables, ignore_index=True)


def write_samples(path: Path, parts: dict[str, Dataset]) -> None:
    """The samples as a run keeps them."""
    with atomic(path) as temporary:
        samples_frame(parts).to_parquet(temporary, index=False, compression="zstd")
