"""Rows that come some at a time: mapped, in files, of zarr and of Dask, with the bits of those in memory."""

import tracemalloc

import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as arrow
import pyarrow.parquet
import pytest

import nearfield as nf
from nearfield.io import chunked, dasked
from support.chunks import blobs, forms

X = blobs()
QUICK = {"perplexity": 8, "max_iter": 60, "random_state": 0}
FORMS = ("mapped", "npy", "parquet", "vectors", "feather", "zarr", "zarr folder", "dask")
pytestmark = pytest.mark.filterwarnings("ignore:ended at max_iter", "ignore:the map has not unfolded")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return forms(X, tmp_path_factory.mktemp("chunks"))


@pytest.fixture(scope="module")
def model():
    with pytest.warns(UserWarning, match="ended at max_iter"):
        return nf.TSNE(landmarks=150, **QUICK).fit(X)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_bits_of_an_array(form, sources, model, monkeypatch):
    monkeypatch.setattr(chunked, "ROWS", 128)
    found = nf.TSNE(landmarks=150, **QUICK).fit(sources[form])
    assert np.array_equal(np.asarray(found.embedding_), model.embedding_)
    assert np.array_equal(np.asarray(model.transform(sources[form])), model.embedding_)
    assert np.array_equal(model.place(sources[form]).novelty, model.place(X).novelty)


@pytest.mark.parametrize("form", ["mapped", "parquet", "zarr", "dask"])
def test_maps_of_all_rows_have_them_too(form, sources):
    whole = nf.TSNE(**QUICK | {"max_iter": 20}).fit_transform(X)
    assert np.array_equal(nf.TSNE(**QUICK | {"max_iter": 20}).fit_transform(sources[form]), whole)


@pytest.mark.parametrize(("form", "needed"), [("parquet", 64), ("mapped", 43)])
def test_what_there_is_no_room_for_is_refused_before_it_is_read(form, needed, sources, monkeypatch):
    monkeypatch.setattr("nearfield.descent.blocks.available_memory", lambda: 1000 * needed)
    with pytest.raises(MemoryError, match=rf"holds {needed} kB .* {needed} kB are free.*landmarks=1000"):
        nf.TSNE(**QUICK).fit(sources[form])


@pytest.mark.parametrize("form", ["mapped", "parquet", "dask"])
def test_maps_of_them_are_judged_alike(form, sources, model):
    held = nf.quality(X, model, metric="cosine", sample=100)
    found = nf.quality(sources[form], model, metric="cosine", sample=100)
    assert found.figures == held.figures
    with pytest.raises(ValueError, match="X has 900 points but Y has 3"):
        nf.quality(sources[form], model.embedding_[:3])


@pytest.mark.parametrize("rows", [1, 7, 300, 5000])
def test_any_size_of_blocks_gives_the_same_bits(rows, sources, model, monkeypatch):
    monkeypatch.setattr(chunked, "ROWS", rows)
    assert np.array_equal(model.transform(sources["mapped"][:60]), model.embedding_[:60])


def test_rows_are_taken_by_number_in_any_order(sources):
    wanted = np.array([800, 3, 3, 216, 217, 899])
    for form in FORMS:
        assert np.array_equal(chunked.chunked(sources[form]).take(wanted), X[wanted])


def test_blocks_do_not_depend_on_chunks(sources, monkeypatch):
    monkeypatch.setattr(chunked, "ROWS", 100)
    for form in FORMS:
        blocks = list(chunked.chunked(sources[form]).blocks())
        assert [first for first, _ in blocks] == list(range(0, 900, 100))
        assert np.array_equal(np.concatenate([block for _, block in blocks]), X)


def test_files_remember_their_columns(sources, model, tmp_path):
    found = nf.TSNE(landmarks=150, **QUICK).fit(sources["parquet"])
    assert found.feature_names_in_.tolist() == [f"c{j}" for j in range(6)]
    turned = arrow.table({"kind": ["a"] * 900} | {f"c{j}": X[:, j] for j in range(5, -1, -1)})
    arrow.parquet.write_table(turned, tmp_path / "turned.parquet")
    assert np.array_equal(found.transform(tmp_path / "turned.parquet"), model.embedding_)
    with pytest.raises(ValueError, match=r"column 'kind' of .* holds string and not numbers"):
        nf.TSNE(landmarks=150).fit(tmp_path / "turned.parquet")
    picked = nf.rows(tmp_path / "turned.parquet", [f"c{j}" for j in range(6)])
    assert np.array_equal(model.transform(picked), model.embedding_)


def test_what_is_missing_is_named_by_its_row(tmp_path, model, monkeypatch):
    monkeypatch.setattr(chunked, "ROWS", 128)
    odd = X.copy()
    odd[777, 2] = np.nan
    for source in forms(odd, tmp_path).values():
        with pytest.raises(ValueError, match="NaN in row 777, column"):
            np.asarray(nf.TSNE(landmarks=np.arange(100), **QUICK).fit(source).embedding_)
        with pytest.raises(ValueError, match="NaN in row 777, column"):
            np.asarray(model.transform(source))


