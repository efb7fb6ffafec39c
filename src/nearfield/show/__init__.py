"""Pictures and pages of maps. Matplotlib is imported when the first picture is drawn, not before.

>>> import numpy as np
>>> import nearfield as nf
>>> ax = nf.show.map(np.random.default_rng(0).normal(size=(50, 2)), labels=["left", "right"] * 25)
"""

from nearfield.show.curves import quality
from nearfield.show.films import animation
from nearfield.show.maps import map
from nearfield.show.pages import page
from nearfield.show.pointwise import stress
from nearfield.show.saving import check_picture_path, save
from nearfield.show.shepards import shepard
from nearfield.show.snapshots import Snapshots
from nearfield.show.steering import before_after, history
from nearfield.show.thumbnails import images

__all__ = [
    "Snapshots",
    "animation",
    "before_after",
    "check_picture_path",
    "history",
    "images",
    "map",
    "page",
    "quality",
    "save",
    "shepard",
    "stress",
]
