"""Cross products in one test: a law is held against every cell, and each that breaks it is reported.

A test for each cell would cost more than the law itself, where there are hundreds of a millisecond each.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any


def every(argument: str, cells: Sequence[Any], name: Callable[[Any], str] = repr) -> Callable:
    """Run a test for every cell, which it takes as `argument`; then fail with all that went wrong.

    Each cell sees the fixtures as they were, whatever another one did to them: the random numbers too.
    """
    if not cells:
        raise ValueError(f"there is no {argument} to hold the law against")

    def decorate(test: Callable) -> Callable:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def over_all(**fixtures: Any) -> None:
            failures = []
            for cell in cells:
                try:
                    test(**deepcopy(fixtures), **{argument: cell})
                except Exception as error:
                    error.add_note(f"{argument}: {name(cell)}")
                    failures.append(error)
            if failures:
                broken = ", ".join(error.__notes__[-1] for error in failures)
                raise ExceptionGroup(f"{len(failures)} of {len(cells)} cells fail: {broken}", failures)

        kept = [each for key, each in signature.parameters.items() if key != argument]
        over_all.__signature__ = signature.replace(parameters=kept)  # what pytest gives it
        del over_all.__wrapped__  # in which pytest would look for the cell
        return over_all

    return decorate
