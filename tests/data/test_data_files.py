"""Finding and verifying: never half a file, never another one, and errors that say what to do."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.base.paths import cache, data_folders, shipped
from labkit.data.files import DataError, File, find, locate, verify

BODY = bytes(range(256)) * 1000
SHA = hashlib.sha256(BODY).hexdigest()


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Folders of which none holds anything yet."""
    monkeypatch.setenv("LABKIT_DATA", os.pathsep.join([str(tmp_path / "one"), str(tmp_path / "two")]))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("labkit.base.paths.SYSTEM", tmp_path / "system")
    return tmp_path


def put(path, content=BODY):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


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


def test_the_same_content_as_a_distribution_packs_it_is_right(tmp_path):
    verify(put(tmp_path / "file"), File("file", "d", "0" * 64, repacked=SHA))


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
