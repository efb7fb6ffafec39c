"""How hot loops are compiled: without Python's lock, for threads to share, and kept for the next process.

Infinities and NaN keep their meaning.
"""

import numba

# Sums may be added up in another order than they are written, so that they vectorise.
jit = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})
# Every operation as it is written.
ordered_jit = numba.njit(nogil=True, cache=True, error_model="numpy")
