"""`nearfield embed` on vector columns: what is mapped, what is kept, and what is written beside the map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.metrics import pairwise_distances

import nearfield as nf
from nearfield.cli import main
from nearfield.io.parquet import told_in_parquet
from nearfield.io.tables import read_map
from support.commands import QUICK

N = 60
V = np.random.default_rng(0).normal(size=(N + 10, 8)).astype(np.float32)
pytestmark = pytest.mark.filterwarnings("ignore:the map has not unfolded")


def write(path: str, rows: slice) -> None:
    columns = {"text": [f"t{i}" for i in range(N + 10)], "year": list(range(N + 10)), "v": V.tolist()}
    table = pa.table({"text": columns["text"], "year": columns["year"], "v": pa.array(columns["v"])})
    pa.parquet.write_table(table.slice(rows.start, rows.stop - rows.start), path)


@pytest.fixture
def texts(here: Path) -> Path:
    write("texts.parquet", slice(0, N))
    return here


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_other_columns_and_true_neighbours_are_beside_the_map(texts: Path, metric: str) -> None:
    options = ["--metric", metric, "--keep", "all", "--neighbours", "--out", "map.parquet", "--quiet"]
    assert main(["embed", "texts.parquet", *options, *QUICK]) == 0
    found = pa.parquet.read_table("map.parquet")
    assert found.column_names == ["id", "y1", "y2", "text", "year", "neighbours"]
    D = pairwise_distances(V[:N].astype(float), metric=metric)
    np.fill_diagonal(D, np.inf)
    for i, cell in enumerate(found.column("neighbours").to_pylist()):
        assert cell["ids"] == np.argsort(D[i])[:15].tolist()
        np.testing.assert_allclose(cell["distances"], np.sort(D[i])[:15], rtol=1e-3)
    notes = told_in_parquet(Path("map.parquet"))["notes"]
    assert notes[0] == "read the vectors 'v', 8 numbers each"
    assert notes[-1] == "kept the columns 'text', 'year' beside the map"


def test_a_map_is_the_same_whatever_is_written_beside_it(texts: Path) -> None:
    assert main(["embed", "texts.parquet", "--out", "plain.csv", "--quiet", *QUICK]) == 0
    more = ["--keep", "year", "--neighbours", "--out", "more.csv", "--quiet"]
    assert main(["embed", "texts.parquet", *more, *QUICK]) == 0
    np.testing.assert_array_equal(read_map("plain.csv")[0], read_map("more.csv")[0])


def test_new_vectors_are_placed_and_what_was_done_to_the_table_is_known(texts: Path) -> None:
    write("new.parquet", slice(N, N + 10))
    write("old.parquet", slice(0, 5))
    options = ["--out", "map.csv", "--save", "model.nfmap", "--quiet"]
    assert main(["embed", "texts.parquet", *options, *QUICK]) == 0
    model = nf.load("model.nfmap")
    assert model.preparation_.notes[0] == "read the vectors 'v', 8 numbers each"
    assert main(["place", "old.parquet", "--map", "model.nfmap", "--out", "old.csv", "--quiet"]) == 0
    np.testing.assert_array_equal(read_map("old.csv")[0], model.embedding_[:5])
    assert main(["place", "new.parquet", "--map", "model.nfmap", "--out", "new.csv", "--quiet"]) == 0
    np.testing.assert_allclose(read_map("new.csv")[0], model.transform(V[N:].astype(float)))


def test_neighbours_of_affinities_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    D = pairwise_distances(V)
    np.save("P.npy", np.exp(-D))
    assert main(["embed", "P.npy", "--metric", "affinity", "--neighbours", *QUICK]) == 2
    assert "--neighbours needs distances, and affinities say nothing of them" in capsys.readouterr().err
    assert not Path("P-map.csv").exists()
