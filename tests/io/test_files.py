"""Files are written whole or not at all, and what cannot be written is refused beforehand."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nearfield.io.files import check_writable, replacing


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_the_file_appears_only_at_the_end(tmp_path: Path) -> None:
    with replacing(tmp_path / "map.csv") as scratch:
        scratch.write_text("whole")
        assert scratch.suffix == ".csv"
        assert not (tmp_path / "map.csv").exists()
    assert names(tmp_path) == ["map.csv"]
    assert (tmp_path / "map.csv").read_text() == "whole"


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, interruption: type[BaseException]
) -> None:
    target = tmp_path / "map.csv"
    target.write_text("old")

    def write_half() -> None:
        with replacing(target) as scratch:
            scratch.write_text("half")
            raise interruption

    with pytest.raises(interruption):
        write_half()
    assert names(tmp_path) == ["map.csv"]
    assert target.read_text() == "old"


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    stored = tmp_path / "store" / "real.csv"
    stored.write_text("old")
    stored.chmod(0o640)
    link = tmp_path / "map.csv"
    link.symlink_to(stored)
    with replacing(link) as scratch:
        scratch.write_text("new")
    assert link.is_symlink()
    assert stored.read_text() == "new"
    assert stat.S_IMODE(stored.stat().st_mode) == 0o640
    assert names(tmp_path / "store") == ["real.csv"]


def test_a_new_file_has_the_permissions_of_any_other_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with replacing(tmp_path / "map.csv") as scratch:
        scratch.write_text("x")
    assert (tmp_path / "map.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_checking_leaves_nothing_behind(tmp_path: Path) -> None:
    assert check_writable(tmp_path / "map.csv") == tmp_path / "map.csv"
    assert names(tmp_path) == []


def test_a_missing_folder_is_named_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"results does not exist: make it first"):
        check_writable(tmp_path / "results" / "map.csv")
    assert names(tmp_path) == []


def test_a_link_into_a_missing_folder_names_that_folder(tmp_path: Path) -> None:
    (tmp_path / "map.csv").symlink_to(tmp_path / "gone" / "map.csv")
    with pytest.raises(FileNotFoundError, match=r"gone does not exist"):
        check_writable(tmp_path / "map.csv")


def test_a_directory_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=r"is a directory: name a file in it"):
        check_writable(tmp_path)


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with pytest.raises(NotADirectoryError, match=r"results is a file, not a folder"):
        check_writable(tmp_path / "results" / "map.csv")


def test_a_device_is_never_replaced() -> None:
    with pytest.raises(OSError, match=r"not a regular file"):
        check_writable(os.devnull)


def test_a_folder_that_refuses_new_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions do not bind the superuser, who may be running this: so the system's "no" is played.
    def refuse(*arguments: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError, match=r"cannot write in the folder .* \(permission denied\): choose"):
        check_writable(tmp_path / "map.csv")


def test_what_a_killed_save_has_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    program = f"""
import os, signal
from nearfield.io.files import replacing
with replacing({str(tmp_path / "map.csv")!r}) as scratch:
    scratch.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    (left,) = names(tmp_path)
    assert left.startswith(".nearfield-")
    (tmp_path / ".nearfield-notes.txt").write_text("of somebody else")
    with replacing(tmp_path / "other.csv") as scratch:
        scratch.write_text("whole")
    assert names(tmp_path) == [".nearfield-notes.txt", "other.csv"]


def test_what_is_being_written_is_left_alone(tmp_path: Path) -> None:
    with replacing(tmp_path / "first.csv") as first:
        first.write_text("first")
        with replacing(tmp_path / "second.csv") as second:
            second.write_text("second")
        assert first.read_text() == "first"
    assert names(tmp_path) == ["first.csv", "second.csv"]


def test_a_disk_that_is_full_leaves_the_old_file_and_says_so_in_a_line(tmp_path: Path) -> None:
    target = tmp_path / "map.nfmap"
    program = f"""
import resource, signal
import numpy as np, nearfield as nf
nf.Map(np.eye(2)).save({str(target)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    nf.Map(np.random.default_rng(0).normal(size=(5000, 2))).save({str(target)!r})
except OSError as error:
    print(error)
print(nf.Map.load({str(target)!r}).Y.shape)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    line, shape = told.splitlines()
    assert line.startswith(f"cannot write {target} (file too large): what was there is as it was; make room")
    assert shape == "(2, 2)"
    assert names(tmp_path) == ["map.nfmap"]


def test_the_module_needs_nothing_but_the_standard_library() -> None:
    program = "import sys, nearfield.io.files; print('numpy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
