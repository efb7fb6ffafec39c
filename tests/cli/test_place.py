"""`nearfield embed --save` and `nearfield place`: what is written, what is said, and what is refused."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main, place
from nearfield.descent.preparing import Preparation
from nearfield.io import delimited, streams
from nearfield.io.maps import FORMAT
from nearfield.io.tables import read_map, read_table
from support.commands import QUICK, files

WIDTH = 4
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:the map has not unfolded")]


def table(name: str, rows: int, seed: int = 0, header: bool = True) -> np.ndarray:
    """Write some rows with ids and kinds, and return their numbers."""
    random = np.random.default_rng(seed)
    X = (random.normal(size=(rows, WIDTH)) + 3 * random.integers(3, size=(rows, 1))).round(3)
    lines = ["who,a,b,c,d,kind"] if header else []
    lines += [f"r{i},{','.join(map(str, row))},k{i % 3}" for i, row in enumerate(X)]
    Path(name).write_text("\n".join(lines) + "\n")
    return X


@pytest.fixture
def saved(here: Path) -> Path:
    """A model of sixty rows, standardized and reduced, and thirty rows that are new."""
    table("data.csv", 60)
    table("new.csv", 30, seed=1)
    options = "--id who --label kind --standardize --pca 3 --save model.nfmap --out map.csv --quiet"
    assert main(["embed", "data.csv", *options.split(), *QUICK]) == 0
    return here


def lines(name: str) -> list[list[str]]:
    return [line.split(",") for line in Path(name).read_text().splitlines()]


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that is said, when nothing is written."""
    before = files(Path())
    capsys.readouterr()
    assert main(arguments) == 2
    said = capsys.readouterr().err.strip()
    assert "\n" not in said
    assert said.startswith("error: ")
    assert files(Path()) == before
    return said


# What is written -------------------------------------------------------------------------------------------


def test_fitted_rows_come_back_to_the_last_digit(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["place", "data.csv", "--map", "model.nfmap", "--out", "placed.csv"]) == 0
    placed, mapped = lines("placed.csv"), lines("map.csv")
    assert placed[0] == ["id", "y1", "y2", "novelty", "label"]
    assert [[*row[:3], row[4]] for row in placed] == mapped
    said = capsys.readouterr().out
    assert "model.nfmap: 60 points, KL() · Student(dof=1.0) · pair" in said
    assert "placed  60 rows in" in said
    assert "wrote   placed.csv" in said


def test_new_rows_are_placed_as_by_the_library(saved: Path) -> None:
    assert main(["place", "new.csv", "--map", "model.nfmap", "-q"]) == 0
    Y, ids, labels = read_map("new-placed.csv")
    assert ids is not None
    assert labels is not None
    assert ids.tolist() == [f"r{i}" for i in range(30)]
    assert labels[:3].tolist() == ["k0", "k1", "k2"]
    model = nf.load("model.nfmap")
    assert isinstance(model, nf.Embedder)
    rows = read_table("new.csv", columns="a,b,c,d").X
    with pytest.warns(UserWarning, match="valid feature names"):
        found = model.place(rows)
    np.testing.assert_array_equal(Y, found.Y)
    novelty = np.array([float(row[3]) for row in lines("new-placed.csv")[1:]])
    np.testing.assert_array_equal(novelty, found.novelty)


def test_a_map_of_the_same_bits_whether_or_not_it_is_saved(saved: Path) -> None:
    options = "--id who --label kind --standardize --pca 3 --out again.csv --quiet"
    assert main(["embed", "data.csv", *options.split(), *QUICK]) == 0
    assert Path("again.csv").read_bytes() == Path("map.csv").read_bytes()


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet"])
def test_other_tables_in_and_out(saved: Path, extension: str) -> None:
    X = read_table("new.csv", columns="a,b,c,d").X
    np.save("new.npy", X)
    np.savez("new.npz", X=X)
    assert main(["place", "new.csv", "-m", "model.nfmap", "-o", f"out.{extension}", "-q"]) == 0
    Y = read_map(f"out.{extension}")[0]
    assert Y.shape == (30, 2)
    assert main(["embed", "new.npy", "--save", "plain.nfmap", "-q", *QUICK]) == 0
    expected = read_map("new-map.csv")[0]
    for name in ("new.npy", "new.npz"):
        assert main(["place", name, "-m", "plain.nfmap", "-o", "out.csv", "-q"]) == 0
        np.testing.assert_array_equal(read_map("out.csv")[0], expected)


