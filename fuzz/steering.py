"""Random sessions: commands in any order, right and wrong; then saved, reopened, and done again."""

from __future__ import annotations

from random import Random

from fuzz.data import points

METHODS = (
    "tsne",
    "tsne",
    "tsne",
    "asne",
    "jse",
    "mds",
    "dhssne",
    "mstsne",
    "umap",
    "sstress",
    "sammon",
    "ee",
    "umap_sampled",
)
PENALTIES = (
    "'student'",
    "'gaussian'",
    "'l2'",
    "nf.penalties.Student(strength=0.5)",
    "nf.penalties.L2()",
    "'no'",
)


def case(dice: Random) -> list[str]:
    """A session, after which three runs go on alike."""
    n = dice.choice((4, 6, 12, 30, 60))
    lines = points(dice, n, spoils=1)
    lines += ["given = {}"]
    if dice.random() < 0.2:
        lines.append(f'given["n_components"] = {dice.choice((1, 3))}')
    if dice.random() < 0.2:
        lines.append(f'given["engine"] = {dice.choice(("mesh", "exact", "pairs"))!r}')
    if dice.random() < 0.15:
        lines.append(f'given["weights"] = np.linspace(1, 3, {n})')
    if dice.random() < 0.1:
        lines.append(f'given["optimizer"] = {dice.choice(("momentum", "lbfgs", "flow"))!r}')
    if dice.random() < 0.1:
        lines.append(f'given["attraction"] = {dice.choice((0.3, 4.0))}')
    if dice.random() < 0.1:
        lines.append(f'given |= {{"supervision": 0.5, "labels": np.arange({n}) % 3}}')
    kept = dice.random() < 0.2
    if kept:
        lines.append('given |= {"checkpoint": tmp_path / "state.nfmap", "checkpoint_every": 1}')
    made = f'nf.Run(X, "{dice.choice(METHODS)}", random_state=0, **given)'
    lines.append(f"run = {made}")
    for _ in range(dice.randint(2, 14)):
        if dice.random() < 0.45:
            lines.append(f"run.step({dice.choice((0, 1, 7, 30, 110))})")
        else:
            lines.append(f"with suppress(ValueError, TypeError): run.{_command(dice, n)}")
    if kept:
        return [
            *lines,
            "run.step(5)",
            f"resumed = {made}",
            "assert resumed.iteration == run.iteration",
            "run.step(12)",
            "resumed.step(12)",
            "np.testing.assert_array_equal(resumed.Y, run.Y)",
        ]
    return [
        *lines,
        'assert np.isfinite(run.Y).all(), "the map is not finite"',
        'run.map().save(tmp_path / "run.nfmap")',
        'reopened = nf.Run.load(tmp_path / "run.nfmap", X)',
        'replayed = nf.Run.load(tmp_path / "run.nfmap", X, replay=True)',
        "np.testing.assert_array_equal(reopened.Y, run.Y)",
        "np.testing.assert_array_equal(replayed.Y, run.Y)",
        "run.step(12)",
        "reopened.step(12)",
        "replayed.step(12)",
        "np.testing.assert_array_equal(reopened.Y, run.Y)",
        "np.testing.assert_array_equal(replayed.Y, run.Y)",
    ]


def _command(dice: Random, n: int) -> str:
    """A command with arguments, of which now and then one makes no sense."""
    some = [dice.randrange(-1 if dice.random() < 0.03 else 0, n) for _ in range(dice.choice((1, 1, 2, 3)))]
    pairs = [(dice.randrange(n), dice.randrange(n)) for _ in range(dice.choice((1, 1, 3)))]
    place = dice.choice(
        (0.0, 1.0, -5.0, 30.0, 1e-6, 1e4) + ((1e300, float("nan")) if dice.random() < 0.05 else ())
    )
    return dice.choice(
        (
            f"pin({some}, run.Y[{some}] + {place!r}{_more(dice, n)})",
            f"pin({some}, run.Y[{some}] + {place!r}{_more(dice, n)})",
            f"pin({some}, np.full(({len(some)}, run.Y.shape[1]), {place!r}){_more(dice, n)})",
            f"unpin({dice.choice(('', some))})",
            f"settle({dice.choice((0, 1, 20, 250, -1))})",
            f"link(must={pairs})",
            f"link(cannot={pairs})",
            f"link(must={pairs}, cannot={pairs[::-1]})",
            f"unlink({pairs})",
            f"add(nf.terms.Disc({some}, np.zeros(run.Y.shape[1]), {dice.choice((0.5, 5.0, 1e-9, 0.0))}))",
            f"add(nf.terms.Box({some}, 0 * run.Y[0] - 1, 0 * run.Y[0] + {dice.choice((1.0, 1e6))}))",
            f"remove({dice.choice((0, 0, 1, -1, 7))})",
            "undo()",
            "undo()",
            "redo()",
        )
    ).replace("nan", "np.nan")


def _more(dice: Random, n: int) -> str:
    """Further arguments of a pin."""
    text = ""
    if dice.random() < 0.5:
        text += f", follow={dice.choice((None, 0, 1, 3, n, 2 * n, 0.5, [0, n - 1], []))}"
    if dice.random() < 0.2:
        text += ", neighbours='data'"
    if dice.random() < 0.2:
        text += ", weights='p'"
    if dice.random() < 0.3:
        text += f", penalty={dice.choice(PENALTIES)}"
    if dice.random() < 0.2:
        text += ", soft=True"
    return text
