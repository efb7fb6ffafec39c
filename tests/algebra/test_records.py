"""Methods as JSON: every composition comes back, and a file can make nothing but methods."""

import json

import numpy as np
import pytest

import nearfield as nf
from nearfield.algebra.records import from_record, record
from support.compositions import defined


@pytest.mark.parametrize("name", nf.methods())
def test_every_method_of_the_catalogue_comes_back(name):
    assert from_record(json.loads(json.dumps(record(nf.method(name))))) == nf.method(name)


def test_every_composition_comes_back():
    for method in defined():
        assert from_record(json.loads(json.dumps(record(method)))) == method


def test_expressions_come_back_with_all_that_was_given():
    cost = nf.costs.Expression("lam*q*log(q/p)", lam=0.3, floor=1e-9)
    method = nf.Method(cost, nf.kernels.Expression("exp(-b*f)", b=2), "point", scales=(1.0, 2.0))
    assert from_record(json.loads(json.dumps(record(method)))) == method


class Own(nf.costs.KL):
    pass


def test_what_json_cannot_hold_has_no_record():
    for part in (Own(), nf.kernels.Inhomogeneous(np.ones(3)), np.ones(3), record, object()):
        assert record(part) is None
    assert record(nf.Method(Own(), nf.kernels.Student())) is None


@pytest.mark.parametrize(
    "recorded",
    [
        None,
        3,
        [],
        {},
        {"is": "os.system", "with": {}},
        {"is": "builtins.eval", "with": {"source": {"value": "1"}}},
        {"is": "costs.named", "with": {"name": {"value": "kl"}}},
        {"is": "costs.Expression", "with": {"written": {"value": "__import__('os')"}}},
        {"is": "costs.KL", "with": {"lam": 3}},
        {"is": "costs.KL", "with": {"lam": {"value": 3}}},
        {"is": "Method", "with": {"cost": {"value": "kl"}}},
        {"value": {"is": "Method"}},
    ],
)
def test_a_record_makes_nothing_but_parts(recorded):
    with pytest.raises(ValueError, match=r"no record|no part|cannot read"):
        from_record(recorded)
