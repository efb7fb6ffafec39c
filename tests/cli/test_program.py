"""The program itself: help, version, and how soon it is there."""

from __future__ import annotations

import re
import subprocess
import sys

import nearfield


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nearfield", *arguments], capture_output=True, text=True, check=False
    )


def test_version_and_help() -> None:
    assert run("--version").stdout == f"nearfield {nearfield.__version__}\n"
    for arguments in ((), ("--help",)):
        result = run(*arguments)
        assert result.returncode == 0
        for command in ("embed", "methods", "check", "demo"):
            assert command in result.stdout


def test_an_unknown_command_exits_with_2() -> None:
    result = run("embd")
    assert result.returncode == 2
    assert re.fullmatch(r"error: No such command 'embd'[^\n]*\n", result.stderr)


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from nearfield.cli import main; main(['--help'])\n"
        "print({'numpy', 'scipy', 'sklearn', 'matplotlib', 'numba', 'pyarrow'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "set()"
