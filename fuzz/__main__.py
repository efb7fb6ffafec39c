"""Look for defects until the time is over: `python -m fuzz --seconds 600 --seed 7`; see `fuzz`."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from threading import Lock, Thread

from fuzz.kinds import KINDS, drawn
from fuzz.shrinking import same_as, shrunk
from fuzz.verdicts import Verdict, as_test
from fuzz.workers import LIMIT, Worker

EXAMPLES = 2  # of each defect that are made smaller and shown


@dataclass
class Search:
    """What was tried and found so far; several threads, each with a worker, share it."""

    seed: int
    kinds: list[str]
    until: float
    limit: float
    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: Counter[tuple[str, ...]] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)
    next: int = 0

    def go_on(self) -> None:
        """Judge cases, one kind after the other, until the time is over."""
        with Worker(self.limit) as worker:
            while time.monotonic() < self.until:
                with self.lock:
                    number, kind = divmod(self.next, len(self.kinds))
                    self.next += 1
                self.look_at(self.kinds[kind], number, worker)

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
        rows = []
        for kind in self.kinds:
            ends = {outcome: n for (of, outcome), n in sorted(self.tried.items()) if of == kind}
            told = ", ".join(f"{n} {outcome}" for outcome, n in ends.items()) or "none"
            rows.append(f"  {kind:<10}{sum(ends.values()):>7} cases: {told}")
        rows += [f"  {n:>5} × {' · '.join(each)}" for each, n in self.found.most_common()]
        return "\n".join([*rows, f"seed {self.seed}: {len(self.found)} defects found"])


def main() -> int:
    """Return 1 if anything was found."""
    parser = argparse.ArgumentParser("python -m fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, help="by default another one every time, which is told")
    parser.add_argument("--only", help=f"some of the kinds: {','.join(KINDS)}")
    parser.add_argument("--case", type=int, help="the case of this number alone, of the kind --only")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes judge cases")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which a case hangs")
    options = parser.parse_args()
    kinds = options.only.split(",") if options.only else list(KINDS)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"no kind is called {unknown[0]!r}: choose from {', '.join(KINDS)}")
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    search = Search(seed, kinds, time.monotonic() + options.seconds, options.limit)
    if options.case is not None:
        print("\n".join(drawn(kinds[0], seed, options.case)))
        with Worker(options.limit) as worker:
            print(search.look_at(kinds[0], options.case, worker))
        return 1 if search.found else 0
    print(f"seed {seed}, {options.seconds:g} s, {', '.join(kinds)}", flush=True)
    threads = [Thread(target=search.go_on) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(search.report())
    return 1 if search.found else 0


if __name__ == "__main__":
    sys.exit(main())
