"""Finding, verifying and downloading: never half a file, never another one, and errors that say what to do."""

import errno
import hashlib
import os
import shutil
import threading
from collections import namedtuple
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.base.paths import cache, data_folders, shipped
from labkit.data import files
from labkit.data.files import DataError, File, checksum, download, find, locate, verify

BODY = bytes(range(256)) * 1000
SHA = hashlib.sha256(BODY).hexdigest()


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Folders of which none holds anything yet."""
    monkeypatch.setenv("LABKIT_DATA", os.pathsep.join([str(tmp_path / "one"), str(tmp_path / "two")]))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("labkit.base.paths.SYSTEM", tmp_path / "system")
    return tmp_path


@pytest.fixture
def server(monkeypatch):
    """A web server on loopback: answers maps a path to (status, announced length or None, body)."""
    answers = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, length, body = answers.get(self.path, (404, 0, b""))
            self.send_response(status)
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(ThreadingHTTPServer, "handle_error", lambda *args: None)  # clients hang up on purpose
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield answers, f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    thread.join()
    running.server_close()


def put(path, content=BODY):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def leftovers(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_folders_come_in_order_labkit_data_own_system_cache(world):
    assert data_folders() == [world / "one", world / "two", shipped(), world / "system", world / "cache/labkit"]


def test_without_settings_the_cache_is_in_the_home_folder(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/somewhere")
    assert cache() == Path("/somewhere/.cache/labkit")


@pytest.mark.parametrize("place", ["one", "two", "system", "cache/labkit"])
@pytest.mark.parametrize("subfolder", ["", "animals"])
def test_a_file_is_found_in_every_folder_and_its_subfolder(world, place, subfolder):
    path = put(world / place / subfolder / "cats.npz")
    assert locate(File("cats.npz", "animals", SHA)) == path


def test_the_first_folder_wins(world):
    put(world / "two" / "cats.npz")
    path = put(world / "one" / "animals" / "cats.npz")
    assert find(File("cats.npz", "animals", SHA)) == path


def test_a_shipped_file_is_looked_for_nowhere_else(world):
    put(world / "one" / "emoji48.npz")
    assert find(File("emoji48.npz", "emoji", SHA, shipped=True)) == shipped() / "emoji" / "emoji48.npz"
    assert find(File("no-such.npz", "emoji", SHA, shipped=True)) is None


def test_md5_and_sha256_are_told_apart_by_length(tmp_path):
    path = put(tmp_path / "file")
    verify(path, File("file", "d", hashlib.md5(BODY).hexdigest()))
    verify(path, File("file", "d", SHA))
    assert checksum(path, SHA) == SHA


@given(st.data())
def test_any_changed_byte_or_cut_is_refused(tmp_path_factory, data):
    content = data.draw(st.binary(min_size=1, max_size=50))
    at = data.draw(st.integers(0, len(content) - 1))
    other = data.draw(st.sampled_from([content[:at], content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]]))
    path = put(tmp_path_factory.mktemp("file") / "f", other)
    file = File("f", "d", hashlib.sha256(content).hexdigest())
    with pytest.raises(DataError, match="damaged"):
        verify(path, file)


def test_a_damaged_file_is_named_with_both_checksums_and_the_command(world):
    path = put(world / "one" / "cats.npz", b"x")
    with pytest.raises(DataError) as error:
        locate(File("cats.npz", "animals", SHA))
    for part in (str(path), SHA, hashlib.sha256(b"x").hexdigest(), "python -m labkit data get animals", "1 bytes"):
        assert part in str(error.value)


def test_a_missing_file_is_named_with_checksum_folders_and_command(world):
    with pytest.raises(DataError) as error:
        locate(File("cats.npz", "animals", SHA))
    for part in ("cats.npz", SHA, str(world / "two"), "python -m labkit data get animals", "LABKIT_DATA"):
        assert part in str(error.value)


def test_a_download_arrives_whole(server, tmp_path):
    answers, base = server
    answers["/cats"] = (200, len(BODY), BODY)
    path = download(File("cats", "animals", SHA, (f"{base}/cats",)), tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "cats"
    assert path.read_bytes() == BODY
    assert leftovers(tmp_path) == ["cats"]


def test_a_body_without_announced_length_is_fine_if_the_checksum_is(server, tmp_path):
    answers, base = server
    answers["/cats"] = (200, None, BODY)
    assert download(File("cats", "animals", SHA, (f"{base}/cats",)), tmp_path).read_bytes() == BODY


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((404, 0, b""), "404"),
        ((503, 0, b""), "503"),
        ((200, len(BODY), BODY[:-1]), f"ended after {len(BODY) - 1:,} of {len(BODY):,} bytes"),
        ((200, None, BODY[:-1]), "sent another file, with checksum"),
        ((200, len(BODY), BODY[::-1]), "sent another file, with checksum"),
        ((200, "many", BODY), "invalid literal"),
    ],
)
def test_a_failing_address_is_passed_over_for_its_mirror(server, tmp_path, answer, reason):
    answers, base = server
    answers["/cats"] = answer
    with pytest.raises(DataError) as error:
        download(File("cats", "animals", SHA, (f"{base}/cats",)), tmp_path)
    for part in ("cats", SHA, f"{base}/cats: ", reason, str(tmp_path)):
        assert part in str(error.value)
    assert leftovers(tmp_path) == []
    answers["/mirror/cats"] = (200, len(BODY), BODY)
    urls = (f"{base}/cats", f"{base}/mirror/cats")
    assert download(File("cats", "animals", SHA, urls), tmp_path).read_bytes() == BODY
    assert leftovers(tmp_path) == ["cats"]


def test_an_address_that_nobody_listens_at_is_reported(tmp_path, server):
    with pytest.raises(DataError, match=r"http://127.0.0.1:9/cats: .*refused"):
        download(File("cats", "animals", SHA, ("http://127.0.0.1:9/cats",)), tmp_path)


def test_a_server_that_falls_silent_is_given_up(server, tmp_path, monkeypatch):
    answers, base = server
    answers["/cats"] = (200, len(BODY), BODY)
    monkeypatch.setattr(files, "TIMEOUT", 0.2)
    hold = threading.Event()
    monkeypatch.setattr(BaseHTTPRequestHandler, "send_response", lambda self, status: hold.wait(5))
    try:
        with pytest.raises(DataError, match="timed out"):
            download(File("cats", "animals", SHA, (f"{base}/cats",)), tmp_path)
    finally:
        hold.set()
    assert leftovers(tmp_path) == []


def test_too_little_room_is_told_before_anything_is_written(server, tmp_path, monkeypatch):
    answers, base = server
    answers["/cats"] = (200, len(BODY), BODY)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: namedtuple("Usage", "free")(1000))
    with pytest.raises(DataError, match=r"cats could not be written: needs 256,000 bytes, but the disk has 1,000 left"):
        download(File("cats", "animals", SHA, (f"{base}/cats",)), tmp_path)
    assert leftovers(tmp_path) == []


def test_a_disk_that_fills_up_leaves_nothing_and_is_not_blamed_on_the_address(server, tmp_path, monkeypatch):
    answers, base = server
    answers["/cats"] = (200, len(BODY), BODY)
    true_open = Path.open

    def full(self, mode="r", *args, **options):
        opened = true_open(self, mode, *args, **options)
        if mode == "wb":
            writer = opened.write
            written = []

            class Full:
                def __enter__(self):
                    return self

                def __exit__(self, *error):
                    opened.close()

                def write(self, chunk):
                    if written:
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    written.append(writer(chunk))

            return Full()
        return opened

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(DataError, match=r"cats could not be written: .*No space left on device"):
        download(File("cats", "animals", SHA, (f"{base}/cats",)), tmp_path)
    assert leftovers(tmp_path) == []


def test_an_interrupted_download_leaves_what_was_there_before(tmp_path, monkeypatch):
    def interrupted(url):
        yield len(BODY), BODY[:100]
        raise KeyboardInterrupt

    put(tmp_path / "cats", b"an older file")
    monkeypatch.setattr(files, "chunks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        download(File("cats", "animals", SHA, ("http://127.0.0.1:9/cats",)), tmp_path)
    assert leftovers(tmp_path) == ["cats"]
    assert (tmp_path / "cats").read_bytes() == b"an older file"
