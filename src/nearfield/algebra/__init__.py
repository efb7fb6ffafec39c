"""Costs, kernels, transforms and the methods composed of them; knows nothing of data or engines."""
