"""The exact engine against scikit-learn's exact code on the digits: time, and what came of it, in one run.

    python -m benchmarks.studies.exact [--iterations 500] [--repeat 3]

Both do the same number of iterations from the same start; costs are computed by plain NumPy code that
belongs to neither. Times on a shared machine vary: only the ratios of one run count.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import MDS, TSNE

import nearfield as nf


def timed(work, repeat):
    """The result of the last call, and the median of the seconds."""
    seconds = []
    for _ in range(repeat):
        began = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - began)
    return result, statistics.median(seconds)


def kl_divergence(X, Y, perplexity=30.0):
    """KL(P‖Q) of t-SNE, with P by plain bisection."""
    D = squareform(pdist(X, "sqeuclidean"))
    n = len(D)
    P = np.zeros_like(D)
    for i in range(n):
        others = np.delete(D[i], i)
        low, high = 0.0, np.inf
        beta = 1.0 / others.mean()
        for _ in range(100):
            p = np.exp(-beta * (others - others.min()))
            p /= p.sum()
            entropy = -np.sum(p[p > 0] * np.log(p[p > 0]))
            if entropy > np.log(perplexity):
                low, beta = beta, beta * 2 if high == np.inf else (beta + high) / 2
            else:
                high, beta = beta, (beta + low) / 2
        P[i, np.arange(n) != i] = p
    P = (P + P.T) / (2 * n)
    Q = 1 / (1 + squareform(pdist(Y, "sqeuclidean")))
    np.fill_diagonal(Q, 0.0)
    Q /= Q.sum()
    kept = P > 0
    return float(np.sum(P[kept] * np.log(P[kept] / Q[kept])))


def stress(X, Y):
    return float(np.sum((pdist(X) - pdist(Y)) ** 2))


def report(title, unit, ours, theirs):
    (ours_cost, ours_time), (theirs_cost, theirs_time) = ours, theirs
    print(f"{title}")
    print(f"  scikit-learn  {theirs_time:7.2f} s   {unit} {theirs_cost:.6g}")
    print(f"  nearfield     {ours_time:7.2f} s   {unit} {ours_cost:.6g}")
    print(
        f"  ratio         {theirs_time / ours_time:7.1f} ×   {unit} lower by {theirs_cost - ours_cost:.3g}\n"
    )


def main() -> None:
    """Run both comparisons and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X = load_digits().data
    n = options.iterations

    # Neither is to stop before the last iteration; the first call of ours compiles, once and for all.
    names = {
        "max_iter": n,
        "init": "pca",
        "random_state": 0,
        "n_iter_without_progress": n,
        "min_grad_norm": 0,
    }
    nf.TSNE(engine="exact", **(names | {"max_iter": 2})).fit(X[:200])
    ours, seconds = timed(lambda: nf.TSNE(engine="exact", **names).fit(X), options.repeat)
    theirs, other = timed(lambda: TSNE(method="exact", **names).fit(X), 1)
    for model in (ours, theirs):
        assert model.n_iter_ in (n, n - 1), f"stopped at {model.n_iter_}"
    report(
        f"t-SNE, exact, {X.shape[0]} digits, {n} iterations",
        "KL",
        (kl_divergence(X, ours.embedding_), seconds),
        (kl_divergence(X, theirs.embedding_), other),
    )

    Y0 = PCA(2).fit_transform(X)
    settings = {"n_init": 1, "init": "random", "max_iter": 300, "eps": 0.0}  # "random" gives way to Y0
    nf.Embedder("mds", max_iter=2).fit(X[:200])
    ours, seconds = timed(lambda: nf.Embedder("mds", init=Y0, max_iter=300, tol=0.0).fit(X), options.repeat)
    theirs, other = timed(lambda: MDS(2, **settings).fit(X, init=Y0), 1)
    report(
        f"metric MDS, {X.shape[0]} digits, one start (PCA), SMACOF, {ours.n_iter_} iterations"
        f" (scikit-learn {theirs.n_iter_}), tolerance 0",
        "stress",
        (stress(X, ours.embedding_), seconds),
        (stress(X, theirs.embedding_), other),
    )


if __name__ == "__main__":
    main()
