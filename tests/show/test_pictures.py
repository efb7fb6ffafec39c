"""Every kind of picture, compared with one that was looked at: tests/show/baselines.

A change that is meant is looked at and then kept by

    NEARFIELD_RENEW_PICTURES=1 python -m pytest tests/show/test_pictures.py
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

import nearfield as nf

BASELINES = Path(__file__).parent / "baselines"
TOLERANCE = 3.0  # of 255: the root of the mean square difference of all pixels
RANDOM = np.random.default_rng(0)
CLASSES = np.arange(400) % 5
KINDS = np.array([f"kind {k}" for k in range(5)])
X = RANDOM.normal(size=(5, 6))[CLASSES] * 4 + RANDOM.normal(size=(400, 6))
Y = X[:, :2]
PLENTY = RANDOM.normal(size=(20_000, 3)) * [2, 1, 1] + np.where(np.arange(20_000) % 2, 1.5, -1.5)[:, None]
RUN = SimpleNamespace(
    history={
        "iteration": np.arange(0, 100, 10),
        "cost": np.linspace(3, 1, 10) ** 2,
        "penalty": np.r_[np.zeros(5), 1, 0.8, 0.6, 0.5, 0.5],
        "gradient_norm": np.geomspace(1, 1e-4, 10),
    },
    log=[SimpleNamespace(command="pin", iteration=45)],
)


def axes(projection: str | None = None) -> Any:
    return Figure(figsize=(4.0, 3.0), layout="constrained").add_subplot(projection=projection)


def pair() -> list[Any]:
    return list(Figure(figsize=(6.0, 2.5), layout="constrained").subplots(1, 2))


def film(path: Path) -> Any:
    """The first picture of a film, from which the others differ by the places of the points."""
    nf.show.animation([Y[::-1] * 0.5, Y], path, CLASSES, frames=3, ax=axes())
    with Image.open(path) as frames:
        return frames.convert("RGB")


PICTURES: dict[str, Callable[[], Any]] = {
    "map": lambda: nf.show.map(Y, KINDS[CLASSES], title="Five classes", ax=axes()),
    "map-numbers-dark": lambda: nf.show.map(Y, X[:, 2], title="Numbers", dark=True, ax=axes()),
    "map-1d": lambda: nf.show.map(Y[:, :1], CLASSES, ax=axes()),
    "map-3d": lambda: nf.show.map(X[:, :3], CLASSES, ax=axes("3d")),
    "density": lambda: nf.show.map(PLENTY[:, :2], np.arange(20_000) % 2, density=True, ax=axes()),
    "density-numbers": lambda: nf.show.map(PLENTY[:, :2], PLENTY[:, 2], density=True, dark=True, ax=axes()),
    "density-1d": lambda: nf.show.map(PLENTY[:, :1], PLENTY[:, 2] > 0, ax=axes()),
    "density-3d": lambda: nf.show.map(PLENTY, PLENTY[:, 1] > 0, density=True, ax=axes("3d")),
    "images": lambda: nf.show.images(Y, X.reshape(-1, 2, 3), CLASSES, ax=axes()),
    "quality": lambda: nf.show.quality({"two": Y, "one": X[:, 3:4]}, X, title="R_NX", ax=axes()),
    "shepard": lambda: nf.show.shepard(X, Y, ax=axes()),
    "stress": lambda: nf.show.stress(X, Y, dark=True, ax=axes()),
    "stress-sample": lambda: nf.show.stress(X, Y, sample=60, ax=axes()),
    "history": lambda: nf.show.history(RUN, dark=True)[0],
    "before-after": lambda: nf.show.before_after(Y, Y[::-1], CLASSES, pins=[3, 4], axes=pair())[0],
}


def drawn(picture: Any) -> np.ndarray:
    """A picture as an array of numbers from 0 to 255."""
    if not isinstance(picture, Image.Image):
        raw = io.BytesIO()
        picture.figure.savefig(raw, dpi=50, facecolor=picture.figure.get_facecolor())
        picture = Image.open(raw)
    return np.asarray(picture.convert("RGB"), dtype=float)


def difference(one: np.ndarray, other: np.ndarray) -> float:
    assert one.shape == other.shape
    return float(np.sqrt(np.mean((one - other) ** 2)))


@pytest.fixture(autouse=True)
def _defaults() -> Any:
    with rc_context({"font.family": "DejaVu Sans"}):  # it comes with Matplotlib
        yield


@pytest.mark.parametrize("name", [*PICTURES, "film"])
def test_it_looks_as_it_did(name: str, tmp_path: Path) -> None:
    image = drawn(film(tmp_path / "map.gif") if name == "film" else PICTURES[name]())
    path = BASELINES / f"{name}.png"
    if os.environ.get("NEARFIELD_RENEW_PICTURES"):
        Image.fromarray(image.astype(np.uint8)).save(path, optimize=True)
    with Image.open(path) as expected:
        found = difference(image, drawn(expected))
    if found > TOLERANCE:
        Image.fromarray(image.astype(np.uint8)).save(tmp_path / path.name)
    assert found <= TOLERANCE, f"compare {tmp_path / path.name} with {path}"


@pytest.mark.parametrize(
    "change",
    [
        lambda: nf.show.map(Y, KINDS[CLASSES], title="Five classes", ax=axes(), legend=False),
        lambda: nf.show.map(Y, KINDS[CLASSES], title="Five classes", ax=axes(), names=False),
        lambda: nf.show.map(Y, KINDS[CLASSES], title="Five classes", ax=axes(), size=24),
        lambda: nf.show.map(Y, KINDS[CLASSES], title="Five classes", ax=axes(), alpha=0.5),
        lambda: nf.show.map(Y, KINDS[(CLASSES + 1) % 5], title="Five classes", ax=axes()),
        lambda: nf.show.map(Y[:, ::-1], KINDS[CLASSES], title="Five classes", ax=axes()),
        lambda: nf.show.map(Y, KINDS[CLASSES], ax=axes()),
    ],
)
def test_a_change_is_noticed(change: Callable[[], Any]) -> None:
    with Image.open(BASELINES / "map.png") as expected:
        assert difference(drawn(change()), drawn(expected)) > 2 * TOLERANCE


def test_baselines_are_small_and_all_in_use() -> None:
    files = {path.stem: path.stat().st_size for path in BASELINES.iterdir()}
    assert set(files) == {*PICTURES, "film"}
    assert max(files.values()) < 30_000
