"""Methods as JSON: every composition comes back, and a file can make nothing but methods."""

import json

import numpy as np
import pytest

import nearfield as nf
from nearfield.algebra.records import PARTS
from nearfield.io.packing import is_unknown, pack, unpack
from support.compositions import defined


def again(method):
    """What a file gives back."""
    arrays = []
    return unpack(json.loads(json.dumps(pack(method, arrays, PARTS))), arrays, PARTS)


@pytest.mark.parametrize("name", nf.methods())
def test_every_method_of_the_catalogue_comes_back(name):
    assert again(nf.method(name)) == nf.method(name)


def test_every_composition_comes_back():
    for method in defined():
        assert again(method) == method


def test_expressions_come_back_with_all_that_was_given():
    cost = nf.costs.Expression("lam*q*log(q/p)", lam=0.3, floor=1e-9)
    method = nf.Method(cost, nf.kernels.Expression("exp(-b*f)", b=2), "point", scales=(1.0, 2.0))
    assert again(method) == method


def test_parameters_of_points_come_back():
    method = nf.Method(nf.costs.KL(), nf.kernels.Inhomogeneous(np.linspace(1, 2, 5)), "point")
    assert again(method) == method


class Own(nf.costs.KL):
    pass


def test_what_a_file_cannot_hold_is_named_and_refused():
    for part in (Own(), pack, object(), nf.Method(Own(), nf.kernels.Student())):
        packed = pack(part, [], PARTS)
        assert is_unknown(packed)
        with pytest.raises(ValueError, match="which a file cannot hold"):
            unpack(packed, [], PARTS)
    assert not is_unknown(pack(nf.method("tsne"), [], PARTS))


@pytest.mark.parametrize(
    "packed",
    [
        [],
        {},
        {"is": "os.system", "with": {}},
        {"is": "builtins.eval", "with": {"source": "1"}},
        {"is": ["Method"], "with": {}},
        {"is": "costs.named", "with": {"name": "kl"}},
        {"is": "costs.Expression", "with": {"written": "__import__('os')"}},
        {"is": "costs.KL", "with": {"lam": 3}},
        {"is": "costs.KL", "with": []},
        {"is": "Method", "with": {"cost": "kl"}},
        {"is": "Method", "with": {}},
        {"value": {"is": "Method"}},
    ],
)
def test_a_file_makes_nothing_but_parts(packed):
    with pytest.raises(ValueError, match=r"no part|cannot read|cannot be|needed|of one kind") as refusal:
        unpack(packed, [], PARTS)
    assert "\n" not in str(refusal.value)


def test_plain_values_as_they_were_written_at_first():
    cost = {"is": "costs.JensenShannon", "with": {"kappa": {"value": 0.3}}}
    assert unpack(cost, [], PARTS) == nf.costs.JensenShannon(0.3)
