"""The client's side of a job: it hands out the tasks, hears how far they are, and notices who is lost."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from distributed import wait

from nearfield.cluster.data import Blocks
from nearfield.cluster.job import Done, Job
from nearfield.cluster.post import NAME
from nearfield.cluster.work import work

LOOK = 1.0  # seconds after which to see whether all workers are there


class Lost(Exception):
    """Workers have gone, and the others have let go of the job."""

    def __init__(self, addresses: set[str]) -> None:
        super().__init__(f"lost {', '.join(sorted(addresses))}")
        self.addresses = addresses


def end(name: str, why: str, dask_worker: Any) -> None:
    """Let a worker's task end where it is: what it has made is wanted no more."""
    dask_worker.plugins[NAME].box(name).end(why)


def stop(name: str, dask_worker: Any) -> None:
    """Let a worker's task stop soon, and hand back the map as it is then."""
    dask_worker.plugins[NAME].box(name).stopping = True


def watched(
    client: Any, job: Job, blocks: list[Blocks], init: Any, heard: Callable[[dict[str, Any]], Any]
) -> tuple[list[Done], bool]:
    """Have a job done; what comes of it on each worker, and whether Ctrl-C ended it.

    Parameters
    ----------
    client : Client
        Of the workers.
    job : Job
        What is asked for.
    blocks : list of Blocks
        The rows that each worker begins with.
    init : Future, optional
        The start of all points.
    heard : callable
        Called with a few numbers every 10 iterations; True from it stops the job.
    """
    news: queue.Queue[Any] = queue.Queue()
    client.subscribe_topic(job.topic, lambda event: news.put(event[1]))
    futures = []
    try:
        for rank, (address, mine) in enumerate(zip(job.addresses, blocks, strict=True)):
            future = client.submit(
                work,
                job,
                rank,
                mine.firsts,
                mine.chunks,
                init,
                key=f"nearfield-map-{job.name}-{rank}",
                workers=[address],
                allow_other_workers=False,
                pure=False,
                retries=0,
            )
            future.add_done_callback(lambda _: news.put(None))
            futures.append(future)
        interrupted = False
        while True:
            try:
                return _finished(client, job, futures, news, heard), interrupted
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                _tell(client, job, stop, job.name)
    except BaseException:
        _tell(client, job, end, job.name, "the client has called it off")
        raise
    finally:
        if client.status == "running":  # else the scheduler has let go of all
            client.cancel([future for future in futures if not future.done()])
            client.unsubscribe_topic(job.topic)


def _tell(client: Any, job: Job, what: Callable[..., None], *arguments: Any) -> None:
    """Call something on the workers of a job that are there."""
    if client.status == "running":
        there = [address for address in job.addresses if address in client.nthreads()]
        client.run(what, *arguments, workers=there, on_error="ignore")


def _finished(
    client: Any,
    job: Job,
    futures: list[Any],
    news: queue.Queue[Any],
    heard: Callable[[dict[str, Any]], Any],
) -> list[Done]:
    """What has come of the tasks, when all have ended."""
    looked = time.monotonic()
    while not all(future.done() for future in futures):
        try:
            told = news.get(timeout=LOOK)
        except queue.Empty:
            told = None
        if told is not None and heard(told):
            _tell(client, job, stop, job.name)
        if client.status != "running":
            raise ConnectionError(f"the client is gone (it is {client.status}): its workers stop")
        if any(future.status in ("error", "cancelled") for future in futures):
            break
        if time.monotonic() - looked >= LOOK:
            _look_for(client, job, futures)
            looked = time.monotonic()
    wrong = [future for future in futures if future.status == "error"]
    if wrong:
        _tell(client, job, end, job.name, "another worker has failed")
        raise wrong[0].exception()
    lost = _missing(client, job)
    if any(future.status != "finished" for future in futures):
        raise Lost(lost or set(job.addresses))
    maps = [_asked_of(client, getattr, future, "Y") for future in futures] if job.stays else []
    found = client.gather([_asked_of(client, without_map, future) for future in futures] if maps else futures)
    if any(done is None for done in found):  # they have missed a letter
        raise Lost(lost or set(job.addresses))
    wait(maps)  # before what they are taken from is let go
    return [replace(done, Y=Y) for done, Y in zip(found, maps, strict=True)] if maps else found


def _asked_of(client: Any, what: Callable[..., Any], future: Any, *arguments: Any) -> Any:
    """What a function makes of the outcome of a task, where that is."""
    return client.submit(what, future, *arguments, pure=False)


def without_map(done: Done | None) -> Done | None:
    """All but the map."""
    return None if done is None else replace(done, Y=len(done.Y))


def _missing(client: Any, job: Job) -> set[str]:
    return set(job.addresses) - set(client.nthreads())


def _look_for(client: Any, job: Job, futures: list[Any]) -> None:
    """Call a job off if one of its workers has gone, and wait until the others have let go."""
    lost = _missing(client, job)
    if not lost:
        return
    _tell(client, job, end, job.name, "a worker was lost")
    raise Lost(lost)
