"""What is read is what was written, or one line says why not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from support.tables import check, random_table


def test_random_tables(tmp_path: Path) -> None:
    went = Counter(check(random_table(seed), tmp_path) for seed in range(200))
    assert went["read"] > 100
    assert went["refused"] > 20
