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
from typing import Any

import numpy as np
import scipy.fft

from nearfield.engine import meshloops as loops
from nearfield.threads import spread, threads

Radial = Callable[[Any], Any]  # of the squared distance

CUTOFFS = (0.0, 2.0, 3.0, 4.5, 7.0, 10.0)  # in widths of the kernel
SAMPLE = 4096  # points that the crowding of a map is judged by
GROWTH = 1.1  # from one size of the grid to the next
KEPT = 3  # grids whose spectra are kept
ENTRIES = 2048  # of a table of what the polynomial leaves out
TAYLOR = 3  # the degree of the polynomial
FREE = 2**15  # nodes that cost next to nothing
FINEST = 0.15  # of the width: finer spacing gains nothing in float32
# What a node of the grid and a pair of near points cost, in nanoseconds; only their ratio matters.
NODE, PAIR = 12.0, 2.5


@dataclass(frozen=True)
class Charges:
    """Charges on the field: their transform, and the near sums of each radial function."""

    values: Any
    transformed: Any
    near: dict[Hashable, tuple[Any, Any]]


class Field:
    """Potentials of all points, far on a grid and near by direct sums.

    Parameters
    ----------
    width : float
        The distance at which the narrowest of the radial functions has fallen to half.
    accuracy : float
        The error of the force, relative to it.
    """

    def __init__(self, width: float, accuracy: float, n_jobs: int | None = None) -> None:
        self.width, self.accuracy, self.n_jobs = float(width), float(accuracy), n_jobs
        self.cutoff, self.spacing = 0.0, 0.0
        self.shape: tuple[int, ...] = ()
        self._radials: dict[Hashable, Radial] = {}
        # By grid, the least recently used first, and by function: the map may waver between two grids.
        self._spectra: dict[tuple[float, float, tuple[int, ...]], dict[Hashable, Any]] = {}
        self._tables: dict[float, dict[Hashable, tuple[Any, Any]]] = {}

    # The functions ----------------------------------------------------------------------------------------

    def know(self, key: Hashable, radial: Radial) -> None:
        """Give a radial function a name."""
        self._radials.setdefault(key, radial)

    def forget(self, keep: Callable[[Hashable], bool]) -> None:
        """Let go of functions: a kernel that is learned is another one at every step."""
        known: list[dict[Hashable, Any]] = [self._radials, *self._spectra.values(), *self._tables.values()]
        for functions in known:
            for key in [key for key in functions if not keep(key)]:
                del functions[key]

    def _far(self, key: Hashable, f: Any) -> Any:
        """The part of a function that is left to the grid."""
        radial, edge = self._radials[key], self.cutoff**2
        if edge == 0:
            return radial(f)
        coefficients = taylor(radial, edge)
        inside = np.polynomial.polynomial.polyval(np.minimum(f - edge, 0.0), coefficients)
        return np.where(f < edge, inside, radial(np.maximum(f, edge)))

    def _table(self, key: Hashable) -> tuple[Any, Any]:
        """What is left to the near sum, and its derivative in f, at equal steps up to the cutoff."""
        tables = self._tables.setdefault(self.cutoff, {})
        if key not in tables:
            f = np.linspace(0.0, self.cutoff**2, ENTRIES)
            rest = np.asarray(self._radials[key](f) - self._far(key, f), dtype=np.float64)
            slope = np.gradient(rest, f, edge_order=2)
            rest[-1] = slope[-1] = 0.0
            pad = (0, 1)
            tables[key] = np.pad(rest, pad).astype(np.float32), np.pad(slope, pad).astype(np.float32)
        return tables[key]

    def _spectrum(self, key: Hashable) -> Any:
        """The transform of the far part, deconvolved of the splines."""
        spectra = self._spectra[self.cutoff, self.spacing, self.shape]
        if key not in spectra:
            squares, windows = 0.0, 1.0
            for axis, m in enumerate(self.shape):
                along = tuple(slice(None) if a == axis else None for a in range(len(self.shape)))
                squares = squares + ((scipy.fft.fftfreq(m, 1 / m) * self.spacing) ** 2)[along]
                half = axis == len(self.shape) - 1
                frequency = scipy.fft.rfftfreq(m) if half else scipy.fft.fftfreq(m)
                # The transform of the spline at the nodes: divided by it, the splines interpolate.
                windows = windows * ((2 + np.cos(2 * np.pi * frequency)) / 3)[along]
            transformed = scipy.fft.rfftn(self._far(key, squares), workers=threads(self.n_jobs)).real
            spectrum = (transformed / windows**2).astype(np.float32)
            spectra[key] = spectrum.reshape(self._padded(spectrum.shape))
        return spectra[key]

    @staticmethod
    def _padded(shape: tuple[int, ...]) -> tuple[int, ...]:
        return (1,) * (3 - len(shape)) + tuple(shape)

    # The points -------------------------------------------------------------------------------------------

    def lay(self, Y: Any) -> None:
        """Lay grid and cells over a map (float32); they depend on it alone, not on maps before it."""
        # Column by column: reductions along the first axis of a long, narrow array are ten times slower.
        low, high = (np.array([extreme(column) for column in Y.T]) for extreme in (np.min, np.max))
        self.cutoff, self.spacing = self._choose(Y, low, high)
        self.shape = tuple(map(_size, self._nodes((high - low) / self.spacing)))
        place = (self.cutoff, self.spacing, self.shape)
        self._spectra[place] = self._spectra.pop(place, {})
        while len(self._spectra) > KEPT:
            del self._spectra[next(iter(self._spectra))]
        padded = self._padded(self.shape)
        if getattr(self, "_grid", np.empty(0)).shape != padded:
            self._grid = np.zeros(padded, np.float32)
        self._order: Any = None
        if self.cutoff > 0:
            self._sort(Y, low, high)
        else:
            self.Y = Y
        self._origin = (low - self.spacing).astype(np.float32)
        self._per_cell = np.float32(1 / self.spacing)

    @staticmethod
    def _nodes(cells: Any) -> list[int]:
        """How many nodes each axis needs: twice the span, with room for the splines."""
        return [2 * (int(c) + loops.NODES + 2) for c in cells]

    def _choose(self, Y: Any, low: Any, high: Any) -> tuple[float, float]:
        """The cutoff, and with it the spacing, that costs the least for a map like this."""
        sample = Y[:: -(-len(Y) // SAMPLE)] - low
        crowded = near_pairs(sample, 3 * self.width) * (len(Y) / len(sample)) ** 2
        best = (np.inf, 0.0, 0.0)
        for widths in CUTOFFS:
            cutoff, spacing = widths * self.width, self._spacing(widths)
            nodes = np.prod(np.array(self._nodes((high - low) / spacing), dtype=np.float64))
            pairs = crowded * (widths / 3) ** Y.shape[1]
            best = min(best, (NODE * float(nodes) + PAIR * pairs, cutoff, spacing))
        _, cutoff, spacing = best
        # Where nodes cost nothing, more of them: the force within one cell needs the curvature to be right.
        while (
            cutoff == 0
            and spacing > FINEST * self.width
            and np.prod(self._nodes((high - low) * 1.5 / spacing)) < FREE
        ):
            spacing /= 1.5
        return cutoff, spacing

    def _spacing(self, widths: float) -> float:
        """The spacing that gives the accuracy with a cutoff of so many widths.

        Measured on Student's and Gaussian kernels: cubic splines err by at most 0.29 (h/width)³ of the
        force without a cutoff, and by some 0.04/c (2.5 h/c)³ with one at c widths.
        """
        if widths == 0:
            return self.width * (self.accuracy / 0.29) ** (1 / 3)
        return self.width * widths * min(0.5, (self.accuracy * widths / 0.04) ** (1 / 3) / 2.5)

    def _sort(self, Y: Any, low: Any, high: Any) -> None:
        """Sort the points into cells as wide as the cutoff."""
        n = len(Y)
        per_cell = np.float32(1 / self.cutoff)
        shape = ((high - low) * per_cell).astype(np.int64) + 1
        cells, order = np.empty(n, np.int64), np.empty(n, np.int64)
        self._starts = np.empty(int(np.prod(shape)) + 1, np.int64)
        loops.sort_into_cells(Y, low, per_cell, shape, cells, self._starts, order)
        self._order, self._cells = order, cells[order]
        self._cell_shape = np.array(self._padded(tuple(shape)))
        self.Y = Y[order]
        self._Yt = np.ascontiguousarray(self.Y.T)

    # Sums over all pairs i ≠ j ------------------------------------------------------------------------------

    def charge(self, values: Any, keys: list[Hashable]) -> Charges:
        """Put charges on the points (None: ones), and sum what is near of each function."""
        if values is not None:
            values = np.asarray(values, dtype=np.float32)
            values = values if self._order is None else values[self._order]
        self._grid[:] = 0
        ones = np.empty(0, np.float32)
        loops.deposit(self.Y, ones if values is None else values, self._origin, self._per_cell, self._grid)
        transformed = scipy.fft.rfftn(self._grid, workers=threads(self.n_jobs))
        return Charges(values, transformed, self._near(values, keys) if self.cutoff > 0 else {})

    def _near(self, values: Any, keys: list[Hashable]) -> dict[Hashable, tuple[Any, Any]]:
        n, dimensions = self.Y.shape
        values = np.ones(n, np.float32) if values is None else values
        tables, slopes = (np.array(part) for part in zip(*map(self._table, keys), strict=True))
        value, gradient = (
            np.zeros((len(keys), n), np.float32),
            np.zeros((len(keys), n, dimensions), np.float32),
        )
        per_unit = np.float32((ENTRIES - 1) / self.cutoff**2)
        cells = (self._cells, self._starts, self._cell_shape)
        spread(
            loops.near, n, self._Yt, values, *cells, per_unit, tables, slopes, value, gradient,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        return {key: (value[t] - tables[t, 0] * values, gradient[t]) for t, key in enumerate(keys)}

    def _own(self, key: Hashable) -> float:
        """What a point of charge 1 has of itself on the grid."""
        return float(np.asarray(self._far(key, np.zeros(1)))[0])

    def energy(self, charges: Charges, key: Hashable) -> float:
        """Σ_{i≠j} c_i c_j R(f_ij), by Parseval's theorem without a transform back."""
        spectrum = self._spectrum(key)
        rows = spectrum.shape[0] if spectrum.shape[0] > 1 else spectrum.shape[1]
        view = (rows, 1, spectrum.shape[2]) if spectrum.shape[0] == 1 else spectrum.shape
        even = self.shape[-1] % 2 == 0
        parts = spread(
            loops.energy, rows, charges.transformed.reshape(view), spectrum.reshape(view), even,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        values = charges.values
        squares = len(self.Y) if values is None else float(np.sum(values.astype(np.float64) ** 2))
        total = float(sum(parts)) / float(np.prod(self.shape)) - squares * self._own(key)
        if key in charges.near:
            near = charges.near[key][0]
            total += float(np.sum(near if values is None else near * values, dtype=np.float64))
        return total

    def read(self, *parts: tuple[float, Charges, Hashable]) -> tuple[Any, Any]:
        """Potential Σ_{j≠i} and gradient of a sum of factors times charges seen through functions."""
        combined: Any = None
        for factor, charges, key in parts:
            term = charges.transformed * (np.float32(factor) * self._spectrum(key))
            combined = term if combined is None else combined + term
        potential = scipy.fft.irfftn(
            combined, s=self._grid.shape, workers=threads(self.n_jobs), overwrite_x=True
        )
        n, dimensions = self.Y.shape
        value, gradient = np.empty(n, np.float32), np.empty((n, dimensions), np.float32)
        arguments = (self.Y, self._origin, self._per_cell, potential, value, gradient)
        spread(loops.gather, n, *arguments, n_jobs=self.n_jobs)
        for factor, charges, key in parts:
            own = np.float32(factor * self._own(key))
            value -= own if charges.values is None else own * charges.values
            if key in charges.near:
                value += np.float32(factor) * charges.near[key][0]
                gradient += np.float32(factor) * charges.near[key][1]
        if self._order is None:
            return value, gradient
        back, turned = np.empty_like(value), np.empty_like(gradient)
        back[self._order], turned[self._order] = value, gradient
        return back, turned


def taylor(radial: Radial, at: float) -> Any:
    """The coefficients of the Taylor polynomial of a function around a point, by a fit nearby."""
    reach = 0.25 * at
    nodes = np.cos(np.pi * (np.arange(13) + 0.5) / 13)
    series = np.polynomial.chebyshev.chebfit(nodes, radial(at + reach * nodes), 12)
    powers = np.polynomial.chebyshev.cheb2poly(series)
    return powers[: TAYLOR + 1] / reach ** np.arange(TAYLOR + 1)


def near_pairs(points: Any, cutoff: float) -> float:
    """How many ordered pairs are in neighbouring cells of this size, judged by the crowd in each cell."""
    key = np.zeros(len(points), np.int64)
    for column in points.T:
        key = key * 2**20 + (column / cutoff).astype(np.int64)
    _, crowd = np.unique(key, return_counts=True)
    return float(3.0 ** points.shape[1] * np.sum(crowd * (crowd - 1.0)))


def _size(need: int) -> int:
    """A length that FFTs are quick at, one of few, so that a growing map changes its grid now and then."""
    step = int(np.ceil(np.log(need) / np.log(GROWTH)))
    return int(scipy.fft.next_fast_len(int(np.ceil(GROWTH**step)), real=True))
