"""Random compositions, data and parameters: a finite map or a refusal, and data that are left alone."""

from __future__ import annotations

from random import Random

from fuzz.compositions import method
from fuzz.data import UNCHANGED, source

OPTIONS = {
    "perplexity": (
        *(0.5, 1, 1.5, 2, 5, 30, 1000, [2, 5], [2, 2, 8], "multiscale", -3, 0, "np.nan"),
        *("nf.FuzzyNeighbours(5)", "nf.FuzzyNeighbours(3, 2.0, 0.3)", "nf.FuzzyNeighbours(1)"),
    ),
    "n_components": (1, 1, 2, 3, 3, 4, 0, 20),
    "init": (
        *("'random'", "'spectral'", "np.zeros((len(Y0), 2))", "np.ones((len(Y0), 2))", "Y0", "1e-200 * Y0"),
        *(
            "1e200 * Y0",
            "1e6 * Y0",
            "Y0[:, :1]",
            "Y0 * [1, 0]",
            "np.full_like(Y0, np.nan)",
            "Y0.astype('f4')",
        ),
    ),
    "optimizer": ("'momentum'", "'lbfgs'", "'smacof'", "'flow'", "'flow'"),
    "rate_iter": (0, 1, 20, -1),
    "attraction": (0.01, 0.5, 4, 30.0, 1000.0, 0.0, "np.nan", True),
    "supervision": (0.0, 0.5, 0.999, 1.0, -0.1, "np.nan"),
    "labels": (
        *("np.arange(len(Y0)) % 3", "['a', None] * (len(Y0) // 2) + ['b'] * (len(Y0) % 2)", "[1]"),
        *("np.full(len(Y0), -1)", "Y0[:, 0]", "np.where(np.arange(len(Y0)) % 2, np.nan, 1.0)"),
    ),
    "learning_rate": (1e-10, 1.0, 1e3, 1e9, 0.0, -1.0, "np.nan"),
    "exaggeration": (1.0, 4.0, 1e3, 1e-3, 0.0, -1.0),
    "exaggeration_iter": (0, 1, 10, -1),
    "engine": ("'exact'", "'mesh'", "'pairs'", "'moments'", "'mesh'", "'exact'"),
    "accuracy": (1e-1, 1e-3, 1e-5, 0.0),
    "weights": (
        *("np.ones(len(Y0))", "np.linspace(1, 3, len(Y0))", "1 + 1e9 * (np.arange(len(Y0)) == 0)"),
        *("np.full(len(Y0), 0.5)", "np.full(len(Y0), np.nan)", "np.full(len(Y0), 1e300)", "[1, 2]"),
    ),
    "n_jobs": (1, 2, -1, 0),
}


def case(dice: Random) -> list[str]:
    """A run of a few iterations; sometimes again on one thread, which must not change a bit."""
    lines, given, form = source(dice)
    rows = {"tuple": "len(X[0])", "mix": "X.n"}.get(form, "np.shape(X)[0]")
    lines += ["before = copy.deepcopy(X)", f"Y0 = np.random.default_rng(1).normal(size=({rows}, 2))"]
    lines += [*method(dice), "given = {}", *given]
    for name in dice.sample(list(OPTIONS), dice.choice((0, 1, 1, 2, 3))):
        value = dice.choice(OPTIONS[name])
        value = repr(value) if value == "multiscale" else value
        lines.append(f'given["{name}"] = {value}')
    if dice.random() < 0.1 and '"labels"' not in "".join(lines):
        lines += ['given["supervision"] = 0.5', 'given["labels"] = np.arange(len(Y0)) % 2']
    lines.append("run = nf.Run(X, method, random_state=0, **given)")
    steps = dice.choice((1, 3, 10, 25, 70))
    work = dice.choice((f"run.step({steps})",) * 3 + (f"run.converge({steps})",))
    lines += [work, 'assert np.isfinite(run.Y).all(), "the map is not finite"']
    lines += ["cost = run.cost", 'assert np.isfinite(cost), "the cost is not finite"', *UNCHANGED[form]]
    if dice.random() < 0.3:
        lines += ['again = nf.Run(X, method, random_state=0, **(given | {"n_jobs": 1}))']
        lines += [work.replace("run", "again"), "np.testing.assert_array_equal(again.Y, run.Y)"]
    elif dice.random() < 0.2:
        lines += _resumed(dice)
    return lines


def _resumed(dice: Random) -> list[str]:
    """The same in two parts, the second of which goes on from the checkpoint of the first."""
    first, rest = dice.choice((1, 9, 20)), dice.choice((1, 15, 60))
    return [
        'given |= {"checkpoint": tmp_path / "state.nfmap", "checkpoint_every": 1}',
        "parts = [nf.Run(X, method, random_state=0, **given)]",
        f"parts[0].step({first})",
        "parts.append(nf.Run(X, method, random_state=0, **given))",
        f"assert parts[1].iteration == {first}",
        f"for part in parts: part.step({rest})",
        "np.testing.assert_array_equal(parts[1].Y, parts[0].Y)",
    ]
