"""What a run begins with, and again where rows are added to it: the method, the data, the plan, the start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from nearfield.affinity.mixing import told as told_of
from nearfield.affinity.multiscale import scale_perplexities
from nearfield.affinity.source import Source
from nearfield.algebra.catalogue import method as named
from nearfield.algebra.catalogue import methods
from nearfield.algebra.method import Method
from nearfield.descent.descent import Descent
from nearfield.descent.guide import best_size, needs_guide
from nearfield.descent.optimizers import choose
from nearfield.descent.schedule import check_attraction
from nearfield.descent.sessions import Asked, fingerprint, plain
from nearfield.descent.settings import FREE, Settings, shared
from nearfield.descent.setup import Setup, planned, set_up
from nearfield.descent.stages import Stages
from nearfield.engine.plan import Plan
from nearfield.typing import Array


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a run begins with.

    Attributes
    ----------
    name : str
        Of the method, as the person called it.
    composition : Method
        The method before anything was learned.
    source : Source
        The data.
    settings : Settings
        What was asked for.
    plan : Plan
        The engine, and why.
    optimizer : str
        The name of the method's own.
    setup : Setup
        Engines and start.
    first : Asked, optional
        What was asked for before rows were added.
    """

    name: str
    composition: Method
    source: Source
    settings: Settings
    plan: Plan
    optimizer: str
    setup: Setup
    first: Asked | None = None

    @classmethod
    def of(cls, source: Source, method: str | Method, settings: Settings) -> Self:
        """All of it, from what a person gave."""
        name = method if isinstance(method, str) else str(method)
        composition = named(method) if isinstance(method, str) else method
        if not isinstance(composition, Method):
            raise TypeError(f"method must be a name of the catalogue or a nearfield.Method, got {method!r}")
        scaled, plan = planned(composition, source, settings)
        optimizer = choose(settings.optimizer, scaled, complete=plan.complete)
        setup = set_up(scaled, source, settings, plan)
        return cls(name, composition, source, settings, plan, optimizer, setup)

    def descent(self) -> Descent:
        """The iterations that begin here."""
        return Descent(self.setup, self.optimizer, self.settings)

    @cached_property
    def options(self) -> dict[str, Any]:
        """What makes the same beginning again from the same data; the seed is in the start."""
        options = shared(self.settings)
        kept = {name: value for name, value in options.items() if name not in ("random_state", *FREE)}
        resolved = {"init": self.setup.Y.copy(), "engine": self.plan.engine, "weights": self.source.weights}
        if self.source.labels is not None:
            resolved["labels"] = self.source.labels.codes
        if self.source.remembered:  # the nearest of more are not to the last bit those of a search for fewer
            resolved["remembered"] = self.source.remembered
        known = self.name in methods() and named(self.name) == self.composition
        return {"method": self.name if known else str(self.composition), **kept, **resolved}

    @property
    def asked(self) -> Asked:
        """What a file holds of it."""
        return Asked(self.options, self.composition)

    @cached_property
    def fingerprint(self) -> str:
        """By which the data are known again."""
        return fingerprint(self.source.X)

    def parameters(self, descent: Descent) -> dict[str, Any]:
        """What a map tells of it, for people to read."""
        settings = self.settings
        told = {
            "method": self.name,
            "composition": str(self.setup.method),
            "n_components": settings.n_components,
            "perplexity": plain(settings.perplexity),
            "metric": f"mix of {told_of(self.source.metric)}"
            if self.source.views
            else plain(settings.metric),
            "init": plain(settings.init),
            "optimizer": self.optimizer,
            "learning_rate": plain(settings.learning_rate),
            "exaggeration": descent.phases[0].exaggeration,
            "random_state": plain(settings.random_state),
        }
        if settings.attraction != 1:
            told["attraction"] = settings.attraction
        if settings.supervision:
            told["supervision"] = settings.supervision
        if self.source.weights is not None:
            told["weights"] = plain(self.source.weights)
        return told

    def attracted(self, attraction: float, descent: Descent) -> Self:
        """The same data, target and engine with another attraction, from the map of a descent.

        What was learned is kept, and nobody lays out a map that is there.
        """
        check_attraction(descent.method, attraction)
        engine = descent.own_engine
        Y = descent.Y.copy()
        if attraction > 1:  # else it grows in a few iterations, and is better for it
            Y = best_size(engine, Y, attraction)
        settings = replace(self.settings, attraction=attraction, init=Y, exaggeration=1)
        setup = replace(self.setup, method=descent.method, stages=Stages(engine), Y=Y, unfolded=True)
        return replace(self, settings=settings, setup=setup)

    def extended(self, rows: Any, weights: Any, start: Array, descent: Descent) -> Self:
        """The same with more rows, from a map that is made already; `start` has places for all of them.

        Scales of the map, and parameters that all points share, stay at the values that they have.
        """
        source = self.source.extended(rows, weights)
        settings, perplexity = self.settings, self.settings.perplexity
        method, perplexity = resumed(self.composition, descent.method, perplexity, self.source.n, source.n)
        if needs_guide(method) and start.std() < method.require_kernel().width:
            raise ValueError("extend: the map has not unfolded yet: make more iterations first")
        engine = self.plan.engine
        settings = replace(settings, init=start, engine=engine, exaggeration=1, perplexity=perplexity)
        begun = type(self).of(source, method, settings)
        return replace(begun, name=self.name, first=self.first or self.asked)


def resumed(composition: Method, fitted: Method, perplexity: Any, n: int, more: int) -> tuple[Method, Any]:
    """Method and perplexity with which a map of n points that is made goes on with more of them.

    Parameters
    ----------
    composition, fitted : Method
        The method before anything was learned or made to measure, and after it.
    perplexity : float, array, list, str or None
        As it was asked for; of single points, new ones get the median.

    Examples
    --------
    >>> import nearfield as nf
    >>> method, perplexity = resumed(
    ...     nf.method("dhssne"), nf.method("dhssne", alpha=0.7), "multiscale", 16, 20
    ... )
    >>> method.kernel.alpha, perplexity
    (0.7, [2.0, 4.0, 8.0])
    """
    perplexities = scale_perplexities(perplexity, composition, n)
    if fitted.scales != composition.scales and not isinstance(fitted.scales, str):
        composition = composition._with(scales=fitted.scales)
    learned = {name: getattr(fitted.kernel, name) for name in composition.learned}
    shared = {name: value for name, value in learned.items() if not np.ndim(value)}
    if shared:
        composition = composition.with_parameters(**shared)
    if perplexities is not None:
        return composition, perplexities.tolist()
    if isinstance(perplexity, np.ndarray) and perplexity.ndim:
        perplexity = np.concatenate([perplexity, np.full(more - n, np.median(perplexity))])
    return composition, perplexity
