"""What the page may ask for: one entry each, with what it may be given and what it does."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.algebra.catalogue import methods
from nearfield.descent.run import SETTLING
from nearfield.steer.links import Link
from nearfield.studio.line import brought, followers_for
from nearfield.studio.messages import (
    Refused,
    choice,
    command,
    flag,
    number,
    place,
    point,
    points,
    rows,
    text,
    whole,
)
from nearfield.studio.rows import plain

if TYPE_CHECKING:
    from nearfield.studio.session import Session

LINKED = 64  # points of which all pairs are linked
NAMED = 20  # selections
NEW = 10_000  # rows that can be placed at once
COLUMNS = 4096  # of each
CARDS = 50  # rows that are told of at once
COUNT = 100_000  # followers

follow = whole(0, COUNT, default=0.05)
neighbours = choice("map", "data", default="map")


# Running ---------------------------------------------------------------------------------------------------


@command()
def run(session: Session) -> None:
    """Go on."""
    session.running, session.rests, session.failure = True, False, None
    session.tell()


@command()
def pause(session: Session) -> None:
    """Stop after this iteration."""
    session.running = False
    session.publish()
    session.tell()


@command(n=whole(1, 1000, default=1))
def step(session: Session, n: int) -> None:
    """Make a few iterations, and pause."""
    session.running, session.rests, session.failure = False, False, None
    session.run.step(n)
    session.publish()
    session.tell()


@command(steers=True)
def restart(session: Session) -> None:
    """Begin anew; undo brings back what was."""
    _slowly(session, "beginning anew", session.line.restart)


@command(
    method=text(40, default=None),
    perplexity=number(1, 1e6, default=None),
    exaggeration=number(1, 100, default=None),
    steers=True,
)
def change(session: Session, method: str | None, perplexity: Any, exaggeration: Any) -> None:
    """Go on with another method, perplexity or exaggeration from the map as it is."""
    if method is not None and method not in methods():
        raise Refused(f"there is no method {method!r}")
    given = {"method": method, "perplexity": perplexity, "exaggeration": exaggeration}
    wanted = {name: value for name, value in given.items() if value is not None}
    if not wanted:
        raise Refused("change takes a method, a perplexity or an exaggeration")
    wanted.setdefault("exaggeration", None)  # which is for the beginning of a run, and not for the next one
    what = "finding neighbours" if session.line.searches(wanted) else "changing the map"
    _slowly(session, what, lambda: session.line.change(wanted))


def _slowly(session: Session, what: str, work: Any) -> None:
    """Say what takes long while it does."""
    session.busy = what
    session.tell()
    try:
        work()
    finally:
        session.busy = None
        session.tell(steering=True)


# Steering --------------------------------------------------------------------------------------------------


def _steered(session: Session) -> None:
    """A command was given to the run."""
    session.line.note()
    session.tell(steering=True)


@command(indices=points(), grip=point(), at=place(), follow=follow, neighbours=neighbours, steers=True)
def drag(session: Session, indices: list[int], grip: int, at: Any, follow: Any, neighbours: str) -> None:
    """Take hold of some points by one of them, which is put somewhere; the others keep beside it."""
    if grip not in indices:
        raise Refused("drag: the point by which the others are held must be one of them")
    drop(session)
    run = session.run
    Y = run.Y
    places = brought(Y, indices, Y[grip], at)
    count = followers_for(follow, len(indices), session.n)
    run.drag(indices, places, follow=count, neighbours=neighbours, penalty=session.line.penalty)
    session.held = at
    _steered(session)


@command(at=place(), steers=True)
def move(session: Session, at: Any) -> None:
    """Lead what is held to another place."""
    if session.held is None:
        raise Refused("move: nothing is held any more")
    session.run.move(np.subtract(at, session.held))


@command(steers=True)
def drop(session: Session) -> None:
    """Let go of what is held, which stays where it is."""
    if session.held is not None:
        session.held = None
        session.tell(steering=True)


@command(indices=points(), follow=whole(0, COUNT, default=0), neighbours=neighbours, steers=True)
def pin(session: Session, indices: list[int], follow: int, neighbours: str) -> None:
    """Pin some points where they are."""
    _pinned(session, indices, session.run.Y[indices], follow, neighbours)


@command(indices=points(), at=place(), follow=follow, neighbours=neighbours, steers=True)
def put(session: Session, indices: list[int], at: Any, follow: Any, neighbours: str) -> None:
    """Put the middle of some points somewhere: what a drag does, without dragging."""
    Y = session.run.Y
    _pinned(session, indices, brought(Y, indices, Y[indices].mean(axis=0), at), follow, neighbours)


def _pinned(session: Session, indices: list[int], places: Any, follow: Any, neighbours: str) -> None:
    drop(session)
    count = followers_for(follow, len(indices), session.n)
    session.run.pin(indices, places, follow=count, neighbours=neighbours, penalty=session.line.penalty)
    _steered(session)


@command(indices=points(default=None), steers=True)
def unpin(session: Session, indices: list[int] | None) -> None:
    """Release some pinned points, or all."""
    drop(session)
    pinned = session.run.pins
    some = None if indices is None else [i for i in indices if i in pinned]
    if not pinned or some == []:
        raise Refused("unpin: none of these is pinned")
    session.run.unpin(some)
    _steered(session)


@command(n=whole(0, 100_000, default=SETTLING), steers=True)
def settle(session: Session, n: int) -> None:
    """Let the pull on those who follow fade; the pins stay."""
    drop(session)
    session.run.settle(n)
    _steered(session)


@command(
    penalty=choice("student", "gaussian", "l2", default=None),
    strength=number(1e-4, 100, default=None),
    steers=True,
)
def pull(session: Session, penalty: str | None, strength: float | None) -> None:
    """Draw those who follow in another way, from now on and in drags to come."""
    drop(session)
    given = {"penalty": penalty, "strength": strength}
    before, line = session.line.drawn, session.line
    line.drawn = {**before, **{name: value for name, value in given.items() if value is not None}}
    if any(len(each) for each in session.run.followers.values()):
        try:
            session.run.pull(line.penalty)
        except ValueError:
            line.drawn = before
            raise
        _steered(session)
    session.tell()


@command(indices=points(2, LINKED), kind=choice("must", "cannot"), steers=True)
def link(session: Session, indices: list[int], kind: str) -> None:
    """Tie all pairs of some points together, or keep them apart."""
    drop(session)
    session.run.link(**{kind: list(combinations(indices, 2))})
    _steered(session)


@command(steers=True)
def unlink(session: Session) -> None:
    """Cut all links."""
    drop(session)
    pairs = [term.pairs for term in session.run.terms if isinstance(term, Link)]
    if not pairs:
        raise Refused("unlink: nothing is linked")
    session.run.unlink(np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0))
    _steered(session)


@command(steers=True)
def undo(session: Session) -> None:
    """Go back to before the last command."""
    session.held = None
    session.line.undo()
    session.tell(steering=True)


@command(steers=True)
def redo(session: Session) -> None:
    """Go to what the last undo left."""
    session.held = None
    session.line.redo()
    session.tell(steering=True)


# Looking ---------------------------------------------------------------------------------------------------


@command(index=point(), count=whole(1, 1000, default=10))
def near(session: Session, index: int, count: int) -> dict[str, list[int]]:
    """The neighbours of a point in the data and in the map."""
    run = session.run
    return {kind: run.nearest(index, count, neighbours=kind).tolist() for kind in ("data", "map")}


@command(indices=points(1, CARDS), aside=True)
def cards(session: Session, indices: list[int]) -> list[dict[str, Any]]:
    """What is known of some rows."""
    return [session.rows.card(i) for i in indices]


@command()
def history(session: Session) -> dict[str, list[Any]]:
    """The curves, thinned where they are long."""
    found = session.run.history
    every = max(1, -(-len(found["iteration"]) // 2000))
    return {name: [plain(each) for each in values[::every].tolist()] for name, values in found.items()}


@command(aside=True)
def quality(session: Session) -> dict[str, Any]:
    """How good the map is now, on a sample."""
    from nearfield.judge.quality import quality as judged

    sample = min(session.n, 1000)
    found = judged(session.rows.mapped, session.run.Y, sample=None if session.n <= 2000 else sample, n_jobs=1)
    names = ("auc", "trustworthiness", "continuity", "neighbours_kept")
    told = {name: plain(float(getattr(found, name))) for name in names}
    return {**told, "points": session.n if session.n <= 2000 else sample}


@command(rows=rows(NEW, COLUMNS), aside=True)
def place_rows(session: Session, rows: Any) -> dict[str, list[Any]]:
    """Where new rows lie in the map as it is, and how unlike the others each is."""
    placed = session.run.reference().place(session.rows.prepared(rows))
    return {"positions": placed.Y.tolist(), "novelty": [plain(each) for each in placed.novelty.tolist()]}


# Selections ------------------------------------------------------------------------------------------------


@command(name=text(40), indices=points())
def name_selection(session: Session, name: str, indices: list[int]) -> None:
    """Give some points a name, which becomes a column of what is exported."""
    if name not in session.selections and len(session.selections) >= NAMED:
        raise Refused(f"there are {NAMED} named selections already: forget one first")
    session.selections = {**session.selections, name: np.array(sorted(indices), dtype=np.int64)}
    _kept(session)


@command(name=text(40))
def forget_selection(session: Session, name: str) -> None:
    """Forget a name."""
    if name not in session.selections:
        raise Refused("there is no selection of this name")
    session.selections = {key: each for key, each in session.selections.items() if key != name}
    _kept(session)


@command(name=text(40))
def selection(session: Session, name: str) -> list[int]:
    """The points of a named selection."""
    if name not in session.selections:
        raise Refused("there is no selection of this name")
    return [int(each) for each in session.selections[name]]


def _kept(session: Session) -> None:
    if session.keeper is not None:
        session.keep(session.keeper.save)
    session.tell()


# The session before this one -------------------------------------------------------------------------------


@command(accept=flag(), steers=True)
def reopen(session: Session, accept: bool) -> None:
    """Go on with the session that was left, or forget the offer."""
    keeper: Any = session.keeper
    if session.offer is None or keeper is None:
        raise Refused("there is no session to reopen")
    if accept and "damaged" in session.offer:
        raise Refused(session.offer["damaged"])
    if accept:
        _slowly(session, "reopening", lambda: keeper.reopen(session))
    session.offer = None
    session.tell(steering=True)
