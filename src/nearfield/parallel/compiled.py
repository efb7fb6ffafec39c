"""How hot loops are compiled: without Python's lock, for threads to share, and kept for the next process.

Infinities and NaN keep their meaning. What a loop calls is compiled into it: a function that stayed a
function of its own would be shared between the loops of a process, and whose copy of it is taken, hence how
it rounds, depends on which of them were compiled now and which were kept from an earlier process. For the
same reason a loop is to be called with arrays of one kind (dtype, layout) whatever their length.
"""

from typing import Any

import numba

_EVERY: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}
_REORDERED: dict[str, Any] = {**_EVERY, "fastmath": {"reassoc", "contract", "arcp", "nsz"}}

# Sums may be added up in another order than they are written, so that they vectorise.
jit = numba.njit(**_REORDERED)
inlined = numba.njit(**_REORDERED, forceinline=True)  # what other loops call
# Every operation as it is written.
ordered_jit = numba.njit(**_EVERY)
ordered_inlined = numba.njit(**_EVERY, forceinline=True)
