"""Data of every source, as lines that make X and `given`, what a Run is told about it; spoiled on purpose."""

from __future__ import annotations

from random import Random

SPOILS = (  # of points; i, j, a, b are some of their rows and columns
    "X[{a}:{b}] = X[{i}]",
    "X[:] = X[0]",
    "X[:, {j}] = 7.0",
    "X[:, {j}] = X[:, 0]",
    "X[{i}] *= 1e6",
    "X[{i}] *= 1e160",
    "X[{i}] = 0.0",
    "X[{i}, {j}] = np.nan",
    "X[{i}, {j}] = np.inf",
    "X *= 1e-300",
    "X *= 1e-160",
    "X *= 1e-30",
    "X *= 1e8",
    "X *= 1e30",
    "X *= 1e150",
    "X *= 1e300",
    "X += 1e8",
    "X += 1e16",
    "X = np.round(X)",
    "X = X > 0",
    "X = np.round(10 * X).astype(np.int64)",
    "X = X.astype(np.float32)",
    "X = X.astype(np.float16)",
    "X = X.astype('>f8')",
    "X = X.astype(np.longdouble)",
    "X = X.astype(object)",
    "X = X + 0j",
    "X = np.asfortranarray(X)",
    "X = np.repeat(X, 2, axis=0)[::2]",
    "X = X[:, ::-1]",
    "X = X[:, :0]",
    "X.setflags(write=False)",
)
SPOILED_DISTANCES = (
    "X[0, -1] *= 2",
    "X[0, -1] = -1.0",
    "X[0, 0] = 1.0",
    "X[0, -1] = X[-1, 0] = np.nan",
    "X[0, -1] = X[-1, 0] = np.inf",
    "X[:] = 0.0",
    "X = X[:, :-1]",
    "X *= 1e200",
    "X *= 1e-200",
    "X = np.round(X)",
)
METRICS = (
    *("cosine", "manhattan", "chebyshev", "correlation", "hamming", "canberra", "braycurtis", "sqeuclidean"),
    *("jaccard", "l1", "no such metric", "hellinger", "inner_product"),
)
OF_BITS = ("jaccard", "tanimoto", "hamming")
DISTANCES = "X = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))"
UNCHANGED = {  # that data are afterwards what they were, by the form that they have
    "array": ["np.testing.assert_array_equal(X, before)"],
    "sparse": ["assert X.shape == before.shape and abs(X - before).nnz == 0"],
    "mix": ["np.testing.assert_array_equal(X.X, before.X)"],
    "tuple": [
        "np.testing.assert_array_equal(X[0], before[0])",
        "np.testing.assert_array_equal(X[1], before[1])",
    ],
}


def points(dice: Random, n: int | None = None, spoils: int = 3) -> list[str]:
    """Lines that make X, points and columns."""
    if n is None:
        n = dice.choice((1, 2, 3, 4, 5, 6, 8, 13, 20, 40, 40, 60, 60, 120))
    d = dice.choice((1, 2, 3, 5, 20))
    lines = [f"X = np.random.default_rng({dice.randrange(1000)}).normal(size=({n}, {d}))"]
    if dice.random() < 0.3:  # groups
        lines.append(f"X += 8.0 * (np.arange({n}) % {dice.randint(2, 4)})[:, None]")
    for _ in range(dice.choice((0, 0, 0, 1, 1, spoils))):
        a, b = sorted((dice.randrange(n), dice.randint(1, n)))
        places = {"i": dice.randrange(n), "j": dice.randrange(d), "a": a, "b": b}
        lines.append(dice.choice(SPOILS).format(**places))
    return lines


def source(dice: Random) -> tuple[list[str], list[str], str]:
    """Lines that make X, lines that say what it is, and the form that it has."""
    others = ("metric", "sparse", "distances", "graph", "neighbours", "affinity", "bits", "mix")
    kind = dice.choice(("points",) * 6 + others)
    lines = points(dice)
    if kind == "points":
        return lines, [], "array"
    if kind == "metric":
        given = [f'given["metric"] = {dice.choice(METRICS)!r}']
        if dice.random() < 0.2:
            given = [
                'given["metric"] = "minkowski"',
                f'given["metric_params"] = {{"p": {dice.choice((0.5, 1, 3))}}}',
            ]
        return lines, given, "array"
    if kind == "bits":
        lines.append(f"X = np.tile(X, {dice.choice((1, 7, 40))}) > {dice.choice((0, 1))}")
        form = dice.choice(("X", "X.astype(float)", "X.astype(np.uint8)", "sparse.csr_array(X * 1.0)"))
        given = [f'given["metric"] = {dice.choice(OF_BITS)!r}']
        return [*lines, f"X = {form}"], given, "sparse" if "sparse" in form else "array"
    if kind == "mix":
        views = ["X", "(X, 'cosine')", "np.arange(len(X)) % 3", "np.arange(len(X)).astype(str)", "X[:, 0]"]
        views += ["sparse.csr_array(X)", "(X > 0, 'jaccard')", "X[:-1]"]
        some = ", ".join(dice.choice(views) for _ in range(dice.choice((1, 2, 2, 3))))
        weights = dice.choice(("", "", ", [1, 2]", ", [1, 0]"))
        return [*lines, f"X = nf.mix([{some}]{weights})"], [], "mix"
    if kind == "sparse":
        form = dice.choice(("csr_array", "csc_array", "coo_array", "lil_array", "csr_matrix", "dok_array"))
        return [*lines, f"X = sparse.{form}(X * (X > 0))"], [], "sparse"
    if kind == "affinity":
        lines += [DISTANCES, "X = np.exp(-(X**2))"]
        lines += [line for line in ("np.fill_diagonal(X, 0.0)", "X /= X.sum()") if dice.random() < 0.9]
        given = ['given["metric"] = "affinity"']
        if dice.random() < 0.5:
            return [*lines, "X = sparse.csr_array(X * (X > np.median(X)))"], given, "sparse"
        return lines, given, "array"
    lines, given = [*lines, DISTANCES], ['given["metric"] = "precomputed"']
    if dice.random() < 0.5:
        lines.append(dice.choice(SPOILED_DISTANCES))
    if kind == "distances":
        return lines, given, "array"
    k = dice.choice((1, 2, 5, 15, 90))
    if kind == "graph":
        near = f"np.argsort(np.argsort(X, axis=1), axis=1) <= {k}"
        return [*lines, f"X = sparse.csr_array(np.where({near}, X, 0.0))"], given, "sparse"
    lines += [f"order = np.argsort(X, axis=1)[:, 1 : {k + 1}]"]
    return [*lines, "X = (order, np.take_along_axis(X, order, axis=1))"], given, "tuple"
