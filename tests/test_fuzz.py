"""The fuzzer: a handful of its cases, and that it sees what it is to see."""

import pytest

from fuzz.__main__ import Search, main
from fuzz.kinds import KINDS, drawn
from fuzz.shrinking import same_as, shrunk
from fuzz.verdicts import Verdict, as_test, judged
from fuzz.workers import Worker

pytestmark = pytest.mark.slow

SEED, CASES = 0, 12  # `make fuzz` takes other seeds, and many more of each
DIES = ["import os", "os._exit(3)"]
HANGS = ["import time", "time.sleep(60)"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_handful_of_cases_has_no_defect(kind):
    outcomes = set()
    for number in range(CASES):
        lines = drawn(kind, SEED, number)
        verdict = judged(lines)
        assert not verdict.is_defect, as_test(lines, f"{kind}_{SEED}_{number}", verdict)
        outcomes.add(verdict.outcome)
    assert "passed" in outcomes  # a kind whose cases are all void, or refused, would find nothing


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_depends_on_its_seed_and_number_alone(kind):
    assert drawn(kind, 3, 8) == drawn(kind, 3, 8)
    assert drawn(kind, 3, 8) != drawn(kind, 4, 8)
    assert len({"\n".join(drawn(kind, 0, number)) for number in range(40)}) > 35


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        (["assert nf.methods()"], "passed"),
        (["nf.Run([[0.0]])"], "refused"),
        (["nf.no_such_name"], "exception"),
        (["run = nf.Run(np.eye(9))", "run.converge(20, callback=lambda run: int('x'))"], "foreign"),
        (["assert nf.methods() == []"], "wrong"),
        (["np.testing.assert_array_equal(np.zeros(2), np.ones(2))"], "wrong"),
        (["{}['x']"], "void"),
        (["1 +"], "void"),
    ],
)
def test_what_becomes_of_a_case(lines, outcome):
    assert judged(lines).outcome == outcome


@pytest.mark.slow
def test_a_case_that_hangs_or_dies_is_seen_and_the_next_one_runs():
    with Worker(limit=0.5) as worker:
        assert worker.judge(DIES).outcome == "crash"
        assert worker.judge(HANGS).outcome == "hang"
        assert worker.judge(["assert nf.methods()"]).outcome == "passed"


def test_a_defect_is_made_smaller_and_stays_the_same():
    lines = ["a = 1", "X = nf.methods()", "b = 2", "nf.no_such_name", "c = 3"]
    assert shrunk(lines, same_as(judged(lines), judged)) == ["nf.no_such_name"]


@pytest.mark.parametrize(
    ("lines", "raised"),
    [
        (["assert not nf.methods()"], AssertionError),
        (["nf.no_such_name"], AttributeError),
        (["nf.Run([[0.0]])"], None),
    ],
)
def test_what_is_found_is_a_test_that_fails_until_it_is_mended(lines, raised, tmp_path):
    made = {}
    exec(as_test(lines, "found", judged(lines)), made)
    if raised is None:
        made["test_found"](tmp_path)
    else:
        with pytest.raises(raised):
            made["test_found"](tmp_path)


class Pessimist:
    """Takes the place of a worker: everything is a defect."""

    def judge(self, lines):
        return Verdict("exception", "KeyError: 'x'", "descent/run.py:1")


def test_a_search_counts_by_kind_and_shows_each_defect_ready_to_paste(capsys):
    search = Search(7, ["tables", "runs"], until=0.0, limit=1.0)
    for number in range(5):
        search.look_at("tables", number, Pessimist())
    shown = capsys.readouterr().out
    assert shown.count("def test_tables_7_") == 2
    assert "python -m fuzz --only tables --seed 7 --case 0" in shown
    report = search.report()
    assert [line.split() for line in report.splitlines()[:2]] == [
        ["kind", "cases", "exception"],
        ["tables", "5", "5"],
    ]
    assert "5 × exception · KeyError · descent/run.py:1" in report
    assert report.endswith("seed 7: 1 defects found")


def test_a_search_may_be_for_so_many_cases_of_each_kind(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["fuzz", "--seed", "1", "--cases", "tables=3,files=1"])
    assert main() == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in shown[2:4]] == [["tables", "3"], ["files", "1"]]
    search = Search(1, ["tables", "files"], until=0.0, limit=1.0, wanted={"tables": 3, "files": 1})
    assert list(search.numbered()) == [("tables", 0), ("files", 0), ("tables", 1), ("tables", 2)]


def test_what_is_no_number_of_cases_is_refused(capsys, monkeypatch):
    for given, told in (("runs", "such as runs=1000"), ("walks=3", "no kind is called 'walks'")):
        monkeypatch.setattr("sys.argv", ["fuzz", "--cases", given])
        with pytest.raises(SystemExit):
            main()
        assert told in capsys.readouterr().err


def test_how_far_it_is_is_told_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr("fuzz.__main__.PROGRESS", 0.0)
    monkeypatch.setattr("sys.argv", ["fuzz", "--seed", "1", "--jobs", "1", "--cases", "tables=3"])
    assert main() == 0
    assert "tables 2/3; 0 defects" in capsys.readouterr().out
