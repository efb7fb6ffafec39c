"""How well a map can be steered: scripted drags of classes, the tables of what came of them, and pictures.

python -m benchmarks.studies.steering --data path/to/mnist.npz      # writes benchmarks/STEERING.md
python -m benchmarks.studies.steering                               # on the digits alone
python -m benchmarks.studies.steering --only Drags                  # one part anew
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import nearfield as nf
from benchmarks import FOLDER
from benchmarks.shared.data import digits, mnist
from benchmarks.shared.stamp import line, stamp
from benchmarks.shared.tables import bounded, count, table
from benchmarks.studies.drags import Drag, controls, drags, followed, medians, unfolded
from benchmarks.studies.stories import stories

SIZES = (300, 1_797, 10_000, 70_000)
# The least way and share of kept neighbours, the most per cent of cost and displacement.
WHILE = {"way": 0.90, "kept": 0.80}
AFTER = {"followers": {"way": 0.75, "cost": 4.0}, "class": {"way": 0.88, "cost": 3.0}}
MOVED, SAME, SLOWER = 5.0, 0.05, 5.0
INTRODUCTION = (
    "t-SNE, the default penalty, 250 iterations pulled, 250 settling; medians over {choices} choices of"
    " points. Cost and displacement are those above a run without a drag at equal iterations, as it would go"
    " on by itself, which the bounds are for; and above one with the lower momentum that a run has while"
    " something pulls, *calm*. *Moved stiffly* is the way of the followers if they are taken from the run"
    " without a drag, at their natural size, and moved as they are. This page is written by"
    " `benchmarks/studies/steering.py`."
)
STORIES = (
    "Into the middle of another class, if nothing else is said: 250 iterations pulled, 250 settling, 250"
    " after the pins are taken out. Cost is that above a run without a drag; R_NX AUC is of single points,"
    " settled, above that before the drag.\n\n"
)
NAMES = {"empty": "(a) empty space", "class": "(b) another class"}


def study(run: Any, labels: Any, choices: int) -> list[dict[str, Any]]:
    """Every kind of drag: where to, how many points, and who follows."""
    plain, found = controls(run), []
    for where in NAMES:
        for points in (1, 5):
            who = ("followers", "nobody") if where == "empty" else ("followers", "class", "nobody")
            chosen = drags(run.Y, labels, where, points, choices)
            for follow in who:
                measures = [
                    followed(run, labels, each, plain, **_given(follow, each, labels)) for each in chosen
                ]
                found.append({"where": where, "points": points, "follow": follow, **medians(measures)})
                print(" ", found[-1], flush=True)
    return found


def _given(follow: str, drag: Drag, labels: Any) -> dict[str, Any]:
    if follow == "followers":
        return {}
    members = np.setdiff1d(np.flatnonzero(labels == drag.of), drag.pins)
    return {"follow": None if follow == "nobody" else members}


def report_of(found: list[dict[str, Any]]) -> str:
    """Two tables: while pulled, and settled."""
    label = {"followers": "5 %", "class": "the class", "nobody": "nobody (control)"}
    pulled, settled = [], []
    for row in found:
        head = [NAMES[row["where"]], str(row["points"]), label[row["follow"]]]
        default, foreign = row["follow"] == "followers", row["where"] == "class"
        bound = {
            "pulled": {**WHILE, **({} if foreign else {"kept": None})} if default else {},
            "settled": AFTER.get(row["follow"], {}) if foreign else {},
        }
        for stage, rows in (("pulled", pulled), ("settled", settled)):
            now, most = row[stage], MOVED if row["follow"] != "nobody" else None
            cells = bounded(now["way"], at_least=bound[stage].get("way"))
            cells += [f"{now['stiff']:.2f}"]
            cells += bounded(now["kept"], at_least=bound[stage].get("kept"))
            cells += bounded(now["cost, plain"], at_most=bound[stage].get("cost"), form="{:+.1f} %")
            cells += [f"{now['cost, calm']:+.1f} %"]
            cells += bounded(now["moved, plain"], at_most=most, form="{:+.1f} %")
            rows.append([*head, *cells, f"{now['moved, calm']:+.1f} %"])
    head = ["dragged to", "points", "who follows", "way", "at least", ""]
    head += ["moved stiffly", "kept", "at least", "", "cost", "at most", "", "cost, calm"]
    head += ["others moved", "at most", "", "others moved, calm"]
    return f"While pulled:\n\n{table(head, pulled)}\nSettled:\n\n{table(head, settled)}"


def ways(data: dict[int, tuple[Any, Any]], choices: int) -> str:
    """The way that followers came at the default strength, whatever the number of points."""
    rows, found = [], {}
    for n, (X, labels) in data.items():
        run = unfolded(X)
        plain = controls(run)
        chosen = drags(run.Y, labels, "class", 1, choices)
        found[n] = medians([followed(run, labels, each, plain) for each in chosen])["pulled"]["way"]
        print(" ", n, found[n], flush=True)
    middle = (max(found.values()) + min(found.values())) / 2
    for n, way in found.items():
        rows.append([count(n), f"{way:.3f}", *bounded(abs(way - middle), at_most=SAME, form="{:.3f}")])
    return table(["points", "way while pulled", "from the middle", "at most", ""], rows)


def slower(X: Any, pins: int = 20, followers: int = 100, steps: int = 40, rounds: int = 7) -> str:
    """What so many pins and followers add to an iteration: rounds with and without take turns."""
    run = nf.Run(X, "tsne", random_state=0)
    run.step(200)
    who = np.random.default_rng(0).permutation(len(X))[:pins]
    times: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(rounds):
        for pinned in times:
            run.pin(who, run.Y[who], follow=followers) if pinned else run.settle(0)
            began = time.perf_counter()
            run.step(steps)
            times[pinned].append((time.perf_counter() - began) / steps)
            run.undo()
    plain, steered = (float(np.median(times[pinned])) for pinned in (False, True))
    cells = bounded(100 * (steered / plain - 1), at_most=SLOWER, form="{:+.1f} %", bound_form="{:g} %")
    head = ["points", "pins × followers", "plain, ms", "pinned, ms", "slower", "at most", ""]
    row = [count(len(X)), f"{pins} × {followers}", f"{1000 * plain:.2f}", f"{1000 * steered:.2f}", *cells]
    return table(head, [row])


def pictures(run: Any, labels: Any, name: str) -> str:
    """One drag into another class, before and after, and its curves."""
    drag, before = drags(run.Y, labels, "class", 5, 3)[2], run.Y
    run.pin(drag.pins, drag.places)
    run.step(250)
    run.settle(250)
    run.step(250)
    (FOLDER / "pictures").mkdir(exist_ok=True)
    drawn = {
        f"steering-{name}.png": nf.show.before_after(before, run, labels)[0],
        f"steering-{name}-history.png": nf.show.history(run)[0],
    }
    for file, ax in drawn.items():
        nf.show.save(ax, FOLDER / "pictures" / file, dpi=110)
    run.undo()
    run.undo()
    return "\n".join(f"![{name}](pictures/{file})" for file in drawn) + "\n"


def sections(data: str | None, choices: int) -> dict[str, Callable[[], str]]:
    """Every part of the page, by its title."""

    def drawn(X: Any, labels: Any, name: str) -> str:
        run = unfolded(X)
        return report_of(study(run, labels, choices)) + "\n" + pictures(run, labels, name)

    X, y = digits(1_797)
    parts: dict[str, Callable[[], str]] = {"digits": lambda: drawn(X, y, "digits")}
    sets = {n: digits(n) for n in SIZES[:2]}
    if data:
        everything, classes = mnist(data)
        sets |= {n: (everything[:n].copy(), classes[:n]) for n in SIZES[2:]}
        parts["MNIST 10 000"] = lambda: drawn(*sets[10_000], "mnist-10-000")
    parts["The default strength at other numbers of points"] = lambda: ways(sets, choices)
    parts["Drags to their end, on the digits"] = lambda: STORIES + stories(unfolded(X), X, y, choices)
    if data:
        parts["What it costs"] = lambda: slower(everything)
    return parts


def main() -> None:
    """Run the study, or some parts of it, and write the page."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--data", help="MNIST as an npz with X and y")
    options.add_argument("--choices", type=int, default=10, help="of dragged points, whose median is taken")
    options.add_argument("--only", default="", help="the part whose title starts with this")
    given = options.parse_args()
    kept = FOLDER / "steering.json"
    results = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    parts = sections(given.data, given.choices)
    for title, make in parts.items():
        if title.startswith(given.only):
            print(title, flush=True)
            results[title] = f"{line(stamp('steering'))}.\n\n{make()}"
            kept.write_text(json.dumps(results, indent=1), encoding="utf-8")
    body = "".join(f"\n## {title}\n\n{results[title]}" for title in parts if title in results)
    met, missed = (body.count(f"| {word} |") for word in ("met", "missed"))
    head = f"# How well it steers\n\n{INTRODUCTION.format(choices=given.choices)}"
    text = f"{head}\n\nOf the bounds below {met} are met and {missed} missed.\n{body}"
    (FOLDER / "STEERING.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
