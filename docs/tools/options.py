"""Docstrings as they are at run time, where options stand that are declared elsewhere."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import griffe


class Options(griffe.Extension):
    """Fill in what the line ``{options}`` of a docstring stands for: see `nearfield.descent.settings`."""

    def on_class(self, *, cls: griffe.Class, **others: Any) -> None:
        """Take the docstring of the class itself."""
        if cls.docstring is not None and "{options}" in cls.docstring.value:
            found = getattr(import_module(cls.module.path), cls.name)
            cls.docstring.value = inspect.cleandoc(found.__doc__)
