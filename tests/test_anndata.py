"""Maps of AnnData, on the cells that come with scanpy, and drawn by it."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scanpy as sc

import nearfield as nf
from nearfield.cli import main
from nearfield.io.tables import read_map, read_table

OPTIONS = {"perplexity": 10, "max_iter": 120, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:the map has not unfolded")


@pytest.fixture(scope="module")
def pbmc():
    return sc.datasets.pbmc68k_reduced()[::4].copy()


@pytest.fixture
def cells(pbmc):
    return pbmc.copy()


def test_cells_are_mapped_by_their_components_and_the_map_is_drawn_by_scanpy(cells, tmp_path):
    model = nf.anndata.embed(cells, "tsne", **OPTIONS)
    expected = nf.Embedder("tsne", **OPTIONS).fit_transform(np.asarray(cells.obsm["X_pca"]))
    np.testing.assert_array_equal(cells.obsm["X_tsne"], expected)
    params = {"method": "tsne", "use_rep": "X_pca", **OPTIONS}
    assert cells.uns["tsne"] == {"params": params}
    axes = sc.pl.embedding(cells, basis="tsne", color="bulk_labels", show=False)
    np.testing.assert_allclose(np.sort(axes.collections[0].get_offsets()[:, 0]), np.sort(expected[:, 0]))
    plt.close("all")
    np.testing.assert_array_equal(model.transform(cells.obsm["X_pca"]), expected)
    cells.write_h5ad(tmp_path / "mapped.h5ad")
    again = sc.read_h5ad(tmp_path / "mapped.h5ad")
    np.testing.assert_array_equal(again.obsm["X_tsne"], expected)
    assert again.uns["tsne"]["params"]["perplexity"] == 10


@pytest.mark.parametrize("key", [None, "near"])
def test_the_graph_of_scanpy_is_taken_as_it_is(cells, key):
    sc.pp.neighbors(cells, n_neighbors=12, use_rep="X_pca", method="gauss", key_added=key)
    name, prefix = key or "neighbors", f"{key}_" if key else ""
    nf.anndata.embed(cells, "tsne", neighbors_key=name, key_added="X_graph", max_iter=120, random_state=0)
    P = cells.obsp[f"{prefix}connectivities"]
    expected = nf.Embedder("tsne", metric="affinity", max_iter=120, random_state=0).fit_transform(P)
    np.testing.assert_array_equal(cells.obsm["X_graph"], expected)
    assert cells.uns["graph"]["params"]["neighbors_key"] == name
    nf.anndata.embed(cells, neighbors_key=name, metric="precomputed", perplexity=3, max_iter=50)
    assert cells.obsm["X_tsne"].shape == (cells.n_obs, 2)


def test_a_composition_and_another_representation(cells):
    method = nf.Method(nf.costs.JensenShannon(), nf.kernels.Student(), "pair")
    nf.anndata.embed(cells, method, use_rep="X_umap", n_components=1, **OPTIONS)
    assert cells.obsm["X_nearfield"].shape == (cells.n_obs, 1)
    assert cells.uns["nearfield"]["params"]["method"] == str(method)
    nf.anndata.embed(cells, "pca", use_rep="X")
    assert cells.obsm["X_pca"].shape == (cells.n_obs, 2)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"use_rep": "X_scvi"}, "no representation 'X_scvi': there are 'X', 'X_pca', 'X_umap'"),
        ({"neighbors_key": "near"}, "no graph of neighbours 'near': there are 'neighbors'"),
        ({"neighbors_key": "neighbors", "use_rep": "X"}, "leave out one of them"),
        ({"neighbors_key": "neighbors", "metric": "cosine"}, "metric 'affinity' or 'precomputed', and not"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(cells, options, reason):
    with pytest.raises(ValueError, match=reason):
        nf.anndata.embed(cells, **options)
    assert "X_tsne" not in cells.obsm


def test_without_a_graph_it_is_said_how_to_make_one(cells):
    del cells.uns["neighbors"]
    with pytest.raises(ValueError, match=r"make one with sc\.pp\.neighbors\(adata\)"):
        nf.anndata.embed(cells, neighbors_key="neighbors")


# ------------------------------------------------------------------------------------------ as a file


@pytest.fixture
def file(cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells.write_h5ad("cells.h5ad")
    return tmp_path / "cells.h5ad"


def test_the_command_maps_a_file_of_cells(cells, file):
    options = ["--use-rep", "X_pca", "--label", "bulk_labels", "--keep", "louvain,n_genes", "--quiet"]
    assert main(["embed", "cells.h5ad", *options, "--perplexity", "10", "--max-iter", "120"]) == 0
    Y, ids, labels = read_map("cells-map.csv")
    assert ids.tolist() == cells.obs_names.tolist()
    assert labels.tolist() == cells.obs["bulk_labels"].astype(str).tolist()
    np.testing.assert_array_equal(Y, nf.Embedder("tsne", **OPTIONS).fit_transform(cells.obsm["X_pca"]))
    kept = read_table("cells-map.csv", columns="n_genes", label="louvain")
    np.testing.assert_array_equal(kept.X[:, 0], cells.obs["n_genes"])


def test_a_file_is_read_by_components_or_by_what_is_named(cells, file):
    table = read_table(file)
    np.testing.assert_array_equal(table.X, cells.obsm["X_pca"])
    assert table.X.dtype == np.float32
    assert table.notes == ("read the representation 'X_pca' of the cells",)
    assert table.names[:2] == ("X_pca[0]", "X_pca[1]")
    np.testing.assert_allclose(read_table(file, use_rep="X").X, cells.X)
    np.testing.assert_array_equal(read_table(file, columns="X_pca[3]").X[:, 0], cells.obsm["X_pca"][:, 3])
    with pytest.raises(ValueError, match="no representation 'X_scvi': there are 'X', 'X_pca', 'X_umap'"):
        read_table(file, use_rep="X_scvi")


def test_sparse_counts_are_read_unless_they_would_fill_the_memory(cells, tmp_path, monkeypatch):
    from scipy import sparse

    from nearfield.io import cellsfile

    counts = sparse.csr_matrix(np.maximum(cells.X, 0))
    sc.AnnData(counts).write_h5ad(tmp_path / "counts.h5ad")
    np.testing.assert_allclose(read_table(tmp_path / "counts.h5ad").X, counts.toarray(), rtol=1e-6)
    monkeypatch.setattr(cellsfile, "DENSE_UP_TO", 1000)
    with pytest.raises(ValueError, match=r"make principal components first, sc\.pp\.pca"):
        read_table(tmp_path / "counts.h5ad")


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "cells.h5ad").write_bytes(b"\x89HDF and nothing more")
    with pytest.raises(ValueError, match=r"cells\.h5ad is not a file of AnnData, or damaged"):
        read_table(tmp_path / "cells.h5ad")


@pytest.mark.parametrize("options", [{"use_rep": "X_pca"}, {"use_rep": "X"}, {"label": "louvain"}])
def test_a_file_that_was_damaged_anywhere_is_refused_in_a_line_or_read(options, pbmc, tmp_path):
    path = tmp_path / "cells.h5ad"
    small = pbmc[:12, :5].copy()
    small.write_h5ad(path)
    whole, told = path.read_bytes(), []
    for share in np.linspace(0, 1, 30):
        at = int(share * len(whole))
        path.write_bytes(whole[:at] + b"\xfa" + whole[at:])
        try:
            found = read_table(path, **options)
        except ValueError as error:
            told.append(str(error))
        else:
            assert len(found.X) == 12
    assert len(told) > 10
    assert all("cells.h5ad" in each and "\n" not in each for each in told)
