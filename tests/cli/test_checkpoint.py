"""`nearfield embed --checkpoint`: the same command goes on from where the last one was ended."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import nearfield
from nearfield.cli import main
from nearfield.cli.terminal import INTERRUPTED
from nearfield.descent.progress import Progress
from nearfield.io.tables import read_map
from support.commands import files

COMMAND = ["embed", "iris.csv", "--id", "who", "--perplexity", "5", "--max-iter", "150"]
KEPT = ["--checkpoint", "state.nfmap", "--checkpoint-every", "10"]
KILLED = """
import os, signal, sys
from nearfield.cli import main
from nearfield.descent.progress import Progress

def called(self, run, before=Progress.__call__):
    before(self, run)
    if run.iteration >= 80:
        os.kill(os.getpid(), signal.SIGKILL)

Progress.__call__ = called
main(sys.argv[1:])
"""


def test_a_command_that_was_killed_goes_on_to_the_same_map(here, capsys):
    (here / "pins.csv").write_text("id,y1,y2\nf10,3.5,-2\n")
    given = ["--pins", "pins.csv", "-o", "map.csv", "--save", "model.nfmap"]
    assert main([*COMMAND, *given]) == 0
    whole = (here / "map.csv").read_bytes()
    for written in ("map.csv", "model.nfmap"):
        (here / written).unlink()
    ended = subprocess.run([sys.executable, "-c", KILLED, *COMMAND, *given, *KEPT], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert files(here) == {"iris.csv", "pins.csv", "state.nfmap"}
    capsys.readouterr()
    assert main([*COMMAND, *given, *KEPT]) == 0
    assert "state.nfmap goes on from iteration 70" in capsys.readouterr().out
    assert (here / "map.csv").read_bytes() == whole
    assert files(here) == {"iris.csv", "pins.csv", "map.csv", "model.nfmap"}  # and no checkpoint any more
    assert nearfield.load("model.nfmap").checkpoint is None
    assert read_map("map.csv")[0].shape == (30, 2)


def test_ctrl_c_leaves_a_checkpoint_which_other_commands_leave_too(here, capsys, monkeypatch):
    def interrupt(self, run):
        if run.iteration >= 80:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Progress, "__call__", interrupt)
        assert main([*COMMAND, "-o", "map.csv", *KEPT]) == INTERRUPTED
    assert "map so far; state.nfmap goes on from iteration 70" in capsys.readouterr().err
    before = [(here / name).read_bytes() for name in ("state.nfmap", "map.csv")]
    (here / "pins.csv").write_text("id,y1,y2\nf10,3.5,-2\n")
    for more, message in [
        (["--perplexity", "6"], "perplexity was 5.0, and is 6.0"),
        (["--standardize"], "of other data"),
        (["--method", "jse"], "whose method was"),
        (["--pins", "pins.csv"], "pins was None"),
    ]:
        assert main([*COMMAND, "-o", "map.csv", *KEPT, *more]) == 2
        told = capsys.readouterr().err.strip()
        assert message in told
        assert "delete this one to begin anew" in told
        assert "\n" not in told
    assert [(here / name).read_bytes() for name in ("state.nfmap", "map.csv")] == before


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--checkpoint", "map.csv"], "--checkpoint map.csv would be written twice"),
        (["--checkpoint", "a.nfmap", "--save", "a.nfmap"], "would be written twice"),
        (["--checkpoint", "iris.csv"], "--checkpoint iris.csv would replace the data"),
        (["--checkpoint", "none/a.nfmap"], "the folder none does not exist"),
        (["--checkpoint", "notes.txt"], "notes.txt is not a map that nearfield saved"),
        (["--checkpoint", "a.nfmap", "--method", "pca"], "found in one step: leave out checkpoint"),
        (["--checkpoint-every", "5"], "name the file too, with checkpoint"),
    ],
)
def test_what_cannot_be_a_checkpoint_is_refused_with_one_line(more, message, here, capsys):
    (here / "notes.txt").write_text("mine")
    assert main([*COMMAND, "-o", "map.csv", *more]) == 2
    told = capsys.readouterr().err.strip()
    assert message in told
    assert "\n" not in told
    assert files(here) == {"iris.csv", "notes.txt"}
    assert (here / "notes.txt").read_text() == "mine"
