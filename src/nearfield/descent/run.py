"""The live optimisation. Estimators, command line and notebooks all drive this one object.

It owns a `Descent`, which iterates, a `Journal`, which remembers, and a fair lock, by which commands from any
thread wait for the iteration that is under way. A command that is refused leaves the run as it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np

from nearfield.affinity.source import Source
from nearfield.algebra.method import Method
from nearfield.checks import whole
from nearfield.descent.beginning import Beginning
from nearfield.descent.checkpoints import Checkpoint
from nearfield.descent.descent import RECORD
from nearfield.descent.extending import check_old, extended
from nearfield.descent.health import diagnosis
from nearfield.descent.journal import Journal, Moment
from nearfield.descent.placing import Reference, reference
from nearfield.descent.schedule import Phase, Stop
from nearfield.descent.sessions import OTHER_DATA, fingerprint, opened, pack_session, plain, reopening
from nearfield.descent.settings import Settings, check, settings_of, takes_settings
from nearfield.descent.state import State
from nearfield.engine.plan import Plan
from nearfield.io.maps import Map
from nearfield.parallel import one_blas_thread
from nearfield.steer.base import Indices, Term, indices_of
from nearfield.steer.holding import Held, check_way
from nearfield.steer.links import CannotLink, MustLink
from nearfield.steer.log import Entry, check_log, in_effect
from nearfield.steer.penalties import Penalty
from nearfield.steer.penalties import penalty as penalty_of
from nearfield.steer.pulls import nearest
from nearfield.steer.steering import Steering, check_near, check_places
from nearfield.steer.turns import Turns, in_turn
from nearfield.typing import Array

# In a log. What `move` does is part of the drag that it belongs to.
COMMANDS = (
    *("pin", "drag", "unpin", "anchor", "pull", "settle"),
    *("link", "unlink", "add", "remove", "extend", "undo", "redo"),
)
FOLLOWERS = 0.05  # of all points
SETTLING = (
    500  # iterations: in 250, a class of 10 000 points does not spread out again as fast as its pull fades
)


@takes_settings(Settings)
class Run:
    """A map in the making: data, method, engine, optimizer and the points as they are now.

    Parameters
    ----------
    X : array, sparse matrix or data frame (points, columns)
        The data; distances, neighbours or affinities if `metric` says so.
    method : str or Method
        A name of the catalogue, or a composition.
    weights : array (points,), optional
        How many equal rows each row stands for, 1 or more and not necessarily whole: the map is that of the
        repeated rows, of which all copies move as one.
    labels : sequence (points,), optional
        The class of each point, for `supervision`; None, NaN and -1 are none.
    remembered : int
        How many neighbours of each point are searched at least, and kept: further runs of the `source` of
        this one, of another method or perplexity, search anew only if they need more.
    {options}

    Attributes
    ----------
    Y : array (points, dimensions)
        The coordinates now (a copy).
    iteration : int
        How many iterations were made.
    history : dict of array
        ``iteration``, ``cost``, ``gradient_norm``, ``exaggeration`` and ``penalty`` (the sum of all terms),
        a row every 10 iterations and one at the end of every `step` and `converge`; the map that a command
        has moved may have a row of its own, of the same iteration as the one before it.
    plan : Plan
        What computes the gradient, and why.
    checkpoint : Checkpoint or None
        Where the state is written on the way: the `path`, the `iteration` that is kept there, and `delete`.
    pins, followers, terms, log
        What was asked of it on the way: see `pin`, `settle`, `link`, `add`, `undo`. These commands may come
        from another thread, and wait for the iteration that is under way.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> run = nf.Run(np.random.default_rng(0).normal(size=(50, 5)), "tsne", random_state=0)
    >>> run.step(20)
    >>> run.iteration, run.Y.shape
    (20, (50, 2))
    >>> run
    <Run of tsne: 50 points in 2 dimensions, iteration 20>
    """

    @one_blas_thread()
    def __init__(
        self,
        X: Any,
        method: str | Method = "tsne",
        *,
        weights: Any = None,
        labels: Any = None,
        remembered: int = 0,
        **options: Any,
    ) -> None:
        settings = settings_of("Run", options)
        kept = whole("remembered", remembered, 0)
        source = Source.of(X, settings.metric, settings.metric_params, weights, settings.n_jobs, kept)
        source = source.supervised(labels, settings.supervision)
        checkpoint = Checkpoint.of(source, method, settings)
        before = None if checkpoint is None else checkpoint.found()
        if before is None:
            self._begin(Beginning.of(source, method, settings), checkpoint)
            return
        with reopening(settings.checkpoint):
            check_log(before.log, COMMANDS)
            self._begin(Beginning.of(source, method, before.settings), checkpoint)
            self._go_on(before.state, before.log)
        self._tell(before.parameters)

    def _begin(self, begun: Beginning, checkpoint: Checkpoint | None = None) -> None:
        self._begun, self._descent = begun, begun.descent()
        self._checkpoint = checkpoint
        self._journal, self._turns = Journal(), Turns()
        self._held: Held | None = None
        self._told: dict[str, Any] = {}  # parameters of a run that was reopened, as its file tells them

    def _go_on(self, state: State, log: list[Entry]) -> None:
        """Go on from where a file says that it was."""
        self._descent.resume(state)
        self._journal.entries = list(log)

    def _tell(self, parameters: dict[str, Any]) -> None:
        """Tell what a file has told."""
        told = self._begun.parameters(self._descent)
        self._told = {name: parameters.get(name, value) for name, value in told.items()}

    # What it is -------------------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """What computes the gradient, and why."""
        return self._begun.plan

    @property
    def source(self) -> Source:
        """What the data are, with the rows that were added."""
        return self._begun.source

    @property
    def iteration(self) -> int:
        """How many iterations were made."""
        return self._descent.iteration

    @property
    def guided(self) -> bool:
        """Whether t-SNE still lays the map out, before the method's own cost takes over."""
        return self._descent.is_guided

    @property
    def method(self) -> Method:
        """The method, with learned parameters at their present values."""
        return self._descent.method

    @property
    def Y(self) -> Array:
        """The coordinates now (a copy)."""
        return self._descent.Y.copy()

    @property
    @in_turn
    def history(self) -> dict[str, Array]:
        """What was recorded on the way, as arrays of equal length."""
        return {name: np.array(values) for name, values in self._descent.history.items()}

    def latest(self, name: str) -> float:
        """The last value that was written to a column of the history: no more than 10 iterations old."""
        return self._descent.history[name][-1]

    @property
    @in_turn
    def cost(self) -> float:
        """The cost of the map as it is now, without exaggeration and without any terms.

        If the history has no row of this map it is computed, and nothing is written: see `record`.
        """
        return self._descent.cost

    @property
    def starts_unfolded(self) -> bool:
        """Whether the start was a map already: one wider than the kernel, or of distances."""
        return self._descent.starts_unfolded

    @property
    def learning_rate(self) -> float:
        """The learning rate of the coordinates in the last phase."""
        return self._descent.learning_rate

    def phase_at(self, iteration: int) -> Phase:
        """The phase that an iteration belongs to, counting from 0."""
        return self._descent.phase_at(iteration)

    def __repr__(self) -> str:
        n, dimensions = self._descent.problem.shape
        told = f"{n} points in {dimensions} dimensions, iteration {self.iteration}"
        return f"<Run of {self._begun.name}: {told}{f', {len(self.pins)} pinned' if self.pins else ''}>"

    # Iterations -------------------------------------------------------------------------------------------

    @one_blas_thread()
    def step(self, n: int = 1) -> None:
        """Make exactly n iterations."""
        for _ in range(whole("n", n, 0)):
            self._iterate()
            self._keep()
        if n > 0:
            self.record()

    @one_blas_thread()
    def iterate(self) -> bool:
        """Make one iteration, and tell whether nothing is gained any more, which is found out every 10.

        For whoever looks at the map after each of them; `step` writes where it ends to the history.
        """
        self._iterate()
        self._keep()
        return self.iteration % RECORD == 0 and self._descent.is_flat(self._descent.usual_stop())

    @in_turn
    def _iterate(self) -> None:
        self._descent.iterate()

    @in_turn
    def _keep(self) -> None:
        """Write a checkpoint if it is time for one."""
        if self._checkpoint is not None and self._checkpoint.due(self.iteration):
            self._checkpoint.write(self.map, self.iteration)

    @in_turn
    def record(self) -> None:
        """Write a row of the history for the map as it is now, unless there is one."""
        self._descent.record()

    @one_blas_thread()
    def converge(
        self,
        max_iter: int = 1000,
        *,
        tol: float | None = None,
        patience: int | None = None,
        min_grad_norm: float = 0.0,
        quick: bool = False,
        callback: Callable[[Run], Any] | None = None,
    ) -> bool:
        """Iterate until nothing is gained any more, or `max_iter` iterations in all have been made.

        A run of t-SNE or its kin has converged when 500 iterations more would lower its cost by some 1 % at
        most, as far as its course tells: within `patience` iterations the cost has changed by less than `tol`
        of itself, and the median point is about to move by less than half of the distance to its neighbours.

        Parameters
        ----------
        max_iter : int
            A ceiling on `iteration`, not a target.
        tol : float
            Converged is a run whose cost changed within `patience` iterations of the last phase by less than
            this share of itself, or of the way that it has come from the start's if that is less; or whose
            gradient has all but vanished. By default 0.0015 for momentum; 0.005 N/(N + 1000) for L-BFGS;
            0.005 for several scales in the map; 0.0001 for costs of distances. If it is given, the motion of
            the points does not count. A map that `diagnosis` finds fault with has not converged. One with
            attraction below 1, which may grow without end, ends after 100 iterations of the last phase if not
            before.
        patience : int, optional
            See `tol`. By default 50, and 20 for L-BFGS with a kernel of one scale.
        min_grad_norm : float
            A norm of the gradient at which to stop as well.
        quick : bool
            End as soon as the map looks about right: when the cost changes by less than 0.03 N/(N + 1000)
            (momentum) or 0.02 N/(N + 1000) (L-BFGS). It has then seldom converged.
        callback : callable, optional
            Called with the run every 10 iterations; True from it ends the run.

        Returns
        -------
        bool
            Whether it converged (True), or was stopped by the ceiling or the callback, or ended early because
            it was to be quick, or has come to rest as a map that is none (False).
        """
        usual = self._descent.usual_stop()
        if tol is not None and (isinstance(tol, (str, bool)) or not tol >= 0):
            raise ValueError(f"tol must be a number from 0 up, got {tol!r}")
        honest = usual if tol is None else Stop(tol, usual.patience)
        honest = honest if patience is None else replace(honest, patience=patience)
        early = self._descent.quick_stop() if quick else honest
        ended = False
        while self.iteration < max_iter and not ended:
            for _ in range(min(RECORD - self.iteration % RECORD, max_iter - self.iteration)):
                self._iterate()
            if callback is not None and callback(self):
                break
            ended = self._descent.is_flat(early, min_grad_norm)
            if not ended:  # so that whoever goes on from here does what is done here next
                self._keep()
        self.record()
        flat = ended and (not quick or self._descent.is_flat(honest, min_grad_norm))
        return flat and self.diagnosis() is None

    def usual_stop(self) -> tuple[float, int]:
        """What `converge` has as `tol` and `patience` if nothing else is said."""
        usual = self._descent.usual_stop()
        return usual.tol, usual.patience

    @one_blas_thread()
    def diagnosis(self) -> str | None:
        """Whether the map as it is now collapsed or shattered, and what to try; None if it is well."""
        if self.guided:
            return (
                f"the map has not unfolded: t-SNE lays it out until {self._begun.name} takes over at"
                f" iteration {self._descent.unfolded_at}; make more than {self.iteration} iterations"
            )
        return diagnosis(
            self._descent.problem.engine,
            self.Y,
            self.cost,
            self.method,
            learning_rate=self.learning_rate if self._descent.phases[-1].optimizer == "momentum" else None,
            automatic=isinstance(self._begun.settings.learning_rate, str),
            iterations=self.iteration,
            attraction=self._begun.settings.attraction,
        )

    # What a person asks for -------------------------------------------------------------------------------

    @property
    def log(self) -> list[Entry]:
        """All commands so far, with the iteration before which they came (a copy)."""
        return self._journal.log

    @property
    def pins(self) -> dict[int, Array]:
        """The pinned points, and where they were put."""
        return self._descent.steering.pins

    @property
    def followers(self) -> dict[int, Indices]:
        """Who follows each pinned point."""
        return self._descent.steering.followers

    @property
    def terms(self) -> tuple[Term, ...]:
        """Links, bounds and other terms that were added."""
        return self._descent.steering.terms

    @in_turn
    def pin(
        self,
        indices: Any,
        positions: Any,
        *,
        follow: Any = FOLLOWERS,
        neighbours: str = "map",
        weights: str = "one",
        penalty: str | Penalty = "student",
        soft: bool | Penalty = False,
    ) -> None:
        """Put some points where they belong, and let their old neighbours follow.

        Parameters
        ----------
        indices : int or sequence of int
            The points.
        positions : array (points, dimensions)
            Where each is put: up to a million times the size of the map away, if the engine can follow.
        follow : int, float below 1, array or None
            Who follows each of them: so many of its nearest neighbours, this fraction of all points, these
            points, or nobody. They are looked for now, before the move, and stay the same.
        neighbours : {"map", "data"}
            Whether the nearest in the map or in the data are meant.
        weights : {"one", "p"}
            Whether all are drawn alike, or in proportion to p_ij.
        penalty : {"student", "gaussian", "l2"} or Penalty
            How they are drawn; see `nearfield.penalties`.
        soft : bool or Penalty
            False is a hard pin: the point stays exactly where it was put. True is a Gaussian prior: it may
            give way. A penalty is a prior of one's own.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> run = nf.Run(np.random.default_rng(0).normal(size=(100, 5)), random_state=0)
        >>> run.step(200)
        >>> run.pin(3, (20, 0), follow=10)
        >>> run.step(100)
        >>> run.Y[3].tolist(), len(run.followers[3])
        ([20.0, 0.0], 10)
        """
        how = {"neighbours": neighbours, "weights": weights, "penalty": penalty, "soft": soft}
        self._pin("pin", indices, positions, follow, how, {})

    @in_turn
    def drag(
        self,
        indices: Any,
        positions: Any,
        *,
        follow: Any = FOLLOWERS,
        neighbours: str = "map",
        weights: str = "one",
        penalty: str | Penalty = "student",
        soft: bool | Penalty = False,
        way: Any = (),
    ) -> None:
        """Take hold of some points: they are pinned, and `move` leads them on until the next command.

        Whoever follows is looked for once, before the first move. However many moves there are, it is one
        command: one entry of the log, which holds the way, and one `undo`.

        Parameters
        ----------
        indices, positions, follow, neighbours, weights, penalty, soft
            As `pin` takes them.
        way : array (moves, 1 + dimensions), optional
            What a log holds of the moves: before which iteration each came, and how far from `positions` it
            led. The iterations in between are made.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> run = nf.Run(np.random.default_rng(0).normal(size=(100, 5)), random_state=0)
        >>> run.step(200)
        >>> run.drag(3, (20, 0), follow=10)
        >>> run.step(5)
        >>> run.move((1, 2))
        >>> run.pins[3].tolist(), len(run.log)
        ([21.0, 2.0], 1)
        >>> run.undo()
        >>> run.pins
        {}
        """
        moves = check_way(way, self._descent.problem.shape[1], self.iteration)
        how = {"neighbours": neighbours, "weights": weights, "penalty": penalty, "soft": soft}
        none = np.zeros((0, moves.shape[1]))
        pins, places = self._pin("drag", indices, positions, follow, how, {"way": none})
        self._held = Held(self._journal.entries[-1], pins, places)
        for iteration, *by in moves.tolist():
            self.step(int(iteration) - self.iteration)
            self.move(by)

    @in_turn
    def move(self, by: Any) -> None:
        """Lead the points that `drag` took hold of elsewhere: `by` this from where it put them."""
        held = self._held
        if held is None or self._journal.entries[-1] is not held.entry:
            raise ValueError("move: nothing is held; take hold of some points with drag first")
        by = check_places(by, 1, self._descent.problem.shape[1])
        places = held.places + by
        descent = self._descent
        steering = descent.steering.move(
            held.pins, places, descent.Y, descent.problem.engine, self._descent.measure()
        )
        descent.check_reach(held.pins, places)
        way = np.concatenate([held.entry.arguments["way"], np.column_stack([self.iteration, by])])
        entry = self._journal.amend(held.entry.arguments | {"way": way})
        self._held = Held(entry, held.pins, held.places)
        descent.steer(steering)
        descent.put(held.pins, places)

    def _pin(
        self,
        command: str,
        indices: Any,
        positions: Any,
        follow: Any,
        how: dict[str, Any],
        more: dict[str, Any],
    ) -> tuple[Indices, Array]:
        """Pin some points, under the name of a command; who they are and where they are put."""
        pull_by, soft = penalty_of(how["penalty"]), how["soft"]
        steering, pins, places, follow = self._descent.steering.pin(
            indices,
            positions,
            follow=follow,
            neighbours=how["neighbours"],
            weights=how["weights"],
            pull_by=pull_by,
            soft=soft,
            Y=self._descent.Y,
            engine=self._descent.problem.engine,
            measure=self._descent.measure(),
        )
        self._descent.check_reach(pins, places)
        given: dict[str, Any] = {"follow": follow, **how, "penalty": pull_by}
        given |= {"soft": soft if isinstance(soft, Penalty) else bool(soft), **more}
        self._commit(steering, command, {"indices": pins, "positions": places, **given})
        self._descent.put(pins, places)
        return pins, places

    @in_turn
    def unpin(self, indices: Any = None) -> None:
        """Release some pinned points, or all, and their followers."""
        steering, pins = self._descent.steering.unpin(indices)
        self._commit(steering, "unpin", {"indices": pins})
        self._descent.forget_motion(pins)

    @in_turn
    def anchor(self, centre: Any) -> None:
        """Put the middle of the map somewhere, and keep the map there, as if something were pinned."""
        steering, descent = self._descent.steering, self._descent
        if steering.anchored:
            raise ValueError("anchor: something was put in a place before, and the map stays with it")
        (centre,) = check_places(centre, 1, descent.problem.shape[1])
        everybody, Y = np.arange(len(descent.Y)), descent.Y
        check_near(centre[None], Y, self._descent.measure(), descent.problem.engine)
        self._commit(replace(steering, anchored=True), "anchor", {"centre": centre})
        descent.put(everybody, Y + (centre - Y.mean(axis=0)))

    @in_turn
    def pull(self, penalty: str | Penalty) -> None:
        """Let all who follow be drawn in another way from now on, with a strength and width of this map."""
        pull_by = penalty_of(penalty)
        steering = self._descent.steering.pull(pull_by, self._descent.measure())
        self._commit(steering, "pull", {"penalty": pull_by})

    @in_turn
    def settle(self, n: int = SETTLING) -> None:
        """Let the penalties of all followers fade to zero over the next n iterations; the pins stay.

        They fade the more slowly the less is left of them. What fades already does so within n iterations
        from now. No iterations are made: ``run.settle(250); run.step(250)``. The more slowly a pull fades,
        the better a large group stays together.
        """
        n = whole("n", n, 0)
        self._commit(self._descent.steering.settle(self.iteration, n), "settle", {"n": n})

    @in_turn
    def link(self, must: Any = None, cannot: Any = None) -> None:
        """Tie pairs of points together, or keep them apart; `nearfield.terms` has their strengths.

        Parameters
        ----------
        must, cannot : array (links, 2), optional
            Pairs that belong together, and pairs that do not.
        """
        if must is None and cannot is None:
            raise ValueError("link: name pairs that must be together, or that cannot")
        steering, measure, given = self._descent.steering, self._descent.measure(), {}
        for name, kind, pairs in (("must", MustLink, must), ("cannot", CannotLink, cannot)):
            if pairs is not None:
                links = kind(pairs)
                steering, given[name] = steering.add(links, measure), links.pairs
        self._commit(steering, "link", given)

    @in_turn
    def unlink(self, pairs: Any) -> None:
        """Cut the links between these pairs of points."""
        self._commit(self._descent.steering.unlink(pairs), "unlink", {"pairs": np.array(pairs)})

    @in_turn
    def add(self, term: Term) -> None:
        """Add a term to the cost: links, bounds, or one of your own; see `nearfield.terms`."""
        self._commit(self._descent.steering.add(term, self._descent.measure()), "add", {"term": term})

    @in_turn
    def remove(self, number: int) -> None:
        """Take out one of `terms`, by its number."""
        self._commit(self._descent.steering.remove(number), "remove", {"number": int(number)})

    @in_turn
    def extend(self, rows: Any, *, old: str = "fixed", weights: Any = None) -> None:
        """Add rows to the data: each begins where `reference` would place it, and belongs to the map.

        Parameters
        ----------
        rows : array, sparse matrix or data frame (rows, columns)
            The new rows; where distances were given, those to all old rows and to each other.
        old : {"fixed", "soft", "free"}
            What becomes of the points that are there: pinned, so that they do not move by a bit; pinned
            softly, so that they may give way; or free. `unpin` releases them.
        weights : array (rows,), optional
            How many equal rows each of them stands for.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> X = np.random.default_rng(0).normal(size=(100, 5))
        >>> run = nf.Run(X[:90], random_state=0)
        >>> run.step(200)
        >>> before = run.Y
        >>> run.extend(X[90:])
        >>> run.step(50)
        >>> run.Y.shape, np.array_equal(run.Y[:90], before)
        ((100, 2), True)
        """
        rows = self.source.check_rows(rows)
        n, reference = self.source.n, self.reference()
        begun, descent, steering = extended(
            self._begun, self._descent, reference, rows, weights, check_old(old)
        )
        told = {"count": begun.source.n - n, "data": fingerprint(rows), "old": old, "weights": weights}
        self._journal.write(self.iteration, "extend", told, self._now())
        self._begun, self._descent = begun, descent
        descent.steer(steering)

    def _extend_again(self, source: Source, count: int, data: str, old: str, weights: Any) -> None:
        """Add the next rows of the data, as a log says."""
        rows = source.first(self._begun.source.n + count).last(count)
        if fingerprint(rows) != data:
            raise ValueError("the rows that were added are others than these")
        self.extend(rows, old=old, weights=weights)

    @in_turn
    def undo(self) -> None:
        """Go back to the state before the last command: positions, momentum, pins and history."""
        self._go_to(self._journal.undo(self.iteration, self._now()))

    @in_turn
    def redo(self) -> None:
        """Go to the state that the last undo left."""
        self._go_to(self._journal.redo(self.iteration, self._now()))

    def _commit(self, steering: Steering, command: str, arguments: dict[str, Any]) -> None:
        """Take over what a command has made, after which it cannot fail any more."""
        optimizer = self._descent.optimizer
        if (
            steering.has_terms
            and optimizer.for_terms() is not optimizer
            and self._begun.settings.optimizer != "auto"
        ):
            raise ValueError("SMACOF minimises the plain stress and no terms: use optimizer='auto' to steer")
        if self._checkpoint is not None:
            self._checkpoint.check(command, arguments)
        self._journal.write(self.iteration, command, arguments, self._now())
        self._descent.steer(steering)

    def _now(self) -> Moment:
        return self._begun, self._descent, *self._descent.state()

    def _go_to(self, moment: Moment) -> None:
        self._begun, self._descent, state, engine = moment
        self._descent.restore(state, engine)

    @in_turn
    def nearest(self, index: int, count: int, *, neighbours: str = "map") -> Indices:
        """The points nearest to one of them, in the map as it is now or, those it knows, in the data.

        Pinned points are among them: who would follow a pin are those that are not.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> run = nf.Run(np.arange(12.0)[:, None] ** 2, perplexity=3, random_state=0)
        >>> run.nearest(0, 2, neighbours="data").tolist()
        [1, 2]
        """
        (point,) = indices_of("nearest", index, self._descent.problem.shape[0])
        if neighbours not in ("map", "data"):
            raise ValueError(f"neighbours must be 'map' or 'data', got {neighbours!r}")
        Y, engine = self._descent.Y, self._descent.problem.engine
        others = np.arange(len(Y)) != point
        return nearest(int(point), neighbours, Y, engine, others)[: whole("count", count, 0)]

    @property
    def graph(self) -> Any:
        """UMAP's weights of neighbours, if the run was made of them; the least are not dropped here."""
        return self._begun.setup.graph

    @in_turn
    def with_attraction(self, attraction: float) -> Self:
        """Another run of the same neighbours and P, which begins with this map, under another attraction.

        From a stronger attraction to a weaker one a map unfolds further where it is; the other way it would
        have to be folded again. `nearfield.spectrum` goes that way through several.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> run = nf.Run(np.random.default_rng(0).normal(size=(60, 5)), attraction=4, random_state=0)
        >>> run.step(200)
        >>> weaker = run.with_attraction(1)
        >>> weaker.step(100)
        >>> bool(weaker.Y.std() > run.Y.std()), run.iteration, weaker.iteration
        (True, 200, 100)
        """
        attraction = check(Settings(attraction=attraction))["attraction"]
        run = object.__new__(type(self))
        run._begin(self._begun.attracted(attraction, self._descent))
        return run

    @in_turn
    def reference(self) -> Reference:
        """What it takes to place new rows in the map as it is now, without the run."""
        begun, traits = self._begun, self._begun.setup.traits
        engine, perplexity = self._descent.own_engine, begun.settings.perplexity
        return reference(
            engine, self.method, self.Y, begun.source, traits, perplexity, begun.settings.attraction
        )

    # Files ------------------------------------------------------------------------------------------------

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Where its state is written on the way, if that was asked for."""
        return self._checkpoint

    @in_turn
    def map(self) -> Map:
        """The map as it is now, as a thing to keep: `Map.save` writes it, and `Run.load` goes on from it."""
        descent, begun = self._descent, self._begun
        parameters = begun.parameters(descent) | self._told | {"iteration": self.iteration}
        for name, value in descent.problem.parameters_of(descent.z).items():
            parameters[name] = plain(value)
        state, log = descent.state()[0], self._journal.entries
        session, arrays = pack_session(begun.asked, begun.fingerprint, state, log, begun.first)
        return Map(self.Y, parameters, self.history, session=session, arrays=arrays)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        X: Any,
        *,
        replay: bool = False,
        n_jobs: int | None = None,
        **given: Any,
    ) -> Self:
        """Reopen a run that ``run.map().save(path)`` has written, and go on with it.

        Parameters
        ----------
        path : path-like
            The file.
        X : array, sparse matrix or data frame
            The data that the map was made of, which are not in the file.
        replay : bool
            Whether to do everything again from the start, by the log, instead of taking the map from the
            file. On the same machine and versions the result is the same, bit for bit.
        n_jobs : int or None
            Threads; None is all cores.
        **given
            What a file cannot hold, if it was used: a `method` with a class or a function of one's own, a
            `metric` that is a function.

        Raises
        ------
        ValueError
            With one line that names the file and the fault, if it is something else, damaged, of other data
            or of a newer format. A file from somebody else can make nothing but what a run is made of.

        Examples
        --------
        >>> import numpy as np, nearfield as nf, tempfile, os
        >>> X = np.random.default_rng(0).normal(size=(50, 5))
        >>> run = nf.Run(X, random_state=0)
        >>> run.step(100)
        >>> run.pin(3, (20, 0))
        >>> run.step(10)
        >>> path = os.path.join(tempfile.mkdtemp(), "map.nfmap")
        >>> run.map().save(path)
        >>> again = nf.Run.load(path, X, replay=True)
        >>> np.array_equal(again.Y, run.Y)
        True
        """
        saved, wanted, first, state, log = opened(path, X, given)
        with reopening(path):
            run = cls(X, wanted.pop("method"), n_jobs=n_jobs, **wanted)
        if run._begun.fingerprint != saved.session.get("data"):
            raise ValueError(f"{path} {OTHER_DATA}")
        with reopening(path):
            check_log(log, COMMANDS)
            run._descent.check(state)
            source = run._begun.source
            if first is not None:
                head = source.first(len(first["init"]))
                begun = cls(head.X, first.pop("method"), n_jobs=n_jobs, **first)
                run._begun = replace(run._begun, name=begun._begun.name, first=begun._begun.asked)
                run = begun if replay else run
            if replay:
                run._replay(log, state.iteration, source)
            else:
                run._go_on(state, log)
        run._tell(saved.parameters)
        return run

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Run cannot be pickled: save it with run.map().save(path), reopen it with Run.load")

    def _replay(self, log: list[Entry], iteration: int, source: Source | None = None) -> None:
        """Do again what the log says, and make the iterations in between; `source` has all rows."""
        source = source or self._begun.source
        rows = self._begun.source.n + sum(
            entry.arguments["count"] for entry in log if entry.command == "extend"
        )
        # Rows that were added and taken back are not among the data: what was undone is then left out.
        for entry in log if rows == source.n else in_effect(log):
            self.step(entry.iteration - self.iteration)
            if entry.command == "extend":
                self._extend_again(source, **entry.arguments)
            else:
                getattr(self, entry.command)(**entry.arguments)
        self.step(iteration - self.iteration)
