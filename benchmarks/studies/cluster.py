"""One map on several workers: what travels, what an iteration takes, and how good the map is.

    python -m benchmarks.studies.cluster traffic --data path/to/mnist.npz --points 300000
    python -m benchmarks.studies.cluster whole --data path/to/mnist.npz --points 300000
    python -m benchmarks.studies.cluster paper --data path/to/mnist.npz --points 20000

`traffic` counts the bytes that each worker sends in an iteration, and the share of all positions that its
halo is, with rows dealt out by where they lie and at random. `whole` makes the map of two workers of one
thread each, and of one process with two threads: seconds an iteration, cost, and R_NX AUC of a sample.
`paper` measures the constants of the cost model in docs/cluster.md. Clusters are of processes of this
machine, which share its cores: of more workers than those, the bytes are right and the seconds are not.

The data are MNIST's 50 components, drawn again with noise as often as it takes; without `--data`, blobs with
structure at three levels.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import nearfield as nf
from benchmarks.shared.data import as_many, mnist
from nearfield.cluster.asking import Asked
from nearfield.cluster.data import Data
from nearfield.cluster.fitting import made
from nearfield.defaults import ACCURACY
from nearfield.engine.mesh.accepts import EDGE, NEIGHBOUR, NODE
from nearfield.engine.mesh.grids import MOST, WIDER, spacing_of

JUDGED = 20_000  # points on which quality is measured
REPEATS = 5  # of what is timed, of which the least counts
COLUMNS, NEIGHBOURS_OF_TSNE = 50, 90  # of the rows that are told of on paper
OF_STATE = 400  # bytes: positions, velocities, gains, rates and gradients of a point, and copies on the way
AFTER = 60  # iterations after which the map has unfolded, and traffic is counted


def data(path: str | None, n: int) -> Any:
    """So many rows of 50 columns: of MNIST, or of blobs if it is not there."""
    if path is not None:
        return as_many(mnist(path)[0], n)
    random, centres = np.random.default_rng(0), np.zeros((1, 50))
    for groups, width in ((8, 8.0), (6, 3.0), (10, 1.2)):
        centres = (centres[:, None] + width * random.normal(size=(len(centres), groups, 50))).reshape(-1, 50)
    X = random.standard_normal((n, 50), dtype=np.float32)
    X += centres[random.integers(len(centres), size=n)]
    return X


@contextmanager
def workers(count: int) -> Iterator[Any]:
    """A client of so many processes of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1", scheduler_port=0
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def short(client: Any, X: Any, iterations: int, by_place: bool = True) -> Any:
    """A run of a few iterations, and what its workers tell."""
    model = nf.Embedder(max_iter=iterations, random_state=0)
    return made(client, Asked.of("tsne", Data(X), model), model, None, by_place=by_place)


def told(found: Any) -> dict[str, Any]:
    """What a worker sends in an iteration on average, and its halo as a share of all positions."""
    own = [each.own for each in found.done]
    sent = {name: np.mean([each["sent"].get(name, 0.0) for each in own]) / 1e3 for name in own[0]["sent"]}
    return {
        "kB an iteration": {name: round(float(value), 1) for name, value in sent.items()},
        "halo": round(max(each["halo"] for each in own) / sum(each["points"] for each in own), 4),
        "fewest and most points": [min(each["points"] for each in own), max(each["points"] for each in own)],
        "edges a point": round(sum(each["edges"] for each in own) / sum(each["points"] for each in own), 1),
        "nodes": own[0]["nodes"],
        "MB sent beforehand": round(float(np.mean([each["rows"] for each in own])) / 1e6, 1),
        "recall": round(found.told["recall"], 4),
        "seconds an iteration": round(found.told["seconds"], 4),
    }


