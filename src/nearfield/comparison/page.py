"""The report as one page that needs nothing else: no network, no scripts."""

from __future__ import annotations

import platform
from html import escape

import numpy as np

import nearfield
from nearfield.comparison import charts
from nearfield.comparison.drawing import LEVELS, MOST_DOTS, common_height, dots, pixels, scale_ends
from nearfield.comparison.figures import Figure
from nearfield.comparison.framing import far_points, told
from nearfield.comparison.result import Comparison, Outcome
from nearfield.comparison.style import sheet
from nearfield.comparison.verdicts import against_pca, here, in_short, number
from nearfield.comparison.words import character, summary
from nearfield.show.maps import column_name
from nearfield.show.palette import Classes, classes_or_numbers

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # no script, nothing from outside


def page(comparison: Comparison) -> str:
    """The whole page."""
    title = f"{number(len(comparison.made)).capitalize()} maps of {comparison.title}"
    if len(comparison.made) == 1:
        title = f"One map of {comparison.title}"
    parts = [
        _head(comparison, title),
        _pca_first(comparison),
        _maps(comparison),
        _quality(comparison),
        _curves(comparison),
        _origin(comparison),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{sheet(comparison.labels, len(comparison.outcomes))}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def fragment(comparison: Comparison) -> str:
    """The table alone, for notebooks, which have a style of their own."""
    return _table(comparison)


def _head(comparison: Comparison, title: str) -> str:
    judged = comparison.judged
    about = [] if judged is None else [f"{judged.n_points} points", f"{comparison.columns} columns"]
    if judged is not None and not judged.exact:
        about.append(
            f"quality seen from {judged.n_queries} points drawn at random, with ± one standard error"
        )
    parts = [f"<header><h1>{escape(title)}</h1>", f'<p class="soft">{escape(", ".join(about))}</p>']
    if comparison.interrupted:
        parts.append('<p class="note">Interrupted: methods that were not finished are missing.</p>')
    failed = [each.name for each in comparison.outcomes if each.status == "failed"]
    if failed:
        parts.append(f'<p class="note">Failed, and told of in its place: {escape(", ".join(failed))}.</p>')
    if short := in_short(comparison):
        parts.append(f'<p class="lead">{escape(" ".join(short))}</p>')
    parts.append(f"{_legend(comparison.labels)}</header>")
    return "\n".join(parts)


def _kind(comparison: Comparison, outcome: Outcome) -> str:
    """The class of a method's line and dot."""
    return "pca" if outcome.method is None else f"m{comparison.outcomes.index(outcome)}"


def _pca_first(comparison: Comparison) -> str:
    """The principal components against the others: their map, words and a chart."""
    pca = _pca(comparison)
    if pca is None:
        return ""
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in against_pca(comparison))
    return (
        '<section><h2>PCA against the others</h2><div class="beside">'
        f"{_card(comparison, pca)}<div>{paragraphs}{_trade(comparison)}</div></div></section>"
    )


def _pca(comparison: Comparison) -> Outcome | None:
    """The principal components, if there are others to set them against."""
    pca = next((each for each in comparison.made if each.method is None), None)
    return pca if len(comparison.made) > 1 else None


def _trade(comparison: Comparison) -> str:
    points = [
        (_kind(comparison, each), each.name, far, near)
        for each in comparison.made
        if (far := each.figure("spearman")) is not None and (near := each.figure("auc")) is not None
    ]
    if len(points) < 2:
        return ""
    chart = charts.trade(
        points,
        "The methods by how well they keep distances, to the right, and neighbourhoods, upwards.",
        "order of distances kept",
        "neighbourhoods of all sizes kept",
    )
    caption = "Further right, distances are kept better; further up, neighbourhoods."
    return f"<figure>{chart}<figcaption>{caption}</figcaption></figure>"


def _maps(comparison: Comparison) -> str:
    pca = _pca(comparison)
    base = "PCA" if pca else comparison.made[0].name if comparison.made else ""
    about = (
        f"All maps are turned, mirrored and scaled to lie on that of {base}, and not distorted."
        if base
        else ""
    )
    cards = "\n".join(_card(comparison, each) for each in comparison.outcomes if each is not pca)
    title = "The other maps" if pca else "The maps"
    return (
        f'<section><h2>{title}</h2><p class="soft">{escape(about)}</p>\n'
        f'<div class="maps">\n{cards}\n</div></section>'
    )


