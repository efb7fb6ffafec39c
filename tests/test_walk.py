"""The walk of one fit_transform through the rooms, and what a new option takes."""

import dataclasses
import inspect
import sys

import numpy as np
import pytest

import nearfield as nf
from nearfield.descent import settings as module
from nearfield.descent.descent import Descent

ROOMS = ("affinity", "engine")


class FirstIteration(Exception):
    """Where the walk ends."""


def walk(monkeypatch, X):
    """The rooms in the order in which they were entered before the first iteration, setup left out."""
    entered = []

    def trace(frame, event, argument):
        if event != "call":
            return
        name = frame.f_globals.get("__name__", "")
        room = next((room for room in ROOMS if name.startswith(f"nearfield.{room}")), None)
        if room is not None and (not entered or entered[-1] != room):
            entered.append(room)

    def stop(self):
        raise FirstIteration

    nf.TSNE(random_state=0, max_iter=1).fit(X[:1200])  # what is imported and compiled on the way
    monkeypatch.setattr(Descent, "iterate", stop)
    sys.setprofile(trace)
    try:
        with pytest.raises(FirstIteration):
            nf.TSNE(random_state=0).fit_transform(X)
    finally:
        sys.setprofile(None)
    return entered


@pytest.mark.filterwarnings("ignore:the map has not unfolded")  # in so few iterations
def test_the_way_of_the_data_is_a_straight_line(monkeypatch, random):
    """What the data are; which engine will do, and what it takes, before any work; P; the engine on it."""
    entered = walk(monkeypatch, random.normal(size=(5000, 5)))
    assert entered == ["affinity", "engine", "affinity", "engine"]


FRONTS = {"Run": nf.Run, "Embedder": nf.Embedder, "TSNE": nf.TSNE}
OPTIONS = {each.name: each for each in dataclasses.fields(module.Common)}


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_that_is_declared_once_is_everywhere(name, front):
    """A keyword with the same default, and the same sentence in the documentation."""
    keywords = inspect.signature(FRONTS[front]).parameters
    assert keywords[name].default == OPTIONS[name].default
    documented = " ".join(inspect.getdoc(FRONTS[front]).split())
    assert f"{name} : {OPTIONS[name].metadata['kind']}" in documented
    assert OPTIONS[name].metadata["text"] in documented


def test_a_new_option_is_one_field(monkeypatch, random):
    """It is then a keyword of the run, checked, and among what the file of a run holds."""

    def refuse(name, value):
        if value < 0:
            raise ValueError(f"{name} must be 0 or more, got {value!r}")

    @dataclasses.dataclass(kw_only=True, eq=False, repr=False)
    class Longer(module.Settings):
        patience_of_mind: float = module.option(1.0, "float", "Of the one who waits.", refuse)

    monkeypatch.setattr(module, "Settings", Longer)
    X = random.normal(size=(30, 4))
    run = nf.Run(X, patience_of_mind=2.0)
    assert run.map().session["wanted"]["dict"]["patience_of_mind"] == 2.0
    with pytest.raises(ValueError, match="patience_of_mind must be 0 or more, got -1"):
        nf.Run(X, patience_of_mind=-1)
    with pytest.raises(
        TypeError, match="Run takes no option 'patience_of_min': did you mean 'patience_of_mind'"
    ):
        nf.Run(X, patience_of_min=1)


@pytest.mark.parametrize(
    ("make", "keyword", "expected"),
    [
        (
            lambda **k: nf.Embedder("nerv", **k),
            {"lam": 0.5},
            r"Embedder takes no option 'lam': .*method\(name, lam=",
        ),
        (nf.Embedder, {"n_neighbors": 15}, "use perplexity, which is about a third of it"),
        (nf.TSNE, {"perplexty": 15}, "did you mean 'perplexity'"),
        (lambda **k: nf.Run(np.eye(5), **k), {"n_epochs": 3}, "Run takes no option 'n_epochs'"),
        (nf.Embedder, {"xyz": 3}, "it may be method, n_components"),
    ],
)
def test_an_unknown_option_is_refused_with_what_was_meant(make, keyword, expected):
    with pytest.raises(TypeError, match=expected):
        make(**keyword)
