"""Changes of method and perplexity: neighbours that serve again, and a way back over all of them."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.affinity.space import Vectors
from nearfield.descent.journal import KEPT
from nearfield.studio.line import NEIGHBOURS, RUNS, line_of, line_with
from support.studios import a_line, blobs


@pytest.fixture
def searches(monkeypatch):
    """For how many neighbours was searched, time after time."""
    asked, search = [], Vectors.nearest
    monkeypatch.setattr(Vectors, "nearest", lambda self, k, *more: asked.append(k) or search(self, k, *more))
    return asked


@pytest.fixture
def line():
    made = a_line(blobs()[0])
    made.run.step(20)
    return made


def put(line, i, place=(9, 9)):
    line.run.pin(i, place, follow=2)
    line.note()


def test_neighbours_are_searched_once_until_more_are_needed_and_a_file_makes_the_same_map(searches, tmp_path):
    X = blobs(400)[0]
    line = line_of(X, random_state=0, n_jobs=1, engine="mesh")
    line.run.step(5)
    for perplexity in (10.0, NEIGHBOURS / 3):
        assert not line.searches({"perplexity": perplexity})
        line.change({"perplexity": perplexity})
    line.change({"method": "jse", "perplexity": 30.0})
    assert searches == [NEIGHBOURS]
    more = NEIGHBOURS / 3 + 5
    assert line.searches({"method": "tsne", "perplexity": more})
    line.change({"method": "tsne", "perplexity": more})
    line.change({"perplexity": more - 1})
    assert searches == [NEIGHBOURS, NEIGHBOURS + 15]
    line.run.step(5)
    line.run.map().save(tmp_path / "run.nfmap")
    for data in (X, line.source):
        again = nf.Run.load(tmp_path / "run.nfmap", data, replay=True, n_jobs=1)
        np.testing.assert_array_equal(again.Y, line.run.Y)
    assert len(searches) == 3  # other data were searched, but not these


def test_a_run_of_ones_own_keeps_weights_and_metric_when_its_method_changes(searches):
    X = blobs(400)[0]
    weights = np.ones(400)
    weights[:7] = 3
    run = nf.Run(X, "tsne", weights=weights, metric="cosine", engine="mesh", random_state=0)
    line = line_with(run, n_jobs=1, engine="mesh")
    line.change({"perplexity": 5.0})
    assert line.run.source.metric == "cosine"
    np.testing.assert_array_equal(line.run.source.weights, weights)
    line.change({"perplexity": 6.0})
    assert searches[1:] == [NEIGHBOURS]


def test_undo_and_redo_go_over_changes_as_over_any_command(line):
    states = []

    def seen():
        return line.run.Y.tolist(), sorted(line.run.pins), dict(line.wanted)

    for act in (
        lambda: put(line, 1),
        lambda: line.change({"perplexity": 5.0}),
        lambda: put(line, 2),
        lambda: put(line, 3),
        lambda: line.change({"method": "asne"}),
        lambda: line.change({"perplexity": 6.0}),
        lambda: put(line, 4),
        line.restart,
    ):
        states.append(seen())
        act()
    states.append(seen())
    for _ in range(2):
        for state in states[-2::-1]:
            line.undo()
            assert seen() == state
        assert not line.can_undo
        with pytest.raises(ValueError, match="nothing to undo"):
            line.undo()
        for state in states[1:]:
            line.redo()
            assert seen() == state
        assert not line.can_redo
        with pytest.raises(ValueError, match="nothing to redo"):
            line.redo()


def test_a_new_command_ends_what_could_be_redone(line):
    put(line, 1)
    line.change({"perplexity": 5.0})
    line.undo()
    put(line, 2)
    assert not line.can_redo
    line.undo()
    line.change({"perplexity": 6.0})
    line.undo()
    line.redo()
    assert line.wanted["perplexity"] == 6
    assert sorted(line.run.pins) == [1]
    line.undo()
    put(line, 3)
    assert not line.can_redo


def test_so_many_runs_and_commands_can_be_gone_back_to_and_no_more(line):
    for k in range(RUNS + 2):
        line.change({"perplexity": 5.0 + k / 10})
    for _ in range(RUNS):
        line.undo()
    assert not line.can_undo
    line.change({"perplexity": 9.0})
    for k in range(KEPT):
        put(line, k % 2)
    assert line.before
    put(line, 2)
    for _ in range(KEPT):
        line.undo()
    assert not line.can_undo
