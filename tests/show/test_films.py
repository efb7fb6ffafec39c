"""Films of a run: what is kept on the way, how it is steadied, and the files that are written."""

from __future__ import annotations

import stat
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

import nearfield as nf
from nearfield.show import snapshots as module
from nearfield.show.snapshots import Snapshots, steadied, views

RANDOM = np.random.default_rng(0)
Y = RANDOM.normal(size=(80, 2)) * [3, 1]


def at(iteration, Y=Y):
    return SimpleNamespace(iteration=iteration, Y=Y)


def turn(angle):
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


# ------------------------------------------------------------------------------------------- snapshots


def test_snapshots_span_the_run_evenly_and_are_no_more_than_allowed():
    kept = Snapshots(most=20)
    for iteration in range(10, 2511, 10):
        kept(at(iteration, Y + iteration))
        assert len(kept) <= 20
    gaps = np.diff(kept.iterations)
    assert len(kept) > 8
    assert len(set(gaps[:-1])) == 1
    assert (kept.iterations[0], kept.iterations[-1]) == (10, 2510)
    for iteration, Z in zip(kept.iterations, kept.maps, strict=True):
        np.testing.assert_array_equal(Z, (Y + iteration).astype(np.float32))


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "_MEMORY", 12 * Y.astype(np.float32).nbytes)
    kept = Snapshots(most=1000)
    for iteration in range(500):
        kept(at(10 * iteration))
    assert len(kept) <= 13


def test_what_was_undone_is_forgotten_and_a_new_run_begins_anew():
    kept = Snapshots()
    for iteration in (10, 20, 30, 20, 30):
        kept(at(iteration))
    assert kept.iterations == [10, 20, 30]
    kept(at(10, Y[:5]))
    assert kept.iterations == [10]


def test_a_callback_keeps_what_the_run_had():
    kept = Snapshots(every=30)
    fitted = nf.Embedder(max_iter=100, callback=kept, random_state=0).fit(RANDOM.normal(size=(60, 5)))
    assert kept.iterations == [10, 40, 70, 100]
    np.testing.assert_array_equal(kept.maps[-1], fitted.embedding_.astype(np.float32))


# ------------------------------------------------------------------------------------------ steadiness


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_map_that_only_turns_stands_still(mirrored):
    maps = [
        Y @ turn(angle) * ([-1, 1] if mirrored and k % 2 else 1) + k
        for k, angle in enumerate((2.0, 1.0, 0.3, 0))
    ]
    for Z in steadied(maps):
        np.testing.assert_allclose(Z, maps[-1], atol=1e-12)


def test_distances_stay_as_they_were():
    maps = [RANDOM.normal(size=(30, 3)) for _ in range(4)]
    for before, after in zip(maps, steadied(maps), strict=True):
        np.testing.assert_allclose(
            np.linalg.norm(before[:, None] - before, axis=2), np.linalg.norm(after[:, None] - after, axis=2)
        )


def test_the_view_is_smooth_and_nothing_is_cut_off():
    growth = np.where(np.arange(40) < 20, 1e-3, 10.0)
    reach = views([Y * g for g in growth])
    assert np.all(reach >= [np.ptp(Y * g, axis=0).max() / 2 - 1e-12 for g in growth])
    steps = np.diff(np.log(reach))
    assert steps.max() < 0.6 * np.log(1e4)
    assert reach[0] == pytest.approx(np.ptp(Y[:, 0]) / 2 * 1e-3)


# ----------------------------------------------------------------------------------------------- films


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("dark", [False, True])
def test_a_gif_has_the_pictures_that_were_asked_for(tmp_path, dimensions, dark):
    maps = [RANDOM.normal(size=(50, dimensions)) * scale for scale in (0.1, 0.5, 1, 1.1)]
    path = tmp_path / "map.gif"
    ax = nf.show.animation(maps, path, np.arange(50) % 3, frames=6, dark=dark, dpi=40, title="Film")
    with Image.open(path) as film:
        assert film.n_frames == 6
        assert film.info["loop"] == 0
        first = film.convert("RGB")
        film.seek(5)
        assert film.info["duration"] == 1500
        last = film.convert("RGB")
    assert np.any(np.asarray(first) != np.asarray(last))
    assert first.getpixel((0, 0)) == last.getpixel((0, 0)) == ((20, 22, 26) if dark else (255, 255, 255))
    assert ax.get_title(loc="left") == "Film"
    assert [file.name for file in tmp_path.iterdir()] == ["map.gif"]


