"""The arrays and tables that a run may keep: embeddings, frames, samples, projections."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.base.checks import check_choice
from labkit.base.typed import whole
from labkit.runs.schema import PROJECTIONS, RunError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa  # type: ignore[import-untyped]
    from numpy.typing import NDArray
    from torch import Tensor

    from labkit.runs.run import Run

MAX_ROWS = 10_000_000  # a small parquet file can claim billions of rows


def read_embeddings(run: Run) -> Tensor:
    """Embeddings of the test samples (n, d), float32, as the model gave them (not normalised)."""
    found: Tensor = read_tensors(run, "embeddings.safetensors", {"embeddings": 2})["embeddings"].float()
    return found


def read_embedding_array(run: Run) -> NDArray[np.float32]:
    """The same as an array, for pages that need no torch: importing it takes a second."""
    array: NDArray[np.float32] = read_arrays(run, "embeddings.safetensors", {"embeddings": 2})["embeddings"]
    return array.astype("float32")


def read_frames(run: Run) -> tuple[Tensor, Tensor]:
    """Embeddings while training (F, n, d), float32, and the step of each frame (F,)."""
    tensors = read_tensors(run, "frames.safetensors", {"frames": 3, "steps": 1})
    check_frames(run, tensors)
    return tensors["frames"].float(), tensors["steps"].long()


def read_frame_array(run: Run) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The same as arrays."""
    arrays = read_arrays(run, "frames.safetensors", {"frames": 3, "steps": 1})
    check_frames(run, arrays)
    return arrays["frames"].astype("float32"), arrays["steps"].astype("int64")


def check_frames(run: Run, found: dict[str, Any]) -> None:
    """As many steps as frames."""
    frames, steps = len(found["frames"]), len(found["steps"])
    if frames != steps:
        raise RunError(f"run {run.id}: frames.safetensors has {frames} frames but {steps} steps")


def read_arrays(run: Run, name: str, ranks: dict[str, int]) -> dict[str, Any]:
    """Tensors of a file as numpy's arrays; kinds of numbers that numpy does not know, as bfloat16, by way of torch."""
    try:
        return read_tensors(run, name, ranks, "numpy")
    except (TypeError, AttributeError):
        return {key: tensor.float().numpy() for key, tensor in read_tensors(run, name, ranks).items()}


def read_tensors(run: Run, name: str, ranks: dict[str, int], framework: str = "pt") -> dict[str, Any]:
    """Some tensors of a safetensors file, each with the given number of axes; framework "numpy" gives arrays."""
    from safetensors import SafetensorError, safe_open

    path = run.file(name)
    try:
        with safe_open(path, framework=framework) as file:
            tensors = {key: file.get_tensor(key) for key in ranks}
    except (SafetensorError, OSError) as error:
        raise RunError(f"run {run.id}: {name} is damaged or lacks a tensor: {error}") from None
    for key, rank in ranks.items():
        if tensors[key].ndim != rank:
            raise RunError(
                f"run {run.id}: {key} in {name} must have {rank} axes, got shape {tuple(tensors[key].shape)}"
            )
    return tensors


def read_samples(run: Run) -> pd.DataFrame:
    """The samples, one for each row of the embeddings: id, label, class_name, split and the data set's columns."""
    import pyarrow as pa  # type: ignore[import-untyped]

    table = read_parquet(run, "samples.parquet", ("id", "label"))
    for field in table.schema:
        column, what = table.column(field.name), f"run {run.id}: {whole(field.name)[:40]} in samples.parquet"
        if field.name == "label" and (not pa.types.is_integer(field.type) or column.null_count):
            raise RunError(f"{what} must hold a whole number in every row")
        if field.name in ("class_name", "split") and (not is_text(field.type) or column.null_count):
            raise RunError(f"{what} must hold a text in every row")
        if not (is_text(field.type) or pa.types.is_integer(field.type) or is_plain(field.type)):
            raise RunError(f"{what} must hold texts, numbers or true and false, got {field.type}")
    try:
        frame: pd.DataFrame = table.replace_schema_metadata(None).to_pandas()
        return frame.assign(label=table.column("label").cast(pa.int64()).to_numpy())
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise RunError(f"run {run.id}: samples.parquet is damaged: {str(error)[:200]}") from None


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds texts, plain or as numbers of a list of texts."""
    import pyarrow as pa  # type: ignore[import-untyped]

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))


def is_plain(kind: pa.DataType) -> bool:
    """Whether a column holds what tables and groups can work with; half precision they cannot."""
    import pyarrow as pa  # type: ignore[import-untyped]

    return bool(pa.types.is_float32(kind) or pa.types.is_float64(kind) or pa.types.is_boolean(kind))


def classes_of(samples: pd.DataFrame) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """A number and a name for every class; the same label means another class in another split."""
    keys = [name for name in ("split", "label") if name in samples]
    groups = samples.groupby(keys, dropna=False, sort=True)
    first = groups.head(1).assign(number=groups.ngroup()).sort_values("number")
    names = first["class_name"].astype(str) if "class_name" in first else "class " + first["label"].astype(str)
    if names.duplicated().any() and "split" in first:
        names = names + " (" + first["split"].astype(str) + ")"
    return np.asarray(groups.ngroup(), np.int32), tuple(names)


def read_projection(run: Run, name: str) -> pd.DataFrame:
    """A stored projection: id, x, y; how it was made is in `attrs["parameters"]`."""
    import pyarrow as pa  # type: ignore[import-untyped]

    check_choice("name", name, PROJECTIONS)
    if not run.has(f"projections/{name}.parquet"):
        raise RunError(f"run {run.id} has no {name} projection yet: `python -m labkit project {run.id}` makes it")
    table = read_parquet(run, f"projections/{name}.parquet", ("id", "x", "y"))
    if not all(pa.types.is_floating(table.schema.field(axis).type) for axis in "xy"):
        raise RunError(f"run {run.id}: x and y of the {name} projection must hold numbers")
    frame: pd.DataFrame = table.replace_schema_metadata(None).to_pandas()
    try:
        frame.attrs["parameters"] = json.loads((table.schema.metadata or {}).get(b"parameters", b"{}"))
    except (ValueError, RecursionError):
        raise RunError(f"run {run.id}: the parameters of the {name} projection are damaged") from None
    return frame


def read_parquet(run: Run, name: str, columns: tuple[str, ...]) -> pa.Table:
    """A parquet file of plain columns, with the named ones among them, and ids that are texts without repetition."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    path = run.file(name)
    try:
        with pq.ParquetFile(path) as file:
            rows = file.metadata.num_rows
            table = file.read() if rows <= MAX_ROWS else pa.table({})
        table.validate(full=True)  # texts that are not UTF-8, for one
        names = table.column_names
    except (pa.ArrowException, OSError, ValueError) as error:
        raise RunError(f"run {run.id}: {name} is damaged: {str(error)[:200]}") from None
    if rows > MAX_ROWS:
        raise RunError(f"run {run.id}: {name} claims {rows:,} rows, over {MAX_ROWS:,}")
    if missing := [column for column in columns if column not in names]:
        raise RunError(f"run {run.id}: {name} lacks the columns {', '.join(missing)}")
    if len(set(names)) < len(names) or any(pa.types.is_nested(field.type) for field in table.schema):
        raise RunError(f"run {run.id}: {name} must hold plain columns, each with a name of its own")
    ids = table.column("id")
    if not (pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)) or ids.null_count:
        raise RunError(f"run {run.id}: id in {name} must hold a text in every row")
    if len(ids.unique()) < len(ids):
        raise RunError(f"run {run.id}: an id occurs twice in {name}")
    return table