def _legend(labels: object) -> str:
    """What the colours mean, once for all maps."""
    if labels is None:
        return ""
    colours = classes_or_numbers(labels)

    def entry(k: int, text: str) -> str:
        dot = (
            f'<svg width="14" height="14" aria-hidden="true"><circle class="c{k}" cx="7" cy="7" r="5"/></svg>'
        )
        return f"<li>{dot}{escape(text)}</li>"

    if isinstance(colours, Classes):
        entries = [entry(k, name) for k, name in enumerate(colours.names)]
    else:
        low, high = scale_ends(colours)
        at = {0: low, LEVELS // 2: (low + high) / 2, LEVELS - 1: high}
        entries = [entry(k, f"{value:.4g}") for k, value in at.items()]
        if not np.isfinite(colours).all():
            entries.append(entry(LEVELS, "no label"))
    heading = column_name(labels) or ("" if isinstance(colours, Classes) else "label")
    entries[:0] = [f"<li><strong>{escape(heading)}</strong></li>"] if heading else []
    return f'<ul class="legend" aria-label="Colours of the points">{"".join(entries)}</ul>\n'


def _card(comparison: Comparison, each: Outcome) -> str:
    """A method: its map, what it is, and what it does."""
    about = escape(summary(each.name, each.method))
    composition = "" if each.method is None else f"<small>{escape(str(each.method))}</small>"
    lines = "<br>".join(line for line in (about, composition) if line)
    head = f'<h3>{escape(each.name)}</h3><p class="composition">{lines}</p>'
    if each.quality is None:
        text = f"{each.status}: {each.error}" if each.status == "failed" else each.error or each.status
        return f'<article class="card"><div class="missing"><p>{escape(text)}</p></div>{head}</article>'
    Y = comparison.aligned[each.name]
    text = f"Map of {each.quality.n_points} points by {each.name}"
    many = each.quality.n_points > MOST_DOTS
    labels = comparison.labels
    colours = None if labels is None else classes_or_numbers(labels)
    height = common_height(list(comparison.aligned.values()))
    picture = pixels(Y, labels, height, text) if many else dots(Y, colours, height, text)
    keeps, gives = character(each.method, each.quality.n_points, comparison.settings.get("perplexity"))
    words = (
        f"<p><strong>Preserves.</strong> {escape(keeps)}</p>"
        f"<p><strong>Gives up.</strong> {escape(gives)}</p>"
        f"<p><strong>Here.</strong> {escape(here(each, comparison))}</p>"
    )
    notes = "".join(f'<p class="note">Beware: {escape(note)}</p>' for note in each.notes)
    border = "".join(f'<p class="soft">{line}</p>' for line in (told(far_points(Y)),) if line)
    return f'<article class="card">{picture}{border}{head}{words}{notes}</article>'


def _quality(comparison: Comparison) -> str:
    judged = comparison.judged
    if judged is None:
        return ""
    meanings = "".join(
        f"<dt>{escape(column.title)}</dt><dd>{escape(column.meaning.format(k=judged.n_neighbors))}</dd>"
        for column in comparison.figures
    )
    beside = ""
    if judged.data_label_accuracy is not None:
        beside = f" In the data themselves, {100 * judged.data_label_accuracy:.1f} % of labels are recovered."
    return (
        '<section><h2>Quality and time</h2><p class="soft">★ marks the best of each column; what prints alike'
        f' shares it.{beside}</p>\n<div class="scroll" tabindex="0" role="region"'
        f' aria-label="Quality and time">{_table(comparison)}</div><dl>{meanings}</dl></section>'
    )


def _table(comparison: Comparison) -> str:
    columns, best = comparison.figures, comparison.best
    heads = "".join(f'<th scope="col">{escape(column.title)}{_hint(column)}</th>' for column in columns)
    rows = []
    for each in comparison.outcomes:
        name = f'<th scope="row">{escape(each.name)}</th>'
        if each.quality is None:
            told = escape(each.error or each.status)
            rows.append(f'<tr>{name}<td class="failed" colspan="{max(1, len(columns))}">{told}</td></tr>')
            continue
        cells = (_cell(each, column, each.name in best[column.name]) for column in columns)
        rows.append(f"<tr>{name}{''.join(cells)}</tr>")
    return (
        f'<table><thead><tr><th scope="col">Method</th>{heads}</tr></thead>\n'
        f"<tbody>\n{chr(10).join(rows)}\n</tbody></table>"
    )


def _hint(column: Figure) -> str:
    return "<small>less is better</small>" if column.lower else ""


def _cell(each: Outcome, column: Figure, best: bool) -> str:
    text = escape(column.text(each.figure(column.name)))
    assert each.quality is not None
    error = each.quality.errors.get(column.name)
    below = "" if error is None else f"<small>± {escape(column.text(error))}</small>"
    if not best:
        return f"<td>{text}{below}</td>"
    star = '<span class="star" aria-hidden="true">★</span> '
    return f'<td class="best">{star}<strong>{text}</strong><span class="hidden"> best</span>{below}</td>'


def _curves(comparison: Comparison) -> str:
    lines, entries = [], []
    for each in sorted(comparison.made, key=lambda each: -(each.figure("auc") or 0.0)):
        assert each.quality is not None
        shown = each.quality.to_dict()["rnx"]
        kind = _kind(comparison, each)
        lines.append((kind, np.array(shown["K"]), np.array(shown["value"])))
        sample = (
            f'<svg width="34" height="12" aria-hidden="true"><path class="line {kind}" d="M1 6H33"/></svg>'
        )
        entries.append(f"<li>{sample}{escape(each.name)}</li>")
    if not lines:
        return ""
    chart = charts.curves(lines, "R_NX over the size of the neighbourhood, a line for each method.")
    return (
        "<section><h2>Neighbourhoods of every size</h2><p>R_NX(K) is how much of the neighbourhoods of K"
        " points the map keeps beyond what chance would: 1 is all, 0 is what a random map has. On the left"
        " is fine detail, on the right the coarse arrangement.</p>"
        f"<figure>{chart}</figure>"
        f'<ul class="legend" aria-label="Lines, the best first">{"".join(entries)}</ul></section>'
    )


def _origin(comparison: Comparison) -> str:
    rows = [(each.name, f"{each.iterations} iterations; {each.plan}") for each in comparison.made]
    made = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows)
    given = ", ".join(
        f"{name} {value}"
        for name, value in comparison.settings.items()
        if value is not None and name != "methods"
    )
    return (
        f"<section><h2>How this was made</h2><pre><code>{escape(comparison.repeat)}</code></pre>"
        f'<p class="soft">{escape(given)}. nearfield {nearfield.__version__}, NumPy {np.__version__}, Python'
        f" {platform.python_version()}.</p><details><summary>Iterations and engines</summary>"
        f"<dl>{made}</dl></details></section>"
    )
