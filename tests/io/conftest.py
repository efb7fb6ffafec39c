"""Files with a given text."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.tables import Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str, name: str = "data.csv", encoding: str = "utf-8") -> Path:
        (tmp_path / name).write_bytes(text.encode(encoding))
        return tmp_path / name

    return write
