"""Vector columns, as the libraries that people use write them, and broken ones; what is kept beside a map."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from nearfield.descent.preparing import Preparation
from nearfield.io import arrow
from nearfield.io.others import Nearest
from nearfield.io.parquet import told_in_parquet
from nearfield.io.streams import chunks
from nearfield.io.tables import read_map, read_rows, read_table, write_map

N, WIDTH = 40, 5
V = np.random.default_rng(0).normal(size=(N, WIDTH)).astype(np.float32)
TEXTS = [f"text {i}" for i in range(N)]
YEARS = [1990 + i % 7 for i in range(N)]
KINDS = ["ab"[i % 2] for i in range(N)]


def pandas_frame() -> pd.DataFrame:
    return pd.DataFrame({"text": TEXTS, "year": YEARS, "embedding": list(V), "kind": KINDS})


def polars_frame(dtype: Any = None) -> pl.DataFrame:
    vectors = pl.Series("embedding", V.tolist(), dtype=dtype or pl.List(pl.Float32))
    return pl.DataFrame(
        [pl.Series("text", TEXTS), pl.Series("year", YEARS), vectors, pl.Series("kind", KINDS)]
    )


def arrow_table(kind: Any = None) -> pa.Table:
    vectors = pa.array(V.tolist(), kind or pa.list_(pa.float32()))
    return pa.table({"text": TEXTS, "year": YEARS, "embedding": vectors, "kind": KINDS})


def arrow_stream(path: Path) -> None:
    with pa.ipc.new_stream(path, arrow_table().schema) as writer:
        writer.write_table(arrow_table(), max_chunksize=7)


WRITERS = {
    "pandas.parquet": lambda path: pandas_frame().to_parquet(path),
    "pandas.feather": lambda path: pandas_frame().to_feather(path),
    "pandas.jsonl": lambda path: pandas_frame().to_json(path, orient="records", lines=True),
    "polars.parquet": lambda path: polars_frame().write_parquet(path),
    "polars-array.parquet": lambda path: polars_frame(pl.Array(pl.Float32, WIDTH)).write_parquet(path),
    "polars.arrow": lambda path: polars_frame().write_ipc(path),
    "polars.ndjson": lambda path: polars_frame().write_ndjson(path),
    "pyarrow.parquet": lambda path: pa.parquet.write_table(arrow_table(), path, row_group_size=9),
    "pyarrow-fixed.parquet": lambda path: pa.parquet.write_table(
        arrow_table(pa.list_(pa.float32(), WIDTH)), path
    ),
    "pyarrow-large.feather": lambda path: pa.feather.write_feather(
        arrow_table(pa.large_list(pa.float32())), path, compression="lz4", chunksize=7
    ),
    "pyarrow-half.parquet": lambda path: pa.parquet.write_table(arrow_table(pa.list_(pa.float64())), path),
    "stream.arrow": arrow_stream,
}


@pytest.mark.parametrize("name", WRITERS)
def test_vectors_are_found_whoever_wrote_them(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    table = read_table(path, label="kind", keep="all")
    np.testing.assert_allclose(table.X, V, rtol=1e-6)
    assert table.names[:2] == ("embedding[0]", "embedding[1]")
    assert table.labels is not None
    assert table.labels.tolist() == KINDS
    assert "read the vectors 'embedding', 5 numbers each" in table.notes
    assert any("left out the numeric column 'year'" in note for note in table.notes)
    assert list(table.others) == ["text", "year"]
    assert table.notes[-1] == "kept the columns 'text', 'year' beside the map"
    assert table.others["text"].to_pylist() == TEXTS
    parts = [part.X for part, _ in chunks(path, lambda names: choice_of(names))]
    np.testing.assert_allclose(np.concatenate(parts), V, rtol=1e-6)


def choice_of(names: Any) -> Any:
    from nearfield.io.columns import choose

    return choose(names, None, [f"embedding[{k}]" for k in range(WIDTH)], None)


def test_vectors_of_32_bits_stay_so_and_others_are_read_with_all_digits(tmp_path: Path) -> None:
    pa.parquet.write_table(arrow_table(), tmp_path / "single.parquet")
    pa.parquet.write_table(arrow_table(pa.list_(pa.float64())), tmp_path / "double.parquet")
    assert read_table(tmp_path / "single.parquet").X.dtype == np.float32
    assert read_table(tmp_path / "double.parquet").X.dtype == np.float64
    both = read_table(tmp_path / "single.parquet", columns="year", vector="embedding")
    assert both.names == ("year", *(f"embedding[{k}]" for k in range(WIDTH)))
    np.testing.assert_array_equal(both.X, np.c_[YEARS, V])


def test_no_copy_of_64_bits_is_made_of_vectors_of_32(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(arrow, "CELLS", 2**14)
    X = np.random.default_rng(0).normal(size=(8000, 64)).astype(np.float32)
    ends = pa.array(np.arange(0, X.size + 1, 64, dtype=np.int32))
    vectors = pa.ListArray.from_arrays(ends, pa.array(X.ravel()))
    pa.parquet.write_table(pa.table({"v": vectors}), tmp_path / "t.parquet")
    read_table(tmp_path / "t.parquet")  # imports
    tracemalloc.start()
    try:
        table = read_table(tmp_path / "t.parquet")
        how = Preparation.of(table.X)
        assert how.rows(table.X) is table.X
        assert tracemalloc.get_traced_memory()[1] < 1.5 * X.nbytes
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(table.X, X)


def with_column(path: Path, **columns: Any) -> Path:
    pa.parquet.write_table(pa.table({"text": TEXTS, **columns}), path)
    return path


def test_of_several_vector_columns_one_is_named(tmp_path: Path) -> None:
    path = with_column(tmp_path / "t.parquet", image=V.tolist(), words=(2 * V[:, :3]).tolist())
    with pytest.raises(ValueError, match=r"t.parquet has the vector columns 'image', 'words': pick one, as"):
        read_table(path)
    assert read_table(path, vector="words").X.shape == (N, 3)
    assert "left out the vector column 'image'" in read_table(path, vector="words").notes
    with pytest.raises(ValueError, match="no vector column 'word': did you mean 'words'"):
        read_table(path, vector="word")
    with pytest.raises(ValueError, match="the column 'words' holds vectors: name it with --vector words"):
        read_table(path, columns="words")


def test_ragged_vectors_are_refused_with_the_row(tmp_path: Path) -> None:
    ragged = [*V.tolist()[:30], [1.0, 2.0], *V.tolist()[31:]]
    path = with_column(tmp_path / "t.parquet", v=ragged, year=YEARS)
    assert "left out the column of uneven lists 'v'" in read_table(path).notes  # it may be none of vectors
    late = [*([V[0].tolist()] * 1500), [1.0, 2.0]]
    pa.parquet.write_table(pa.table({"v": late}), path)
    with pytest.raises(
        ValueError, match=r"row 1500 of the vector column 'v' has 2 numbers, and the first has 5"
    ):
        read_table(path)


def test_vectors_that_are_missing_are_missing_numbers(tmp_path: Path) -> None:
    holes: list[Any] = V.tolist()
    holes[3], holes[7] = None, [1.0, None, 2.0, 3.0, 4.0]
    for kind in (pa.list_(pa.float32()), pa.list_(pa.float32(), WIDTH), pa.large_list(pa.float64())):
        table = read_table(with_column(tmp_path / "t.parquet", v=pa.array(holes, kind)))
        assert np.isnan(table.X).sum() == WIDTH + 1
        assert np.isnan(table.X[3]).all()
        np.testing.assert_allclose(table.X[8], V[8], rtol=1e-6)


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".jsonl", ".h5ad"])
def test_what_is_broken_is_refused_in_a_line(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"broken{suffix}"
    for content in (
        b"",
        b"no such file at all",
        b'{"a": 1}\n{"a": [',
        b"PAR1" + bytes(40),
        b"ARROW1" + bytes(40),
    ):
        path.write_bytes(content)
        with pytest.raises((ValueError, ImportError), match=r"broken|nearfield\[anndata\]") as refusal:
            read_table(path)
        assert "\n" not in str(refusal.value)


def test_a_type_that_changes_in_json_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": "x"}\n')
    with pytest.raises(ValueError, match=r"not JSON Lines.*changed from number to string"):
        read_table(tmp_path / "t.jsonl")


# ------------------------------------------------------------------------------------------ packed, and piped

PLAIN = "a,b,kind\n1,2,x\n3,4.5,y\n"


def zipped(files: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


PACKED = {
    "t.csv.gz": gzip.compress(PLAIN.encode(), mtime=0),
    "t.gz": gzip.compress(PLAIN.encode(), mtime=0),
    "t.zip": zipped({"folder/t.csv": PLAIN, "__MACOSX/t.csv": "rubbish"}),
    "t.jsonl.gz": gzip.compress(b'{"a": 1, "b": 2, "kind": "x"}\n{"a": 3, "b": 4.5, "kind": "y"}\n', mtime=0),
}


@pytest.mark.parametrize("name", PACKED)
def test_packed_tables_are_read_as_if_they_were_not(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(PACKED[name])
    table = read_table(tmp_path / name, label="kind")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4.5]])


@pytest.mark.parametrize("name", [*PACKED, "plain"])
def test_what_is_piped_in_is_known_by_how_it_begins(name: str, monkeypatch: Any) -> None:
    content = PACKED.get(name, PLAIN.encode())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False))
    np.testing.assert_array_equal(read_table("-", label="kind").X, [[1, 2], [3, 4.5]])


def test_arrays_and_parquet_are_piped_in(monkeypatch: Any) -> None:
    for write in (np.save, lambda stream, X: np.savez(stream, X=X), parquet_of):
        stream = io.BytesIO()
        write(stream, V.astype(float))
        stream.seek(0)
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream, isatty=lambda: False))
        np.testing.assert_array_equal(read_table("-").X, V)


def parquet_of(stream: Any, X: Any) -> None:
    pa.parquet.write_table(pa.table({"v": X.tolist()}), stream)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("t.csv.gz", b"nothing of the kind", r"t\.csv\.gz is damaged, or not packed as its name says"),
        ("t.csv.gz", gzip.compress(PLAIN.encode(), mtime=0)[:-9], r"t\.csv\.gz is damaged"),
        ("t.zip", b"PK\x03\x04 and no more", r"t\.zip is damaged"),
        ("t.zip", zipped({}), r"t\.zip holds nothing"),
        ("t.zip", zipped({"a.csv": PLAIN, "b.csv": PLAIN}), r"t\.zip holds 'a.csv', 'b.csv': pack one"),
        ("t.zip", zipped({"a.docx": "x"}), r"cannot read .*t\.zip: use one of"),
        ("t.csv.gz", gzip.compress(b"", mtime=0), r"t\.csv\.gz is empty"),
    ],
    ids=["not packed", "cut short", "begun", "nothing in it", "two in it", "no table", "empty"],
)
def test_packed_files_that_hold_no_table(name: str, content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=reason) as refusal:
        read_table(tmp_path / name)
    assert "\n" not in str(refusal.value)


def test_a_terminal_is_not_waited_for(monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(ValueError, match="- reads what is piped in, and there is nothing"):
        read_table("-")


# ------------------------------------------------------------------------------------------ what is kept


def test_columns_are_kept_beside_the_map_in_the_types_that_they_have(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    when = pa.array([1_000_000 * i for i in range(N)], pa.timestamp("us"))
    tags = [[i, i + 1] if i % 3 else [i] for i in range(N)]
    columns = {"text": TEXTS, "when": when, "tags": tags, "v": V.tolist(), "y1": YEARS, "id": range(5, N + 5)}
    pa.parquet.write_table(pa.table({name: pa.array(each) for name, each in columns.items()}), path)
    table = read_table(path, keep="all")
    near = Nearest(np.tile([1, 2], (N, 1)), np.tile([0.5, np.inf], (N, 1)))
    out = tmp_path / "map.parquet"
    write_map(out, V[:, :2], others=table.others, neighbours=near, about={"notes": list(table.notes)})
    found = pa.parquet.read_table(out)
    names = ["id", "y1", "y2", "text", "when", "tags", "data_y1", "data_id", "neighbours"]
    assert found.column_names == names
    assert found.schema.field("when").type == pa.timestamp("us")
    assert found.column("tags").to_pylist() == tags
    assert found.column("neighbours")[0].as_py() == {"ids": [1], "distances": [0.5]}
    assert told_in_parquet(out)["notes"] == list(table.notes)
    np.testing.assert_array_equal(read_map(out)[0], V[:, :2])
    write_map(tmp_path / "map.csv", V[:, :2], others=table.others, neighbours=near)
    frame = pd.read_csv(tmp_path / "map.csv")
    assert frame.columns.tolist() == names
    assert json.loads(frame["neighbours"][3]) == {"ids": [1], "distances": [0.5]}
    np.testing.assert_array_equal(read_map(tmp_path / "map.csv")[0], V[:, :2])


def test_some_columns_of_a_text_table_or_an_archive_are_kept(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,kind,when\n1,2,x,2020-01-02\n,4,y,2020-01-03\n5,6,z,2020-01-04\n")
    table = read_table(tmp_path / "t.csv", columns="a,b", keep="when,kind")
    assert {name: each.tolist() for name, each in table.others.items()} == {
        "when": ["2020-01-02", "2020-01-03", "2020-01-04"],
        "kind": ["x", "y", "z"],
    }
    from nearfield.io.missing import without_missing

    assert without_missing(table, "drop").others["kind"].tolist() == ["x", "z"]
    with pytest.raises(ValueError, match="no column 'wen': did you mean 'when'"):
        read_table(tmp_path / "t.csv", keep="wen")
    np.savez(tmp_path / "t.npz", X=V, size=np.arange(N))
    assert read_table(tmp_path / "t.npz", keep="all").others["size"].tolist() == list(range(N))
    np.save(tmp_path / "t.npy", V)
    assert read_table(tmp_path / "t.npy", keep="all").others == {}


def test_people_do_not_look_at_vectors(tmp_path: Path) -> None:
    pa.parquet.write_table(arrow_table(), tmp_path / "t.parquet")
    table, others = read_rows(tmp_path / "t.parquet", label="kind")
    assert table.X.shape == (N, WIDTH)
    assert {name: each.tolist() for name, each in others.items()} == {"text": TEXTS, "year": YEARS}


def test_options_that_a_format_does_not_know_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(PLAIN)
    with pytest.raises(ValueError, match="files have vector columns: leave out --vector"):
        read_table(tmp_path / "t.csv", vector="a")
    with pytest.raises(ValueError, match="files have representations: leave out --use-rep"):
        read_table(tmp_path / "t.csv", use_rep="X_pca")
