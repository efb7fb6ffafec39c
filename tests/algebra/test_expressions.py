"""Reading formulas: what is read is what was written, whatever else is refused, and nothing runs."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearfield as nf
from nearfield.algebra.expressions import Apply, Name, Number, from_symbolic, numeric, parse, slope, symbolic
from nearfield.algebra.expressions.symbolic import symbol
from support.hostile import FILE, HOSTILE

HERE = Path(__file__).parents[1]
NAMES = ("p", "q")


def trees(functions=("log", "log1p", "exp", "expm1", "sqrt", "abs", "max", "min"), powers=True):
    """Formulas in p and q, as the reader makes them."""
    leaves = st.one_of(
        st.sampled_from([Name("p"), Name("q")]),
        st.integers(0, 9).map(Number),
        st.floats(1e-3, 99).map(Number),
    )

    def larger(inside):
        kinds = [
            st.builds(Apply, st.sampled_from("+-*/"), st.tuples(inside, inside)),
            st.builds(Apply, st.just("neg"), st.tuples(inside)),
            *(st.builds(Apply, st.just(f), st.tuples(inside)) for f in functions if f not in ("max", "min")),
            *(
                st.builds(Apply, st.just(f), st.tuples(inside, inside))
                for f in functions
                if f in ("max", "min")
            ),
        ]
        if powers:
            exponents = st.sampled_from([Number(2), Number(3), Number(0.5), Apply("neg", (Number(1),))])
            kinds.append(st.builds(Apply, st.just("**"), st.tuples(inside, exponents)))
        return st.one_of(kinds)

    return st.recursive(leaves, larger, max_leaves=8)


def refusal(text):
    with pytest.raises(ValueError, match=r".") as caught:
        parse(text, NAMES)
    return str(caught.value)


# What is read -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("p + 2*q", 1.1),
        ("-p**2", -0.09),
        ("(-p)**2", 0.09),
        ("2**-p", 2**-0.3),
        ("2**3**2*p", 512 * 0.3),
        ("p - q - q", -0.5),
        ("p/q/q", 0.3 / 0.16),
        ("p/(q/q)", 0.3),
        ("+p - -q", 0.7),
        ("p*log(p/q)", 0.3 * np.log(0.75)),
        ("exp(-p) + expm1(q) + log1p(p)", np.exp(-0.3) + np.expm1(0.4) + np.log1p(0.3)),
        ("sqrt(p)*abs(p - q)", np.sqrt(0.3) * 0.1),
        ("max(p, q, 0.1) - min(p, q)", 0.1),
        ("pi*p + e", np.pi * 0.3 + np.e),
        ("1_000*p + .5 + 1e-3 + 0x10", 316.501),
        ("  p  ", 0.3),
    ],
)
def test_it_means_what_it_says(text, value):
    tree = parse(text, NAMES)
    assert float(numeric(tree, NAMES)(0.3, 0.4)) == pytest.approx(value, rel=1e-14)
    assert float(symbolic(tree).subs({symbol("p"): 0.3, symbol("q"): 0.4})) == pytest.approx(value, rel=1e-14)


def test_a_name_of_ones_own_goes_before_a_constant():
    assert parse("e*p", NAMES, ("e",)).names() == {"e", "p"}


@given(tree=trees())
def test_what_is_printed_is_read_again(tree):
    try:
        read = parse(str(tree), NAMES)
    except ValueError:  # a constant of it is undefined or too large
        return
    assert read == tree
    assert hash(read) == hash(tree)


@given(tree=trees(), p=st.floats(0.05, 0.95), q=st.floats(0.05, 0.95))
def test_float32_stays_float32_and_float64_is_more_exact(tree, p, q):
    function = numeric(tree, NAMES)
    with np.errstate(all="ignore"):
        single = function(np.array([p], np.float32), np.array([q], np.float32))
        double = function(np.array([p]), np.array([q]))
    assert single.dtype == np.float32
    assert double.dtype == np.float64
    assert single.shape == double.shape == (1,)


@given(tree=trees(functions=("log", "exp", "sqrt")), p=st.floats(0.1, 0.9), q=st.floats(0.1, 0.9))
def test_sympy_and_back_changes_no_value(tree, p, q):
    with np.errstate(all="ignore"):
        value = numeric(tree, NAMES)(np.array([p]), np.array([q]))[0]
        if not 1e-6 < abs(value) < 1e6:
            return  # undefined, or lost to cancellation
        again = numeric(from_symbolic(symbolic(tree)), NAMES)(np.array([p]), np.array([q]))[0]
    assert again == pytest.approx(value, rel=1e-6)


@given(tree=trees(functions=("log", "exp", "sqrt", "log1p", "expm1")), p=st.floats(0.1, 0.9))
def test_our_derivative_is_that_of_sympy(tree, p):
    q = np.array([0.2, 0.35, 0.8])
    with np.errstate(all="ignore"):
        mine = numeric(slope(tree, "q"), NAMES)(np.full(3, p), q)
        if not np.all(np.abs(mine) < 1e6):
            return
        theirs = numeric(from_symbolic(symbolic(tree).diff(symbol("q"))), NAMES)(np.full(3, p), q)
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "text", ["abs(p - q)**3", "max(p, q)**2", "min(p, 2*q, p*q)", "max(q, 0.1)*q", "p**q"]
)
def test_slopes_at_corners_are_those_of_differences(text, random):
    tree = parse(text, NAMES)
    p, q = random.uniform(0.15, 0.9, size=(2, 50))
    function, h = numeric(tree, NAMES), 1e-6
    numerical = (function(p, q + h) - function(p, q - h)) / (2 * h)
    np.testing.assert_allclose(numeric(slope(tree, "q"), NAMES)(p, q), numerical, rtol=1e-5, atol=1e-7)


# What is refused --------------------------------------------------------------------------------------------


def test_there_are_a_hundred_of_them():
    assert len(set(HOSTILE)) == len(HOSTILE) > 200


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_a_hostile_text_is_refused_in_one_line(text):
    message = refusal(text)
    assert message.isprintable()
    assert message.isascii()
    assert 10 < len(message) < 250
    assert message.startswith("cannot read ")


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_parts_refuse_it_alike(text):
    for make in (nf.costs.Expression, nf.kernels.Expression):
        with pytest.raises(ValueError, match=r"^cannot [^\n]*$"):
            make(text)


def test_nothing_of_it_runs(tmp_path):
    """Python itself reports whatever is executed, imported, opened or started."""
    code = """
