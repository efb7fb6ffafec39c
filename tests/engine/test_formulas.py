"""The gradients as they are printed in papers, written out plainly, against the chain; and misprints of them.

Every sum is over ordered pairs and leaves out i = j.
"""

import numpy as np
import pytest

import nearfield as nf
from support.compositions import target_for

N = 12


def pieces(Y):
    """The differences y_i - y_j and squared distances, with the diagonal far away in both directions."""
    gap = Y[:, None] - Y[None]
    return gap, (gap**2).sum(-1)


def normalized(w, by):
    np.fill_diagonal(w, 0.0)
    return w / (w.sum() if by == "pair" else w.sum(axis=1, keepdims=True))


def pull(coefficients, gap):
    """Σ_j c_ij (y_i - y_j)."""
    c = coefficients.copy()
    np.fill_diagonal(c, 0.0)
    return np.einsum("ij,ijc->ic", c, gap)


def gaussian(f, beta):
    return np.exp(-beta * f)


def asne(p, gap, f, beta):
    q = normalized(gaussian(f, beta), "point")
    return 2 * beta * pull(p - q + (p - q).T, gap)


def ssne(p, gap, f, beta):
    q = normalized(gaussian(f, beta), "pair")
    return 4 * beta * pull(p - q, gap)


def tsne(p, gap, f):
    w = 1 / (1 + f)
    return 4 * pull((p - normalized(w.copy(), "pair")) * w, gap)


def tasne(p, gap, f):
    w = 1 / (1 + f)
    q = normalized(w.copy(), "point")
    return 2 * pull((p - q + (p - q).T) * w, gap)


def hssne(p, gap, f, alpha, beta):
    w = (1 + alpha * beta * f) ** (-1 / alpha)
    return 4 * beta * pull((p - normalized(w.copy(), "pair")) * w**alpha, gap)


def wtsne(p, gap, f):
    m = p.sum(axis=1)
    q = normalized(m[:, None] * m / (1 + f), "pair")
    return 4 * pull((p - q) / (1 + f), gap)


def wssne(p, gap, f):
    m = p.sum(axis=1)
    q = normalized(m[:, None] * m * np.exp(-f), "pair")
    return 4 * pull(p - q, gap)


def log_ratio(a, b):
    return np.log(np.where(a > 0, a, 1) / np.where(b > 0, b, 1))


def nerv(p, gap, f, lam, beta, by="point", w=None):
    q = normalized(gaussian(f, beta) if w is None else w.copy(), by)
    floored = np.maximum(p, 1e-16)
    reverse = q * log_ratio(q, floored)
    total = reverse.sum(axis=1, keepdims=True) if by == "point" else reverse.sum()
    k = lam * (p - q) + (1 - lam) * q * (log_ratio(floored, q) + total)
    k *= beta if w is None else w
    return 2 * pull(k + k.T, gap)


def jse(p, gap, f, kappa, beta, by="point", w=None):
    q = normalized(gaussian(f, beta) if w is None else w.copy(), by)
    z = kappa * p + (1 - kappa) * q
    to_z = q * log_ratio(q, z)
    total = to_z.sum(axis=1, keepdims=True) if by == "point" else to_z.sum()
    k = (q / kappa) * (log_ratio(z, q) + total)
    k *= beta if w is None else w
    return 2 * pull(k + k.T, gap)


def inverse(x):
    return np.divide(1, x, out=np.zeros_like(x), where=x > 0)


