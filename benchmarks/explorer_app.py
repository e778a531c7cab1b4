"""A page with nothing but the explorer on synthetic points: ?points=60000. Served by benchmarks/explorer.py."""

import numpy as np
import streamlit as st

from labkit.explorers.embedding.data import ExplorerData
from labkit.explorers.embedding.sheet import NO_SHEET
from labkit.explorers.embedding.streamlit import embedding_explorer

CLASSES = 10


@st.cache_resource
def points(n: int) -> ExplorerData:
    """Round ten centres, with ids such as data sets have."""
    random = np.random.default_rng(0)
    labels = random.integers(0, CLASSES, n).astype(np.int32)
    spots = random.normal(scale=4, size=(CLASSES, 2))[labels] + random.normal(size=(n, 2))
    unit = random.normal(size=(n, 16)).astype(np.float32)
    return ExplorerData(
        title=f"{n:,} points",
        method="pca",
        total=n,
        ids=tuple(f"test-{i:05d}" for i in range(n)),
        xy=spots.astype(np.float32),
        labels=labels,
        classes=tuple(f"class {k}" for k in range(CLASSES)),
        embeddings=unit / np.linalg.norm(unit, axis=1, keepdims=True),
        cells=np.full(n, -1, np.int32),
        sheet=NO_SHEET,
        near=np.zeros((n, 0), np.int32),
        similarity=np.zeros((n, 0), np.float32),
    )


st.set_page_config(layout="wide")
found = embedding_explorer(points(int(st.query_params["points"])), key="points", height=600, below=True)
st.code(f"{len(found)} selected")
