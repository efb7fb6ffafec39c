"""A law over many cells names each that breaks it, and none sees what another one did."""

import pytest

from support.cells import every


def test_each_cell_that_fails_is_named():
    @every("n", [1, 2, 3, 4])
    def even(n):
        assert n % 2 == 0

    with pytest.raises(ExceptionGroup, match="2 of 4 cells fail: n: 1, n: 3") as failed:
        even()
    assert [type(each) for each in failed.value.exceptions] == [AssertionError, AssertionError]


def test_any_error_is_a_failure():
    @every("n", [1, 0])
    def inverse(n):
        assert 1 / n

    with pytest.raises(ExceptionGroup) as failed:
        inverse()
    assert isinstance(failed.value.exceptions[0], ZeroDivisionError)


def test_every_cell_has_the_same_random_numbers(random):
    found = {}

    @every("n", [1, 2, 3])
    def draw(n, random):
        found[n] = random.random()

    draw(random=random)
    assert len(found) == 3
    assert set(found.values()) == {random.random()}


def test_a_law_over_nothing_is_refused():
    with pytest.raises(ValueError, match="there is no n"):
        every("n", [])
