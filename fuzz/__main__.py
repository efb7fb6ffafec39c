"""Look for defects until the time is over, or so many cases were tried; see `fuzz`."""

from __future__ import annotations

import argparse
import itertools
import math
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock, Thread

from fuzz.kinds import KINDS, drawn
from fuzz.shrinking import same_as, shrunk
from fuzz.verdicts import Verdict, as_test
from fuzz.workers import LIMIT, Worker

EXAMPLES = 2  # of each defect that are made smaller and shown
PROGRESS = 30.0  # seconds between two lines that tell how far it is


@dataclass
class Search:
    """What was tried and found so far; several threads, each with a worker, share it."""

    seed: int
    kinds: list[str]
    until: float
    limit: float
    wanted: dict[str, int] = field(default_factory=dict)
    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: Counter[tuple[str, ...]] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._next = self.numbered()
        self._told = time.monotonic()

    def numbered(self) -> Iterator[tuple[str, int]]:
        """Kinds and numbers, one kind after the other: as many of each as are wanted, or without end."""
        for number in itertools.count():
            left = [kind for kind in self.kinds if number < self.wanted.get(kind, math.inf)]
            if not left:
                return
            for kind in left:
                yield kind, number

    def go_on(self) -> None:
        """Judge cases until the time is over, or all that are wanted were tried."""
        with Worker(self.limit) as worker:
            while time.monotonic() < self.until:
                with self.lock:
                    case = next(self._next, None)
                    self._tell()
                if case is None:
                    return
                self.look_at(*case, worker)

    def _tell(self) -> None:
        """Say now and then how far it is."""
        if time.monotonic() < self._told + PROGRESS:
            return
        self._told = time.monotonic()
        counts: Counter[str] = Counter()
        for (kind, _), n in self.tried.items():
            counts[kind] += n
        goals = {kind: f"/{n}" for kind, n in self.wanted.items()}
        told = ", ".join(f"{kind} {counts[kind]}{goals.get(kind, '')}" for kind in self.kinds)
        print(f"{time.strftime('%H:%M:%S')} {told}; {len(self.found)} defects", flush=True)

    def look_at(self, kind: str, number: int, worker: Worker) -> Verdict:
        """Judge one case, and show it if it is a defect that is new."""
        lines = drawn(kind, self.seed, number)
        verdict = worker.judge(lines)
        with self.lock:
            self.tried[kind, verdict.outcome] += 1
            if verdict.is_defect:
                self.found[verdict.signature] += 1
            new = verdict.is_defect and self.found[verdict.signature] <= EXAMPLES
        if new:
            if verdict.outcome != "hang":  # each try of which would take as long again
                lines = shrunk(lines, same_as(verdict, worker.judge))
            name = f"{kind}_{self.seed}_{number}"
            again = f"python -m fuzz --only {kind} --seed {self.seed} --case {number}"
            with self.lock:
                print(f"\n# {verdict.place}\n# {again}\n{as_test(lines, name, verdict)}\n", flush=True)
        return verdict

    def report(self) -> str:
        """How many of each kind ended how, and the defects by how often they came."""
        outcomes = sorted(
            {outcome for _, outcome in self.tried}, key=lambda each: (Verdict(each).is_defect, each)
        )
        rows = [f"  {'kind':<10}{'cases':>10}" + "".join(f"{each:>10}" for each in outcomes)]
        for kind in self.kinds:
            ends = [self.tried[kind, outcome] for outcome in outcomes]
            rows.append(f"  {kind:<10}{sum(ends):>10}" + "".join(f"{n:>10}" for n in ends))
        rows += [f"  {n:>5} × {' · '.join(each)}" for each, n in self.found.most_common()]
        return "\n".join([*rows, f"seed {self.seed}: {len(self.found)} defects found"])


def counted(parser: argparse.ArgumentParser, text: str) -> dict[str, int]:
    """How many cases of each kind "runs=1000,tables=500" asks for."""
    wanted = {}
    for each in text.split(","):
        kind, _, number = each.partition("=")
        if not number.isdecimal():
            parser.error(f"--cases takes kinds and numbers, such as runs=1000, got {each!r}")
        wanted[kind] = int(number)
    return wanted


def main() -> int:
    """Return 1 if anything was found."""
    parser = argparse.ArgumentParser("python -m fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--cases", help="so many of each kind instead, such as runs=1000,tables=500")
    parser.add_argument("--seed", type=int, help="by default another one every time, which is told")
    parser.add_argument("--only", help=f"some of the kinds: {','.join(KINDS)}")
    parser.add_argument("--case", type=int, help="the case of this number alone, of the kind --only")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes judge cases")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which a case hangs")
    options = parser.parse_args()
    kinds, wanted = options.only.split(",") if options.only else list(KINDS), {}
    if options.cases:
        if options.only:
            parser.error("--cases names the kinds itself: leave --only out")
        wanted = counted(parser, options.cases)
        kinds = list(wanted)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"no kind is called {unknown[0]!r}: choose from {', '.join(KINDS)}")
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    until = math.inf if wanted else time.monotonic() + options.seconds
    search = Search(seed, kinds, until, options.limit, wanted)
    if options.case is not None:
        print("\n".join(drawn(kinds[0], seed, options.case)))
        with Worker(options.limit) as worker:
            print(search.look_at(kinds[0], options.case, worker))
        return 1 if search.found else 0
    print(f"seed {seed}, {options.cases or f'{options.seconds:g} s'}, {', '.join(kinds)}", flush=True)
    threads = [Thread(target=search.go_on) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(search.report())
    return 1 if search.found else 0


if __name__ == "__main__":
    sys.exit(main())
