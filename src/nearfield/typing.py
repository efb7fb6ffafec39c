"""The types of arrays."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