import sys
from support.hostile import HOSTILE
from nearfield.algebra.expressions import parse
def read(text):
    try:
        parse(text, ("p", "q"))
    except ValueError:
        return
    print("accepted", ascii(text))
for text in ("p", "p.x", "p +", "(" * 5000): # so that whatever is imported on the way is there
    try: parse(text, ("p", "q"))
    except ValueError: pass
watching = False
def hook(event, arguments):
    if watching and event != "compile":  # which is how ast reads
        print(event, ascii(arguments))
sys.addaudithook(hook)
watching = True
for text in HOSTILE:
    read(text)
watching = False
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (HERE, Path(nf.__file__).parents[1])))},
    )
    assert done.stdout.split() == ["done"]
    assert not (tmp_path / FILE).exists()


@given(text=st.one_of(st.text(max_size=60), st.text("pq0123456789.+-*/() ,elogxsrt_", max_size=60)))
def test_any_text_is_read_or_refused_with_a_value_error(text):
    try:
        names = parse(text, NAMES).names()
    except ValueError as error:
        names, message = set(), str(error)
    else:
        message = ""
    assert names <= set(NAMES)
    assert message.isprintable()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("p ^ 2", "powers are written **"),
        ("p*logg(q)", "there are log, log1p"),
        ("p*x", "there are p, q"),
        ("log p", "no formula"),
        ("log*p", "needs brackets"),
        ("p.real", "the attribute '.real'"),
        ("max(p)", "two arguments or more"),
        ("p**1000", "a power beyond 64"),
        ("p" * 2000, "at most 1000"),
    ],
)
def test_the_line_says_what_is_wrong(text, hint):
    assert hint in refusal(text)


@pytest.mark.parametrize("name", ["log", "p", "1x", "a b", "_a", "", "\u03ba", "a.b", "__class__"])
def test_parameters_need_names_of_their_own(name):
    with pytest.raises(ValueError, match="name"):
        parse("p", NAMES, (name,))


def test_a_text_is_text():
    for thing in (3, None, b"p", ["p"]):
        with pytest.raises(TypeError, match="an expression is a text"):
            parse(thing, NAMES)


def test_reading_takes_no_sympy():
    code = (
        "import sys, nearfield as nf; from nearfield.algebra.expressions import parse\n"
        "parse('p*q', ('p', 'q'))\n"
        "nf.method('tsne'); nf.costs; nf.kernels; print('sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
