"""A loss in a file leaves a mark when it runs: no page that is opened, no name that is typed, no look at a run does."""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path

from run_folders import CONFIG, add_arrays, make_run

from tests.reliability.pages import forget, menu, open_page
from tests.reliability.table import Row

MARKING = """
from pathlib import Path
Path(__file__).with_suffix(".mark").touch()

class Mine:
    pass
"""
COMMANDS = (
    *(["runs"], ["runs", "show", "mine-s0"], ["runs", "compare"], ["evaluate", "mine-s0"]),
    *(["project", "mine-s0", "--methods", "pca"], ["train", "--resume", "mine-s1"]),
)


def run(full: bool) -> list[Row]:
    before = os.environ.get("LABKIT_RUNS")
    with tempfile.TemporaryDirectory() as folder:
        root, file = Path(folder) / "runs", Path(folder) / "mine.py"
        file.write_text(MARKING)
        os.environ["LABKIT_RUNS"] = str(root)
        store(root, file)
        ran = []
        try:
            for name, look in looks(root, file):
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    look()
                if file.with_suffix(".mark").exists():
                    ran.append(name)
                    file.with_suffix(".mark").unlink()
            count = len(list(looks(root, file)))
        finally:
            os.environ.pop("LABKIT_RUNS") if before is None else os.environ.update(LABKIT_RUNS=before)
            forget()
    return [Row("looking runs no file", count, count - len(ran), len(ran), ", ".join(ran))]


def store(root: Path, file: Path) -> None:
    """Runs that name the file: a finished one, one to resume, whose checksum is another, and a waiting one."""
    config = CONFIG | {"data": {"name": "toy"}, "model": {"name": "toy-mlp", "dim": 8}, "loss": f"{file}:Mine"}
    loss = {"config": config, "loss": f"{file}:Mine", "loss_file": {"file": str(file), "sha256": "0" * 64}}
    add_arrays(make_run(root, "mine-s0", **loss))
    add_arrays(make_run(root, "mine-s1", status="interrupted", **loss))
    job = {"preset": "toy", "loss": f"{file}:Mine", "seeds": [2], "settings": {}}
    entry = {"number": 1, "job": job, "runs": ["mine-s2"]}
    (root / "queue.json").write_text(json.dumps({"entries": [entry], "next_number": 2}))


def looks(root: Path, file: Path):
    """Every way to look."""
    from labkit.commands import main

    forget()
    for page in menu():
        yield f"page {page}", lambda page=page: open_page(page)
    yield "page train by address", lambda: open_page("train", loss="FILE.py:NAME", own=f"{file}:Mine")
    yield "typing the name", lambda: typed(f"{file}:Mine")
    for command in COMMANDS:
        yield " ".join(command), lambda command=command: main([*command, "--runs", str(root)])


def typed(name: str) -> None:
    """FILE.py:NAME in the form, without Start; the page says what Start will do."""
    opened = open_page("train", loss="FILE.py:NAME")
    opened.text_input(key="own").input(name).run()
    assert not opened.exception, opened.exception
    assert any("it is only read" in caption.value.replace("\\", "") for caption in opened.caption)
