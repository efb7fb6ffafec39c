"""Letters from worker to worker, by Dask's own communication: nothing goes through scheduler or client.

Every worker has a post, a plugin with a handler beside Dask's own. A letter is an array; it lies in the box
of its job until the thread that waits for it takes it out: see `letters`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from distributed import get_worker
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.protocol import to_serialize

from nearfield.cluster.letters import Box

NAME = "nearfield-post"
REMEMBERED = 100  # jobs that are over, whose late letters nobody wants


class Post(WorkerPlugin):
    """The post of a worker."""

    name = NAME
    idempotent = True

    def setup(self, worker: Any) -> None:
        """Open it, when the worker starts or the plugin comes to it."""
        self.worker, self.boxes = worker, dict[str, Box]()
        self._over: deque[str] = deque(maxlen=REMEMBERED)
        worker.handlers["nearfield_letter"] = self.receive

    def teardown(self, worker: Any) -> None:
        """Close it with its worker."""
        for box in self.boxes.values():
            box.end("the worker is closing")

    async def receive(self, job: str, number: int, sender: int, values: Any) -> None:
        """A letter comes in; perhaps before the job itself."""
        self.box(job).put(number, sender, values)

    def box(self, job: str) -> Box:
        """The box of a job, opened by whoever asks first; of one that is over, one that nobody reads."""
        return Box() if job in self._over else self.boxes.setdefault(job, Box())

    def close(self, job: str) -> None:
        """Nobody asks for letters of this job any more."""
        self._over.append(job)
        self.boxes.pop(job, None)

    def send(self, address: str, job: str, number: int, sender: int, values: Any) -> None:
        """Send a letter, without waiting; the array must not change any more."""

        async def written() -> None:
            try:
                await self.worker.rpc(address).nearfield_letter(
                    job=job, number=number, sender=sender, values=to_serialize(values)
                )
            except OSError as error:  # as those of a comm that is closed are
                self.box(job).end(f"a letter to {address} was lost ({error})")

        asyncio.run_coroutine_threadsafe(written(), self.worker.loop.asyncio_loop)


def post_here() -> Post:
    """The post of the worker that runs this task."""
    post: Any = get_worker().plugins[NAME]
    return post
