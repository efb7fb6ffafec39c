"""Part 1: nearfield beside its peers, time, memory and what came of it."""

from __future__ import annotations

from typing import Any

from benchmarks.shared.apart import attempt
from benchmarks.shared.data import digits, mnist
from benchmarks.shared.libraries import COMPILED, LIBRARIES, TSNE, times
from benchmarks.shared.measure import joint_p, kl_divergence, neighbour_accuracy, rnx_auc
from benchmarks.shared.sizes import Sizes
from benchmarks.shared.tables import bounded, count, failed, figure, table

TITLE = "Beside its peers"
# How many times as long as nearfield each is to take, on the data and at the size that were agreed.
AT_LEAST = {
    ("Digits", 1797): {"openTSNE": 12.0, "scikit-learn": 12.0, "PaCMAP": 1.2},
    ("MNIST", 70_000): {"openTSNE": 14.0, "scikit-learn-intelex": 4.5, "umap-learn": 2.5, "PaCMAP": 2.5},
}


def run(sizes: Sizes, path: str | None) -> dict[str, Any]:
    """Every library on the digits and, if there is a file, on MNIST."""
    found = {"Digits": compare("Digits", *digits(sizes.digits), LIBRARIES)}
    if path is not None:
        X, y = (rows[: sizes.points] for rows in mnist(path))
        # scikit-learn's tree would take the better part of an hour.
        found["MNIST"] = compare("MNIST", X, y, [name for name in LIBRARIES if name != "scikit-learn"])
    return found


def compare(title: str, X: Any, y: Any, names: Any) -> dict[str, Any]:
    """One data set: nearfield first and last, so that a machine that slows down is seen."""
    rows = {name: attempt(f"{title} · {name}", times, name=name, X=X) for name in names}
    again = attempt(f"{title} · nearfield again", times, name="nearfield", X=X)
    first = rows["nearfield"]
    if "error" not in again and "error" not in first:
        first["later"] = again["seconds"]
    P = joint_p(X)
    for name, row in rows.items():
        Y = row.pop("Y", None)
        if Y is not None:
            row["kl"] = kl_divergence(P, Y) if name in TSNE else None
            row["rnx"] = rnx_auc(X, Y)
            row["accuracy"] = neighbour_accuracy(Y, y)
    return {"shape": list(X.shape), "accuracy": neighbour_accuracy(X, y), "rows": rows}


def seconds_of(row: dict[str, Any]) -> float:
    """Of the last call; the mean of both processes where there were two."""
    ends = [calls[-1] for calls in (row["seconds"], row.get("later")) if calls]
    return sum(ends) / len(ends)


def report(found: dict[str, Any], pictures: Any) -> str:
    """A table for each data set."""
    text = (
        "Every map is made in a process of its own with the defaults of the library, on all cores, from the"
        " array to the coordinates. Of libraries that compile, the second of two calls counts. nearfield runs"
        " before and after its peers, and the mean is taken. KL is exact, over all pairs on a P from exact"
        " neighbours, by code that belongs to no library; R_NX AUC is from the ranks that 800 points see;"
        " 10-NN is the share of points whose label most of their ten neighbours in the map share.\n"
    )
    return "\n".join([text, *(_table(name, each) for name, each in found.items())])


def _table(title: str, found: dict[str, Any]) -> str:
    n, columns = found["shape"]
    bounds = AT_LEAST.get((title, n), {})
    own = found["rows"].get("nearfield", {})
    ours = None if "error" in own else seconds_of(own)
    rows = []
    for name, row in found["rows"].items():
        if "error" in row:
            rows.append([name, failed(row), *["–"] * 8])
            continue
        first = row["seconds"][0] if name in COMPILED else None
        ratio = None if ours is None else seconds_of(row) / ours
        cells = bounded(ratio, at_least=bounds.get(name), form="{:.1f} ×", bound_form="{:g} ×")
        measures = [figure(row["kl"], "{:.4f}"), figure(row["rnx"], "{:.4f}"), f"{row['accuracy']:.2%}"]
        times = [f"{seconds_of(row):.2f}", figure(first, "{:.1f}"), *cells]
        rows.append([name, *times, figure(row["memory"]), *measures])
    header = ["", "seconds", "first call", "ratio", "at least", "", "peak GB"]
    header += ["exact KL", "R_NX AUC", "10-NN"]
    text = f"### {title}, {count(n)} × {columns}\n\n{table(header, rows)}\n"
    if "later" in own:
        before, after = own["seconds"][-1], own["later"][-1]
        text += f"nearfield took {before:.2f} s before its peers and {after:.2f} s after them. "
    return text + f"In the data themselves 10-NN is {found['accuracy']:.2%}.\n"
