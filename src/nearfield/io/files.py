"""Files that are written whole or not at all.

What is written goes to a scratch file beside the target, which takes the target's place in one step at the
end. An error or Ctrl-C on the way leaves the target as it was, and no scratch file behind. One that is killed
leaves its scratch file, which the next one in that folder takes away: a lock on it, which ends with whoever
holds it, tells those that are still being written from those that are not.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks, and so keeps what was left
    fcntl = None  # type: ignore[assignment]

SCRATCH = re.compile(r"\.nearfield-[0-9a-f]{12}(\..*)?")


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Make sure that a file can be written, before the hours of work whose result it is to hold.

    Nothing is created that stays, folders least of all.

    Parameters
    ----------
    path : path-like
        The file to be written later.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    OSError
        If `path` is a directory or a device, or its folder is missing or cannot be written.

    Examples
    --------
    >>> from nearfield.io.files import check_writable
    >>> check_writable("no/such/folder/map.csv")
    Traceback (most recent call last):
    ...
    FileNotFoundError: the folder no/such/folder does not exist: make it first, or write to another one
    """
    path = Path(path)
    target = _behind_links(path)
    folder = target.parent if path.is_symlink() else path.parent
    # os.path and not Path.exists: it answers "no" where the latter raises for want of permission.
    if os.path.isdir(target):
        raise IsADirectoryError(f"{path} is a directory: name a file in it, such as {path / 'map.csv'}")
    if os.path.exists(target) and not os.path.isfile(target):
        raise OSError(f"{path} is not a regular file: name one that can be replaced")
    if not os.path.exists(folder):
        raise FileNotFoundError(f"the folder {folder} does not exist: make it first, or write to another one")
    if not os.path.isdir(folder):
        raise NotADirectoryError(f"{folder} is a file, not a folder: write to another place")
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} is write-protected: choose another name, or allow writing to it")
    # Permissions, read-only and virtual file systems: only an attempt tells.
    try:
        scratch, held = _scratch_beside(target)
        os.close(held)
        scratch.unlink(missing_ok=True)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise type(error)(f"cannot write in the folder {folder} ({reason}): choose another one") from error
    return path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file through a scratch file beside it, which takes its place when all went well.

    Parameters
    ----------
    path : path-like
        The file to write. A link stays a link: the file behind it is replaced, and keeps its permissions.

    Yields
    ------
    Path
        The scratch file, empty, with the suffix of `path`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from nearfield.io.files import replacing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "map.csv") as scratch:
    ...         _ = scratch.write_text("id,y1")
    ...     [file.name for file in Path(folder).iterdir()]
    ['map.csv']
    """
    target = _behind_links(check_writable(path))
    take_away_leftovers(target)
    scratch, held = _scratch_beside(target)
    try:
        yield scratch
        os.fsync(held)  # so that no loss of power leaves the name without what it names
        if target.exists():
            shutil.copymode(target, scratch)
        if fcntl is None:
            os.close(held)  # Windows moves no file that is open
        os.replace(scratch, target)
    except OSError as error:
        if error.errno is None:  # a sentence already
            raise
        reason = (error.strerror or "unknown reason").lower()
        remedy = "what was there is as it was; make room, or choose another place"
        raise type(error)(f"cannot write {path} ({reason}): {remedy}") from error
    finally:
        if fcntl is not None:
            os.close(held)
        # After the replacement there is nothing left to remove; after an error or Ctrl-C there is.
        scratch.unlink(missing_ok=True)


def take_away_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove, beside a file that is to be written, scratch files that nobody holds; others may forbid it.

    Parameters
    ----------
    path : path-like
        The file.
    """
    if fcntl is None:
        return
    folder = _behind_links(Path(path)).parent
    for name in filter(SCRATCH.fullmatch, os.listdir(folder)):
        with suppress(OSError):
            if stat.S_ISREG(os.lstat(folder / name).st_mode):  # a pipe would be waited for
                found = os.open(folder / name, os.O_WRONLY)
                try:
                    if _lock(found):
                        os.unlink(folder / name)
                finally:
                    os.close(found)


def _behind_links(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _scratch_beside(target: Path) -> tuple[Path, int]:
    """Create an empty file in the folder of `target`, with its suffix and the permissions a new file has.

    Also the descriptor that holds it: closing it says that nobody writes any more.
    """
    while True:
        scratch = target.with_name(f".nearfield-{secrets.token_hex(6)}{target.suffix}")
        held = os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        _lock(held)
        if os.path.exists(scratch):  # and was not taken away before it was held
            return scratch, held
        os.close(held)


def _lock(file: int) -> bool:
    """Whether a file could be locked: some file systems know no locks, and then nothing is taken away."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
