"""The data of a job: an array here, or one of Dask, as blocks of rows that workers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.checks import check_count, numbers

BLOCK = 2**25  # bytes of an array here that are sent at a time


@dataclass(frozen=True)
class Blocks:
    """What one worker has of the rows: blocks, and the number of the first row of each."""

    firsts: list[int]
    chunks: list[Any]


class Data:
    """Rows that are sent to workers block by block, or that they have already.

    Parameters
    ----------
    X : array, or Dask array (points, columns)
        A memory-mapped one is read block by block.
    """

    def __init__(self, X: Any) -> None:
        self.X, self.is_dask = X, hasattr(X, "__dask_graph__")
        if self.is_dask:
            self._check_chunks()
        else:
            self.X = numbers(X if isinstance(X, np.ndarray) else np.asarray(X))
        if self.X.ndim != 2 or not self.X.shape[1]:
            raise ValueError(f"X must have two dimensions, points and columns, got shape {self.X.shape}")
        if self.X.dtype.kind not in "fiub":
            raise ValueError(f"X must hold numbers, got {self.X.dtype}: encode or leave out other columns")
        check_count(self.n)

    def _check_chunks(self) -> None:
        if not hasattr(self.X, "chunks"):
            raise TypeError(
                f"X must be an array or a Dask array, got {type(self.X).__name__}: use to_dask_array"
            )
        if any(np.isnan(size) for along in self.X.chunks for size in along):
            raise ValueError("X has chunks of unknown size: call X.compute_chunk_sizes() first")
        if self.X.ndim == 2 and len(self.X.chunks[1]) > 1:
            raise ValueError(
                f"the columns of X are cut into {len(self.X.chunks[1])} chunks: rows have to be whole, call"
                " X.rechunk({1: -1}) first"
            )

    @property
    def n(self) -> int:
        """The points."""
        return int(self.X.shape[0])

    @property
    def columns(self) -> int:
        """Their columns."""
        return int(self.X.shape[1])

    def dealt_to(self, client: Any, addresses: tuple[str, ...]) -> list[Blocks]:
        """What each of the workers has: of an array here equal parts, of Dask's the chunks that it holds."""
        return self._held(client, addresses) if self.is_dask else self._sent(client, addresses)

    def _sent(self, client: Any, addresses: tuple[str, ...]) -> list[Blocks]:
        step = max(1, BLOCK // (self.X.itemsize * self.columns))
        found = []
        for rank, address in enumerate(addresses):
            lo, hi = (self.n * part // len(addresses) for part in (rank, rank + 1))
            firsts = list(range(lo, hi, step))
            chunks = [
                client.scatter(np.array(self.X[first : min(first + step, hi)]), workers=[address], hash=False)
                for first in firsts
            ]
            found.append(Blocks(firsts, chunks))
        return found

    def _held(self, client: Any, addresses: tuple[str, ...]) -> list[Blocks]:
        from distributed import futures_of, wait

        held = client.persist(self.X)
        by_key = {future.key: future for future in futures_of(held)}
        chunks = [by_key[row[0]] for row in held.__dask_keys__()]
        wait(chunks)
        firsts = np.concatenate([[0], np.cumsum(self.X.chunks[0])[:-1]]).astype(int).tolist()
        homes = client.who_has(chunks)
        found = [Blocks([], []) for _ in addresses]
        load = np.zeros(len(addresses))
        for first, rows, chunk in zip(firsts, self.X.chunks[0], chunks, strict=True):
            ranks = [rank for rank, address in enumerate(addresses) if address in homes.get(chunk.key, ())]
            rank = min(ranks or range(len(addresses)), key=lambda rank: load[rank])
            load[rank] += rows
            found[rank].firsts.append(first)
            found[rank].chunks.append(chunk)
        return found
