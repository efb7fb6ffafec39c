"""The pictures of the documentation, made by the library: `python docs/tools/generate.py --pictures`."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import nearfield as nf
from nearfield.comparison.alignment import align
from nearfield.io.datasets import digits
from nearfield.show.palette import COLOURS, Classes, classes_or_numbers

INK, FAINT, NIGHT = "#1A1A1A", "#D8D8D8", "#14161A"
matplotlib.rcParams["font.family"] = "DejaVu Sans"  # it comes with Matplotlib: the same letters everywhere


def draw_all(folder: Path) -> None:
    """Draw every picture."""
    for draw in (
        kernels,
        costs,
        wine,
        cities,
        perplexities,
        aligning,
        umap,
        spectrum,
        labels,
        points,
        digits_as_they_are,
    ):
        name = draw.__name__.partition("_")[0] + ".png"
        keep(draw(), folder / name)
        print(f"wrote {folder.name}/{name}")
    gallery(folder)


def gallery(folder: Path) -> None:
    """Run the code of docs/gallery.md, and keep the pictures that it saves."""
    page = (Path(__file__).parents[1] / "gallery.md").read_text(encoding="utf-8")
    code = "".join(re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL))
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        exec(compile(code, "gallery.md", "exec"), {})
        for path in sorted(Path().glob("*.png")):
            keep(Image.open(path).convert("RGB"), folder / path.name)
            print(f"wrote {folder.name}/{path.name}")


def keep(picture: Any, path: Path, colours: int = 192) -> None:
    """Save a figure or image with a palette of its own, which is a third of the size and looks the same."""
    if isinstance(picture, Figure):
        raw = io.BytesIO()
        picture.savefig(raw, dpi=150, facecolor="white")
        picture = Image.open(raw).convert("RGB")
    picture.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)


def panels(*titles: str, width: float = 4.0, height: float = 3.3) -> tuple[Figure, list[Any]]:
    """A row of empty axes with little ink."""
    figure = Figure(figsize=(width * len(titles), height), layout="constrained")
    row = [figure.add_subplot(1, len(titles), k + 1) for k in range(len(titles))]
    for ax, title in zip(row, titles, strict=True):
        ax.set_title(title, loc="left", fontsize=10.5, color=INK)
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(FAINT)
        ax.tick_params(which="both", color=FAINT, labelcolor="#606060", labelsize=8.5)
        ax.grid(color=FAINT, linewidth=0.4)
    return figure, row


def kernels() -> Figure:
    """The profiles w(d²), near and far."""
    shown = {
        "Gaussian()": nf.kernels.Gaussian(),
        "HeavyTailed(alpha=0.5)": nf.kernels.HeavyTailed(0.5),
        "Student(), the Cauchy kernel": nf.kernels.Student(),
        "Student(dof=5)": nf.kernels.Student(5.0),
        "HeavyTailed(alpha=2)": nf.kernels.HeavyTailed(2.0),
        "UMAP(a=1.58, b=0.9)": nf.kernels.UMAP(1.58, 0.9),
    }
    figure, (near, far) = panels(
        "near: the weight w of a pair at distance d", "far: the same, both logarithmic"
    )
    colours = [COLOURS[k] for k in (0, 5, 3, 2, 8, 1)]
    for (name, kernel), colour in zip(shown.items(), colours, strict=True):
        d = np.linspace(0, 4, 400)
        near.plot(d, kernel.value(d**2), color=colour, linewidth=1.8, label=name)
        d = np.geomspace(0.1, 100, 400)
        far.loglog(d, np.maximum(kernel.value(d**2), 1e-300), color=colour, linewidth=1.8)
    near.set(xlim=(0, 4), ylim=(0, 1.02), xlabel="d")
    far.set(xlim=(0.1, 100), ylim=(1e-6, 1.5), xlabel="d")
    near.legend(frameon=False, fontsize=8.5, labelcolor=INK)
    return figure


def costs() -> Figure:
    """What a pair costs as q, w or d leaves p, v or r.

    Terms that are linear in q cancel in the normalization, so each divergence is drawn less its tangent at
    q = p: what is left is what the map feels.
    """
    figure, (left, middle, right) = panels(
        "divergences: c(p, q), p = 1",
        "bare weights: c(v, w), v = 0.5",
        "distances: c(r, d), r = 1 if not said",
        width=3.8,
        height=4.1,
    )
    one = np.ones(400)
    q = np.geomspace(0.03, 10, 400)
    divergences = (
        nf.costs.KL(),
        nf.costs.ReverseKL(),
        nf.costs.NeRV(),
        nf.costs.JensenShannon(),
        nf.costs.ChiSquare(),
        nf.costs.Hellinger(),
        nf.costs.Square(),
    )
    for cost, colour in zip(divergences, COLOURS, strict=False):
        tangent = cost.value(one, one) + cost.derivative(one, one) * (q - 1)
        left.semilogx(q, cost.value(one, q) - tangent, color=colour, label=type(cost).__name__, linewidth=1.6)
    left.set(xlim=(0.03, 10), ylim=(0, 3), xlabel="q / p")
    w = np.linspace(0.005, 0.995, 400)
    weights = (
        nf.costs.GeneralizedKL(),
        nf.costs.GeneralizedReverseKL(),
        nf.costs.GeneralizedNeRV(),
        nf.costs.ElasticEmbedding(),
        nf.costs.LargeVis(0.1),
        nf.costs.CrossEntropy(),
    )
    for cost, colour in zip(weights, COLOURS, strict=False):
        value = cost.value(0.5 * one, w)
        middle.plot(w, value - value.min(), color=colour, label=type(cost).__name__, linewidth=1.6)
    middle.set(xlim=(0, 1), ylim=(0, 1), xlabel="w")
    d = np.linspace(0, 2.5, 400)
    for cost, colour in ((nf.costs.Stress(), COLOURS[0]), (nf.costs.SStress(), COLOURS[1])):
        right.plot(d, cost.value(one, d), color=colour, label=type(cost).__name__, linewidth=1.6)
    for r, style in ((0.5, "--"), (2.0, ":")):
        value = nf.costs.Sammon().value(r * one, d)
        right.plot(d, value, style, color=COLOURS[2], linewidth=1.6, label=f"Sammon, r = {r:g}")
    right.set(xlim=(0, 2.5), ylim=(0, 2), xlabel="d")
    for ax in (left, middle, right):
        ax.legend(
            frameon=False,
            fontsize=8,
            labelcolor=INK,
            ncols=2,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.17),
        )
    return figure


def wine() -> Figure:
    """t-SNE of 178 wines as the tutorial makes it, before and after the columns are standardized."""
    data = load_wine()
    labels = [f"grower {'ABC'[kind]}" for kind in data.target]
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    for k, (X, title) in enumerate(
        ((data.data, "as it is"), (StandardScaler().fit_transform(data.data), "standardized"))
    ):
        run = nf.Run(X, "tsne", random_state=0)
        run.step(750)
        ax = figure.add_subplot(1, 2, k + 1)
        nf.show.map(lying(run.Y), labels, ax=ax, title=title, legend=k == 1, names=False)
    return figure


def perplexities() -> Figure:
    """The digits at three perplexities and at all scales, and the neighbours that each map keeps."""
    table = digits()
    shown: dict[str, Any] = {
        "t-SNE, perplexity 5": ("tsne", 5),
        "t-SNE, perplexity 30": ("tsne", 30),
        "t-SNE, perplexity 500": ("tsne", 500),
        "t-SNE, all scales": ("mstsne", None),
        "SNE, all scales in data and map": ("msasne", None),
    }
    figure = Figure(figsize=(12, 7.4), layout="constrained")
    curves = figure.add_subplot(2, 3, 6)
    for k, (title, (method, perplexity)) in enumerate(shown.items()):
        Y = nf.Embedder(method, perplexity=perplexity, random_state=0).fit_transform(table.X)
        judged = nf.quality(table.X, Y)
        ax = figure.add_subplot(2, 3, k + 1)
        nf.show.map(lying(Y), table.labels, ax=ax, title=title, legend=False, names=True)
        K = np.arange(1, len(judged.rnx) + 1)
        label = f"{title}: {judged.auc:.3f}"
        curves.semilogx(K, judged.rnx, color=COLOURS[k], linewidth=1.8, label=label)
    curves.set(xlim=(1, len(table.X)), ylim=(0, None), xlabel="neighbours K")
    curves.set_title("R_NX, and the area under it", loc="left", fontsize=10.5, color=INK)
    curves.spines[["top", "right"]].set_visible(False)
    curves.grid(color=FAINT, linewidth=0.4)
    curves.legend(frameon=False, fontsize=8, labelcolor=INK, loc="lower center")
    return figure


def aligning() -> Figure:
    """Two maps of the digits that share a third of their rows, separate and made together."""
    table = digits()
    ids = [np.arange(0, 600), np.arange(400, 1000)]
    figure, row = panels("separate maps, turned onto each other", "nf.align", width=5.0, height=4.6)
    for ax, strength in zip(row, (0.0, 0.25), strict=True):
        made = nf.align([table.X[each] for each in ids], ids, strength=strength, random_state=0)
        first, second = (each.Y for each in made.maps)
        for a, b in zip(first[400:], second[:200], strict=True):  # the places of what is shared
            ax.plot(*np.transpose([a, b]), color="#808080", linewidth=0.6, zorder=1)
        for Y, own in ((first, ids[0]), (second, ids[1])):
            colours = [COLOURS[int(label)] for label in np.asarray(table.labels)[own]]
            ax.scatter(*Y.T, s=5, c=colours, linewidths=0, zorder=2)
        ax.set_aspect("equal")
        ax.set(xticks=[], yticks=[], xlabel=f"drift {made.drift[0, 1]:.2f} of the radius")
        ax.grid(visible=False)
    return figure


def umap() -> Figure:
    """The digits by the published cost, by nf.UMAP and by umap-learn, from the start of nf.UMAP."""
    table = digits()
    theirs = np.load(Path(__file__).parent / "umap_digits.npz")["Y"]  # see benchmarks/studies/umap.py
    ours = nf.UMAP(random_state=0).fit_transform(table.X)
    published = nf.Embedder("umap", random_state=0).fit_transform(table.X)
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    shown = {"umap: the published cost": lying(published), "nf.UMAP": ours, "umap-learn": theirs}
    for k, (title, Y) in enumerate(shown.items()):
        ax = figure.add_subplot(1, 3, k + 1)
        nf.show.map(Y - Y.mean(axis=0), table.labels, ax=ax, title=title, legend=False, names=True)
    return figure


def spectrum() -> Figure:
    """The digits under six attractions."""
    table = digits()
    return nf.spectrum(table.X, random_state=0).show(table.labels).figure


def labels() -> Figure:
    """Noisy digits of which every second has a label, without and with a say of the labels."""
    table, random = digits(), np.random.default_rng(0)
    X = table.X + 6 * random.normal(size=table.X.shape)
    y = np.asarray(table.labels).astype(int)
    given = np.where(np.arange(len(y)) % 2, -1, y)
    strengths = (0.0, 0.5, 0.9)
    figure, row = panels(*(f"supervision {each:g}" for each in strengths), width=4.2, height=4.2)
    maps = [nf.TSNE(supervision=each, random_state=0).fit_transform(X, given) for each in strengths]
    for k, (ax, each, Y) in enumerate(zip(row, strengths, maps, strict=True)):
        ax.grid(visible=False)
        style = {"legend": k == 2, "names": False, "size": 5}
        nf.show.map(align(Y, maps[0]), y, ax=ax, title=f"supervision {each:g}", **style)
    return figure


def points() -> Figure:
    """The digits in the colours of what is known of each point."""
    table = digits()
    model = nf.TSNE(random_state=0).fit(table.X)
    found = nf.diagnose(model)
    shown = ("novelty", "dimension", "rnx")
    figure, row = panels(*shown, width=4.6, height=4.2)
    for ax, name in zip(row, shown, strict=True):
        ax.grid(visible=False)
        nf.show.map(model, found[name], ax=ax, title=name, legend_title=name)
    return figure


def cities() -> Image.Image:
    """The picture that examples/distances.py writes."""
    example = Path(__file__).parents[2] / "examples" / "distances.py"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        runpy.run_path(str(example))
        picture = Image.open("distances.png").convert("RGB")
    return picture.resize((picture.width * 2 // 3, picture.height * 2 // 3), Image.Resampling.LANCZOS)


def digits_as_they_are(width: int = 1600, glyph: int = 22) -> Image.Image:
    """t-SNE of the 1797 digits, each point drawn as the digit it is, in the colour of its class."""
    table = digits()
    classes = classes_or_numbers(table.labels, dark=True)
    assert isinstance(classes, Classes)
    colours = np.array([to_rgb(colour) for colour in classes.colours])[classes.codes]
    Y = lying(nf.TSNE(random_state=0).fit_transform(table.X))
    margin = 2 * glyph
    scale = (width - 2 * margin) / np.ptp(Y[:, 0])
    height = int(np.ptp(Y[:, 1]) * scale) + 2 * margin
    canvas = np.empty((height, width, 3))
    canvas[:] = to_rgb(NIGHT)
    corner = np.rint(margin + (Y - Y.min(axis=0)) * scale - glyph / 2).astype(int)
    for (x, y), row, colour in zip(corner, table.X, colours, strict=True):
        small = Image.fromarray(np.uint8(row.reshape(8, 8) / 16 * 255))
        ink = np.asarray(small.resize((glyph, glyph), Image.Resampling.BICUBIC), dtype=float)[..., None] / 255
        patch = canvas[y : y + glyph, x : x + glyph]
        np.maximum(patch, canvas[0, 0] * (1 - ink) + ink * colour, out=patch)  # light adds up, in any order
    return Image.fromarray(np.uint8(np.clip(canvas, 0, 1) * 255))


def lying(Y: np.ndarray) -> np.ndarray:
    """The map turned so that it is as wide and as low as it can be: its distances stay."""
    turns = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in np.linspace(0, np.pi, 181)]
    return Y @ min(turns, key=lambda turn: np.ptp((Y @ turn)[:, 1]) / np.ptp((Y @ turn)[:, 0]))
