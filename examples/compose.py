"""A method that has no name: a cost and a kernel written here, checked, then used for a map of irises."""

import numpy as np

import nearfield as nf
from nearfield.io.datasets import iris


class Triangular(nf.costs.Cost):  # the symmetric chi-square: bounded, and as kind to P as to Q
    def value(self, p, q):
        return (p - q) ** 2 / (p + q)

    def derivative(self, p, q):
        return (q - p) * (q + 3 * p) / (p + q) ** 2


class Exponential(nf.kernels.Kernel):  # a tail between the Gaussian and Student's
    def log(self, f):
        return 1 - np.sqrt(1 + f)

    def log_derivative(self, f):
        return -0.5 / np.sqrt(1 + f)


method = nf.Method(Triangular(), Exponential(), normalization="pair")
print(f"{method}: the gradient is within {nf.check(method).error:.0e} of finite differences")
model = nf.Embedder(method, perplexity=20, random_state=0).fit(iris().X)
nf.show.save(nf.show.map(model, labels=iris().labels), "compose.png")
