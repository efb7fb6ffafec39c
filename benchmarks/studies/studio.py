"""The studio in figures: how much it slows a run, how direct a drag feels, and whether it lasts.

    python -m benchmarks.studies.studio --data mnist.npz [--only rate,drag,first,day,task,crowd]
                                        [--sizes 10000,70000] [--commands 2000] [--sessions 10]

`--data` is MNIST as an npz with X (70000, 784) and y. Seconds count on a quiet machine only. Server and
browser share its cores, as they do with people; Chromium draws in software. What is printed last is JSON with
all figures.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import nearfield as nf  # noqa: E402
from benchmarks.studies.crowd import crowd, serve  # noqa: E402
from benchmarks.studies.studios import Elsewhere, line_at_rest, line_for, never_rests, rows_from  # noqa: E402
from nearfield.io.datasets import digits  # noqa: E402
from nearfield.studio.line import line_of  # noqa: E402
from nearfield.studio.opening import Opened  # noqa: E402
from support.browser import launched, opened, until  # noqa: E402
from support.studios import talking  # noqa: E402
from support.studios import until as comes  # noqa: E402

DRAGS = 20
# From the first move of a held point to the first frame in which one of its neighbours is elsewhere.
FELT = """(near) => {
  const at = (xy) => near.map((i) => [xy[2 * i], xy[2 * i + 1]]);
  const before = at(nearfield.positions());
  window.felt = null;
  let began = null;
  const note = (event) => { if (event.buttons) began ??= performance.now(); };
  addEventListener("pointermove", note, {capture: true});
  const look = () => {
    const now = at(nearfield.positions());
    if (began !== null && now.some(([x, y], k) => x !== before[k][0] || y !== before[k][1])) {
      window.felt = performance.now() - began;
      removeEventListener("pointermove", note, {capture: true});
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def rest(session):
    """As if nothing were gained any more: what moves from now on does so because of a drag."""
    session.rests = True
    session.tell()


def rate(rows, line, iterations=40):
    """Iterations a second while a client reads, in a process of its own, and without the server."""
    never_rests(line)
    alone, streamed = [], []
    for _ in range(3):  # by turns, since machines have moods
        began = time.perf_counter()
        for _ in range(iterations):
            line.run.iterate()
        alone.append(iterations / (time.perf_counter() - began))
        with Opened(line, rows) as studio:
            reader = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.studies.studio", "--read", studio.address], cwd=ROOT
            )
            comes(lambda studio=studio: studio.session.watchers)
            first, began = line.run.iteration, time.perf_counter()
            comes(lambda first=first: line.run.iteration >= first + iterations)
            streamed.append((line.run.iteration - first) / (time.perf_counter() - began))
            reader.terminate()
            reader.wait()
    alone, streamed = statistics.median(alone), statistics.median(streamed)
    return {"alone": alone, "streaming": streamed, "share": streamed / alone}


def read_forever(address):
    with talking(Elsewhere(address)) as talk:
        while True:
            talk.hear()
            talk.frames.clear()


def drag(rows, line):
    """How long a drag takes to be felt, in the browser, and how many frames come while it runs."""
    felt = []
    with Opened(line, rows) as studio, launched() as browser, opened(browser) as tab:
        session, run = studio.session, line.run
        rest(session)
        tab.goto(studio.address)
        until(tab, "window.nearfield && nearfield.connected && nearfield.n > 0")
        tab.wait_for_timeout(1500)
        random = np.random.default_rng(0)
        for _ in range(DRAGS):
            point, x, y = free_point(tab, rows.n, random)
            near = run.nearest(point, 10).tolist()
            tab.evaluate(FELT, near)
            tab.mouse.move(x, y)
            tab.mouse.down()
            for k in range(1, 6):
                tab.mouse.move(x + 8 * k, y + 5 * k)
            felt.append(until(tab, "window.felt"))
            tab.mouse.up()
            comes(lambda: session.held is None)
            tab.keyboard.press("Control+z")
            comes(lambda: not run.pins)
            rest(session)
            tab.wait_for_timeout(400)
        never_rests(line)
        tab.locator("#run").click()
        got = tab.evaluate("""() => new Promise((done) => {
          let frames = 0, last = nearfield.iteration; const began = performance.now();
          const look = () => {
            if (nearfield.iteration !== last) { frames++; last = nearfield.iteration; }
            if (performance.now() - began < 10000) requestAnimationFrame(look); else done(frames / 10);
          };
          requestAnimationFrame(look);
        })""")
    return {
        "felt_ms_median": statistics.median(felt),
        "felt_ms_p95": float(np.quantile(felt, 0.95)),
        "frames_per_second": got,
    }


def free_point(tab, n, random):
    """A point that no panel covers and that the pointer takes."""
    for _ in range(1000):
        i = int(random.integers(n))
        x, y = tab.evaluate("(i) => nearfield.screen(i)", i)
        if 280 < x < 880 and 150 < y < 600:
            tab.mouse.move(x, y)
            return i, x, y
    raise RuntimeError("no point is free of panels")


def first():
    """Seconds from the command to the first picture, of a table, with warm caches; the median of three."""
    table, seconds = digits(), []
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        path = Path(folder) / "digits.csv"
        lines = [
            ",".join(map(str, [*row, label]))
            for row, label in zip(table.X.tolist(), table.labels, strict=True)
        ]
        path.write_text("\n".join([",".join([*table.names, "digit"]), *lines]) + "\n")
        for _ in range(4):
            began = time.perf_counter()
            command = [
                sys.executable,
                "-m",
                "nearfield",
                "studio",
                str(path),
                "--label",
                "digit",
                "--no-browser",
            ]
            studio = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            found = next(filter(None, (re.search(r"http\S+", line) for line in studio.stdout)))
            with opened(browser) as tab:
                tab.goto(found[0])
                until(tab, "window.nearfield && nearfield.n > 0")
                seconds.append(time.perf_counter() - began)
            studio.terminate()
            studio.wait()
    return {"seconds": statistics.median(seconds[1:])}


def day(commands=2000, n=600):
    """Random commands of all kinds in one session: errors, memory, and the map again from the log."""
    rows = rows_from(None, n)
    line = line_of(rows.mapped, random_state=0, n_jobs=1)
    line.run.step(100)
    random, refused, memory = np.random.default_rng(1), 0, []
    with Opened(line, rows) as studio, ExitStack() as pages:
        talk = pages.enter_context(talking(studio))
        for k in range(commands):
            points = random.choice(n, size=random.integers(1, 6), replace=False).tolist()
            place = random.normal(scale=20, size=2).round(3).tolist()
            choices = [
                ("drag", {"indices": points, "grip": points[0], "at": place, "follow": 20}),
                *[("move", {"at": place})] * 4,
                ("drop", {}),
                ("put", {"indices": points, "at": place, "follow": 20}),
                ("pin", {"indices": points}),
                ("unpin", {"indices": points}),
                *[("undo", {})] * 2,
                ("redo", {}),
                *[("step", {"n": 3})] * 3,
                ("settle", {"n": 20}),
                ("pull", {"strength": float(random.uniform(0.05, 0.4))}),
                ("link", {"indices": points, "kind": "must"}) if len(points) > 1 else ("history", {}),
                ("unlink", {}),
                ("cards", {"indices": points}),
                ("near", {"index": points[0]}),
                ("name_selection", {"name": "some", "indices": points}),
            ]
            what, given = choices[random.integers(len(choices))]
            if k % 250 == 249:
                what, given = "change", {"perplexity": float(random.integers(5, 40))}
            if k % 100 == 99:  # a page that is loaded anew
                pages.close()
                talk = pages.enter_context(talking(studio))
            told = talk.answer(talk.send(what, **given))
            refused += "error" in told
            if "terminal" in told.get("error", ""):
                raise RuntimeError(f"{what}: {told['error']}")
            talk.frames.clear()
            memory.append(used())
        run = studio.session.run
        with tempfile.TemporaryDirectory() as folder:
            run.map().save(Path(folder) / "day.nfmap")
            again = nf.Run.load(Path(folder) / "day.nfmap", rows.mapped, replay=True, n_jobs=1)
        same = bool(np.array_equal(again.Y, run.Y))
    half = commands // 2
    return {
        "commands": commands,
        "refused": refused,
        "same_map_from_the_log": same,
        "megabytes_half_way": statistics.median(memory[half - 50 : half + 50]),
        "megabytes_at_the_end": statistics.median(memory[-100:]),
    }


def used():
    """Megabytes that this process has now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def task(rows, line, digit=4):
    """Put this class over there, by mouse alone: how much of the way its members go, and keep."""
    with Opened(line, rows) as studio, launched() as browser, opened(browser) as tab:
        session, run = studio.session, line.run
        rest(session)
        tab.goto(studio.address)
        until(tab, "window.nearfield && nearfield.connected && nearfield.n > 0")
        members = np.flatnonzero(np.asarray(rows.labels) == digit)
        Y = run.Y
        point = int(members[np.argmin(np.linalg.norm(Y[members] - np.median(Y[members], axis=0), axis=1))])
        slider = tab.get_by_label("How many neighbours follow")
        box = slider.bounding_box()  # the share of the class, set by a click on the slider
        position = np.sqrt(len(members) / rows.n / 0.25)
        tab.mouse.click(box["x"] + 8 + (box["width"] - 16) * min(position, 1), box["y"] + box["height"] / 2)
        x, y = tab.evaluate("(i) => nearfield.screen(i)", point)
        before, there = run.Y, empty_place(tab, x, y)
        tab.mouse.move(x, y)
        tab.mouse.down()
        for k in range(1, 31):
            tab.mouse.move(x + (there[0] - x) * k / 30, y + (there[1] - y) * k / 30)
            tab.wait_for_timeout(40)
        tab.mouse.up()
        comes(lambda: run.pins and session.held is None)
        (held,) = run.pins
        followers, goal = run.followers[held], run.pins[held]

        def way():
            gaps = np.linalg.norm(before[followers] - goal, axis=1)
            return float(np.median(1 - np.linalg.norm(run.Y[followers] - goal, axis=1) / gaps))

        comes(lambda: session.rests)
        gone = way()
        tab.get_by_role("button", name="Let the pull on followers fade").click()
        comes(lambda: len(run.log) == 2 and not session.rests)
        comes(lambda: session.rests)
        settled = way()
        stopped = run.iteration
        tab.get_by_role("button", name="One iteration").click()  # and pause, so that nothing moves meanwhile
        comes(lambda: not session.running and run.iteration == stopped + 1)
        after = run.Y
        for _ in range(2):
            tab.keyboard.press("Control+z")
        comes(lambda: not run.pins)
        undone = bool(np.array_equal(run.Y, before))
        until(tab, "!document.querySelector('#redo').disabled")
        for _ in range(2):
            tab.keyboard.press("Control+Shift+z")
        until(tab, "document.querySelector('#redo').disabled && 1")
        redone = bool(np.array_equal(run.Y, after))
    return {
        "way": gone,
        "settled": settled,
        "undone_exactly": undone,
        "redone": redone,
        "followers": len(followers),
    }


def empty_place(tab, x, y):
    """Of the places that are not near, and that no panel covers, the one with most room around it."""
    spots = np.array(tab.evaluate("Array.from({length: nearfield.n}, (_, i) => nearfield.screen(i))"))
    places = [(a, b) for a in range(280, 980, 35) for b in range(150, 700, 35)]
    far = [each for each in places if np.hypot(each[0] - x, each[1] - y) > 300]
    return max(far, key=lambda each: np.hypot(*(spots - each).T).min())


def main() -> None:
    """Measure what was asked for, and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="MNIST as an npz; without it, the digits")
    parser.add_argument("--only", default="rate,drag,first,day,task,crowd")
    parser.add_argument("--sizes", default="10000,70000")
    parser.add_argument("--commands", type=int, default=2000)
    parser.add_argument("--sessions", type=int, default=10, help="of a crowd")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        return read_forever(given.read)
    if given.serve:
        return serve(given.serve)
    parts, sizes, found = given.only.split(","), [int(each) for each in given.sizes.split(",")], {}

    def measured(name, result):
        found[name] = {
            key: round(each, 4) if isinstance(each, float) else each for key, each in result.items()
        }
        print(name, found[name], flush=True)

    if "first" in parts:
        measured("first picture", first())
    if "day" in parts:
        measured("a day in short", day(given.commands))
    if "task" in parts:
        table = rows_from(None, 1797)
        measured("task, digits", task(table, line_at_rest(table)))
        if given.data:
            table = rows_from(given.data, 10_000)
            measured("task, MNIST 10000", task(table, line_at_rest(table)))
    for n in sizes:
        if {"rate", "drag"} & set(parts):
            rows = rows_from(given.data, n)
            line = line_for(rows)
        for name, part in (("drag", drag), ("rate", rate)):
            if name in parts:
                measured(f"{name}, {n}", part(rows, line))
    if "crowd" in parts:
        n = sizes[0]
        measured(f"crowd, {given.sessions} of {n}", crowd(rows_from(given.data, n), given.sessions))
    print(json.dumps(found, indent=2))
    return None


if __name__ == "__main__":
    main()
