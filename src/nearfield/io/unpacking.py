"""Files within files, and pipes: gzip, zip and `-` become a plain file for as long as it is read."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

PIPE = Path("-")
PACKED = (".gz", ".zip")
# How files of each kind begin; what begins like none of them is text.
_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"\x93NUMPY": ".npy",
    b"\x89HDF": ".h5ad",
    b"\x1f\x8b": ".gz",
    b"PK\x03\x04": ".zip",
}


def plain_name(path: Path) -> str:
    """The name of a file without what says how it is stored, to name other files after it.

    >>> plain_name(Path("cells.csv.gz")), plain_name(Path("-")), plain_name(Path("a/b.parquet"))
    ('cells', 'piped', 'b')
    """
    if path == PIPE:
        return "piped"
    name = Path(path.name)
    return Path(name.stem).stem if name.suffix.lower() in PACKED else name.stem


@contextmanager
def unpacked(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A plain file with what another one, or a pipe, holds; what is plain already is left where it is.

    What is said of it is said of the file that was named.
    """
    path = Path(path)
    if path != PIPE and (path.suffix.lower() not in PACKED or not path.is_file()):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        found = _from_pipe(Path(folder)) if path == PIPE else path
        try:
            while found.suffix.lower() in PACKED:
                found = _unpacked_once(found, Path(folder))
            yield found
        except (ValueError, OSError) as error:
            kind = type(error) if isinstance(error, OSError) else ValueError
            raise kind(str(error).replace(str(found), _called(path))) from error


def _called(path: Path) -> str:
    return "what was piped in" if path == PIPE else str(path)


def _from_pipe(folder: Path) -> Path:
    """What is piped in, as a file whose name says what it is."""
    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("- reads what is piped in, and there is nothing: name a file, or pipe one in")
    stream: Any = getattr(sys.stdin, "buffer", sys.stdin)
    return _named(stream, folder, "piped")


def _named(stream: IO[bytes], folder: Path, name: str) -> Path:
    """What a stream holds, as a file whose suffix says what it is by how it begins."""
    first = stream.read(2**16)
    if not first:
        raise ValueError(f"{name} is empty: it needs at least one row of numbers")
    path = folder / f"{name}{suffix_of(first)}"
    with open(path, "wb") as file:
        file.write(first)
        shutil.copyfileobj(stream, file)
    if path.suffix == ".zip" and _is_npz(path):
        path = path.rename(path.with_suffix(".npz"))
    return path


def suffix_of(first: bytes) -> str:
    """What a file is called by how it begins.

    >>> suffix_of(b"PAR1 and so on"), suffix_of(b' {"a": 1}'), suffix_of(b"a,b")
    ('.parquet', '.jsonl', '.csv')
    """
    for beginning, suffix in _BEGINNINGS.items():
        if first.startswith(beginning):
            return suffix
    return ".jsonl" if first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else ".csv"


def _is_npz(path: Path) -> bool:
    if not zipfile.is_zipfile(path):  # damaged, which is told where it is unpacked
        return False
    with zipfile.ZipFile(path) as archive:
        return all(name.endswith(".npy") for name in archive.namelist())


def _unpacked_once(path: Path, folder: Path) -> Path:
    """What a packed file holds."""
    inside = Path(path.stem)
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(path) as stream:
                return _stored(stream, folder, inside)
        with zipfile.ZipFile(path) as archive:
            files = [each for each in archive.infolist() if not each.is_dir()]
            files = [each for each in files if not each.filename.startswith("__MACOSX/")]
            if len(files) != 1:
                from nearfield.io.columns import quoted

                held = quoted([each.filename for each in files]) if files else "nothing"
                raise ValueError(f"{path} holds {held}: pack one table alone, or unpack it")
            if files[0].flag_bits & 1:
                raise ValueError(f"{path} is locked by a password: unpack it")
            with archive.open(files[0]) as stream:
                return _stored(stream, folder, Path(Path(files[0].filename).name))
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(f"{path} is damaged, or not packed as its name says: pack it anew") from error


def _stored(stream: Any, folder: Path, inside: Path) -> Path:
    """A file of its own, called as it is inside; what has no suffix is known by how it begins."""
    within = Path(tempfile.mkdtemp(dir=folder))
    if not inside.suffix:
        return _named(stream, within, inside.name or "table")
    with open(within / inside.name, "wb") as file:
        shutil.copyfileobj(stream, file)
    return within / inside.name
