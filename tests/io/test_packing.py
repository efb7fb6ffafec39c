"""What is packed is what is unpacked, and what nobody packed is refused."""

import json
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from nearfield.io.packing import DEPTH, pack, unpack
from nearfield.io.schema import fits
from nearfield.typing import Array


@dataclass
class Box:
    number: float
    inside: Any = None
    values: Array | None = None


KNOWN = {"Box": Box}
plain = st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.text()
kinds = st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_])
tables = arrays.arrays(kinds, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
values = st.recursive(
    plain | tables,
    lambda inside: st.one_of(
        st.lists(inside, max_size=3),
        st.lists(inside, max_size=3).map(tuple),
        st.lists(inside, max_size=3).map(deque),
        st.dictionaries(st.text(), inside, max_size=3),
        st.builds(Box, st.floats(allow_nan=False), inside),
    ),
    max_leaves=10,
)


def same(one, other):
    """Whether two values are the same, and of the same kind, to the last bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple, deque)):
        return len(one) == len(other) and all(map(same, one, other))
    return same(vars(one), vars(other)) if isinstance(one, Box) else one == other


@given(values)
def test_what_is_packed_is_what_is_unpacked(value):
    kept: list[Any] = []
    packed = json.loads(json.dumps(pack(value, kept, KNOWN)))
    assert same(unpack(packed, kept, KNOWN), value)


def nested(depth):
    return {"list": [nested(depth - 1)]} if depth else 0


REFUSED = {
    "an array twice": {"list": [{"array": 0}, {"array": 0}]},
    "an array that is not there": {"array": 1},
    "a negative array": {"array": -1},
    "half an array": {"array": 0.0},
    "a class of its own": {"is": "Bag", "with": {}},
    "a field that is not there": {"is": "Box", "with": {"number": 1.0, "colour": "red"}},
    "a field that is missing": {"is": "Box", "with": {}},
    "a field of another kind": {"is": "Box", "with": {"number": "one"}},
    "an array of another kind": {"is": "Box", "with": {"number": 1.0, "values": {"array": 0}}},
    "a truth value for a number": {"is": "Box", "with": {"number": True}},
    "two kinds": {"list": [], "tuple": []},
    "no kind": {},
    "a kind of its own": {"set": []},
    "a list that is bare": [1, 2],
    "a list that is none": {"list": 3},
    "a number without end": 2**64,
    "more than is deep": nested(DEPTH + 1),
    "something that could not be packed": {"unknown": "function"},
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_nobody_packed_is_refused_in_a_line(what):
    with pytest.raises(ValueError, match=r"\w") as refusal:
        unpack(REFUSED[what], [np.arange(3)], KNOWN)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


def test_what_is_as_deep_as_may_be_is_read():
    assert unpack(nested(DEPTH), [], KNOWN) != 0


@pytest.mark.parametrize(
    ("value", "kind", "right"),
    [
        (1, float, True),
        (1.0, int, False),
        (None, int | None, True),
        ((1, 2), tuple[int, int], True),
        ((1, 2, 3), tuple[int, int], False),
        ((1, 2, 3), tuple[int, ...], True),
        (deque([(1, "a")]), deque[tuple[int, str]], True),
        ([(1, "a")], deque[tuple[int, str]], False),
        ({"a": [1.0]}, dict[str, list[float]], True),
        ({"a": [None]}, dict[str, list[float]], False),
        (np.ones(2, np.float32), Array, False),
        ([1.0, 2.0], Array, False),
    ],
)
def test_a_value_is_of_the_kind_that_an_annotation_names(value, kind, right):
    assert fits(value, kind) is right
