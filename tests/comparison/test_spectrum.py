"""The spectrum: maps under attraction from strong to weak, each from the one before."""

import csv
import warnings

import numpy as np
import pytest
from PIL import Image

import nearfield as nf
from nearfield.affinity import targets
from nearfield.cli import main
from nearfield.comparison.alignment import align

random = np.random.default_rng(0)
GROUPS = random.integers(0, 4, 240)
X = 6 * random.normal(size=(4, 5))[GROUPS] + random.normal(size=(240, 5))
OPTIONS = {"perplexity": 10, "random_state": 0}


@pytest.fixture(scope="module")
def found():
    return nf.spectrum(X, (0.5, 1, 4, 10), **OPTIONS)


def test_each_map_is_a_minimum_of_its_own_as_good_as_from_scratch(found):
    assert found.attractions == (0.5, 1.0, 4.0, 10.0)
    for each, Y, cost in zip(found.attractions[1:], found.maps[1:], found.costs[1:], strict=True):
        P = nf.method("tsne").target(X, perplexity=10)
        value, _ = nf.method("tsne").value_and_gradient(Y, P, exaggeration=each)
        assert cost == pytest.approx(value, rel=1e-9)
        alone = nf.TSNE(attraction=each, **OPTIONS).fit(X)
        assert cost < alone.cost_ + 0.03 * abs(alone.cost_)
    sizes = [Y.std() for Y in found.maps]
    assert sizes == sorted(sizes, reverse=True)
    assert "attraction 0.5, 1, 4, 10" in repr(found)
    assert "\n" not in repr(found)


def test_neighbouring_maps_do_not_jump(found):
    for k in range(3):
        Y, following = (each / each.std() for each in found.maps[k : k + 2])
        gap = np.sqrt(np.mean((Y - following) ** 2))
        assert gap <= 1.01 * np.sqrt(np.mean((align(Y, following) - following) ** 2)) + 0.05
        assert gap < 0.7


def test_neighbours_and_p_are_made_once(monkeypatch):
    asked = []
    calibrate = targets.calibrate
    monkeypatch.setattr(
        targets, "calibrate", lambda *args, **more: asked.append(1) or calibrate(*args, **more)
    )
    nf.spectrum(X, (1, 4, 10), max_iter=30, **OPTIONS)
    assert len(asked) == 1


@pytest.mark.parametrize("method", ["jse", "dhssne", "umap"])
def test_guided_methods_and_learned_parameters_go_the_same_way(method):
    found = nf.spectrum(X[:120], (1, 3), method, max_iter=300, **OPTIONS)
    assert found.at(3).std() != found.at(1).std()
    run = nf.Run(X[:120], method, attraction=3, **OPTIONS)
    run.step(230)
    weaker = run.with_attraction(1)
    assert not weaker.guided
    for name in run.method.learned:
        assert getattr(weaker.method.kernel, name) == getattr(run.method.kernel, name)
    before = weaker.cost
    weaker.step(60)
    assert weaker.cost < before


def test_quality_pictures_and_tables(found, tmp_path):
    judged = found.quality(GROUPS)
    assert [each.auc for each in judged] == [nf.quality(X, Y).auc for Y in found.maps]
    panels = found.show(GROUPS)
    assert [ax.get_title(loc="left") for ax in panels] == [f"attraction {a:g}" for a in found.attractions]
    nf.show.save(panels, tmp_path / "maps.png", dpi=40)
    found.save(tmp_path / "maps.csv", labels=GROUPS)
    rows = list(csv.reader((tmp_path / "maps.csv").read_text().splitlines()))
    assert rows[0] == ["id", "attraction", "y1", "y2", "label"]
    assert len(rows) == 1 + 4 * 240
    assert [float(each) for each in rows[241][2:4]] == found.at(1)[0].tolist()
    with pytest.raises(ValueError, match="240 points"):
        found.save(tmp_path / "other.csv", labels=GROUPS[:3])
    found.film(tmp_path / "maps.gif", GROUPS, fps=2, frames=4, dpi=30)
    with Image.open(tmp_path / "maps.gif") as film:
        assert film.n_frames == 4


@pytest.mark.parametrize(
    ("attractions", "method", "said"),
    [
        ((), "tsne", "several numbers"),
        ("1,4", "tsne", "several numbers"),
        ((1, 1.0), "tsne", "must differ"),
        ((1, -4), "tsne", "0.01 to 1000"),
        ((1, 4), "mds", "leave it at 1"),
        ((0.5, 4), "jse", "nothing holds"),
        ((1, 4), "msjse", "several scales"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(attractions, method, said):
    with pytest.raises(ValueError, match=said):
        nf.spectrum(X, attractions, method)
    with pytest.raises(ValueError, match="leave out attraction"):
        nf.spectrum(X, (1, 4), attraction=3)


def test_ctrl_c_keeps_what_is_there(monkeypatch):
    step = nf.Run._iterate

    def pressed(run):
        if run._begun.settings.attraction == 4 and run.iteration == 12:
            raise KeyboardInterrupt
        step(run)

    monkeypatch.setattr(nf.Run, "_iterate", pressed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = nf.spectrum(X, (1, 4, 10), **OPTIONS)
    assert found.attractions == (4.0, 10.0)
    assert any("no map was made of attraction 1" in str(each.message) for each in said)


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [",".join([*map(str, row), f"g{kind}"]) for row, kind in zip(X.tolist(), GROUPS, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c,d,e,kind", *rows]) + "\n")
    options = ["--label", "kind", "--perplexity", "10", "--max-iter", "60", "--attractions", "1,8"]
    assert main(["spectrum", "data.csv", *options, "--maps", "maps.csv", "--film", "maps.gif"]) == 0
    said = capsys.readouterr().out
    assert "attraction 8: cost" in said
    assert "wrote   data-spectrum.png, maps.csv, maps.gif" in said
    assert {each.name for each in tmp_path.iterdir()} == {
        "data.csv",
        "data-spectrum.png",
        "maps.csv",
        "maps.gif",
    }
    for wrong, line in (
        (["--attractions", "1;8"], "with commas"),
        (["--out", "maps.xyz"], "cannot save a picture"),
        (["--maps", "data.csv"], "would replace the data"),
        (["--film", "maps.avi"], "use .gif or .mp4"),
    ):
        assert main(["spectrum", "data.csv", *wrong]) == 2
        assert line in capsys.readouterr().err
