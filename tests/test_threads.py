"""The same bits on any number of threads, of our own and of the linear algebra below."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.cli.preparation import prepare
from nearfield.descent.starts import classical_scaling, graph_modes, principal_components
from nearfield.parallel import chunks, one_blas_thread, over_chunks

# Few iterations do not make a map that anybody would keep, and it says so.
pytestmark = pytest.mark.filterwarnings("ignore:the map")


def blas_threads():
    """Of the linear algebra of NumPy and SciPy, which is shared by all threads."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {pool["num_threads"] for pool in pools if pool["threading_layer"] != "openmp"}


def state():
    return np.random.RandomState(0)


def data(n=2500, columns=60):
    return np.random.default_rng(1).normal(size=(n, columns)) * np.linspace(3, 1, columns)


WORK = {
    "principal components": lambda: principal_components(data(), 2, state()),
    "few rows": lambda: principal_components(data(300, 900), 2, state()),
    "many columns": lambda: principal_components(data(600, 1200), 2, state()),
    "sparse": lambda: principal_components(sparse.csr_array(data(1500, 40)), 2, state()),
    "classical scaling": lambda: classical_scaling(distances(data(700)), 2, state()),
    "modes": lambda: graph_modes(np.exp(-distances(data(700))), 2, state()),
    "other metrics": lambda: distances(data(700, 400), "cosine"),
    "--pca": lambda: prepare(data(2000, 150), False, 50, None, 0, lambda *_: None),
    "estimator": lambda: nf.Embedder("pca", random_state=0).fit_transform(data()),
    "map on the mesh": lambda: nf.TSNE(random_state=0, max_iter=10, perplexity=8).fit_transform(data()),
    "map by L-BFGS": lambda: nf.Embedder(
        "ssne", random_state=0, max_iter=6, perplexity=5, engine="mesh"
    ).fit_transform(data(6000, 5)),
}


@pytest.mark.parametrize("name", WORK)
def test_the_threads_of_the_linear_algebra_do_not_change_a_bit(name):
    found = []
    for count in (1, 2):
        with threadpool_limits(count):
            found.append(WORK[name]())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("jobs", [2, 5])
def test_our_own_threads_do_not_change_a_bit_of_the_principal_components(jobs):
    one, many = (principal_components(data(), 3, state(), count) for count in (1, jobs))
    np.testing.assert_array_equal(one, many)


def test_the_limit_holds_within_and_is_lifted_after():
    with threadpool_limits(2):
        before = blas_threads()
        with one_blas_thread():
            with one_blas_thread():
                pass
            assert blas_threads() <= {1}
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            _ = 1 / 0
        assert blas_threads() == before


def test_the_last_of_several_threads_gives_the_linear_algebra_its_threads_back():
    with threadpool_limits(2):
        before = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() <= {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_chunks_are_done_once_each_and_given_back_in_their_order(jobs):
    done = []

    def work(lo, hi, offset):
        done.append(lo)
        return lo + offset

    assert over_chunks(work, 1000, 5, n_jobs=jobs) == [lo + 5 for lo, _ in chunks(1000)]
    assert sorted(done) == [lo for lo, _ in chunks(1000)]


@pytest.mark.parametrize("failing", [0, 437, 937])
def test_an_error_in_any_chunk_is_told_and_leaves_threads_that_work_on(failing):
    def work(lo, hi):
        if lo == failing:
            raise ValueError(f"chunk {lo}")
        return hi

    assert failing in [lo for lo, _ in chunks(1000)]
    for _ in range(3):
        with pytest.raises(ValueError, match=f"chunk {failing}"):
            over_chunks(work, 1000, n_jobs=3)
    assert over_chunks(lambda lo, hi: hi, 1000, n_jobs=3)[-1] == 1000


def test_work_on_chunks_may_have_chunks_of_its_own():
    def outer(lo, hi):
        return sum(over_chunks(lambda a, b: b - a, hi - lo, n_jobs=2, least=1))

    assert sum(over_chunks(outer, 1000, n_jobs=2)) == 1000
