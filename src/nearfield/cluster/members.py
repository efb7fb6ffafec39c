"""The workers of one job, each of which asks the others by letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from nearfield.cluster.letters import Box, Letters, letter
from nearfield.parallel.together import Together

PAIR = 2  # workers, among whom it is quickest to send each other all of a large array


class Members(Together):
    """One worker among those of a job.

    Parameters
    ----------
    post : Letters
        Of this worker.
    job : str
        The name of the job.
    rank : int
        Which of the workers this is.
    addresses : sequence of str
        All of them, in their order.

    Attributes
    ----------
    sent : dict
        The bytes that were sent, by what they were for.
    """

    def __init__(self, post: Letters, job: str, rank: int, addresses: tuple[str, ...]) -> None:
        self.rank, self.size = rank, len(addresses)
        self._post, self._job, self._addresses = post, job, addresses
        self._number, self._purpose = 0, "numbers"
        self.sent: dict[str, int] = {}

    @property
    def box(self) -> Box:
        """Where the letters of the others come in."""
        return self._post.box(self._job)

    @contextmanager
    def sending(self, purpose: str) -> Iterator[None]:
        """Count what is sent meanwhile as being for this purpose."""
        before, self._purpose = self._purpose, purpose
        try:
            yield
        finally:
            self._purpose = before

    def begin(self, parts: list[Any]) -> Callable[[], list[Any]]:
        """Send each of the others its part; what is returned waits for theirs."""
        number, sent = self._number, 0
        self._number += 1
        for rank, (address, part) in enumerate(zip(self._addresses, parts, strict=True)):
            if rank != self.rank:
                values = letter(part)
                sent += values.nbytes
                self._post.send(address, self._job, number, self.rank, values)
        self.sent[self._purpose] = self.sent.get(self._purpose, 0) + sent

        def finish() -> list[Any]:
            box = self.box
            return [part if rank == self.rank else box.take(number, rank) for rank, part in enumerate(parts)]

        return finish

    def exchanged(self, parts: list[Any]) -> list[Any]:
        return self.begin(parts)()

    def gathered(self, values: Any) -> list[Any]:
        found = self.exchanged([np.asarray(values)] * self.size)
        return found if np.ndim(values) else [each.item() for each in found]

    def summed(self, values: Any) -> Any:
        """Each adds up a part of it, and sends the sum to all others; two send each other the whole."""
        with self.sending("grid"):
            if self.size <= PAIR:
                return self.sum(values)
            flat = values.reshape(-1)
            bounds = [len(flat) * rank // self.size for rank in range(self.size + 1)]
            parts = self.exchanged([flat[lo:hi] for lo, hi in pairwise(bounds)])
            total = parts[0].copy()
            for part in parts[1:]:
                total += part
            return np.concatenate(self.gathered(total)).reshape(values.shape)

    def known_to_first(self, make: Callable[[], Any]) -> Any:
        """An array that the first makes, for all: what others would make might differ in its last bits."""
        return self.gathered(make() if self.leads else np.zeros(0))[0]
