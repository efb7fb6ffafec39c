"""Sums of radial functions over all pairs of points, in near-linear time.

**Far**: charges are spread over the nodes of a grid by cubic B-splines, convolved with the radial function
by FFT (on twice the span, so that nothing wraps around), and the potential is read off by the same splines.
Its gradient is that of the spline, so one forward and one inverse transform give potential and force.

**Near**: a grid that is to resolve the sharp top of a kernel needs many nodes. Within a cutoff the function
is therefore replaced by its Taylor polynomial at the cutoff, which a much coarser grid resolves, and what
that leaves out is summed directly over the few points within the cutoff. Which cutoff is the cheapest
depends on how dense the map is: a small, crowded map wants none, a wide one a generous cutoff.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.fft

from nearfield.engine.mesh import field_loops as loops
from nearfield.engine.mesh import grids, near_loops
from nearfield.engine.mesh.near import Radial, Remainder
from nearfield.engine.mesh.strangers import Strangers
from nearfield.parallel import LIGHT, chunks, over_chunks, threads
from nearfield.parallel.together import ALONE, Together

KEPT = 3  # grids whose spectra are kept
PARTS, PART = 4, 2048  # of the points that are spread over the grid at once, and how large they are at least
FIT = 1e-4  # of the accuracy: the error of the polynomials in the near sums where it can be had
LINES = 200  # of the grid, at which one thread is quick
SOON = 2**17  # nodes, up to which one thread transforms them sooner than several


@dataclass(frozen=True)
class Charges:
    """Charges on the field: their transform, and the near sums of each radial function, values and forces.

    `total` and `squares` are the sums of all charges, and of their squares.
    """

    values: Any
    transformed: Any
    near: dict[Hashable, tuple[Any | None, Any | None]]
    total: float
    squares: float


class Field:
    """Potentials of all points, far on a grid and near by direct sums.

    Parameters
    ----------
    width : float
        The distance at which the narrowest of the radial functions has fallen to half.
    accuracy : float
        The error of the force, relative to it.
    together : Together
        Those who have the points: the grid is the sum of what all have put on it.
    """

    def __init__(
        self, width: float, accuracy: float, n_jobs: int | None = None, together: Together = ALONE
    ) -> None:
        self.width, self.accuracy, self.n_jobs = float(width), float(accuracy), n_jobs
        self.together = together
        self.cutoff, self.spacing, self.n = 0.0, 0.0, 0
        self.shape: tuple[int, ...] = ()
        self._grids: Any = np.empty((1, 0), np.float32)
        self._radials: dict[Hashable, Radial] = {}
        # By grid, the least recently used first, and by function: the map may waver between two grids.
        self._spectra: dict[tuple[float, float, tuple[int, ...]], dict[Hashable, Any]] = {}
        self._remainders: dict[float, dict[Hashable, Remainder]] = {}

    # The functions ----------------------------------------------------------------------------------------

    def know(self, key: Hashable, radial: Radial) -> None:
        """Give a radial function a name."""
        self._radials.setdefault(key, radial)

    def forget(self, keep: Callable[[Hashable], bool]) -> None:
        """Let go of functions: a kernel that is learned is another one at every step."""
        known: list[dict[Hashable, Any]] = [
            self._radials,
            *self._spectra.values(),
            *self._remainders.values(),
        ]
        for functions in known:
            for key in [key for key in functions if not keep(key)]:
                del functions[key]

    def _far(self, key: Hashable, f: Any) -> Any:
        """The part of a function that is left to the grid, above its value at the far end of the map."""
        radial, edge = self._radials[key], self.cutoff**2
        if edge == 0:
            return radial(f) - self._floor(key)
        coefficients = self._remainder(key, self.cutoff).tail[::-1]
        inside = np.polynomial.polynomial.polyval(np.minimum(f - edge, 0.0), coefficients)
        return np.where(f < edge, inside, radial(np.maximum(f, edge))) - self._floor(key)

    def _floor(self, key: Hashable) -> float:
        """The value at the far end of the grid, which every pair has at least.

        In a map that is small beside the kernel all values are nearly the same; without what they share,
        float32 has digits for what they do not.
        """
        squares = sum((m // 2 * self.spacing) ** 2 for m in self.shape)
        return float(np.asarray(self._radials[key](np.full(1, squares)))[0])

    def _remainder(self, key: Hashable, cutoff: float) -> Remainder:
        """What is left to the near sum of a function."""
        remainders = self._remainders.setdefault(cutoff, {})
        if key not in remainders:
            # Tails are low polynomials in 1/(1 + (d/width)²), bells in the squared distance, more or less.
            edge, tolerance = cutoff**2, FIT * self.accuracy
            variables = ((False, self.width**-2), (False, 1 / edge), (True, 1 / self.width))
            fits = [Remainder.of(self._radials[key], edge, *variable, tolerance) for variable in variables]
            remainders[key] = min(
                fits, key=lambda remainder: (max(remainder.error, tolerance), len(remainder.head))
            )
        return remainders[key]

    def _splits(self, cutoff: float) -> bool:
        """Whether the near part of every function is a polynomial to the accuracy that is asked for."""
        return all(self._remainder(key, cutoff).error <= self.accuracy for key in self._radials)

    def _spectrum(self, key: Hashable) -> Any:
        """The transform of the far part, deconvolved of the splines."""
        spectra = self._spectra[self.cutoff, self.spacing, self.shape]
        if key not in spectra:
            squares: Any = 0.0
            windows: Any = 1.0
            for axis, m in enumerate(self.shape):
                along = tuple(slice(None) if a == axis else None for a in range(len(self.shape)))
                half = np.arange(m // 2 + 1)
                squares = squares + ((half * self.spacing) ** 2)[along]
                # The transform of the spline at the nodes: divided by it, the splines interpolate.
                windows = windows * ((2 + np.cos(2 * np.pi * half / m)) / 3)[along]
            # The function is even along every axis, and so is its transform: one corner says it all.
            corner = scipy.fft.dctn(self._far(key, squares), type=1, workers=self._workers())
            spectrum = (corner / windows**2).astype(np.float32)
            for axis, m in enumerate(self.shape[:-1]):
                spectrum = np.take(spectrum, np.minimum(np.arange(m), m - np.arange(m)), axis=axis)
            spectra[key] = spectrum
        return spectra[key]

    # The points -------------------------------------------------------------------------------------------

    def lay(self, Y: Any) -> None:
        """Lay grid and cells over a map (float32); they depend on it alone, not on maps before it."""
        low, high = self._extent(Y)
        if self.together.alone or not self.n:  # which stays the same
            self.n = self.together.sum(len(Y))
        self.cutoff, self.spacing = self._choose(Y, low, high)
        self.shape = tuple(map(grids.quick_length, grids.nodes_of((high - low) / self.spacing)))
        place = (self.cutoff, self.spacing, self.shape)
        self._spectra[place] = self._spectra.pop(place, {})
        while len(self._spectra) > KEPT:
            del self._spectra[next(iter(self._spectra))]
        filled = tuple(m // 2 for m in self.shape)  # the rest is there so that nothing wraps around
        parts = PARTS if len(Y) >= PART * PARTS else 1
        if self._grids.shape != (parts, *filled):
            self._grids = np.empty((parts, *filled), np.float32)
        self._order: Any = None
        self.Y = Y
        if self.cutoff > 0:
            self._sort(Y, low, high)
        self._origin = (low - self.spacing).astype(np.float32)
        self._per_cell = np.float32(1 / self.spacing)

    def _extent(self, Y: Any) -> tuple[Any, Any]:
        """The corners of what the grid is to cover."""
        low, high = np.empty(Y.shape[1], np.float32), np.empty(Y.shape[1], np.float32)
        loops.extent(Y, low, high)
        if self.together.alone:
            return low, high
        least = self.together.least(np.concatenate([low, -high]))
        return least[: len(low)], -least[len(low) :]

    def _choose(self, Y: Any, low: Any, high: Any) -> tuple[float, float]:
        """The cutoff and the spacing for a map like this."""
        return grids.choose(Y, low, high, self.width, self.accuracy, self._splits, self.n, self.together)

    def _sort(self, Y: Any, low: Any, high: Any) -> None:
        """Sort the points into cells as wide as the cutoff; those of others that are near, too."""
        per_cell = np.float32(1 / self.cutoff)
        shape = ((high - low) * per_cell).astype(np.int64) + 1
        if not self.together.alone:
            with self.together.sending("near"):
                self._strangers = Strangers(Y, low, per_cell, shape, self.together)
                Y = self._strangers.among(Y)
        n = len(Y)
        cells, order = np.empty(n, np.int64), np.empty(n, np.int64)
        self._starts = np.empty(int(np.prod(shape)) + 1, np.int64)
        sorted_ones, self._Yt, self._order = np.empty_like(Y), np.empty(Y.shape[::-1], np.float32), order
        loops.sort_into_cells(Y, low, per_cell, shape, cells, self._starts, order, sorted_ones, self._Yt)
        self._mine = np.zeros(0, bool)
        if self.together.alone:
            self.Y = sorted_ones
        else:  # the own points stay as they are, and the near sums of others are not wanted
            self._near_order, self._mine, self._order = order, order < len(self.Y), None
        # Bands of cells with about the same number of points each.
        cuts = np.searchsorted(self._starts, [lo for lo, _ in chunks(n)[1:]])
        self._bands = list(pairwise([0, *np.unique(cuts).tolist(), len(self._starts) - 1]))
        self._cell_shape = np.array(solid(tuple(shape)))

    # Sums over all pairs i ≠ j ------------------------------------------------------------------------------

    def charge(
        self, masses: Any, keys: list[Hashable], own: Any = None, values: bool = True, forces: bool = True
    ) -> Charges:
        """Put charges on the points, and sum what is near of each function.

        Parameters
        ----------
        masses : array (points,) or None
            Ones, if None.
        keys : list
            The functions whose near sums are wanted.
        own : array (points,), optional
            A charge for each unit of mass. The near force is then that of both ends of a pair on its first,
            Σ_j m_j (own_i + own_j) ∇R, in one sum; the far one is as without.
        values, forces : bool
            What of the near sums is wanted; the rest is None.
        """
        masses, own = (self._sorted(each) for each in (masses, own))
        charges = masses if own is None else own if masses is None else masses * own
        parts, *filled = self._grids.shape
        nodes = self._grids.reshape(parts, *solid(tuple(filled)))
        placed = (self.Y, np.empty(0, np.float32) if charges is None else charges)
        arguments = ((0,) * self.Y.shape[1], *placed, self._origin, self._per_cell, nodes)
        over_chunks(
            loops.deposit, [(part, part + 1) for part in range(parts)], *arguments, n_jobs=self.n_jobs
        )
        for grid in self._grids[1:]:
            self._grids[0] += grid
        near = self._near(masses, own, keys, values, forces) if keys and self.cutoff > 0 else {}
        transformed = self._transformed(self.together.summed(self._grids[0]))
        return Charges(charges, transformed, near, *self._totals(charges))

    def _totals(self, charges: Any) -> tuple[float, float]:
        """The sum of the charges of all points, and that of their squares."""
        if charges is None:
            return (float(self.n),) * 2
        sums = float(np.sum(charges, dtype=np.float64)), float(np.sum(charges.astype(np.float64) ** 2))
        total, squares = self.together.sum(np.array(sums)).tolist()
        return total, squares

    def _sorted(self, values: Any) -> Any:
        """Values of the points in the order of the cells."""
        if values is None:
            return None
        values = np.asarray(values, dtype=np.float32)
        return values if self._order is None else values[self._order]

    def _workers(self) -> int:
        """How many threads a transform is worth."""
        return threads(self.n_jobs) if np.prod(self.shape) > SOON else 1

    def _transformed(self, grid: Any) -> Any:
        """The transform on the whole shape of a grid that is filled in one corner of it.

        Axis by axis: lines that are all zeros are never transformed.
        """
        workers = self._workers()
        out = scipy.fft.rfft(grid, self.shape[-1], axis=-1, workers=workers)
        for axis in reversed(range(grid.ndim - 1)):
            out = scipy.fft.fft(out, self.shape[axis], axis=axis, workers=workers, overwrite_x=True)
        return out

    def _potential(self, spectrum: Any) -> Any:
        """The filled corner of what has this transform, which is overwritten."""
        workers = self._workers()
        for axis in range(spectrum.ndim - 1):
            spectrum = scipy.fft.ifft(spectrum, axis=axis, workers=workers, overwrite_x=True)
            corner = (slice(None),) * axis + (slice(self.shape[axis] // 2),)
            spectrum = spectrum[corner]
        return scipy.fft.irfft(spectrum, self.shape[-1], axis=-1, workers=workers, overwrite_x=True)

    def _near(
        self, masses: Any, own: Any, keys: list[Hashable], values: bool, forces: bool
    ) -> dict[Hashable, tuple[Any, Any]]:
        dimensions, n = self._Yt.shape
        masses, own = self._with_strangers(masses), self._with_strangers(own)
        masses = np.ones(n, np.float32) if masses is None else masses
        remainders = [self._remainder(key, self.cutoff) for key in keys]
        polynomials = [
            _stacked([getattr(remainder, name) for remainder in remainders])
            for name in ("head", "slope", "tail")
        ]
        variables = np.array([remainder.variable for remainder in remainders], np.float32)
        value = np.empty((len(keys), n if values else 0), np.float32)
        gradient = np.empty((len(keys), n if forces else 0, dimensions), np.float32)
        charged = (masses, np.empty(0, np.float32) if own is None else own)
        cells = (self._starts, self._cell_shape, np.float32(self.cutoff**2))
        functions = (variables, *polynomials, values, forces)
        arguments = (self._Yt, self._mine, *charged, *cells, *functions, value, gradient)
        over_chunks(near_loops.near, self._bands, (0,) * dimensions, *arguments, n_jobs=self.n_jobs)
        some = self._mine if len(self._mine) else slice(None)
        for remainder, each in zip(remainders, value if values else (), strict=False):
            each[some] -= np.float32(remainder.at_zero()) * masses[some]  # what a point has of itself
        return {
            key: (self._of_own(value[t]) if values else None, self._of_own(gradient[t]) if forces else None)
            for t, key in enumerate(keys)
        }

    def _with_strangers(self, values: Any) -> Any:
        """Values of the points, and of others that are near, in the order of the cells."""
        if values is None or self.together.alone:
            return values
        with self.together.sending("near"):
            return np.ascontiguousarray(self._strangers.among(values)[self._near_order])

    def _of_own(self, values: Any) -> Any:
        """Near sums of the own points, in their order."""
        if self.together.alone:
            return values
        out = np.empty((len(self.Y), *values.shape[1:]), values.dtype)
        out[self._near_order[self._mine]] = values[self._mine]
        return out

    def at_zero(self, key: Hashable) -> float:
        """What two points in one place have of each other."""
        return float(np.asarray(self._radials[key](np.zeros(1)))[0])

    def _own(self, key: Hashable) -> float:
        """What a point of charge 1 has of itself on the grid."""
        return float(np.asarray(self._far(key, np.zeros(1)))[0])

    def energy(self, charges: Charges, key: Hashable) -> float:
        """Σ_{i≠j} c_i c_j R(f_ij), by Parseval's theorem without a transform back."""
        spectrum = self._spectrum(key)
        columns = spectrum.shape[-1]
        flat = charges.transformed.reshape(-1, columns), spectrum.reshape(-1, columns)
        rank, size = self.together.rank, self.together.size
        flat = tuple(each[len(each) * rank // size : len(each) * (rank + 1) // size] for each in flat)
        parts = over_chunks(loops.energy, len(flat[0]), *flat, n_jobs=self.n_jobs, least=LINES)
        values, squares = charges.values, charges.squares
        total = float(sum(parts)) / float(np.prod(self.shape))
        if self.together.leads:
            total -= squares * self._own(key)
            total += (charges.total**2 - squares) * self._floor(key)
        near = charges.near.get(key, (None, None))[0]
        if near is not None:
            total += float(np.sum(near if values is None else near * values, dtype=np.float64))
        return self.together.sum(total)

    def potential(self, *parts: tuple[float, Charges, Hashable]) -> Any:
        """What lies on the grid of a sum of factors times charges seen through functions."""
        combined = np.empty_like(parts[0][1].transformed)
        rows = combined.reshape(-1, combined.shape[-1])
        for k, (factor, charges, key) in enumerate(parts):
            sources = charges.transformed.reshape(rows.shape), factor, self._spectrum(key).reshape(rows.shape)
            over_chunks(loops.filtered, len(rows), *sources, rows, k > 0, n_jobs=self.n_jobs, least=LINES)
        return self._potential(combined)

    def read(self, *parts: tuple[float, Charges, Hashable]) -> tuple[Any, Any]:
        """Potential Σ_{j≠i} and gradient of a sum of factors times charges seen through functions."""
        potential = self.potential(*parts)
        n, dimensions = self.Y.shape
        value, gradient = np.empty(n, np.float32), np.empty((n, dimensions), np.float32)
        arguments = (
            self._origin,
            self._per_cell,
            potential.reshape(solid(potential.shape)),
            value,
            gradient,
        )
        over_chunks(loops.gather, n, (0,) * dimensions, self.Y, *arguments, n_jobs=self.n_jobs, least=LIGHT)
        for factor, charges, key in parts:
            values, floor, charge = charges.values, self._floor(key), charges.total
            own = np.float32(factor * (self._own(key) + floor))
            value -= own if values is None else own * values
            value += np.float32(factor * charge * floor)
            near, force = charges.near.get(key, (None, None))
            if near is not None:
                value += np.float32(factor) * near
            if force is not None:
                gradient += np.float32(factor) * force
        if self._order is None:
            return value, gradient
        back = np.empty_like(value), np.empty_like(gradient)
        over_chunks(loops.put_back, n, self._order, value, gradient, *back, n_jobs=self.n_jobs, least=LIGHT)
        return back


def _stacked(polynomials: list[Any]) -> Any:
    """Polynomials, highest power first, as rows of equal length."""
    length = max(map(len, polynomials))
    return np.array([np.pad(each, (length - len(each), 0)) for each in polynomials], np.float32)


def solid(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape in three dimensions, with axes of one node in front."""
    return (1,) * (3 - len(shape)) + tuple(shape)
