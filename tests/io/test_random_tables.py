"""What is read is what was written, or one line says why not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from support.tables import check, random_table


def test_random_tables(tmp_path: Path) -> None:
    went = Counter(check(random_table(seed), tmp_path) for seed in range(200))
    assert went["read"] > 100
    assert went["refused"] > 20


def test_tables_that_were_found(tmp_path: Path) -> None:
    """A lone number in a first line of data; lines of which one lacks a `;` beside decimal commas."""
    assert check(random_table(693701018), tmp_path) == "overruled"
    assert check(random_table(500636649), tmp_path) == "refused"
