"""The small data sets that come with scikit-learn, as tables: nothing is downloaded."""

from __future__ import annotations

from nearfield.io.tables import Table


def digits() -> Table:
    """Return 1797 handwritten digits, 8 × 8 grey values each, labelled 0 to 9.

    Examples
    --------
    >>> from nearfield.io.datasets import digits
    >>> digits().X.shape
    (1797, 64)
    """
    from sklearn.datasets import load_digits

    data = load_digits()
    return Table(data.data, tuple(data.feature_names), labels=data.target)


def iris() -> Table:
    """Return 150 iris flowers, four lengths in centimetres each, labelled with the name of the species.

    Examples
    --------
    >>> from nearfield.io.datasets import iris
    >>> flowers = iris()
    >>> flowers.X.shape, str(flowers.labels[0])
    ((150, 4), 'setosa')
    """
    from sklearn.datasets import load_iris

    data = load_iris()
    return Table(data.data, tuple(data.feature_names), labels=data.target_names[data.target])
