"""Downloads: never half a file, never another one, nothing fetched twice, and errors that say what each address did."""

import errno
import hashlib
import os
import shutil
import threading
from collections import namedtuple
from pathlib import Path

import pytest
from web_server import Answer, serving

from labkit.commands.data import reader
from labkit.data import SMALL, download
from labkit.data.download import DataError
from labkit.data.files import File

BODY = bytes(range(256)) * 1000
SHA = hashlib.sha256(BODY).hexdigest()
HALF = len(BODY) // 2


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(download, "TIMEOUT", 0.3)
    with serving() as running:
        yield running


def cats(web, *paths, size=None):
    return File("cats", "animals", SHA, tuple(web.base + path for path in paths or ["/cats"]), size=size)


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_a_download_arrives_whole(web, tmp_path):
    web.answers["/cats"] = Answer(BODY)
    path = download.download(cats(web), tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "cats"
    assert path.read_bytes() == BODY
    assert names(path.parent) == ["cats"]


def test_what_somebody_else_has_fetched_meanwhile_is_taken(web, tmp_path):
    (tmp_path / "cats").write_bytes(BODY)
    assert download.download(cats(web), tmp_path).read_bytes() == BODY
    assert not web.asked


def test_a_body_without_announced_length_is_fine_if_the_checksum_is(web, tmp_path):
    web.answers["/cats"] = Answer(BODY, length=None)
    assert download.download(cats(web), tmp_path).read_bytes() == BODY


LIES = {
    "404": Answer(status=404),
    "503": Answer(status=503),
    "sent another file, with checksum": Answer(BODY[::-1]),
    "announces a length of 'many'": Answer(BODY, length="many"),
    "announces 1,000 bytes instead of 256,000": Answer(BODY, length=1000),
    "announces 9,999,999,999,999 bytes instead of 256,000": Answer(BODY, length=9_999_999_999_999),
    "sends more than the file's 256,000 bytes": Answer(BODY + b"x", length=None),
    "timed out": Answer(BODY, sent=0, stalls=True),
    "stalled: ": Answer(BODY, trickles=True),
}


@pytest.mark.parametrize("reason", LIES)
def test_an_address_that_fails_or_lies_is_passed_over_for_its_mirror(web, tmp_path, reason):
    web.answers["/cats"] = LIES[reason]
    with pytest.raises(DataError) as error:
        download.download(cats(web, size=len(BODY)), tmp_path)
    for part in ("cats", SHA, f"{web.base}/cats: ", reason, str(tmp_path)):
        assert part in str(error.value)
    assert "cats" not in names(tmp_path)
    web.answers["/mirror"] = Answer(BODY)
    assert download.download(cats(web, "/cats", "/mirror", size=len(BODY)), tmp_path).read_bytes() == BODY
    assert names(tmp_path) == ["cats"]


@pytest.mark.parametrize("length", ["true", None])
def test_a_connection_that_breaks_goes_on_where_it_broke(web, tmp_path, length):
    web.answers["/cats"] = [Answer(BODY, length=length, sent=100_000), Answer(BODY, sent=50_000), Answer(BODY)]
    assert download.download(cats(web, size=len(BODY)), tmp_path).read_bytes() == BODY
    assert [asked for _, asked in web.asked] == [None, "bytes=100000-", "bytes=150000-"]


def test_a_mirror_goes_on_where_another_address_broke(web, tmp_path):
    web.answers["/cats"] = [Answer(BODY, sent=HALF), Answer(status=503)]
    web.answers["/mirror"] = Answer(BODY)
    assert download.download(cats(web, "/cats", "/mirror"), tmp_path).read_bytes() == BODY
    assert web.asked[-1] == ("/mirror", f"bytes={HALF}-")


def test_the_next_call_goes_on_where_this_one_gave_up(web, tmp_path):
    web.answers["/cats"] = [Answer(BODY, sent=HALF), Answer(status=503)]
    with pytest.raises(DataError, match=f"{HALF:,} bytes are kept, and the same command goes on"):
        download.download(cats(web), tmp_path)
    assert names(tmp_path) == [".cats.part"]
    web.answers["/cats"] = Answer(BODY)
    assert download.download(cats(web), tmp_path).read_bytes() == BODY
    assert web.asked[-1] == ("/cats", f"bytes={HALF}-")


@pytest.mark.parametrize("answer", [Answer(BODY, ranges=False), Answer(BODY)], ids=["whole again", "goes on"])
@pytest.mark.parametrize("before", [b"x" * HALF, b"x" * len(BODY), b"x" * len(BODY) * 2], ids=["half", "all", "more"])
def test_what_was_kept_of_another_file_is_fetched_anew(web, tmp_path, answer, before):
    (tmp_path / ".cats.part").write_bytes(before)
    web.answers["/cats"] = answer
    assert download.download(cats(web), tmp_path).read_bytes() == BODY


def test_another_part_than_asked_for_is_never_joined(web, tmp_path):
    (tmp_path / ".cats.part").write_bytes(BODY[:HALF])
    web.answers["/cats"] = Answer(BODY, other_range=True)
    web.answers["/mirror"] = Answer(BODY)
    assert download.download(cats(web, "/cats", "/mirror"), tmp_path).read_bytes() == BODY


def test_an_address_that_breaks_off_for_ever_is_given_up(web, tmp_path):
    web.answers["/cats"] = Answer(BODY, sent=1000)
    with pytest.raises(DataError, match="the connection ended after 5,000 of 256,000 bytes"):
        download.download(cats(web), tmp_path)
    assert len(web.asked) == download.TRIES


def test_an_address_that_nobody_listens_at_is_reported(web, tmp_path):
    with pytest.raises(DataError, match=r"http://127.0.0.1:9/cats: .*refused"):
        download.download(File("cats", "animals", SHA, ("http://127.0.0.1:9/cats",)), tmp_path)


def test_two_at_once_fetch_once(web, tmp_path):
    web.answers["/cats"] = Answer(BODY)
    both = [threading.Thread(target=download.download, args=(cats(web), tmp_path)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert (tmp_path / "cats").read_bytes() == BODY
    assert len(web.asked) == 1


def test_too_little_room_is_told_before_anything_is_written(web, tmp_path, monkeypatch):
    web.answers["/cats"] = Answer(BODY)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: namedtuple("Usage", "free")(1000))
    with pytest.raises(DataError, match=r"cats could not be written: needs 256,000 bytes, but the disk has 1,000 left"):
        download.download(cats(web), tmp_path)
    assert names(tmp_path) == []


def test_a_disk_that_fills_up_leaves_nothing_and_is_not_blamed_on_the_address(web, tmp_path, monkeypatch):
    web.answers["/cats"] = Answer(BODY)

    def full(answer):
        yield BODY[:1000]
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(download, "pieces", full)
    with pytest.raises(DataError, match=r"cats could not be written: .*No space left on device"):
        download.download(cats(web), tmp_path)
    assert names(tmp_path) == []


def test_an_interrupted_download_leaves_what_was_there_before_and_goes_on(web, tmp_path, monkeypatch):
    web.answers["/cats"] = Answer(BODY)
    (tmp_path / "cats").write_bytes(b"an older file")

    def interrupted(answer):
        yield BODY[:1000]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(download, "pieces", interrupted)
        with pytest.raises(KeyboardInterrupt):
            download.download(cats(web), tmp_path)
    assert (tmp_path / "cats").read_bytes() == b"an older file"
    assert download.download(cats(web), tmp_path).read_bytes() == BODY
    assert web.asked[-1] == ("/cats", "bytes=1000-")


def test_every_published_address_is_https_first_with_sha256_and_size():
    from labkit.data.fashion_mnist import FILES
    from labkit.data.icons_build.package import PACKAGE
    from labkit.data.omniglot import HALVES

    fetched = {PACKAGE, *FILES.values(), *(half.zip for half in HALVES.values())}
    declared = {file for name in SMALL for file in reader(name).files() if file.urls}
    assert declared <= fetched
    for file in fetched:
        assert len(file.checksum) == 64
        assert file.size
        assert file.urls[0].startswith("https://")


MADE = {"train-images": 1504176606, "train-labels": 1504176606, "test-images": 1504176627, "test-labels": 1504176627}


@pytest.mark.parametrize(("name", "made"), MADE.items())
def test_debians_files_are_the_published_ones_behind_another_header(name, made):
    from labkit.base.paths import SYSTEM
    from labkit.data.fashion_mnist import FILES

    file = FILES[name]
    path = Path(SYSTEM, "fashion-mnist", file.name)
    if not path.exists():
        pytest.skip("Debian's dataset-fashion-mnist is not installed")
    header = b"\x1f\x8b\x08\x08" + made.to_bytes(4, "little") + b"\x00\x03" + file.name[:-3].encode() + b"\0"
    whole = header + path.read_bytes()[10:]  # Debian's header has no name
    assert (len(whole), hashlib.sha256(whole).hexdigest()) == (file.size, file.checksum)
