"""What commands and code print, in the pages: put there by running them, and held to it by a test.

A block of `text` that follows a block of `sh` or `python` at once is what that block prints. One that begins
with `$ ` is a command and what it prints. Where commands of a page have outputs, all its commands are run.

Names, shapes, counts and messages are held as they are. Numbers with a decimal point are held to a tenth of
their size, unless they are the value of a parameter: the last digits differ from machine to machine, and a
map of few points differs a little with them. So do rounding errors, seconds, numbers of iterations, which of
several is the best, and the neighbourhood up to which a figure is called local: of these only that they are
there is held.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from nearfield.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLOSE = 0.1  # of the larger of two numbers
# Each pattern is replaced by what follows it before two outputs are compared.
LOOSE = (
    (r"\d+(\.\d+)?e[+-]\d+", "#"),  # rounding errors
    (r"\d+\.\d+ s\b", "# s"),
    (r"\d+ iterations", "# iterations"),
    (r"K (up to|from) \d+", r"K \1 #"),
    (r"(?<=[\d%s])\*", ""),  # the best
)
NUMBER = re.compile(r"(?<![=\d.])\d+\.\d+")


@dataclass(frozen=True)
class Output:
    """An output as a page shows it.

    Attributes
    ----------
    page : Path
        The page.
    start, end : int
        Where in its text the output stands.
    shown : str
        What it shows.
    printed : str
        What was printed.
    """

    page: Path
    start: int
    end: int
    shown: str
    printed: str

    @property
    def current(self) -> bool:
        """Whether the page shows what is printed, as far as that is the same on all machines."""
        return same(self.shown, self.printed)


def same(one: str, other: str) -> bool:
    """Whether two outputs are the same, up to what may differ."""
    (words, numbers), (others, theirs) = _parts(one), _parts(other)
    close = (abs(a - b) <= CLOSE * max(a, b) for a, b in zip(numbers, theirs, strict=False))
    return words == others and all(close)


def _parts(text: str) -> tuple[list[str], list[float]]:
    """The words of an output, and its numbers."""
    for pattern, by in LOOSE:
        text = re.sub(pattern, by, text)
    return NUMBER.sub("#", text).split(), [float(number) for number in NUMBER.findall(text)]


def run_page(page: Path) -> list[Output]:
    """Run the blocks of a page in their order, in the current folder, and return its outputs."""
    text = page.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    follows = {
        before.start(): after
        for before, after in pairwise(found)
        if before[1] in ("sh", "python") and after[1] == "text"
        if not text[before.end() : after.start()].strip()
    }
    commands_too = any(block[1] == "sh" and block.start() in follows for block in found)
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs = []
    for block in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if block[1] == "python":
                exec(compile(block[2], page.name, "exec"), names)
            elif block[1] == "sh" and commands_too:
                run_commands(block[2])
        if block.start() in follows:
            outputs.append(_output(page, follows[block.start()], printed.getvalue()))
        if block[1] == "text" and block[2].startswith("$ "):
            first = block[2].partition("\n")[0]
            with contextlib.redirect_stdout(printed):
                run_commands(first.removeprefix("$ "))
            outputs.append(_output(page, block, f"{first}\n{printed.getvalue()}"))
    return outputs


def _output(page: Path, block: re.Match[str], printed: str) -> Output:
    lines = [line.rstrip() for line in printed.rstrip().splitlines()]
    return Output(page, block.start(2), block.end(2), block[2], "".join(f"{line}\n" for line in lines))


def run_commands(text: str) -> None:
    """Run the lines that call nearfield; what they write about their progress is not shown."""
    for arguments in commands(text):
        with contextlib.redirect_stderr(io.StringIO()) as told:
            code = main(arguments)
        if code != 0:
            raise RuntimeError(f"nearfield {shlex.join(arguments)} gave {code}: {told.getvalue()}")


def commands(text: str) -> list[list[str]]:
    """The lines of a block that call nearfield, as arguments, without comments."""
    calls = (line for line in text.splitlines() if line.startswith("nearfield "))
    return [shlex.split(line, comments=True)[1:] for line in calls]


def renewed(outputs: list[Output], text: str) -> str:
    """The text of a page with those outputs put in that are not current: digits that may differ stay."""
    for output in sorted(outputs, key=lambda output: -output.start):
        if not output.current:
            text = text[: output.start] + output.printed + text[output.end :]
    return text


def with_outputs() -> list[Path]:
    """The pages that show an output."""
    return [
        page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if shows_output(page)
    ]


def shows_output(page: Path) -> bool:
    """Whether a page has a block that is the output of another, or of the command above it."""
    text = page.read_text(encoding="utf-8")
    return bool(re.search(r"^```\n\n```text\n|^```text\n\$ ", text, flags=re.MULTILINE))
