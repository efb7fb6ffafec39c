"""A frame: the map at one moment, in bytes that the page reads without parsing. Little-endian.

| bytes | what |
| --- | --- |
| 0–3 | NFLD |
| 4–5, 6–7 | version of this format; nothing |
| 8–11, 12–15, 16–19 | number of the frame, iteration, number n of points |
| 20–23, 24–27, 28–31 | cost, penalty, norm of the gradient (float32, NaN if not known) |
| 32–… | n × 2 coordinates (float32) |
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.typing import Array

MAGIC, VERSION = b"NFLD", 1
HEADER = struct.Struct("<4sHHIIIfff")
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Frame:
    """A map on its way.

    Attributes
    ----------
    sequence, iteration : int
        Its number among all frames, and how many iterations had been made.
    data : bytes
        What is sent.
    """

    sequence: int
    iteration: int
    data: bytes


def frame(sequence: int, iteration: int, Y: Array, told: tuple[float, float, float]) -> Frame:
    """A frame of the map Y, with cost, penalty and norm of the gradient.

    Examples
    --------
    >>> made = frame(3, 120, np.array([[0.5, 2.0]]), (1.0, 0.0, 0.25))
    >>> len(made.data), read(made.data)[1:3]
    (40, (3, 120))
    """
    numbers = (float(np.clip(each, -LARGEST, LARGEST)) for each in told)
    head = HEADER.pack(MAGIC, VERSION, 0, sequence % 2**32, iteration % 2**32, len(Y), *numbers)
    return Frame(sequence, iteration, head + np.ascontiguousarray(Y, dtype="<f4").tobytes())


def read(data: bytes) -> tuple[Any, ...]:
    """Coordinates, number, iteration, cost, penalty and norm of the gradient of a frame."""
    magic, version, _, sequence, iteration, n, *told = HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION or len(data) != HEADER.size + 8 * n:
        raise ValueError("this is no frame of a studio of this version: reload the page")
    return (np.frombuffer(data, "<f4", offset=HEADER.size).reshape(n, 2), sequence, iteration, *told)