def traffic(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """What travels among so many workers, by place and at random."""
    X, rows = data(arguments.data, arguments.points), []
    for count in arguments.workers:
        for by_place in (True, False):
            with workers(count) as client:
                found = short(client, X, arguments.iterations, by_place)
            rows.append({"workers": count, "by place": by_place, **told(found)})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def whole(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The map of two workers beside that of one process."""
    X, rows = data(arguments.data, arguments.points), []
    some = np.random.default_rng(1).permutation(len(X))[:JUDGED]

    def judged(name: str, model: Any, seconds: float) -> None:
        quality = nf.quality(X[some], model.embedding_[some])
        rows.append(
            {
                "made by": name,
                "iterations": model.n_iter_,
                "seconds an iteration": round(seconds, 4),
                "KL": round(model.cost_, 5),
                "R_NX AUC": round(quality.auc, 4),
            }
        )
        print(json.dumps(rows[-1]), flush=True)

    run = nf.Run(X, random_state=0, n_jobs=2)
    start = time.perf_counter()
    run.step(arguments.iterations)
    seconds = (time.perf_counter() - start) / arguments.iterations
    model = nf.Embedder(random_state=0, n_jobs=2).fit(X)
    judged("one process of two threads", model, seconds)
    with workers(2) as client:
        found = short(client, X, arguments.iterations)
        model = nf.cluster.fit(X, client=client, random_state=0)
    judged("two workers of one thread", model, found.told["seconds"])
    return rows


def paper(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The constants of the cost model, in the time of one thread, and what it says of many points."""
    X = data(arguments.data, arguments.points)
    run = nf.Run(X, random_state=0, n_jobs=1)
    run.step(arguments.iterations)
    engine, Y = run._descent.problem.engine, run.Y.astype(np.float32)
    request = engine._request(engine.method, Y, 1.0, False)
    field = engine.field

    def laid() -> Any:
        field.lay(Y)
        return field.charge(None, [(request.kernel, "w")])

    charges = laid()
    grid = timed(lambda: field.potential((1.0, charges, (request.kernel, "w")))) + timed(
        lambda: field._transformed(field._grids[0])
    )
    nodes, edges = float(np.prod(field.shape)), len(engine.edges.p)
    whole_one = timed(lambda: run._descent.problem(run._descent.z, False))
    springs = timed(lambda: engine.edges.begin_tail(request)())
    area = float(np.prod(np.ptp(Y, axis=0)))
    found = {
        "points": len(X),
        "ns an edge": 1e9 * springs / edges,
        "edges a point": edges / len(X),
        "ns a node": 1e9 * grid / nodes,
        "ns a point": 1e9 * (whole_one - springs - grid) / len(X),
        "area a point": area / len(X),
    }
    rows = [{name: round(value, 2) for name, value in found.items()}]
    print(json.dumps(rows[0]), flush=True)
    for n, count in ((1e7, 16), (1e8, 64), (1e9, 256)):
        rows.append(on_paper(found, n, count))
        print(json.dumps(rows[-1]), flush=True)
    return rows


def timed(work: Any) -> float:
    """The least time that a thread takes for something, whatever else the machine does."""
    times = []
    for _ in range(REPEATS):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def on_paper(found: dict[str, float], n: float, count: int) -> dict[str, Any]:
    """What an iteration of so many points takes of each of so many workers of one thread, by the model.

    The spacing is the widest there is; near sums are taken for as dear as on one machine.
    """
    width = nf.method("tsne").require_kernel().width
    spacing = spacing_of(WIDER[-1], width, ACCURACY)
    nodes = 4 * found["area a point"] * n / spacing**2
    own = n / count
    seconds = (
        found["ns an edge"] * found["edges a point"] * own
        + found["ns a point"] * own
        + found["ns a node"] * nodes
    ) / 1e9
    of_a_point = 4 * COLUMNS * 2 + NEIGHBOUR * NEIGHBOURS_OF_TSNE + EDGE * found["edges a point"] + OF_STATE
    return {
        "points": n,
        "workers": count,
        "GB of memory": round((own * of_a_point + NODE * nodes) / 1e9, 1),
        "millions of nodes": round(nodes / 1e6, 1),
        "the grid fits": bool(nodes <= MOST),
        "MB an iteration, grid": round(2 * (count - 1) / count * nodes / 1e6, 1),
        "seconds an iteration": round(seconds, 2),
        "of which the grid": round(found["ns a node"] * nodes / 1e9, 2),
    }


def main() -> None:
    """Run one of the studies."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=("traffic", "whole", "paper"))
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--data", help="MNIST as npz (OpenML mnist_784)")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--iterations", type=int, default=AFTER + 40)
    parser.add_argument("--write", type=Path, help="a JSON file for what is measured")
    arguments = parser.parse_args()
    rows = {"traffic": traffic, "whole": whole, "paper": paper}[arguments.study](arguments)
    if arguments.write:
        arguments.write.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