def test_parquet_in_and_the_same_bits_out(saved: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    rows = read_table("new.csv", columns="a,b,c,d", id="who")
    assert rows.ids is not None
    columns = {"kind": ["x"] * 30, "d": rows.X[:, 3], "who": rows.ids.tolist()}
    columns |= {name: rows.X[:, j] for j, name in enumerate("abc")}
    pyarrow.parquet.write_table(arrow.table(columns), "new.parquet", row_group_size=7)
    assert main(["place", "new.csv", "-m", "model.nfmap", "-o", "one.csv", "-q"]) == 0
    assert main(["place", "new.parquet", "-m", "model.nfmap", "-o", "two.csv", "-q"]) == 0
    assert [row[:4] for row in lines("one.csv")] == [row[:4] for row in lines("two.csv")]


def test_a_model_of_the_library_without_names(here: Path) -> None:
    X = table("data.csv", 60)
    nf.TSNE(perplexity=5, max_iter=40, random_state=0).fit(X).save("model.nfmap")
    Path("bare.csv").write_text("\n".join(",".join(map(str, row)) for row in X[:7]) + "\n")
    assert main(["place", "bare.csv", "--no-header", "-m", "model.nfmap", "-o", "out.csv", "-q"]) == 0
    np.testing.assert_array_equal(read_map("out.csv")[0], nf.load("model.nfmap").embedding_[:7])


def test_a_model_of_the_library_with_names(here: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table("data.csv", 60)
    frame = pandas.read_csv("data.csv", index_col="who")[["d", "a", "b"]]
    model = nf.TSNE(perplexity=5, random_state=0).fit(frame)
    model.save("model.nfmap")
    assert main(["place", "data.csv", "--id", "who", "-m", "model.nfmap", "-o", "out.csv", "-q"]) == 0
    np.testing.assert_array_equal(read_map("out.csv")[0], model.embedding_)


def test_columns_without_names_are_counted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = np.random.default_rng(0).normal(size=(40, 4)).round(3)
    for name, width in (("bare.csv", 3), ("wide.csv", 4), ("narrow.csv", 2)):
        np.savetxt(name, X[:, :width], delimiter=",", fmt="%.3f")
    assert main(["embed", "bare.csv", "--save", "model.nfmap", "-o", "map.csv", "-q", *QUICK]) == 0
    assert main(["place", "bare.csv", "-m", "model.nfmap", "-o", "out.csv", "-q"]) == 0
    np.testing.assert_array_equal(read_map("out.csv")[0], read_map("map.csv")[0])
    said = refusal(["place", "wide.csv", "-m", "model.nfmap", "-o", "other.csv"], capsys)
    assert "wide.csv has 4 columns without names, and model.nfmap was made of 3" in said
    said = refusal(["place", "narrow.csv", "-m", "model.nfmap", "-o", "other.csv"], capsys)
    assert "narrow.csv lacks the column 'x3'" in said
    nf.TSNE(perplexity=5, max_iter=40, random_state=0).fit(X).save("library.nfmap")
    said = refusal(["place", "bare.csv", "-m", "library.nfmap", "-o", "other.csv"], capsys)
    assert "bare.csv has 3 columns, and library.nfmap was made of 4" in said


def test_compact_rows_and_pca(saved: Path) -> None:
    for more in (["--rows", "compact"], ["--method", "pca"]):
        options = ["--id", "who", "--save", "other.nfmap", "-o", "other.csv", "-q", *more]
        assert main(["embed", "data.csv", *options, *QUICK]) == 0
        assert main(["place", "data.csv", "-m", "other.nfmap", "-o", "out.csv", "-q"]) == 0
        assert [row[:3] for row in lines("out.csv")] == [row[:3] for row in lines("other.csv")]


def test_no_rows_give_a_table_without_rows(saved: Path) -> None:
    Path("none.csv").write_text("who,a,b,c,d\n")
    for name in ("out.csv", "out.parquet"):
        assert main(["place", "none.csv", "-m", "model.nfmap", "-o", name, "-q"]) == 0
    assert Path("out.csv").read_text() == "id,y1,y2,novelty\n"


def test_a_picture_of_new_rows_over_the_map(saved: Path) -> None:
    assert main(["place", "new.csv", "-m", "model.nfmap", "--plot", "new.png", "-q"]) == 0
    assert Path("new.png").read_bytes().startswith(b"\x89PNG")


# Some at a time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_chunks_of_any_size_give_the_same_bits(
    saved: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["place", "new.csv", "-m", "model.nfmap", "-o", "whole.csv", "-q"]) == 0
    monkeypatch.setattr(delimited, "_CELLS_AT_ONCE", 6 * rows)
    monkeypatch.setattr(streams, "CELLS", WIDTH * rows)
    monkeypatch.setattr(place, "ROWS", max(1, rows // 2))
    assert main(["place", "new.csv", "-m", "model.nfmap", "-o", "parts.csv", "-q"]) == 0
    assert Path("parts.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_memory_does_not_grow_with_the_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_CELLS_AT_ONCE", 6 * 500)
    peaks = []
    for rows in (1000, 8000):
        table("many.csv", rows, seed=2)
        arguments = ["place", "many.csv", "-m", "model.nfmap", "-o", "out.csv", "-q"]
        assert main(arguments) == 0  # once, so that all is imported and compiled
        tracemalloc.start()
        assert main(arguments) == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(lines("out.csv")) == rows + 1
    assert peaks[1] < 1.1 * peaks[0]


def test_how_far_it_is_is_said(saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(delimited, "_CELLS_AT_ONCE", 6 * 5)
    assert main(["place", "new.csv", "-m", "model.nfmap"]) == 0
    assert "placing: 100 %, 30 rows" in capsys.readouterr().err


def test_ctrl_c_leaves_no_half_file_and_says_how_far_it_came(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "ROWS", 10)
    true, calls = place._placed, []

    def twice(model: Any, X: np.ndarray) -> Any:
        calls.append(len(X))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return true(model, X)

    monkeypatch.setattr(place, "_placed", twice)
    Path("out.csv").write_text("what was there")
    before = files(saved)
    assert main(["place", "new.csv", "-m", "model.nfmap", "-o", "out.csv"]) == 130
    assert "interrupted after 20 rows: nothing was written" in capsys.readouterr().err
    assert files(saved) == before
    assert Path("out.csv").read_text() == "what was there"


# What is missing, and what is too much ---------------------------------------------------------------------


def with_cells(changes: dict[tuple[int, int], str]) -> None:
    rows = lines("new.csv")
    for (row, column), cell in changes.items():
        rows[row + 1][column] = cell
    Path("odd.csv").write_text("\n".join(map(",".join, rows)) + "\n")


def test_rows_with_holes_are_named_left_out_or_filled_in(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_CELLS_AT_ONCE", 6 * 10)
    with_cells({(13, 2): "", (17, 3): "NA"})
    said = refusal(["place", "odd.csv", "-m", "model.nfmap", "-o", "out.csv", "-q"], capsys)
    assert "numbers are missing in rows 13, 17 of odd.csv (column 'b'); --missing drop" in said
    assert main(["place", "odd.csv", "-m", "model.nfmap", "-o", "out.csv", "--missing", "drop"]) == 0
    assert "left out 2 of 30 rows" in capsys.readouterr().out
    assert [row[0] for row in lines("out.csv")[13:16]] == ["r12", "r14", "r15"]
    assert main(["place", "odd.csv", "-m", "model.nfmap", "-o", "out.csv", "--missing", "mean", "-q"]) == 0
    means = read_table("data.csv", columns="a,b,c,d").X.mean(axis=0)
    with_cells({(13, 2): repr(float(means[1])), (17, 3): repr(float(means[2]))})
    assert main(["place", "odd.csv", "-m", "model.nfmap", "-o", "filled.csv", "-q"]) == 0
    assert Path("out.csv").read_bytes() == Path("filled.csv").read_bytes()


def test_the_way_with_what_is_missing_is_part_of_the_model(saved: Path) -> None:
    with_cells({(3, 1): ""})
    options = "--id who --missing drop --save dropping.nfmap -o dropped.csv -q"
    assert main(["embed", "odd.csv", *options.split(), *QUICK]) == 0
    assert main(["place", "odd.csv", "-m", "dropping.nfmap", "-o", "out.csv", "-q"]) == 0
    assert [row[:3] for row in lines("out.csv")] == [row[:3] for row in lines("dropped.csv")]


def test_a_column_more_is_said_and_one_less_refused(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = lines("new.csv")
    wider = [[*row, "9" if i else "height"] for i, row in enumerate(rows)]
    Path("wider.csv").write_text("\n".join(map(",".join, wider)) + "\n")
    assert main(["place", "wider.csv", "-m", "model.nfmap", "-o", "out.csv"]) == 0
    assert "left out the column 'height', of which the map was not made" in capsys.readouterr().out
    Path("less.csv").write_text("\n".join(",".join([*row[:2], *row[3:]]) for row in rows) + "\n")
    said = refusal(["place", "less.csv", "-m", "model.nfmap", "-o", "out.csv"], capsys)
    assert "less.csv lacks the column 'b', of which model.nfmap was made" in said


def test_columns_may_be_in_another_order(saved: Path) -> None:
    rows = lines("new.csv")
    Path("turned.csv").write_text("\n".join(",".join(row[::-1]) for row in rows) + "\n")
    for name in ("new", "turned"):
        assert main(["place", f"{name}.csv", "-m", "model.nfmap", "-o", f"{name}-out.csv", "-q"]) == 0
    assert Path("new-out.csv").read_bytes() == Path("turned-out.csv").read_bytes()


def test_rows_without_ids_are_numbered(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bare.csv").write_text("\n".join(",".join(row[1:5]) for row in lines("new.csv")) + "\n")
    assert main(["place", "bare.csv", "-m", "model.nfmap", "-o", "out.csv"]) == 0
    assert "there is no column 'who': the ids are the numbers of the rows" in capsys.readouterr().out
    assert [row[0] for row in lines("out.csv")[1:4]] == ["0", "1", "2"]


BAD = {
    "text": (lambda: with_cells({(21, 3): "tall"}), "odd.csv", "row 21 (line 23): 'tall' is not a number"),
    "infinity": (lambda: with_cells({(8, 4): "inf"}), "odd.csv", "there is infinity in row 8 of odd.csv"),
    "a short line": (lambda: Path("odd.csv").write_text("a,b,c,d\n1,2\n"), "odd.csv", "line 2 has 2 cells"),
    "an empty file": (lambda: Path("odd.csv").write_text(""), "odd.csv", "odd.csv is empty"),
    "no such file": (lambda: None, "nothing.csv", "there is no file nothing.csv"),
    "another kind of file": (lambda: Path("new.xls").write_text("x"), "new.xls", "cannot read new.xls"),
    "not UTF-8": (lambda: Path("odd.csv").write_bytes(b"a,b,c,d\n\xff,1,2,3\n"), "odd.csv", "not UTF-8"),
    "no Parquet": (lambda: Path("odd.parquet").write_bytes(b"PAR?"), "odd.parquet", "is not a Parquet file"),
    "no array": (lambda: Path("odd.npy").write_bytes(b"\x93NUM"), "odd.npy", "odd.npy cannot be read"),
    "an array of three": (lambda: np.save("odd.npy", np.zeros((2, 2, 2))), "odd.npy", "odd.npy is no table"),
    "an array of others": (lambda: np.save("odd.npy", np.zeros((2, 7))), "odd.npy", "lacks the columns 'a'"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_rows_are_refused_in_a_line(saved: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    make, name, message = BAD[what]
    make()
    assert message in refusal(["place", name, "-m", "model.nfmap", "-o", "out.csv", "-q"], capsys)


def newer() -> None:
    about = {"format": FORMAT + 1, "versions": {"nearfield": "99.1"}}
    with Path("other.nfmap").open("wb") as file:
        np.savez(file, Y=np.eye(2), about=np.array(json.dumps(about)))


def a_run() -> None:
    run = nf.Run(np.random.default_rng(0).normal(size=(20, 3)), "tsne", random_state=0)
    run.map().save("other.nfmap")


def of_distances() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    nf.Embedder("pca", metric="precomputed").fit(D).save("other.nfmap")


MODELS = {
    "text": (lambda: Path("other.nfmap").write_text("id,y1,y2\n"), "is not a map that nearfield saved"),
    "nothing": (lambda: None, "other.nfmap: no such file or directory"),
    "a map": (lambda: nf.Map(np.eye(3)).save("other.nfmap"), "is a map without its model: embed --save"),
    "a run": (a_run, "is a run"),
    "a newer version": (newer, "was written by nearfield 99.1, which is newer: update nearfield"),
}  # fmt: skip


@pytest.mark.parametrize("what", MODELS)
def test_what_is_no_model_is_refused_in_a_line(
    saved: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make, message = MODELS[what]
    make()
    assert message in refusal(["place", "new.csv", "-m", "other.nfmap", "-o", "out.csv", "-q"], capsys)


def test_what_would_be_replaced_is_refused(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for out in ("new.csv", "model.nfmap"):
        said = refusal(["place", "new.csv", "-m", "model.nfmap", "-o", out], capsys)
        assert "would replace the data" in said or "use .csv, .tsv or .parquet" in said
    said = refusal(["embed", "data.csv", "--save", "data.csv", "-o", "out.csv"], capsys)
    assert "--save data.csv would replace the data" in said
    said = refusal(["embed", "data.csv", "--save", "out.csv", "-o", "out.csv"], capsys)
    assert "--save out.csv would be written twice" in said
    said = refusal(["embed", "data.csv", "--save", "no/such/model.nfmap", "-o", "out.csv"], capsys)
    assert "the folder no/such does not exist" in said
    said = refusal(["embed", "data.csv", "--save", "m.nfmap", "--rows", "small"], capsys)
    assert "--rows small: it is exact or compact" in said
    assert "did you mean" in refusal(["place", "new.csv", "-m", "model.nfmap", "--missing", "dropp"], capsys)


def test_what_cannot_be_placed_says_why(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_distances()
    np.save("rows.npy", np.random.default_rng(1).random((2, 20)))
    said = refusal(["place", "rows.npy", "-m", "other.nfmap", "-o", "out.csv", "-q"], capsys)
    assert "only rows that were fitted can be placed here: components of distances" in said


# The preparation -------------------------------------------------------------------------------------------


def test_a_row_is_prepared_on_its_own() -> None:
    X = np.random.default_rng(0).normal(size=(500, 120)) * np.arange(1, 121)
    how = Preparation.of(X, standardize=True, components=20)
    whole = how.rows(X)
    order = np.random.default_rng(1).permutation(500)
    np.testing.assert_array_equal(how.rows(X[order]), whole[order])
    np.testing.assert_array_equal(how.rows(X[7:8]), whole[7:8])


@pytest.mark.parametrize("shape", [(300, 12), (20, 60), (40, 120)])
def test_components_are_the_principal_ones(shape: tuple[int, int]) -> None:
    from sklearn.decomposition import PCA

    X = np.random.default_rng(0).normal(size=shape) * np.geomspace(100, 1e-2, shape[1])
    found = Preparation.of(X, components=5).rows(X)
    expected = PCA(5, svd_solver="full").fit_transform(X)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6 * np.abs(expected).max())


def test_axes_that_the_data_do_not_have_are_left_empty() -> None:
    flat = np.random.default_rng(0).normal(size=(200, 3)) @ np.random.default_rng(1).normal(size=(3, 10))
    found = Preparation.of(flat, components=6).rows(flat)
    assert np.abs(found[:, 3:]).max() < 1e-6
    assert found[:, 2].std() > 0.1


def test_a_fit_of_other_data_forgets_the_preparation(saved: Path) -> None:
    model = nf.load("model.nfmap")
    assert isinstance(model, nf.Embedder)
    assert model.n_features_in_ == WIDTH
    model.fit(np.random.default_rng(0).normal(size=(30, 6)))
    assert not hasattr(model, "preparation_")
    assert model.transform(np.zeros((1, 6))).shape == (1, 2)
