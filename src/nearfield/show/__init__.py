"""Pictures of maps. Matplotlib is imported when the first picture is drawn, not before.

>>> import numpy as np
>>> import nearfield as nf
>>> ax = nf.show.map(np.random.default_rng(0).normal(size=(50, 2)), labels=["left", "right"] * 25)
"""

from nearfield.show.curves import quality
from nearfield.show.maps import map
from nearfield.show.saving import check_picture_path, save
from nearfield.show.steering import before_after, history

__all__ = ["before_after", "check_picture_path", "history", "map", "quality", "save"]
