"""Work spread over threads so that the result does not depend on how many there are.

The rows of a problem are cut into a number of chunks that depends on the problem alone; each chunk is
computed by one thread, and what the chunks return is added up in their order. So one thread and sixteen
give the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

CHUNKS = 16  # into which rows are cut, on any number of threads
ROWS = 32  # a chunk of fewer rows costs more to hand out than to compute
LIGHT = 4096  # the same, where little is done for each

T = TypeVar("T")


def threads(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` asks for; None and -1 mean every core this process may use.

    Examples
    --------
    >>> threads(1)
    1
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        cores = os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise ValueError(f"n_jobs must be a positive number of threads, -1 for all, or None; got {n_jobs!r}")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


@lru_cache(maxsize=4)
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="nearfield")


def chunks(n: int, least: int = ROWS) -> list[tuple[int, int]]:
    """Cut range(n) into ranges of nearly equal length, of `least` so many, as many as n alone decides.

    Examples
    --------
    >>> chunks(5), chunks(100)
    ([(0, 5)], [(0, 33), (33, 66), (66, 100)])
    """
    count = min(max(n // least, 1), CHUNKS)
    bounds = [n * c // count for c in range(count + 1)]
    return list(pairwise(bounds))


def over_chunks(
    work: Callable[..., T],
    over: int | list[tuple[int, int]],
    *arguments: Any,
    n_jobs: int | None = None,
    least: int = ROWS,
) -> list[T]:
    """[work(lo, hi, *arguments) for each chunk], on `n_jobs` threads, in order.

    `over` is the chunks themselves, or the n of a range that is cut into some, of at `least` so many each.
    """
    return begin(work, over, *arguments, n_jobs=n_jobs, least=least)()


def begin(
    work: Callable[..., T],
    over: int | list[tuple[int, int]],
    *arguments: Any,
    n_jobs: int | None = None,
    least: int = ROWS,
) -> Callable[[], list[T]]:
    """Start what `over_chunks` does, and return a function that waits for it.

    Meanwhile the caller may do other work; on one thread nothing is done before it waits. Whoever waits takes
    chunks, too: a thread is called less often, and where there is little to do, it is done before one comes.
    """
    parts = chunks(over, least) if isinstance(over, int) else over
    count = min(threads(n_jobs), len(parts))
    if count <= 1:
        return lambda: [work(lo, hi, *arguments) for lo, hi in parts]
    results: list[Any] = [None] * len(parts)
    left = iter(range(len(parts)))  # of which each chunk is taken once

    def take() -> None:
        for k in left:
            results[k] = work(*parts[k], *arguments)

    helpers = [_pool(count).submit(take) for _ in range(count - 1)]

    def finish() -> list[T]:
        try:
            take()
        finally:
            for _ in left:  # after an error nobody is to begin another one
                pass
            errors = [helper.exception() for helper in helpers if not helper.cancel()]
        for error in errors:
            if error is not None:
                raise error
        return results

    return finish


class _Held:
    """How many hold the linear algebra to one thread now: the last to leave gives it back what it had."""

    def __init__(self) -> None:
        self.lock, self.count = Lock(), 0
        self.limit: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.count == 0:
                self.limit = _loaded().limit(limits=1, user_api="blas")
            self.count += 1

    def leave(self) -> None:
        with self.lock:
            self.count -= 1
            if self.count == 0:
                self.limit.restore_original_limits()


_held = _Held()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the linear algebra of NumPy and SciPy to one thread: with more, it adds up in another order.

    It may be entered again from within, and by several threads at once; as a decorator it holds for a whole
    function.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    _held.enter()
    try:
        yield
    finally:
        _held.leave()


@lru_cache(maxsize=1)
def _loaded() -> Any:
    """The libraries of linear algebra that are loaded, which take a while to find."""
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _begin_anew() -> None:
    """A process that was forked has none of its parent's threads, and nobody who would open their locks."""
    global _held
    _pool.cache_clear()
    _held = _Held()


if hasattr(os, "register_at_fork"):  # not on every platform
    os.register_at_fork(after_in_child=_begin_anew)
