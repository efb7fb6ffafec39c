"""NumPy's files as tables: one array is the numbers, and arrays of one dimension beside it are columns."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tokenize import TokenError
from zipfile import BadZipFile

import numpy as np

from nearfield.io.columns import Choice, Chooser, Table, find, quoted, short

# What reading something else, or a part of a file, may end in.
DAMAGED = (
    ValueError,
    EOFError,
    KeyError,
    NotImplementedError,
    SyntaxError,
    TokenError,
    BadZipFile,
    zlib.error,
)


def read_npy(path: Path, chooser: Chooser) -> Table:
    """Read an array of two dimensions, its columns called x1, x2, …"""
    try:
        matrix = np.load(path, allow_pickle=False)  # which could run any code
        if not isinstance(matrix, np.ndarray):
            raise ValueError(f"{path} holds several arrays: let its name end in .npz")
    except DAMAGED as error:
        raise _complaint(path, error) from error
    return _table(str(path), matrix, {}, chooser)


def read_npz(path: Path, chooser: Chooser, array: str | None = None) -> Table:
    """Read one of several arrays, and the labels of the array `y`; say which arrays are left."""
    arrays, objects = _load_all(path)
    name = _pick(path, arrays, array)
    matrix = arrays.pop(name)
    sides = {side: values for side, values in arrays.items() if values.shape == matrix.shape[:1]}
    used: set[str] = set()

    def with_labels(names: Sequence[str]) -> Choice:
        choice = chooser(names)
        if choice.label is None and "y" in sides and choice.id != names.index("y"):
            choice = replace(choice, label=names.index("y"))
        used.update(names[j] for j in (choice.label, choice.id) if j is not None)
        return choice

    table = _table(f"the array {short(name)!r} of {path}", matrix, sides, with_labels)
    notes = [f"read the array {short(name)!r}"] if array is None and name != "X" else []
    left = [f"{short(each)!r} ({_size(values)})" for each, values in arrays.items() if each not in used]
    left += [f"{short(each)!r} (Python objects)" for each in objects]
    if left:
        more = f" and {len(left) - 6} more" if len(left) > 6 else ""
        notes.append(f"left out the array{'s' * (len(left) > 1)} {', '.join(left[:6])}{more}")
    return replace(table, notes=(*notes, *table.notes))


def sides_of(path: Path) -> dict[str, np.ndarray]:
    """The arrays of one dimension in an archive, which are columns beside the numbers."""
    return {name: values for name, values in _load_all(path)[0].items() if values.ndim == 1}


def _pick(path: Path, arrays: Mapping[str, np.ndarray], wanted: str | None) -> str:
    """Return the name of the array that holds the numbers: the wanted one, X, or the only matrix there is."""
    if wanted is not None:
        return list(arrays)[find(list(arrays), wanted, "array")]
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    if "X" in matrices:
        return "X"
    if len(matrices) == 1:
        return matrices[0]
    if matrices:
        raise ValueError(f"{path} holds the tables {quoted(matrices)}: pick one, as --array {matrices[0]}")
    deep = next((name for name, array in arrays.items() if array.ndim > 2), None)
    if deep is not None:
        rows = f"{short(deep)}.reshape({len(arrays[deep])}, -1)"
        raise ValueError(f"{path} holds {short(deep)!r} ({_size(arrays[deep])}): save it as rows, {rows}")
    held = ", ".join(f"{short(name)!r} ({_size(array)})" for name, array in list(arrays.items())[:6])
    raise ValueError(
        f"{path} holds {held or 'no array of numbers'}: save the numbers as an array X with two dimensions"
    )


def _size(array: np.ndarray) -> str:
    return "×".join(map(str, array.shape)) or "one value"


def _load_all(path: Path) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the arrays of an archive, and the names of those that only pickle could read: it runs code."""
    arrays, objects = {}, []
    try:
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            raise ValueError(f"{path} is a single array: let its name end in .npy")
        with found as archive:
            for name in archive.files:
                try:
                    arrays[name] = archive[name]
                except ValueError as error:
                    if "allow_pickle" not in str(error):
                        raise
                    objects.append(name)
    except DAMAGED as error:
        raise _complaint(path, error) from error
    if objects and not any(array.ndim == 2 for array in arrays.values()):
        raise ValueError(
            f"{path} holds Python objects, {quoted(objects)}: save them as numbers, astype(float)"
        )
    return arrays, objects


def _complaint(path: Path, error: Exception) -> ValueError:
    """What to say of a file that NumPy would not load."""
    if str(path) in str(error):
        return ValueError(str(error))
    if "allow_pickle" in str(error) and "Object arrays" in str(error):
        return ValueError(f"{path} holds Python objects: save it as numbers, astype(float)")
    return ValueError(f"{path} is not a file that NumPy has written: save it with np.save or np.savez")


def _table(what: str, matrix: np.ndarray, sides: Mapping[str, np.ndarray], chooser: Chooser) -> Table:
    if matrix.ndim != 2:
        raise ValueError(f"{what} has the shape {matrix.shape}: it needs two dimensions, rows and columns")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{what} holds {short(str(matrix.dtype))}: it needs real numbers, astype(float)")
    width = matrix.shape[1]
    names = [f"x{j + 1}" for j in range(width)]
    choice = chooser([*names, *sides])

    def column(j: int | None) -> np.ndarray | None:
        return None if j is None else matrix[:, j] if j < width else list(sides.values())[j - width]

    if choice.asked and any(j >= width for j in choice.numbers):
        raise ValueError(f"{what}: the columns of the numbers are called {quoted(names)}")
    numbers = [j for j in choice.numbers if j < width]
    chosen = matrix if len(numbers) == width else matrix[:, numbers]
    return Table(
        np.ascontiguousarray(chosen, dtype=np.float64),
        tuple(names[j] for j in numbers),
        column(choice.label),
        column(choice.id),
    )
