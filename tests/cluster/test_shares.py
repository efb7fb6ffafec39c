"""Workers that have some of the points each compute what a machine with all of them does; without Dask."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.affinity.source import Source
from nearfield.affinity.targets import NEIGHBOURS, target
from nearfield.cluster import near
from nearfield.cluster.dealing import cut, dealt
from nearfield.cluster.target import Target
from nearfield.descent.rest import motion
from nearfield.engine.mesh.one_scale import Mesh
from support.threads import together

N, PERPLEXITY, ACCURACY = 600, 8.0, 1e-4


@pytest.fixture(scope="module")
def X():
    random = np.random.default_rng(5)
    centres = 4 * random.normal(size=(6, 8))
    return (centres[np.arange(N) % 6] + random.normal(size=(N, 8))).astype(np.float32)


def blocks_of(X, members):
    lo, hi = (len(X) * rank // members.size for rank in (members.rank, members.rank + 1))
    return [(lo, X[lo:hi])]


def evaluated(X, Y, method, workers, **options):
    """Value and gradient at Y, in the order of the data, by so many workers."""

    def work(members):
        rows = dealt(blocks_of(X, members), members, 1)
        known = Target.of(rows, method, PERPLEXITY, 1)
        engine = Mesh(method, known.P, 1, ACCURACY, None, known.share)
        at = engine.evaluate(Y[rows.numbers], **options)
        S, _ = engine.sums(Y[rows.numbers])
        return rows.numbers, at, np.broadcast_to(S, len(rows.numbers)), members.sent

    found = together(workers, work)
    gradient, S = np.empty_like(Y), np.empty(len(Y))
    for numbers, at, own, _ in found:
        gradient[numbers], S[numbers] = at.gradient, own
    assert len({at.value for _, at, _, _ in found}) == 1  # all know the same, to the last bit
    return found[0][1], gradient, S


@pytest.mark.parametrize("width", [0.5, 12.0])  # without near sums, and with them
@pytest.mark.parametrize("name", ["tsne", "asne", "jse", "umap", "ssne"])
def test_gradient_and_value_are_those_of_one_machine(X, name, width, monkeypatch):
    monkeypatch.setattr(near, "FIRST", 10**6)  # all neighbours, so that P is the same
    method = nf.method(name)
    P = target(Source.of(X), method, PERPLEXITY, on=NEIGHBOURS)
    Y = width * np.random.default_rng(3).normal(size=(N, 2))
    engine = Mesh(method, P, 1, ACCURACY)
    alone = engine.evaluate(Y, exaggeration=2.0)
    for workers, tolerance in ((1, 1e-5), (3, 20 * ACCURACY)):  # which may lay another grid
        at, gradient, S = evaluated(X, Y, method, workers, exaggeration=2.0)
        size = np.linalg.norm(alone.gradient)
        assert np.linalg.norm(gradient - alone.gradient) <= tolerance * size
        assert at.value == pytest.approx(alone.value, rel=tolerance)
        np.testing.assert_allclose(S, np.broadcast_to(engine.sums(Y)[0], N), rtol=20 * ACCURACY)


def test_every_row_is_dealt_out_once_and_evenly(X):
    found = together(3, lambda members: dealt(blocks_of(X, members), members, 1))
    numbers = np.concatenate([rows.numbers for rows in found])
    assert sorted(numbers) == list(range(N))
    assert min(len(rows.numbers) for rows in found) > N / 5
    # Where the rows were before has no say in where they are.
    other = together(3, lambda members: dealt([(0, X)] if members.rank == 1 else [], members, 1))
    for one, two in zip(found, other, strict=True):
        np.testing.assert_array_equal(one.numbers, two.numbers)
        np.testing.assert_allclose(one.X, two.X, atol=1e-6)


def test_neighbours_of_others_are_found(X):
    def work(members):
        return Target.of(dealt(blocks_of(X, members), members, 1), nf.method("tsne"), PERPLEXITY, 1)

    for known in together(3, work):
        assert 0.97 <= known.recall <= 1


def test_rows_dealt_out_by_place_see_fewer_strangers(X):
    def halo(by_place):
        def work(members):
            rows = dealt(blocks_of(X, members), members, 1, by_place=by_place)
            return len(Target.of(rows, nf.method("tsne"), 3.0, 1).share.halo)

        return sum(together(3, work))

    assert halo(True) < 0.5 * halo(False)


def test_cells_are_cut_where_ties_are_few():
    blocks = np.kron(np.eye(4), np.ones((5, 5))) + 0.01
    found = cut(blocks, np.ones(20), 4).reshape(4, 5)
    assert (found == found[:, :1]).all()
    assert sorted(found[:, 0]) == [0, 1, 2, 3]


def test_motion_is_that_of_all_points(random):
    before = random.normal(size=(900, 2))
    after = before + 0.05 * random.normal(size=before.shape)

    def work(members):
        own = slice(members.rank, None, 3)
        return motion(before[own], after[own], members)

    first, *others = together(3, work)
    assert first == pytest.approx(motion(before, after), rel=1e-6)
    assert others == [first, first]


def test_large_arrays_are_summed_in_the_order_of_the_workers(random):
    parts = random.normal(size=(4, 7, 3)).astype(np.float32)
    found = together(4, lambda members: members.summed(parts[members.rank]))
    for each in found:
        np.testing.assert_array_equal(each, ((parts[0] + parts[1]) + parts[2]) + parts[3])