def test_rows_are_not_held(tmp_path, model):
    count = 20 * chunked.ROWS
    rows = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float32, (count, 6))
    rows[:] = np.resize(X[model.landmarks_], (count, 6))  # which are quickly placed
    model.transform(rows[:10])  # what is laid once
    tracemalloc.start()
    places = model.transform(rows)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(places[:150], model.embedding_[model.landmarks_])
    assert most < places.nbytes + rows.nbytes  # of which 64 bits would be twice as much


# Dask -------------------------------------------------------------------------------------------------------


def test_nothing_is_computed_before_it_is_asked_for(model):
    seen = []

    def noted(block):
        seen.append(len(block))
        return block

    lazy = dask.array.from_array(X, chunks=(100, 6)).map_blocks(noted, dtype=X.dtype, meta=X[:0])
    places = model.transform(lazy)
    assert places.chunks == (lazy.chunks[0], (2,))
    assert seen == []
    assert np.array_equal(places[250:260].compute(), model.embedding_[250:260])
    assert seen == [100]
    found = nf.TSNE(landmarks=np.arange(120), **QUICK).fit(lazy)
    assert seen == [100, 100, 100]  # the chunks in which landmarks are
    assert isinstance(found.embedding_, dask.array.Array)


def test_data_frames_keep_their_index(model):
    held = pd.DataFrame(X, columns=list("abcdef"), index=[f"r{i:03}" for i in range(900)])
    frame = dask.dataframe.from_pandas(held.assign(g="text"), npartitions=3)
    found = nf.TSNE(landmarks=150, **QUICK).fit(frame[list("abcdef")])
    places = found.transform(frame)  # whose other columns are left out
    assert list(places.columns) == ["y1", "y2"]
    places = places.compute()
    assert places.index.tolist() == held.index.tolist()
    assert np.array_equal(places.to_numpy(), model.embedding_)
    with pytest.raises(ValueError, match="column 'g' holds string and not numbers"):
        nf.TSNE(landmarks=150).fit(frame)
    with pytest.raises(ValueError, match="X lacks the column 'a'"):
        found.transform(frame[["b", "c"]])


def test_a_lazy_map_is_saved_without_it(model, sources, tmp_path):
    found = nf.TSNE(landmarks=150, **QUICK).fit(sources["dask"])
    found.save(tmp_path / "model.nfmap")
    again = nf.load(tmp_path / "model.nfmap")
    assert np.array_equal(again.embedding_, model.embedding_[model.landmarks_])
    assert np.array_equal(again.transform(X), model.embedding_)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lazy: lazy.rechunk((100, 3)), "columns in 2 chunks"),
        (lambda lazy: lazy[lazy[:, 0] > 0], "chunks of unknown size"),
        (lambda lazy: lazy.astype(str), "and not numbers"),
        (lambda lazy: lazy[:, :5], "has 5 columns, and the map was made of 6"),
        (lambda lazy: lazy[:, 0], "must have two dimensions"),
    ],
)
def test_chunks_that_cannot_be_placed_are_refused(change, said, model, sources):
    with pytest.raises(ValueError, match=said):
        model.transform(change(sources["dask"]))


def test_on_a_cluster_the_model_is_sent_once_and_a_client_that_is_gone_is_named(model, sources):
    import cloudpickle
    from distributed import Client, LocalCluster, wait

    lazy = sources["dask"]
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        places = model.transform(lazy)
        (key,) = [key for key in client.futures if str(key).startswith("nearfield-model")]
        assert len(client.who_has()[key]) == 2  # before anything is computed
        assert b"Placing" not in cloudpickle.dumps(places.dask)
        assert np.array_equal(places.compute(), model.embedding_)
        kept = lazy.persist()
        wait(kept)
    with pytest.raises(ValueError, match="the client that holds what is to be computed is gone"):
        nf.TSNE(landmarks=150, **QUICK).fit(kept)
    with pytest.raises(ValueError, match="nearfield-model-that-its-client-holds"):
        places.compute()
    assert dasked._client() is None


# Files that are none ----------------------------------------------------------------------------------------


def test_files_that_cannot_be_read_so_are_refused(tmp_path, sources):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="cannot be read some at a time"):
        nf.rows(tmp_path / "x.csv")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        nf.rows(tmp_path / "none.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(ValueError, match="is not a Parquet file, or damaged"):
        nf.rows(tmp_path / "bad.parquet")
    np.save(tmp_path / "flat.npy", np.arange(5.0))
    with pytest.raises(ValueError, match="is no table"):
        nf.TSNE().fit(tmp_path / "flat.npy")
    with pytest.raises(ValueError, match="has no names of columns"):
        nf.rows(sources["npy"], ["a"])
