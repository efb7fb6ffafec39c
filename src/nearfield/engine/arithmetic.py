"""Logarithms and exponentials that vectorise, which calls of the system's do not; compiled by Numba.

In float32 for the mesh, in float64 for the exact engine.
"""

import numpy as np

from nearfield.parallel.compiled import inlined

f32 = np.float32

# log(1 + t)/t for √½ ≤ 1 + t ≤ √2, highest power first.
_t = 0.06 + 0.355 * np.cos(np.pi * (np.arange(40) + 0.5) / 40)
LOG = np.polynomial.Polynomial.fit(_t, np.log1p(_t) / _t, 8).convert().coef[::-1].astype(np.float32)
LOG_TWO = np.float32(np.log(2))
# 2^t for -½ ≤ t ≤ ½, highest power first.
_t = 0.5 * np.cos(np.pi * (np.arange(40) + 0.5) / 40)
EXP = np.polynomial.Polynomial.fit(_t, np.exp2(_t), 6).convert().coef[::-1].astype(np.float32)
PER_LOG_TWO = np.float32(1 / np.log(2))
LEAST_EXPONENT = np.float32(-87)  # whose exponential is still a float32
ROOT_HALF = np.int32(np.float32(np.sqrt(0.5)).view(np.int32))


@inlined
def log(x):
    """The logarithm of a number, positive and finite, to float32's precision.

    The exponent is read from the bits and the rest, between √½ and √2, goes through a polynomial: unlike a
    call of the system's logarithm this vectorises.
    """
    bits = np.float32(x).view(np.int32)
    exponent = (bits - ROOT_HALF) >> 23
    t = np.int32(bits - (exponent << 23)).view(np.float32) - f32(1)
    series = f32(LOG[0])
    for k in range(1, LOG.shape[0]):
        series = series * t + f32(LOG[k])
    return series * t + f32(exponent) * LOG_TWO


@inlined
def exp(x):
    """e^x to float32's precision; below -87 next to nothing.

    2^k, k a whole number, is made of its bits, and the rest goes through a polynomial: this vectorises too.
    """
    power = max(x, LEAST_EXPONENT) * PER_LOG_TWO
    whole = np.int32(np.floor(power + f32(0.5)))
    t = power - f32(whole)
    series = f32(EXP[0])
    for k in range(1, EXP.shape[0]):
        series = series * t + f32(EXP[k])
    return series * np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32)


@inlined
def logarithm(x, m):
    """The first m numbers of x replaced by their logarithms."""
    for e in range(m):
        x[e] = log(x[e])


@inlined
def exponential(x, m):
    """The first m numbers of x replaced by e^x."""
    for e in range(m):
        x[e] = exp(x[e])


# 2^t for -½ ≤ t ≤ ½, highest power first.
_t = 0.5 * np.cos(np.pi * (np.arange(60) + 0.5) / 60)
EXP64 = np.polynomial.Polynomial.fit(_t, np.exp2(_t), 12).convert().coef[::-1].copy()
PER_LOG_TWO64, LOG_TWO64 = 1 / np.log(2), np.log(2)
ROOT_HALF64 = np.int64(np.float64(np.sqrt(0.5)).view(np.int64))
LOWEST = -700.0  # whose exponential is still a float64


@inlined
def exponential64(x):
    """Numbers up to 0 replaced by e^x, to some 1e-15 of it; unlike calls of the system's, it vectorises."""
    for j in range(len(x)):
        power = max(x[j], LOWEST) * PER_LOG_TWO64
        whole = np.floor(power + 0.5)
        t = power - whole
        series = EXP64[0]
        for k in range(1, EXP64.shape[0]):
            series = series * t + EXP64[k]
        x[j] = series * np.int64((np.int64(whole) + 1023) << 52).view(np.float64)


@inlined
def logarithm64(x):
    """Positive numbers replaced by their logarithms, to some 1e-15; see `exponential64`.

    With the rest of the exponent between √½ and √2, log m is 2 artanh((m-1)/(m+1)), a short series.
    """
    for j in range(len(x)):
        bits = np.float64(x[j]).view(np.int64)
        exponent = (bits - ROOT_HALF64) >> 52
        m = np.int64(bits - (exponent << 52)).view(np.float64)
        t = (m - 1.0) / (m + 1.0)
        square, series = t * t, 0.0
        for k in range(21, 0, -2):
            series = series * square + 1.0 / k
        x[j] = exponent * LOG_TWO64 + 2.0 * t * series