CLOSED = {
    "asne": (nf.method("asne", beta=0.8), lambda p, gap, f: asne(p, gap, f, 0.8)),
    "ssne": (nf.method("ssne", beta=1.3), lambda p, gap, f: ssne(p, gap, f, 1.3)),
    "tsne": (nf.method("tsne"), tsne),
    "tasne": (nf.method("tasne"), tasne),
    "hssne": (nf.method("hssne", alpha=0.4, beta=1.5), lambda p, gap, f: hssne(p, gap, f, 0.4, 1.5)),
    "wtsne": (nf.method("wtsne"), wtsne),
    "wssne": (nf.method("wssne"), wssne),
    "nerv": (nf.method("nerv", lam=0.3, beta=0.7), lambda p, gap, f: nerv(p, gap, f, 0.3, 0.7)),
    "snerv": (nf.method("snerv", lam=0.3), lambda p, gap, f: nerv(p, gap, f, 0.3, 1.0, "pair")),
    "tnerv": (
        nf.method("tnerv", lam=0.3),
        lambda p, gap, f: nerv(p, gap, f, 0.3, 1.0, "pair", 1 / (1 + f)),
    ),
    "jse": (nf.method("jse", kappa=0.3, beta=0.7), lambda p, gap, f: jse(p, gap, f, 0.3, 0.7)),
    "sjse": (nf.method("sjse", kappa=0.3), lambda p, gap, f: jse(p, gap, f, 0.3, 1.0, "pair")),
    "tjse": (nf.method("tjse", kappa=0.3), lambda p, gap, f: jse(p, gap, f, 0.3, 1.0, "pair", 1 / (1 + f))),
    "gkl": (nf.method("gkl"), lambda v, gap, f: 4 * pull(v - np.exp(-f), gap)),
    "mds": (nf.method("mds"), lambda r, gap, f: -4 * pull((r - np.sqrt(f)) * inverse(np.sqrt(f)), gap)),
    "sstress": (nf.method("sstress"), lambda r, gap, f: -8 * pull(r**2 - f, gap)),
    "sammon": (
        nf.method("sammon"),
        lambda r, gap, f: -4 / r.sum() * pull((r - np.sqrt(f)) * inverse(r) * inverse(np.sqrt(f)), gap),
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_printed_closed_forms_are_what_the_chain_gives(name, random):
    method, formula = CLOSED[name]
    target, Y = target_for(method, N, random), random.normal(size=(N, 2))
    _, gradient = method.value_and_gradient(Y, target)
    np.testing.assert_allclose(formula(target, *pieces(Y)), gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("nerv", {("lam", 1.0): nf.method("asne"), ("lam", 0.0): nf.method("rasne")}),
        ("snerv", {("lam", 1.0): nf.method("ssne"), ("lam", 0.0): nf.method("rssne")}),
        ("tnerv", {("lam", 1.0): nf.method("tsne"), ("lam", 0.0): nf.method("rtsne")}),
        ("jse", {("kappa", 0.0): nf.method("asne"), ("kappa", 1.0): nf.method("rasne")}),
        ("sjse", {("kappa", 0.0): nf.method("ssne"), ("kappa", 1.0): nf.method("rssne")}),
        ("tjse", {("kappa", 0.0): nf.method("tsne"), ("kappa", 1.0): nf.method("rtsne")}),
        ("unerv", {("lam", 1.0): nf.method("gkl")}),
        ("ujse", {("kappa", 0.0): nf.method("gkl")}),
        ("hssne", {("alpha", 0.0): nf.method("ssne"), ("alpha", 1.0): nf.method("tsne")}),
        ("tsne", {("dof", np.inf): nf.method("ssne", beta=0.5)}),
        ("tasne", {("dof", np.inf): nf.method("asne", beta=0.5)}),
        ("absne", {("b", 0.0): nf.method("tsne"), ("a", 0.0): nf.method("rtsne")}),
    ],
)
def test_limits_are_the_limiting_method(name, ends, random):
    for (parameter, value), limit in ends.items():
        method = nf.method(name, **{parameter: value})
        target, Y = target_for(method, N, random), random.normal(size=(N, 2))
        (a, g), (b, h) = method.value_and_gradient(Y, target), limit.value_and_gradient(Y, target)
        # A divergence that is also proper for weights adds Σ (q - p), which is rounding here.
        assert a == pytest.approx(b, rel=1e-11, abs=1e-13)
        np.testing.assert_allclose(g, h, rtol=1e-9, atol=1e-12 * np.abs(h).max())


class TestMisprints:
    """Formulas that are printed wrongly in the sources: the printed form must fail where ours passes."""

    def disagrees(self, printed, gradient, by=0.01):
        return np.linalg.norm(printed - gradient) / np.linalg.norm(gradient) > by

    @pytest.mark.parametrize("name", ["ssne", "tsne", "sjse"])
    def test_the_bracket_has_a_minus_inside_and_none_outside(self, name, random):
        method = nf.method(name)
        p, Y = target_for(method, N, random), random.normal(size=(N, 2))
        gap, f = pieces(Y)
        w, dw = method.kernel.value(f), method.kernel.derivative(f)
        q = normalized(w.copy(), "pair")
        S = w.sum() - N
        np.fill_diagonal(q, 1.0)
        G = method.cost.derivative(p, q)
        np.fill_diagonal(G, 0.0)
        total = (G * q).sum()
        _, gradient = method.value_and_gradient(Y, p)
        right, printed = (G - total) * dw / S, -(G + total) * dw / S
        np.testing.assert_allclose(2 * pull(right + right.T, gap), gradient, rtol=1e-9, atol=1e-13)
        assert self.disagrees(2 * pull(printed + printed.T, gap), gradient, by=1.0)

    def test_distance_gradients_point_along_y_i_minus_y_j(self, random):
        for name, weight in (("mds", lambda r: np.ones_like(r)), ("sammon", inverse)):
            method = nf.method(name)
            R, Y = target_for(method, N, random), random.normal(size=(N, 2))
            _, f = pieces(Y)
            d = np.sqrt(f)
            printed = -4 * np.sum((R - d) * weight(R) * inverse(d), axis=1, keepdims=True)
            assert self.disagrees(np.repeat(printed, 2, axis=1), method.value_and_gradient(Y, R)[1])

    def test_sammons_constant_is_one_over_the_sum_of_distances_and_scales_the_gradient(self, random):
        method = nf.method("sammon")
        R, Y = target_for(method, N, random), random.normal(size=(N, 2))
        gap, f = pieces(Y)
        bare = np.where(R > 0, (R - np.sqrt(f)) ** 2 * inverse(R), 0).sum()
        value, gradient = method.value_and_gradient(Y, R)
        assert value == pytest.approx(bare / R.sum())
        assert value != pytest.approx(bare / inverse(R).sum())
        unscaled = -4 * pull((R - np.sqrt(f)) * inverse(R) * inverse(np.sqrt(f)), gap)
        assert self.disagrees(unscaled, gradient)

    def test_doubling_by_symmetry_needs_symmetric_distances(self, random):
        """With r_ij ≠ r_ji the two halves of a distance gradient differ, and doubling one is wrong."""
        method, Y = nf.method("mds"), random.normal(size=(N, 2))
        R = target_for(method, N, random) * random.uniform(0.5, 1.5, size=(N, N))
        gap, f = pieces(Y)
        half = -2 * (R - np.sqrt(f)) * inverse(np.sqrt(f))
        _, gradient = method.value_and_gradient(Y, R)
        np.testing.assert_allclose(pull(half + half.T, gap), gradient, rtol=1e-9, atol=1e-12)
        assert self.disagrees(2 * pull(half, gap), gradient)

    def test_in_the_bracket_of_a_scale_the_sum_is_over_q_of_that_scale(self, random):
        method = nf.Method(nf.costs.KL(), nf.kernels.Gaussian(), "point", scales=(0.3, 3.0))
        p, Y = target_for(method, N, random), random.normal(size=(N, 2))
        gap, f = pieces(Y)
        Q = [normalized(gaussian(f, beta), "point") for beta in method.scales]
        mean = np.mean(Q, axis=0)
        G = np.where(p > 0, -p * inverse(mean), 0)

        def gradient(sums):
            total = 0
            for q, beta in zip(Q, method.scales, strict=True):
                k = (G - (G * sums(q)).sum(axis=1, keepdims=True)) * -beta * q
                total = total + 2 * pull(k + k.T, gap) / len(Q)
            return total

        _, right = method.value_and_gradient(Y, p)
        np.testing.assert_allclose(gradient(lambda q: q), right, rtol=1e-9, atol=1e-12)
        assert self.disagrees(gradient(lambda q: mean), right)

    def test_the_cost_of_sne_has_the_factor_p(self, random):
        method = nf.method("asne")
        p, Y = target_for(method, N, random), random.normal(size=(N, 2))
        q = normalized(gaussian(pieces(Y)[1], 1.0), "point")
        value, _ = method.value_and_gradient(Y, p)
        assert value == pytest.approx((p * log_ratio(p, q)).sum())
        assert value != pytest.approx(np.where(p > 0, log_ratio(p, q), 0).sum())

    def test_the_repulsion_of_sne_has_the_sign_that_pushes_apart(self, random):
        """The derivative of Σ log Z is -2 Σ (q_j|i + q_i|j)(y_i - y_j); printed are +, and q_j|i - q_i|j."""
        method = nf.method("asne")
        p, Y = target_for(method, N, random), random.normal(size=(N, 2))
        gap, f = pieces(Y)
        q = normalized(gaussian(f, 1.0), "point")
        attraction = 2 * pull(p + p.T, gap)
        _, gradient = method.value_and_gradient(Y, p)
        np.testing.assert_allclose(attraction - 2 * pull(q + q.T, gap), gradient, rtol=1e-9, atol=1e-12)
        assert self.disagrees(attraction + 2 * pull(q - q.T, gap), gradient)

    def test_the_denominator_of_tsne_is_a_sum_over_all_pairs(self, random):
        """Printed is the same y_i - y_j in every term of the sum: N (N-1) w_ij, which makes q constant."""
        method = nf.method("tsne")
        p, Y = target_for(method, N, random), random.normal(size=(N, 2))
        gap, f = pieces(Y)
        w = 1 / (1 + f)
        printed = 4 * pull((p - 1 / (N * (N - 1))) * w, gap)
        assert self.disagrees(printed, method.value_and_gradient(Y, p)[1])

    def test_what_is_first_called_tsne_is_tasne(self, random):
        tasne, tsne = nf.method("tasne"), nf.method("tsne")
        p, Y = target_for(tasne, N, random), random.normal(size=(N, 2))
        q = normalized(1 / (1 + pieces(Y)[1]), "point")
        value, _ = tasne.value_and_gradient(Y, p)
        assert value == pytest.approx((p * log_ratio(p, q)).sum())
        joint = (p + p.T) / (2 * N)
        assert value / N != pytest.approx(tsne.value_and_gradient(Y, joint)[0])
