"""Embeddings from elsewhere: dropped on a page, they become a run; what computes does so in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import streamlit as st

from dashboard.parts.runs import known_runs, own_root, read_all
from dashboard.parts.text import as_text
from labkit.runs import Run

LARGEST = 1000  # MB of a file that is dropped; larger ones go through the command line
PATIENCE = 1800  # seconds


def labkit(*arguments: str, wait: bool = True) -> subprocess.CompletedProcess[str] | None:
    """A command of labkit; with wait, what it said, else it goes on when the page is closed."""
    command = [sys.executable, "-m", "labkit", *arguments]
    if wait:
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    threading.Thread(target=process.wait, daemon=True).start()  # else it stays a zombie until the server ends
    return None


def offer_bringing() -> None:
    """A place to drop a file on."""
    with st.expander("Bring your own embeddings", icon=":material/upload_file:"):
        st.markdown(
            "A `.npz` with `embeddings` (N × D) and `labels` (N numbers or names) becomes a run, here and on every "
            "page. It may hold `ids` and `images` (N × height × width, or × 3, uint8), too. Pictures in a folder, and "
            f"files above {LARGEST:,} MB: `python -m labkit runs import mine.npz --images DIR`."
        )
        left, right = st.columns([3, 2])
        file = left.file_uploader("File", type="npz", max_upload_size=LARGEST, key="brought")
        data = right.text_input(
            "Name of the data",
            key="data name",
            placeholder="birds",
            help="Files of the same data, with the same ids and labels, can be compared. Empty: the file's name.",
        )
        if file is not None and right.button("Make it a run", type="primary", icon=":material/add:"):
            take(file.name, file.getvalue(), data)


def take(name: str, content: bytes, data: str) -> None:
    """Import the file; its points are shown at once by PCA, and by UMAP some minutes later."""
    with tempfile.TemporaryDirectory() as folder, st.spinner("Measuring and projecting …"):
        path = Path(folder) / Path(name).name
        path.write_bytes(content)
        options = ["--runs", str(own_root()), "--methods", "pca", *(["--data", data] if data.strip() else [])]
        try:
            done = labkit("runs", "import", str(path), *options)
        except subprocess.TimeoutExpired:
            st.error(f"It took more than {PATIENCE // 60} minutes: use the command line.", icon=":material/error:")
            return
    made = done.stdout.partition("imported: ")[2].strip() if done else ""
    if not done or done.returncode or not made:
        said = (done.stderr if done else "").strip().splitlines()
        st.error(as_text(said[-1] if said else "It could not be imported."), icon=":material/error:")
        return
    forget_runs()
    labkit("project", made, "--methods", "umap", wait=False)
    st.query_params["run"] = Path(made).name  # the menu follows the address
    st.rerun()


def forget_runs() -> None:
    """Read the list of runs anew: there is one more."""
    read_all.clear()
    known_runs.clear()


def project_runs(runs: list[Run], methods: tuple[str, ...]) -> None:
    """Project run after run, each in a process of its own, then show the page with them."""
    wrong = []
    bar = st.progress(0.0)
    for number, run in enumerate(runs):
        bar.progress(number / len(runs), f"{as_text(run.title)}; UMAP takes a minute or more")
        done = labkit("project", str(run.path), "--methods", *methods)
        if done is not None and done.returncode:
            wrong.append((done.stderr.strip().splitlines() or ["no message"])[-1])
    for text in wrong:
        st.error(as_text(text), icon=":material/error:")
    if not wrong:
        st.rerun()
