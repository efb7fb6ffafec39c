"""When and on what a run was made, so that figures of different runs are not taken for one."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import FOLDER

PACKAGES = (
    "nearfield",
    "openTSNE",
    "scikit-learn",
    "umap-learn",
    "pacmap",
    "numpy",
    "scipy",
    "numba",
    "faiss-cpu",
)


def stamp(size: str) -> dict[str, Any]:
    """The date, the machine and the versions."""
    return {
        "date": time.strftime("%Y-%m-%d %H:%M:%S"),
        "size": size,
        "cores": _cores(),
        "processor": _processor(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "revision": _revision(),
    }


def line(stamp: dict[str, Any]) -> str:
    """A stamp as a sentence."""
    versions = ", ".join(f"{name} {number}" for name, number in stamp["versions"].items() if number)
    revision = f" (revision {stamp['revision']})" if stamp["revision"] else ""
    return (
        f"{stamp['date']}, size {stamp['size']}, {stamp['cores']} cores ({stamp['processor']}), Python"
        f" {stamp['python']}, {versions}{revision}"
    )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        return os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _revision() -> str | None:
    """Of the sources, with a plus if they were changed since; None outside a repository."""

    def git(*command: str) -> str:
        return subprocess.run(
            ["git", *command], cwd=FOLDER, capture_output=True, text=True, check=True
        ).stdout

    try:
        changed = git("status", "--porcelain", "--", "../src")
        return git("rev-parse", "--short", "HEAD").strip() + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None
