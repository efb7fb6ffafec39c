"""Facts: declared by a class or found in a text, they are one object, and it alone is read."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import nearfield as nf
from nearfield import costs, kernels
from nearfield.engine.mesh.one_scale import Mesh
from support.compositions import COSTS, KERNELS

PARTS = [*COSTS, *(kernel for kernel in KERNELS if kernel is not None)]


class Own(costs.Cost):
    """One that declares a fact in each of the ways that there are."""

    domains = frozenset({"weights"})

    def __init__(self, power=3.0):
        self.power = power
        self.within_one = True

    @property
    def degree(self):
        return self.power

    def limit(self):
        return ()

    def value(self, p, q):
        return np.abs(p - q) ** self.power

    def derivative(self, p, q):
        return self.power * np.abs(q - p) ** (self.power - 1) * np.sign(q - p)


class Directed(kernels.Kernel):
    symmetric = False
    scale = 1.0

    def value(self, f):
        return 1 / (1 + f)

    def derivative(self, f):
        return -1 / (1 + f) ** 2


def test_a_class_declares_facts_by_their_names_and_the_rest_are_as_usual():
    assert Own().facts == costs.CostFacts(
        domains=frozenset({"weights"}), degree=3.0, limit=(), within_one=True
    )
    assert Directed().facts == kernels.KernelFacts(symmetric=False)


def test_a_parameter_for_each_point_is_no_longer_radial():
    assert kernels.Gaussian(2.0).facts.radial
    assert not kernels.Gaussian(np.array([1.0, 2.0])).facts.radial
    assert kernels.ImportanceWeighted(mass=np.array([1.0, 2.0])).facts.radial


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_they_are_found_once_and_cannot_be_changed(part):
    assert part.facts is part.facts
    with pytest.raises(FrozenInstanceError):
        part.facts.within_one = None


@pytest.mark.parametrize("part", [*PARTS, Own(), costs.Expression("p*log(p/q)")], ids=repr)
def test_they_are_no_part_of_what_a_part_is(part):
    twin = copy.copy(part)
    _ = part.facts
    assert part == twin
    assert hash(part) == hash(twin)
    assert repr(part) == repr(twin)
    assert pickle.loads(pickle.dumps(part)) == part  # although limits are functions, which no file holds


def test_a_copy_with_other_parameters_has_facts_of_its_own():
    method = nf.Method(costs.KL(), kernels.HeavyTailed(0.5))
    assert method.kernel.facts.tail == (0.5, 1.0)
    assert method.with_parameters(alpha=0.01).kernel.facts.tail == (0.01, 1.0)
    assert method.with_parameters(alpha=0.01).kernel.facts.underflows
    text = nf.Method(costs.KL(), kernels.Expression("exp(-b*f)", b=1.0))
    assert text.kernel.facts.tail == (0.0, 1.0)
    assert text.with_parameters(b=2.0).kernel.facts.tail == (0.0, 2.0)
    own = Own()
    assert own.facts.degree == 3.0
    assert own._with(power=4.0).facts.degree == 4.0


@pytest.mark.parametrize("part", [*PARTS, costs.Expression("p*log(p/q)")], ids=repr)
def test_they_may_still_be_read_of_the_part_itself(part):
    for name in {each.name for each in fields(part.facts)} - {"limit"}:  # which is a method
        assert getattr(part, name) == getattr(part.facts, name)
    with pytest.raises(AttributeError, match="no attribute 'cross_entropie'"):
        _ = part.cross_entropie


def test_a_declaration_that_fails_says_so_and_does_not_go_in_circles():
    class Wrong(Own):
        @property
        def degree(self):
            return self.powr

    with pytest.raises(AttributeError, match="no attribute 'powr'"):
        _ = Wrong().facts


def test_a_parameter_may_be_called_like_a_fact():
    cost = costs.Expression("degree*p*log(p/q)", degree=2.0)
    assert cost.degree == 2.0
    assert cost.facts.degree == 1.0


def test_a_kernel_that_is_needed_is_there_or_is_asked_for():
    assert nf.method("tsne").require_kernel() == kernels.Student()
    assert kernels.Student().require_tail() == (1.0, 1.0)
    for ask in (nf.method("mds").require_kernel, lambda: Mesh(nf.method("mds"), np.eye(3))):
        with pytest.raises(ValueError, match=r"has no kernel: give the method one$"):
            ask()
    with pytest.raises(ValueError, match="heavy-tailed"):
        kernels.UMAP(1.5, 0.9).require_tail()


def test_a_method_always_has_a_transform():
    assert nf.Method(costs.KL(), kernels.Student(), transform=None).transform == nf.transforms.Square()
    assert nf.Method(costs.Stress()).transform == nf.transforms.Identity()
