"""Maps laid on one another: turned, mirrored and scaled as a whole, so that only what differs differs."""

from __future__ import annotations

import numpy as np

from nearfield.typing import Array


def align(Y: Array, reference: Array) -> Array:
    """Turn, mirror, shift and scale a map so that it lies on another one as well as it can.

    All distances of the map change by one common factor: nothing is sheared. The factor makes both maps
    equally wide, their points the same root mean square from the centre. That of least squares would shrink
    a map for agreeing little with the other one.

    Parameters
    ----------
    Y, reference : array (points, dimensions)
        The map, and the one that it is laid on.

    Returns
    -------
    array (points, dimensions)

    Examples
    --------
    >>> import numpy as np
    >>> reference = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> turned = reference @ np.array([[0.0, 1.0], [1.0, 0.0]]) * 5 + 3
    >>> align(turned, reference).round(12) + 0.0
    array([[0., 0.],
           [2., 0.],
           [0., 1.]])
    """
    if Y.shape != reference.shape:
        raise ValueError(f"maps of the same shape can be aligned, and not {Y.shape} with {reference.shape}")
    centre = reference.mean(axis=0)
    centred, goal = Y - Y.mean(axis=0), reference - centre
    widths = [float(np.linalg.norm(each)) for each in (centred, goal)]
    if min(widths) == 0:
        return centred + centre  # all points of one of them coincide: there is nothing to turn
    centred, goal = centred / widths[0], goal / widths[1]
    left, _, right = np.linalg.svd(centred.T @ goal)
    aligned: Array = centred @ (left @ right) * widths[1] + centre
    return aligned
