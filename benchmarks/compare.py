"""nearfield against openTSNE, scikit-learn, umap-learn and PaCMAP, in one run on one machine.

    make bench DATA=path/to/mnist.npz          # writes benchmarks/RESULTS.md; about half an hour
    make bench-quick DATA=path/to/mnist.npz    # below five minutes

Every map is made in a process of its own, from the array of 50 columns to the coordinates; by the libraries
that compile, twice, and the second time counts (the first is told beside it). Peak memory is that of the
process. KL is exact: a direct sum over all pairs on a P from exact neighbours, by `measure.py`, which belongs
to no library.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TSNE = ("nearfield", "openTSNE", "scikit-learn")
COMPILED = ("nearfield", "umap-learn", "PaCMAP")  # whose first call compiles


def make_map(name, X):
    """The map that a library makes with its defaults, on all cores."""
    if name == "nearfield":
        import nearfield as nf

        return nf.TSNE(random_state=0).fit_transform(X)
    if name == "openTSNE":
        from openTSNE import TSNE

        return np.asarray(TSNE(n_jobs=os.cpu_count(), random_state=0).fit(X))
    if name == "scikit-learn":
        from sklearn.manifold import TSNE

        return TSNE(n_jobs=-1, random_state=0).fit_transform(X)
    if name == "umap-learn":
        from umap import UMAP

        return UMAP(n_jobs=-1).fit_transform(X)
    if name == "PaCMAP":
        from pacmap import PaCMAP

        return PaCMAP().fit_transform(X)
    raise ValueError(f"no library is called {name!r}")


def one(name, source, out, calls):
    """In a process of its own: the map, the seconds of each call, and the peak memory."""
    X = np.load(source)
    seconds = []
    for _ in range(calls):
        began = time.perf_counter()
        Y = make_map(name, X)
        seconds.append(time.perf_counter() - began)
    np.save(out, Y)
    print(json.dumps({"seconds": seconds, "memory": peak_memory()}))


def peak_memory():
    """The most memory that this process has held, in GB.

    From Linux itself: `getrusage` would count the memory of the process that started this one.
    """
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1e6


def run(name, X, folder, calls=2):
    """Start `one` and read what it says, with the map."""
    source, out = folder / "X.npy", folder / "Y.npy"
    np.save(source, X)
    command = [sys.executable, __file__, "--one", name, "--source", source, "--out", out, "--calls", calls]
    finished = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if finished.returncode:
        raise RuntimeError(f"{name} failed:\n{finished.stderr[-2000:]}")
    found = json.loads(finished.stdout.strip().splitlines()[-1])
    return {**found, "Y": np.load(out)}


def table(rows, header):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def compare(title, X, names, folder):
    """A table of all libraries on one data set."""
    from measure import joint_p, kl_divergence, rnx_auc

    P = joint_p(X)
    results = {}
    for name in names:
        print(f"{title}: {name} …", flush=True)
        results[name] = run(name, X, folder, calls=2 if name in COMPILED else 1)
        print(f"    {results[name]['seconds']} s", flush=True)
    ours = results["nearfield"]["seconds"][-1]
    rows = []
    for name, found in results.items():
        kl = f"{kl_divergence(P, found['Y']):.4f}" if name in TSNE else "–"
        first = f"{found['seconds'][0]:.1f}" if name in COMPILED else "–"
        rows.append(
            [
                name,
                f"{found['seconds'][-1]:.2f}",
                first,
                f"{found['seconds'][-1] / ours:.1f} ×",
                f"{found['memory']:.2f}",
                kl,
                f"{rnx_auc(X, found['Y']):.4f}",
            ]
        )
    header = ["", "seconds", "first call", "ratio", "peak GB", "exact KL", "R_NX AUC"]
    return f"## {title}\n\n{table(rows, header)}\n"


def main():
    """Parse the command line and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="MNIST as npz (OpenML mnist_784)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", type=Path, default=HERE / "RESULTS.md")
    for hidden in ("--one", "--source", "--out"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=int, default=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.source, options.out, options.calls)
        return

    from measure import mnist
    from sklearn.datasets import load_digits

    peers = ["nearfield", "openTSNE", "scikit-learn", "umap-learn", "PaCMAP"]
    parts = [
        "# Benchmarks\n",
        f"One run on one machine: {os.cpu_count()} cores, Python {platform.python_version()}. Only the ratios"
        " carry over to another. Defaults of every library, all cores; of libraries that compile, the second"
        " of two calls in one process. `make bench DATA=path/to/mnist.npz` writes this page.\n",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        parts.append(compare("Digits, 1797 × 64", load_digits().data.astype(np.float32), peers, folder))
        if options.data:
            X, _ = mnist(options.data)
            if options.quick:
                names = [name for name in peers if name != "scikit-learn"]
                parts.append(compare("MNIST, 10 000 × 50", X[:10_000].copy(), names, folder))
            else:
                names = [name for name in peers if name != "scikit-learn"]
                parts.append(compare("MNIST, 70 000 × 50", X, names, folder))
    text = "\n".join(parts)
    options.results.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
