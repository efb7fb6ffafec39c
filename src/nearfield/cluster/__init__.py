"""One map on several machines: all points, on all workers of a Dask cluster."""

from nearfield.cluster.fitting import fit

__all__ = ["fit"]
