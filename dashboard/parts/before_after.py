"""The picture on Home: the same images as an untrained network sees them, and as a trained one does."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard.parts.text import as_text
from labkit.data.files import DataError
from labkit.explorers.embedding import ExplorerData, explorer_data
from labkit.explorers.embedding.choice import projections_of, same_samples
from labkit.explorers.embedding.groups import correctness
from labkit.explorers.embedding.streamlit import embedding_explorer
from labkit.runs import Run, RunError
from labkit.runs.run import Stamp

PRESETS = ("emoji", "omniglot")  # those with pictures, the most telling first


@st.cache_resource(max_entries=4, show_spinner="Reading the points …")
def cached_points(_run: Run, files: Stamp, projection: str) -> ExplorerData:
    """The points, coloured by whether the nearest neighbour is of their class."""
    data = explorer_data(_run, projection)
    return replace(data, title="untrained" if _run.loss == "untrained" else "trained", grouping=correctness(data))


def before_and_after(runs: list[Run]) -> tuple[Run, Run] | None:
    """An untrained run and the best trained one of the same samples, both with points in the plane."""
    for preset in PRESETS:
        shown = [run for run in runs if run.preset == preset and run.value("R@1") is not None and projections_of(run)]
        for before in (run for run in shown if run.loss == "untrained"):
            trained = [run for run in shown if run.loss not in ("untrained", "pixels") and same_samples(before, run)]
            if trained:
                return before, max(trained, key=lambda run: run.value("R@1") or 0.0)
    return None


def projection_of(before: Run, after: Run) -> str:
    """UMAP where both have it."""
    return (set(projections_of(before)) & set(projections_of(after)) & {"umap"} or {"pca"}).pop()


def state_of_pair(before: Run, after: Run) -> dict[str, str]:
    """The address of this state on Embeddings."""
    return {"run": after.id, "beside": before.id, "projection": projection_of(before, after).upper()}


def show_before_and_after(before: Run, after: Run) -> None:
    """Both side by side with what they measure."""
    try:
        panels = [cached_points(run, run.stamp(), projection_of(before, after)) for run in (before, after)]
    except (RunError, DataError, OSError) as error:
        st.warning(as_text(str(error)))
        return
    embedding_explorer(*panels, key="home", height=380, pictures=True)
    first, second = (100 * (run.value("R@1") or 0.0) for run in (before, after))
    st.caption(
        f"The same {len(panels[0]):,} pictures, of classes that neither network was trained on. For **{first:.0f} %** "
        f"of all test pictures the untrained network finds one of the same class first, for **{second:.0f} %** the "
        f"network trained with {as_text(after.variant.loss_title)}. Colours tell it among the pictures shown, where "
        "fewer can be mistaken. Point at them."
    )
