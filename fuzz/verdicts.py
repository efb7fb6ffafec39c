"""What becomes of a case: it passes, it is refused, or it is a defect."""

from __future__ import annotations

import re
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

import nearfield

SOURCE = Path(nearfield.__file__).parent
REFUSALS = (ValueError, TypeError, MemoryError, OSError)
NAMES = {  # what a case may use, and where it comes from
    "check": "from support.tables import check, random_table",
    "anndata": "import anndata",
    "copy": "import copy",
    "csv": "import csv",
    "gzip": "import gzip",
    "pa": "import pyarrow as pa",
    "pq": "import pyarrow.parquet as pq",
    "feather": "from pyarrow import feather",
    "zipfile": "import zipfile",
    "json": "import json",
    "suppress": "from contextlib import suppress",
    "np": "import numpy as np",
    "sparse": "from scipy import sparse",
    "nf": "import nearfield as nf",
    "VECTORS": 'VECTORS = {"v": [[0.5 * i, i, -i] for i in range(9)], "k": list("abcabcabc")}',
    "sparse_target": "from support.targets import sparse_target",
    "exact": "from nearfield.engine.exact.chain import exact",
    "mesh": "from nearfield.engine.mesh.scales import mesh",
    "Mesh": "from nearfield.engine.mesh.one_scale import Mesh",
    "Task": "from nearfield.engine.task import Task",
    "read_map": "from nearfield.io.tables import read_map",
    "read_table": "from nearfield.io.tables import read_table",
    "write_map": "from nearfield.io.tables import write_map",
}


@dataclass(frozen=True)
class Verdict:
    """How a case ended.

    Attributes
    ----------
    outcome : str
        "passed", "refused", "void" if the case itself is wrong and never came to nearfield, or the defect:
        "exception", "foreign" (a refusal in the words of Python or NumPy), "wrong", "crash" or "hang".
    message : str
        What was raised.
    place : str
        Where: the innermost line of nearfield, or the line of the case. Cases of one place and one outcome
        are taken for one defect.
    """

    outcome: str
    message: str = ""
    place: str = ""

    @property
    def is_defect(self) -> bool:
        """Whether somebody has to look at it."""
        return self.outcome not in ("passed", "refused", "void")

    @property
    def signature(self) -> tuple[str, ...]:
        """By which the same defect is known again."""
        return self.outcome, self.message.split(":", 1)[0], self.place


def program(lines: list[str]) -> str:
    """The text of a case, with the imports that it needs."""
    body = "\n".join(lines)
    needed = [source for name, source in NAMES.items() if re.search(rf"\b{name}\b", body)]
    return "\n".join([*needed, body])


def judged(lines: list[str]) -> Verdict:
    """Run a case in this process."""
    text = program(lines)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning, module="nearfield")
        try:
            exec(compile(text, "<case>", "exec"), {"tmp_path": Path(folder)})
        except AssertionError as error:
            return Verdict("wrong", _told(error), _line(error, text))
        except Exception as error:
            return Verdict(_outcome(error), _told(error), _place(error))
    return Verdict("passed")


def _outcome(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not any(_is_ours(frame) for frame in frames):
        return "void"
    if not isinstance(error, REFUSALS) or "\n" in str(error).strip():
        return "exception"
    if isinstance(error, (ValueError, TypeError)) and not _is_meant(frames[-1]):
        return "foreign"
    return "refused"


def _is_ours(frame: traceback.FrameSummary) -> bool:
    return SOURCE in Path(frame.filename).parents


def _is_meant(frame: traceback.FrameSummary) -> bool:
    """Whether somebody who thought of the user wrote the message: nearfield, or scikit-learn's checks."""
    written = (frame.line or "").lstrip().startswith("raise ")
    return written and (_is_ours(frame) or "sklearn" in Path(frame.filename).parts)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".strip()


def _place(error: Exception) -> str:
    """The innermost line of nearfield."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_ours(frame)]
    return f"{Path(frames[-1].filename).relative_to(SOURCE)}:{frames[-1].lineno}" if frames else ""


def _line(error: Exception, text: str) -> str:
    """The line of the case that did not hold, without its numbers."""
    numbers = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == "<case>"]
    return re.sub(r"\d+", "#", text.splitlines()[(numbers[-1] or 1) - 1])


def as_test(lines: list[str], name: str, verdict: Verdict) -> str:
    """A case as a test to paste: it passes once the case ends in a map, or is refused in one line."""
    told = verdict.message.strip().splitlines() or [""]
    title = f"{verdict.outcome}: {told[0]}".replace('"', "'").replace("\\", "/")[:100]
    head = [f"def test_{name}(tmp_path):", f'    """{title}"""', "    try:"]
    body = ["        " + line for line in program(lines).splitlines()]
    refusals = ", ".join(each.__name__ for each in REFUSALS)
    tail = [f"    except ({refusals}) as refusal:", r'        assert "\n" not in str(refusal)']
    return "\n".join([*head, *body, *tail])
