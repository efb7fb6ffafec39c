"""Can the stop be trusted? What 500 iterations more do to maps that have converged.

    python -m benchmarks.studies.stop [--data mnist.npz] [--method tsne]

The rule was calibrated on the sets of `calibration`; those of `reported` it had not seen.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import nearfield as nf
from benchmarks.shared.data import counts, digits, mnist, texts

MORE = 500  # iterations after the stop
JUDGED = 1000  # rows of which the AUC of R_NX is taken


def mixture(n: int, columns: int, groups: int, seed: int) -> Any:
    """Stretched groups of unequal sizes."""
    random = np.random.default_rng(seed)
    parts = []
    for size in random.multinomial(n, random.dirichlet(np.full(groups, 2.0))):
        axes = random.normal(size=(columns, columns)) * np.exp(-np.arange(columns) / 4)
        parts.append(random.normal(size=(size, columns)) @ axes.T + 4 * random.normal(size=columns))
    return np.concatenate(parts).astype(np.float32)


def branches(n: int, columns: int, seed: int) -> Any:
    """Nine curved branches, each from the end or the middle of another."""
    random = np.random.default_rng(seed)
    origins, parts = [np.zeros(columns)], []
    for _ in range(9):
        origin, way = origins[random.integers(len(origins))], random.normal(size=columns)
        bend = 0.3 * random.normal(size=columns)
        t = np.sort(random.uniform(0, 10, n // 9))[:, None]
        line = origin + t * way / np.linalg.norm(way) + np.sin(t) * bend
        parts.append(line + 0.25 * random.normal(size=line.shape))
        origins += [line[-1], line[len(line) // 2]]
    return np.concatenate(parts).astype(np.float32)


def network(n: int, columns: int, inputs: int, seed: int) -> Any:
    """What a random network makes of two clouds of few inputs."""
    random = np.random.default_rng(seed)
    z = random.normal(size=(n, inputs))
    z[: n // 2] += 2 * random.normal(size=inputs)
    hidden = np.tanh(z @ random.normal(size=(inputs, 64)) + random.normal(size=64))
    out = hidden @ random.normal(size=(64, columns)) / 8
    return (out + 0.05 * random.normal(size=out.shape)).astype(np.float32)


def sphere(n: int, columns: int, seed: int) -> Any:
    """Directions without any other order."""
    X = np.random.default_rng(seed).normal(size=(n, columns))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


def calibration() -> dict[str, Any]:
    """The sets that the rule was made on."""
    return {
        "mixture 120": mixture(120, 8, 4, 21),
        "network 400": network(400, 20, 4, 22),
        "branches 900": branches(900, 10, 23),
        "sphere 1500": sphere(1500, 5, 4),
        "mixture 3000": mixture(3000, 30, 12, 1),
        "noise 4000": np.random.default_rng(5).uniform(size=(4000, 12)).astype(np.float32),
        "branches 6000": branches(6000, 20, 2),
        "network 10 000": network(10_000, 80, 6, 3),
        "mixture 20 000": mixture(20_000, 40, 40, 7),
        "network 30 000": network(30_000, 60, 8, 8),
    }


def reported(data: str | None) -> dict[str, Any]:
    """Sets that it had not seen."""
    found = {"digits": digits(1797)[0], "counts 8000": counts(8000), "texts 8000": texts(8000)}
    if data is not None:
        X = mnist(data)[0]
        found |= {"MNIST 10 000": X[:10_000], "MNIST 70 000": X}
    return found


def row(name: str, X: Any, method: str) -> str:
    """The stop of one map, and what comes after it."""
    run = nf.Run(X, method, random_state=0)
    converged = run.converge()
    stop, cost, judged = run.iteration, run.cost, nf.quality(X, run.Y, sample=JUDGED).auc
    run.step(MORE)
    lower = 100 * (cost - run.cost) / abs(cost)
    more = nf.quality(X, run.Y, sample=JUDGED).auc - judged
    told = "converged" if converged else "ceiling"
    return f"{name:16s} {stop:5d} {told:10s} cost {cost:10.4f} - {lower:.2f} %   AUC {judged:.4f} {more:+.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", help="MNIST as an npz")
    parser.add_argument("--method", default="tsne")
    parser.add_argument("--reported", action="store_true", help="leave out the sets of the calibration")
    given = parser.parse_args()
    for title, sets in (("calibrated on", {} if given.reported else calibration()), ("reported", None)):
        print(title)
        for name, X in (reported(given.data) if sets is None else sets).items():
            print("  ", row(name, X, given.method), flush=True)


if __name__ == "__main__":
    main()
