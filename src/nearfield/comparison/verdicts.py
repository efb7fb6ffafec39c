"""What the figures say, in words: each method here, and the principal components against the others."""

from __future__ import annotations

from collections.abc import Sequence

from nearfield.comparison.figures import FIGURES
from nearfield.comparison.result import Comparison, Outcome

_BY_NAME = {figure.name: figure for figure in FIGURES}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def listed(words: Sequence[str]) -> str:
    """Words with commas and a last "and".

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def number(count: int) -> str:
    """A count as one writes it.

    >>> number(3), number(12)
    ('three', '12')
    """
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def said(outcome: Outcome, name: str) -> str:
    """A figure of a method as the table prints it."""
    return _BY_NAME[name].text(outcome.figure(name))


def in_short(comparison: Comparison) -> list[str]:
    """Who keeps neighbours best, who distances, who is quickest: a sentence each."""
    best = comparison.best
    told = (
        ("auc", "{who} {verb} neighbourhoods of all sizes best ({value} of 1).", "keeps", "keep"),
        ("spearman", "{who} {verb} the order of distances best (correlation {value}).", "keeps", "keep"),
        ("seconds", "{who} {verb} quickest ({value}).", "is", "are"),
    )
    sentences = []
    for name, sentence, one, more in told:
        if best.get(name):
            value = said(comparison[best[name][0]], name)
            verb = one if len(best[name]) == 1 else more
            sentences.append(sentence.format(who=listed(best[name]), verb=verb, value=value))
    return sentences


def here(outcome: Outcome, comparison: Comparison) -> str:
    """What the figures say of one method on these data."""
    assert outcome.quality is not None
    k = outcome.quality.n_neighbors
    kept = outcome.figure("neighbours_kept") or 0.0
    text = f"It keeps {said(outcome, 'neighbours_kept')} of the {k} nearest neighbours"
    pca = _pca(comparison)
    if pca is not None and pca is not outcome:
        text += _as_many(kept, pca.figure("neighbours_kept") or 0.0)
    if outcome.figure("spearman") is not None:
        text += f", and its distances correlate {said(outcome, 'spearman')} with those of the data"
        if pca is not None and pca is not outcome and pca.figure("spearman") is not None:
            text += f" (PCA: {said(pca, 'spearman')})"
    text += "."
    if outcome.variance is not None:
        text += f" It shows {100 * outcome.variance:.1f} % of the variance."
    first = [_BY_NAME[name].title.lower() for name, who in comparison.best.items() if outcome.name in who]
    return f"{text} Best at: {listed(first)}." if first else text


def against_pca(comparison: Comparison) -> list[str]:
    """The principal components against the others, in two paragraphs; none if there is nothing to say."""
    pca = _pca(comparison)
    others = [each for each in comparison.made if each is not pca]
    if pca is None or not others:
        return []
    assert pca.quality is not None
    k = pca.quality.n_neighbors
    near = f"PCA keeps {said(pca, 'neighbours_kept')} of the {k} nearest neighbours"
    near += _contest(pca, others, "neighbours_kept", "keeps", "keep")
    far = f"Its distances correlate {said(pca, 'spearman')} with those of the data"
    far += _contest(pca, others, "spearman", "reaches", "reach")
    quick = min(others, key=lambda each: each.seconds)
    time = f"It took {said(pca, 'seconds')}; the quickest other, {quick.name}, {said(quick, 'seconds')}."
    return [f"{near} {far} {time}", _advice(pca, others)]


def _pca(comparison: Comparison) -> Outcome | None:
    return next((each for each in comparison.made if each.method is None), None)


def _as_many(kept: float, by_pca: float) -> str:
    if by_pca <= 0:
        return ""
    times = f"{kept / by_pca:.1f}"
    return ", about as many as PCA" if times == "1.0" else f", {times} times as many as PCA"


def _contest(pca: Outcome, others: Sequence[Outcome], name: str, one: str, more: str) -> str:
    """How many of the others have a larger figure, and which has the largest."""
    figures = {each.name: each.figure(name) for each in others}
    known = {who: value for who, value in figures.items() if value is not None}
    own = pca.figure(name)
    if own is None or not known:
        return "."
    better = [who for who, value in known.items() if value > own]
    if not better:
        return f"; no other method {one} more."
    top = max(known, key=lambda who: known[who])
    value = _BY_NAME[name].text(known[top]) + (
        _as_many(known[top], own) if _BY_NAME[name].unit == " %" else ""
    )
    if len(known) == 1:
        return f"; {top} {one} more: {value}."
    verb = one if len(better) == 1 else more
    who = f"{number(len(better))} of the" if len(better) < len(known) else "all"
    return f"; {who} {number(len(known))} others {verb} more, {top} the most: {value}."


def _advice(pca: Outcome, others: Sequence[Outcome]) -> str:
    """Which to look at, by what was found."""
    nearer = max(others, key=lambda each: each.figure("auc") or 0.0)
    if (nearer.figure("auc") or 0.0) <= (pca.figure("auc") or 0.0):
        return (
            "On these data no other map keeps neighbourhoods better than PCA: two directions say nearly all,"
            " and the plain projection, whose axes can be read, is the one to use."
        )
    return (
        "Use PCA to see the overall shape, to name the axes, and to check what another map claims. To see"
        f" which points belong together, look at {nearer.name}, which keeps neighbourhoods of all sizes best."
    )
