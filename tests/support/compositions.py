"""Every composition that is defined: the cross product that the tests of the engines walk over."""

import numpy as np

import nearfield as nf
from nearfield import costs, kernels, transforms

COSTS = [
    costs.KL(),
    costs.ReverseKL(),
    costs.NeRV(0.3),
    costs.JensenShannon(0.4),
    costs.JensenShannon(0.0),
    costs.JensenShannon(1.0),
    costs.Square(),
    costs.ChiSquare(),
    costs.Hellinger(),
    costs.AlphaBeta(0.7, 0.5),
    costs.AlphaBeta(1.0, 0.0),
    costs.AlphaBeta(0.0, 1.0),
    costs.AlphaBeta(1.0, -1.0),
    costs.AlphaBeta(0.0, 0.0),
    costs.AlphaBeta(-0.5, 1.2),
    costs.GeneralizedKL(),
    costs.GeneralizedReverseKL(),
    costs.GeneralizedNeRV(0.3),
    costs.ElasticEmbedding(0.8),
    costs.LargeVis(0.5),
    costs.CrossEntropy(),
    costs.Stress(),
    costs.SStress(),
    costs.Sammon(),
]
COSTS += [kind() for kind in costs.all_costs() if kind not in map(type, COSTS)]  # whatever else there is
KERNELS = [
    None,
    kernels.Gaussian(0.7),
    kernels.Student(),
    kernels.Student(3.0),
    kernels.HeavyTailed(0.5, 1.3),
    kernels.HeavyTailed(0.4, 0.8, learned=("alpha", "beta")),
    kernels.Inhomogeneous(1.5, learned=("nu",)),
    kernels.ImportanceWeighted(kernels.Student()),
    kernels.UMAP(1.2, 0.9),
]
KERNELS += [kind() for kind in kernels.all_kernels() if kind not in map(type, KERNELS)]
TRANSFORMS = [None, transforms.Identity(), transforms.Power(1.5)]


def defined():
    """Every Method that its parts admit; the plain transform for all of them, the others for some."""
    found = []
    for cost in COSTS:
        for kernel in KERNELS:
            for normalization in ("pair", "point", "joint", "none"):
                try:
                    found.append(nf.Method(cost, kernel, normalization))
                except ValueError:
                    continue
    for transform in TRANSFORMS[1:]:
        for method in [*map(nf.method, ("tsne", "jse", "gkl")), nf.Method(costs.Stress())]:
            found.append(nf.Method(method.cost, method.kernel, method.normalization, transform))
    for normalization, cost in (("pair", costs.KL()), ("point", costs.JensenShannon(0.4))):
        for kernel in (kernels.Gaussian(), kernels.Student()):
            found.append(nf.Method(cost, kernel, normalization, scales=(0.5, 2.0, 7.0)))
    found.append(
        nf.Method(costs.KL(), kernels.HeavyTailed(0.4, learned=("alpha",)), "pair", scales=(0.5, 2.0))
    )
    return found


def name(method):
    return str(method).replace(" ", "")


def target_for(method, n, random):
    """A random target of the kind that the method takes, with some pairs that are no neighbours at all."""
    if method.target_kind == "distances":
        X = random.normal(size=(n, 4))
        return np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    P = random.uniform(0.1, 1.0, size=(n, n))
    P[random.uniform(size=(n, n)) < 0.2] = 0.0
    np.fill_diagonal(P, 0.0)
    if method.target_kind == "row":
        return P / P.sum(axis=1, keepdims=True)
    P = (P + P.T) / 2
    return P if method.target_kind == "weights" else P / P.sum()


def holds_the_torn(method):
    """Whether the kernel is lost far out, but the pull G q on neighbours stays, as that of KL does."""
    if method.kernel is None or not method.kernel.facts.underflows or len(method.precisions) > 1:
        return False
    p, q = np.full(1, 0.1), np.full(1, 1e-60)
    return bool(0.01 < -(method.cost.derivative(p, q) * q)[0] < 1)