def test_the_axes_show_the_last_map_and_are_those_given(tmp_path):
    ax = Figure(figsize=(3, 3), dpi=50).subplots()
    canvas = ax.figure.canvas
    assert nf.show.animation([Y @ turn(1), Y], tmp_path / "map.gif", frames=3, ax=ax) is ax
    (points,) = ax.collections
    np.testing.assert_allclose(np.sort(np.asarray(points.get_offsets()), axis=0), np.sort(Y, axis=0))
    assert ax.figure.dpi == 50
    assert ax.figure.canvas is canvas
    low, high = ax.get_xlim()
    assert low < Y[:, 0].min() < Y[:, 0].max() < high


def test_few_maps_make_a_film_of_four_seconds_and_the_iteration_is_written(tmp_path):
    kept = Snapshots()
    for iteration in (10, 20, 30):
        kept(at(iteration, Y * iteration))
    for source in (kept, SimpleNamespace(callback=kept)):
        ax = nf.show.animation(source, tmp_path / "map.gif", fps=5, dpi=30)
        with Image.open(tmp_path / "map.gif") as film:
            assert film.n_frames == 20
    assert ax.texts[-1].get_text() == "iteration 30"


def fake_ffmpeg(tmp_path, program):
    path = tmp_path / "ffmpeg"
    path.write_text(f"#!{sys.executable}\nimport sys\n{program}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return rc_context({"animation.ffmpeg_path": str(path)})


def test_an_mp4_is_what_ffmpeg_makes_of_all_pictures(tmp_path):
    program = "open(sys.argv[-1], 'wb').write(b'film ' + str(len(sys.stdin.buffer.read())).encode())"
    ax = Figure(figsize=(3.03, 2.03), dpi=100).subplots()
    with fake_ffmpeg(tmp_path, program):
        nf.show.animation([Y, 2 * Y], tmp_path / "map.mp4", frames=4, fps=10, ax=ax)
    # Four pictures and 1.5 seconds of the last, with even sides.
    assert (tmp_path / "map.mp4").read_bytes() == b"film %d" % (302 * 202 * 3 * (4 + 15))


def test_what_ffmpeg_complains_about_is_said_and_nothing_is_left(tmp_path):
    with (
        fake_ffmpeg(tmp_path, "sys.exit('no such codec')"),
        pytest.raises(OSError, match="ffmpeg could not write the film: no such codec"),
    ):
        nf.show.animation([Y, 2 * Y], tmp_path / "map.mp4", frames=4)
    assert [file.name for file in tmp_path.iterdir()] == ["ffmpeg"]


def test_what_makes_no_film(tmp_path):
    with (
        rc_context({"animation.ffmpeg_path": "no-such-ffmpeg"}),
        pytest.raises(ValueError, match="install it, or use"),
    ):
        nf.show.animation([Y, Y], tmp_path / "map.mp4")
    with pytest.raises(ValueError, match=r"use \.gif or \.mp4"):
        nf.show.animation([Y, Y], tmp_path / "map.avi")
    for nothing in ([Y], Snapshots(), nf.Run(RANDOM.normal(size=(20, 3)))):
        with pytest.raises(ValueError, match=r"callback=nearfield.show.Snapshots\(\)"):
            nf.show.animation(nothing, tmp_path / "map.gif")
    with pytest.raises(ValueError, match="same points"):
        nf.show.animation([Y, Y[1:]], tmp_path / "map.gif")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        nf.show.animation([Y, Y], tmp_path / "folder" / "map.gif")
    assert list(tmp_path.iterdir()) == []
