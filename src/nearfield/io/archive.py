"""Archives of arrays (npz) as strangers send them: looked at before they are unpacked, and never unpickled.

A zip says of each member how large it will be, and the first bytes of an array what shape it has. Both are
read first and have to agree; what would unpack to many times the file's own size is refused.
"""

from __future__ import annotations

import os
import stat
import struct
import tokenize
import zlib
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import IO, Any, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from nearfield.io.schema import in_a_line

FREE = 2**26  # bytes that any file may unpack to
RATIO = 50  # times its own size that a larger one may: coordinates are as good as random, and hardly shrink
MAGIC = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
HEADER = 2**10  # bytes that the header of an array takes at most
ENCRYPTED = 0x1
# What reading something else, or part of an archive, may end in.
DAMAGED = (
    *(ValueError, LookupError, EOFError, OSError, TypeError, AttributeError, ArithmeticError, MemoryError),
    *(SyntaxError, RecursionError, RuntimeError, tokenize.TokenError, struct.error, zlib.error, BadZipFile),
)


def storable(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a dtype can be kept: plain numbers of at most eight bytes."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def write(file: IO[bytes], arrays: Mapping[str, Any], *, quick: bool = False) -> None:
    """Write arrays of numbers, and one text, so that they can be read again; quickly, or in less room."""
    if quick:
        np.savez(file, **arrays)
        return
    np.savez_compressed(file, **arrays)
    size = file.tell()
    if sum(np.asarray(each).nbytes + HEADER for each in arrays.values()) > _most(size):
        # All but empty: as it is, it would be taken for a trap.
        file.seek(0)
        file.truncate()
        np.savez(file, **arrays)


def _most(size: int) -> int:
    return max(FREE, RATIO * size)


class Archive(AbstractContextManager["Archive"]):
    """An npz file that is open for reading.

    Parameters
    ----------
    path : path-like
        The file.

    Raises
    ------
    ValueError
        With one line that says what is wrong, here and in all methods. A file that is missing, or must not be
        read, is an OSError.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):  # a pipe would be waited for
            raise ValueError("it is no regular file")
        self._size = about.st_size
        file = open(path, "rb")  # noqa: SIM115 - closed by __exit__
        try:
            self._zip = ZipFile(file)
        except DAMAGED as error:
            file.close()
            raise ValueError(
                "it is no archive of arrays, or only part of one: of a table of places, the model is needed,"
                " which nearfield embed --save or model.save writes"
            ) from error
        self._file = file
        self._members = {info.filename.removesuffix(".npy"): info for info in self._zip.infolist()}
        if len(self._members) < len(self._zip.infolist()):
            self.__exit__()
            raise ValueError("it has two members of the same name")
        self._read = 0

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Of all members; what is not asked for is never read."""
        return tuple(self._members)

    def text(self, name: str, longest: int) -> str:
        """A text of at most so many characters."""
        found = self._array(name, lambda dtype, shape: dtype.kind == "U" and shape == (), 4 * longest)
        return str(found)

    def numbers(self, names: Iterable[str]) -> dict[str, Any]:
        """Some arrays of numbers."""
        return {name: self._array(name, lambda dtype, _: storable(dtype)) for name in names}

    def _array(self, name: str, right: Any, most: int | None = None) -> Any:
        if name not in self._members:
            raise ValueError(f"it has no {name}")
        info = self._members[name]
        self._admit(name, info, most)
        try:
            with self._zip.open(info) as stream:
                shape, fortran, dtype = MAGIC[np.lib.format.read_magic(stream)](stream)
                if not right(dtype, shape):
                    raise ValueError(f"{dtype} of shape {shape} is not what belongs there")
                size = dtype.itemsize
                for each in shape:
                    size *= each
                if min(shape, default=0) < 0 or stream.tell() + size != info.file_size:
                    raise ValueError(f"{dtype} of shape {shape} is not as large as the member")
                data = stream.read(size + 1)  # the one byte more has the checksum looked at
            if len(data) != size:
                raise ValueError("part of it is missing")
            found = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
            return found.astype(dtype.newbyteorder("="), order="C")
        except DAMAGED as error:
            raise ValueError(f"{name} cannot be read ({in_a_line(error) or type(error).__name__})") from error

    def _admit(self, name: str, info: ZipInfo, most: int | None) -> None:
        """Refuse what is encrypted, packed in another way, or too large, before it is unpacked."""
        if info.flag_bits & ENCRYPTED:
            raise ValueError(f"{name} is encrypted")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ValueError(f"{name} is packed in a way that maps are not")
        if most is not None and info.file_size > most + 2**16:
            raise ValueError(f"{name} is longer than it may be")
        self._read += info.file_size
        if self._read > _most(self._size):
            raise ValueError(
                f"it would unpack to {self._read / 2**20:.0f} MB and more, {RATIO} times its own size"
            )
