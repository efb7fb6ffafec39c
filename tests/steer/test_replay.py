"""Whatever command is accepted is replayed bit for bit, in whichever form it came; none rewrites the past."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nearfield as nf

BUSY = [HealthCheck.too_slow]  # which a machine with other work to do is soon
N = 24
X = np.random.default_rng(0).normal(size=(N, 4))
START = np.random.default_rng(1).normal(size=(N, 2)) * 5

points = st.integers(0, N - 1)
some = st.lists(points, min_size=1, max_size=3, unique=True)
several = st.lists(points, max_size=4, unique=True)
place = st.floats(-30, 30).map(lambda x: round(x, 2))
pairs = st.lists(st.tuples(points, points), min_size=1, max_size=2)
numbers = st.sampled_from([int, np.int32, np.uint8, np.array])
indices = st.sampled_from([list, tuple, np.array, lambda who: np.array(who, np.uint16)])
follow = st.one_of(
    st.none(),
    st.builds(lambda form, count: form(count), numbers, st.integers(0, 6)),
    st.sampled_from([0.1, np.float32(0.25), np.array(0.5), Fraction(1, 4)]),
    st.builds(lambda form, who: form(who), indices, several),
    st.just(range(3)),
)
penalty = st.sampled_from(
    ["student", "gaussian", nf.penalties.L2(lam=1e-3), nf.penalties.Student(strength=np.float32(0.2))]
)


def pinned(form, who, places, **more):
    return lambda run: run.pin(form(who), np.array(places[: 2 * len(who)]).reshape(-1, 2), **more)


def dragged(who, places, moves, **more):
    """Take hold of some points, and lead them on between iterations."""

    def drag(run):
        run.drag(who, np.array(places[: 2 * len(who)]).reshape(-1, 2), **more)
        for n, *by in moves:
            run.step(n)
            run.move(by)

    return drag


commands = {
    "step": st.integers(1, 12).map(lambda n: lambda run: run.step(n)),
    "look": st.just(lambda run: run.cost),
    "pin": st.builds(
        pinned,
        indices,
        some,
        st.lists(place, min_size=6, max_size=6),
        follow=follow,
        neighbours=st.sampled_from(["map", "data"]),
        weights=st.sampled_from(["one", "p"]),
        penalty=penalty,
        soft=st.sampled_from([False, True, np.True_, nf.penalties.Gaussian(strength=0.5)]),
    ),
    "pin one": st.builds(
        lambda form, i, x: lambda run: run.pin(form(i), (x, 3), follow=[]), numbers, points, place
    ),
    "drag": st.builds(
        dragged,
        some,
        st.lists(place, min_size=6, max_size=6),
        st.lists(st.tuples(st.integers(0, 4), place, place), max_size=5),
        follow=follow,
        soft=st.booleans(),
    ),
    "move": st.builds(lambda x: lambda run: run.move((x, 1)), place),
    "pull": st.builds(lambda drawn: lambda run: run.pull(drawn), penalty),
    "anchor": st.builds(lambda x: lambda run: run.anchor((x, -x)), place),
    "unpin": st.one_of(
        st.just(lambda run: run.unpin()),
        st.just(lambda run: run.unpin(list(run.pins)[:1])),
        st.builds(lambda form, who: lambda run: run.unpin(form(who)), indices, several),
    ),
    "settle": st.builds(lambda form, n: lambda run: run.settle(form(n)), numbers, st.integers(0, 20)),
    "link": st.builds(
        lambda must, cannot: lambda run: run.link(must, cannot), st.none() | pairs, st.none() | pairs
    ),
    "unlink": st.just(lambda run: run.unlink([tuple(run.terms[0].pairs[0])])),
    "add": st.one_of(
        st.builds(lambda who: lambda run: run.add(nf.terms.Disc(who, (0, 1), 2)), several),
        st.builds(lambda who: lambda run: run.add(nf.terms.Box(who, (0, -9), (9, 9), width=0.5)), some),
        st.builds(lambda which: lambda run: run.add(nf.terms.CannotLink(which, strength=0.1)), pairs),
    ),
    "remove": st.builds(
        lambda form, k: lambda run: run.remove(form(k)), st.sampled_from([int, np.int64]), st.integers(0, 2)
    ),
    "undo": st.just(lambda run: run.undo()),
    "redo": st.just(lambda run: run.redo()),
}
sequences = st.lists(st.one_of(*commands.values()), min_size=3, max_size=12)


def done(run, sequence):
    """A run on which everything was done that it did not refuse."""
    for command in sequence:
        try:
            command(run)
        except (ValueError, TypeError, IndexError, AttributeError) as refusal:
            assert "\n" not in str(refusal)  # noqa: PT017 - a command may be refused, but not at length
    return run


def same(one, other):
    np.testing.assert_array_equal(other.Y, one.Y)
    assert other.iteration == one.iteration
    assert [str(entry) for entry in other.log] == [str(entry) for entry in one.log]
    assert other.pins.keys() == one.pins.keys()
    assert len(other.terms) == len(one.terms)


@settings(max_examples=60, suppress_health_check=BUSY)
@given(
    how=st.sampled_from([("tsne", {}), ("tsne", {"init": START}), ("asne", {"init": START}), ("mds", {})]),
    sequence=sequences,
)
def test_a_log_is_replayed_and_a_file_gone_on_with_bit_for_bit(how, sequence, tmp_path_factory):
    name, more = how
    run = done(nf.Run(X, name, random_state=0, perplexity=5, n_jobs=1, **more), sequence)
    path = tmp_path_factory.mktemp("replay") / "run.nfmap"
    run.map().save(path)
    reopened, again = (nf.Run.load(path, X, replay=replay, n_jobs=1) for replay in (False, True))
    for other in (reopened, again):
        same(run, other)
    assert reopened.history.keys() == run.history.keys()
    for column, values in run.history.items():
        np.testing.assert_array_equal(reopened.history[column], values)
    for each in (run, reopened, again):
        each.step(7)
    for other in (reopened, again):
        same(run, other)
        assert other.cost == run.cost


@settings(max_examples=40, suppress_health_check=BUSY)
@given(sequence=sequences)
def test_no_command_but_undo_changes_a_row_that_was_written(sequence):
    run = nf.Run(X, init=START, perplexity=5, n_jobs=1)
    for command in sequence:
        before, undone = run.history, [each for each in run.log if each.command in ("undo", "redo")]
        done(run, [command])
        if len([each for each in run.log if each.command in ("undo", "redo")]) > len(undone):
            continue
        for column, values in run.history.items():
            np.testing.assert_array_equal(values[: len(before[column])], before[column])
        assert np.all(np.diff(run.history["iteration"]) >= 0)


def test_the_row_before_a_pin_stays_and_the_cost_is_that_of_the_moved_map():
    run = nf.Run(X, random_state=0, perplexity=5)
    run.step(100)
    before, cost = run.history, run.cost
    run.pin(3, (20, 0))
    moved = run.cost
    assert moved != cost
    run.step(10)
    assert run.history["cost"][: len(before["cost"])].tolist() == before["cost"].tolist()
    assert run.history["iteration"].tolist()[-3:] == [100, 100, 110]
    assert run.history["cost"][-2] == moved


def test_what_was_added_cannot_be_changed_in_the_log():
    run, term = nf.Run(X, random_state=0, perplexity=5), nf.terms.MustLink([(1, 2)])
    run.add(term)
    term.pairs[:] = 7
    assert run.log[0].arguments["term"].pairs.tolist() == [[1, 2]]


def test_a_pin_without_followers_is_logged_as_what_it_is():
    run = nf.Run(X, random_state=0, perplexity=5)
    run.pin(3, (20, 0), follow=[])
    assert run.log[0].arguments["follow"].dtype == np.int64


@pytest.mark.parametrize("away", [1e200, -1e9, 1e8])
@pytest.mark.parametrize("iteration", [0, 150])
@pytest.mark.parametrize("name", ["tsne", "mds"])
def test_a_pin_out_of_all_proportion_is_refused_with_the_range(name, iteration, away):
    run = nf.Run(X, name, random_state=0, perplexity=5)
    run.step(iteration)
    with pytest.raises(
        ValueError, match=r"positions must be from -\S+ to \S+ and from -\S+ to \S+, 1e\+06 times"
    ):
        run.pin(3, (0, away))
    assert run.log == []


def test_a_pin_that_the_mesh_cannot_hold_is_refused_and_the_run_goes_on():
    data = np.random.default_rng(0).normal(size=(120, 4))
    run, undisturbed = (nf.Run(data, engine="mesh", perplexity=5, random_state=0) for _ in range(2))
    run.step(150)
    with pytest.raises(ValueError, match=r"the mesh engine cannot go on with points .* put them nearer"):
        run.pin(3, (1e5, 1e5))
    run.step(10)
    undisturbed.step(160)
    np.testing.assert_array_equal(run.Y, undisturbed.Y)
    run.pin(3, (500, 500), follow=None)
    run.step(5)
    assert run.Y[3].tolist() == [500, 500]


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_run_says_what_to_do_in_place_of_pickling(way):
    with pytest.raises(
        TypeError, match=r"cannot be pickled: save it with run\.map\(\)\.save\(path\)"
    ) as refusal:
        way(nf.Run(X, perplexity=5))
    assert "\n" not in str(refusal.value)
