"""Images of rows as bytes, for pages: grey values from the lowest to the highest, colours as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.show.thumbnails import check_picture


def as_bytes(images: Any, n: int) -> np.ndarray:
    """Return images, all of one size, as bytes (N, height, width, 1, 3 or 4).

    Parameters
    ----------
    images : array (N, height, width), (N, height, width, 3 or 4), or a sequence of N such pictures
        Grey values of any range, or colours from 0 to 1, or to 255 if whole numbers.
    n : int
        How many there must be.

    Examples
    --------
    >>> import numpy as np
    >>> from nearfield.show.pixels import as_bytes
    >>> as_bytes(np.array([[[0.0, 16.0]], [[4.0, 8.0]]]), 2).ravel().tolist()
    [0, 255, 64, 128]
    """
    if len(images) != n:
        raise ValueError(f"the map has {n} points but there are {len(images)} images")
    check_picture(images[0])
    if len({np.shape(each) for each in images}) > 1:
        raise ValueError("the images differ in size: bring them to one size first")
    pixels = np.asarray(images)
    if pixels.ndim == 4:
        whole = pixels.dtype.kind in "biu"
        return np.clip(np.round(pixels if whole else 255.0 * pixels), 0, 255).astype(np.uint8)
    low, high = float(np.min(pixels)), float(np.max(pixels))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("the images have pixels that are not finite: fill them in first")
    scaled = (pixels - low) * (255.0 / (high - low)) if high > low else np.zeros(pixels.shape)
    return np.round(scaled).astype(np.uint8)[..., None]
