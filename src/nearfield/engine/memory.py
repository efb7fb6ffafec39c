"""What a program may still take of the machine, and figures as a person reads them."""

from __future__ import annotations

import os
from pathlib import Path


def available_memory() -> int | None:
    """The bytes that a program may still take; None where the system does not tell."""
    found = (_free_memory(), _free_in_container(), _free_in_process())
    return min((free for free in found if free is not None), default=None)


def _free_memory() -> int | None:
    """What the machine has left, with the caches that Linux gives back on demand."""
    try:
        with open("/proc/meminfo") as lines:
            fields = dict(line.split(":") for line in lines)
        return 1024 * int(fields["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_container(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """What the limit of a container leaves (cgroups, version 2 or 1); None where there is no limit."""
    for limit, used, folder in (
        ("memory.max", "memory.current", root),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", root / "memory"),
    ):
        try:
            most, now = (int((folder / name).read_text()) for name in (limit, used))
            statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):  # no such limit: its file is missing, or says "max"
            continue
        # Files that are cached count as used, but are given back on demand.
        return max(0, most - now + int(statistics.get("inactive_file", 0)))
    return None


def _free_in_process() -> int | None:
    """What a limit on the addresses of this process leaves (ulimit -v); None where there is no limit."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError, ValueError):  # not on every platform
        return None
    if limit == resource.RLIM_INFINITY:
        return None
    return max(0, limit - pages * resource.getpagesize())


def duration(seconds: float) -> str:
    """Seconds as a person reads them.

    Examples
    --------
    >>> duration(0.02), duration(3.2), duration(400)
    ('20 ms', '3 s', '7 min')
    """
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{max(1, round(1000 * seconds))} ms"


def size(count: int) -> str:
    """Bytes as a person reads them.

    Examples
    --------
    >>> size(39_200_000_000)
    '39 GB'
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6)):
        if count >= factor:
            value = count / factor
            return f"{value:.1f} {unit}" if value < 10 and unit == "GB" else f"{value:.0f} {unit}"
    return f"{max(1, count // 1000)} kB"
