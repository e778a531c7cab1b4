"""Downloads from a server that breaks off, lies and stalls: the right file comes, or none, and never half of one."""

import hashlib
import os
import random
import tempfile
from pathlib import Path

from web_server import Answer, serving

from labkit.data import download
from labkit.data.files import DataError, File
from tests.reliability.table import Row

BODY = bytes(range(256)) * 1000
LIES = {
    "missing": lambda draw: Answer(status=404),
    "unavailable": lambda draw: Answer(status=503),
    "another file": lambda draw: Answer(BODY[::-1]),
    "a wrong length": lambda draw: Answer(BODY, length=draw.randrange(1, 10**13)),
    "breaks off": lambda draw: Answer(BODY, sent=draw.randrange(len(BODY))),
    "breaks off, no length": lambda draw: Answer(BODY, length=None, sent=draw.randrange(len(BODY))),
    "too long": lambda draw: Answer(BODY + b"x" * draw.randrange(1, 9), length=None),
    "another range": lambda draw: Answer(BODY, other_range=True),
    "stalls": lambda draw: Answer(BODY, sent=draw.randrange(len(BODY)), stalls=True),
}


def run(full: bool) -> list[Row]:
    """Each download meets some such answers; what it leaves is looked at, and the next call goes on."""
    draw, tries, wrong, patience = random.Random(3), 200 if full else 10, [], download.TIMEOUT
    came = 0
    download.TIMEOUT = 0.2
    before = os.environ.get("no_proxy")
    os.environ["no_proxy"] = "127.0.0.1"
    try:
        with serving() as web:
            for number in range(tries):
                met = [draw.choice(list(LIES)) for _ in range(draw.randrange(1, 5))]
                web.answers["/cats"] = [LIES[name](draw) for name in met]
                with tempfile.TemporaryDirectory() as folder:
                    came += fetched(web, Path(folder))
                    if problem := what_is_wrong(web, Path(folder)):
                        wrong.append(f"{number}, {', '.join(met)}: {problem}")
    finally:
        download.TIMEOUT = patience
        os.environ.pop("no_proxy") if before is None else os.environ.update(no_proxy=before)
    detail = f"{came} came at once, the others with the next call; never half a file" if not wrong else wrong[0]
    return [Row("downloads", tries, tries - len(wrong), len(wrong), detail)]


def fetched(web, folder: Path) -> bool:
    """Whether the file came; only one kind of error may be raised."""
    file = File("cats", "animals", hashlib.sha256(BODY).hexdigest(), (f"{web.base}/cats",), size=len(BODY))
    try:
        download.download(file, folder)
    except DataError:
        return False
    return True


def what_is_wrong(web, folder: Path) -> str:
    """What was left is whole or not there; with a sound server the same call brings the file, and nothing beside it."""
    path = folder / "cats"
    if path.exists() and path.read_bytes() != BODY:
        return "half a file, or another one"
    web.answers["/cats"] = Answer(BODY)
    if not fetched(web, folder) or path.read_bytes() != BODY:
        return "it did not come from a sound server"
    left = [each.name for each in folder.iterdir() if each.name != "cats" and each.suffix != ".lock"]
    return f"left {left}" if left else ""
