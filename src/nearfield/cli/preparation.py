"""The steps of a command before and after the library's own work: what goes in, and where it comes out."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from nearfield.affinity.source import Source
    from nearfield.algebra.method import Method
    from nearfield.cli.terminal import Report
    from nearfield.descent.checkpoints import Checkpoint
    from nearfield.descent.preparing import Preparation
    from nearfield.estimators import Embedder
    from nearfield.io.others import Nearest
    from nearfield.io.tables import Table


def check_outputs(
    given: dict[str, Path | None],
    out: Path,
    plot: Path | None = None,
    dimensions: int = 2,
    save: Path | None = None,
    checkpoint: Path | None = None,
) -> None:
    """Refuse, before any work, what could not be written after it, or only over what was given."""
    from nearfield.io.files import check_writable
    from nearfield.io.tables import check_map_path

    check_map_path(out)
    written = [out, plot]
    for option, path in (("--save", save), ("--checkpoint", checkpoint)):
        if path is not None:
            check_writable(path)
            if path.resolve() in [each.resolve() for each in written if each is not None]:
                raise ValueError(f"{option} {path} would be written twice: name another file")
            written.append(path)
    for name, path in given.items():
        for option, target in (("--out", out), ("--save", save), ("--checkpoint", checkpoint)):
            if path is not None and target is not None and _same(path, target):
                raise ValueError(f"{option} {target} would replace the {name}: name another file")
    if plot is not None:
        from nearfield.show import check_picture_path

        if dimensions > 3:
            raise ValueError(f"--plot can draw up to three dimensions and not {dimensions}: leave it out")
        check_picture_path(plot)


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def prepare(
    X: np.ndarray, standardize: bool, pca: int | None, metric: str | None, seed: int, report: Report
) -> np.ndarray:
    """Standardize and reduce the columns, and say so."""
    return preparation(X, standardize, pca, metric, seed, report).rows(X)


def preparation(
    X: np.ndarray,
    standardize: bool,
    pca: int | None,
    metric: str | None,
    seed: int,
    report: Report,
    **columns: Any,
) -> Preparation:
    """How the columns are standardized and reduced, said to a person; `columns` are what else is known."""
    from nearfield.descent.preparing import Preparation

    rows, width = X.shape
    if rows < 2:
        raise ValueError("the table has one row only: a map needs at least two")
    if metric in ("precomputed", "affinity"):
        if standardize or pca:
            raise ValueError(f"--metric {metric} takes the table as it is: leave out --standardize and --pca")
        return Preparation.of(X, **columns)
    if standardize:
        report("", "standardized the columns")
    hint = ""
    if prepares(width, pca, metric):
        pca, hint = min(50, rows), "; --pca 0 keeps all columns"
    if pca:
        if pca > min(rows, width):
            raise ValueError(
                f"--pca {pca} is more than {rows} rows and {width} columns allow: {min(rows, width)}"
            )
        report("", f"reduced {width} columns to {pca} principal components{hint}")
    return Preparation.of(X, standardize=standardize, components=pca, seed=seed, **columns)


def prepares(width: int, pca: int | None, metric: str | None) -> bool:
    """Whether so many columns are reduced where nothing is said of it."""
    return pca is None and width > 100 and metric in (None, "euclidean", "sqeuclidean")


def perplexities(text: str) -> Any:
    """Read a perplexity: a number, several with commas between them, or "multiscale"."""
    if text == "multiscale":
        return text
    try:
        numbers = [float(number) for number in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{text!r} is no number; several are written as 5,50,500, and all as multiscale"
        ) from None
    return numbers if len(numbers) > 1 else numbers[0]


def positions(path: Path) -> tuple[np.ndarray, np.ndarray | None]:
    """Read the coordinates and the ids of a map; what is wrong is said with the name of the file."""
    from nearfield.io.tables import read_map

    try:
        Y, ids, _ = read_map(path)
    except ValueError as error:
        known = str(path) in str(error)
        raise ValueError(str(error) if known else f"{path}: {error}") from error
    return Y, ids


def start_positions(start: str | None, table: Table, data: Path, dimensions: int) -> Any:
    """Return the name of a start, or the map that is to be one, its rows in the order of the data."""
    if start is None:
        return None
    if "." not in start:
        from nearfield.descent.starts import STARTS

        if start not in STARTS:
            raise ValueError(f"--start {start}: use {', '.join(STARTS)}, or a map such as map.csv")
        return start
    from nearfield.io.matching import match_rows

    Y, ids = positions(Path(start))
    rows = len(table.X)
    if Y.shape != (rows, dimensions):
        raise ValueError(
            f"--start {start} has the shape {Y.shape}, but the map will have {(rows, dimensions)}"
        )
    return Y[match_rows(table, ids, len(Y), data, Path(start))]


def like_positions(
    like: Path | None, start: str | None, table: Table, data: Path, dimensions: int, report: Report
) -> Any:
    """Where points of another map start in this one, by their ids; NaN for those that it does not have.

    Without ids in the data, they are the numbers of the rows, from 0.
    """
    if like is None:
        return None
    if start is not None:
        raise ValueError("--like and --start both say where points start: leave out one of them")
    import numpy as np

    Y, ids = positions(like)
    if Y.shape[1] != dimensions:
        raise ValueError(f"--like {like} has {Y.shape[1]} dimensions, but the map will have {dimensions}")
    there = [str(each) for each in (range(len(Y)) if ids is None else ids.tolist())]
    if len(set(there)) < len(there):
        twice = next(each for each in there if there.count(each) > 1)
        raise ValueError(f"{like} has several rows with the id {twice!r}: ids must be different")
    place = {each: row for row, each in enumerate(there)}
    wanted = [str(each) for each in (range(len(table.X)) if table.ids is None else table.ids.tolist())]
    known = np.array([place.get(each, -1) for each in wanted])
    count = int((known >= 0).sum())
    if not count:
        raise ValueError(f"{like} and {data} have no id in common: say with --id which column holds them")
    gone = f", {len(Y) - count} are gone" if count < len(Y) else ""
    new = len(known) - count
    report("like", f"{like}: {count} points start where they were, {new} amid their neighbours{gone}")
    return np.where(known[:, None] >= 0, Y[known], np.nan)


def pinned(path: Path | None, ids: np.ndarray | None, rows: int, dimensions: int) -> dict[int, Any]:
    """Return where points are to be put, by their rows: a table with the columns id, y1, y2.

    Without a column of ids in the data, the ids are the numbers of the rows, from 0.
    """
    if path is None:
        return {}
    places, named = positions(path)
    if named is None:
        raise ValueError(f"{path} does not say which points it is about: add a column id")
    if places.shape[1] != dimensions:
        raise ValueError(f"{path} has {places.shape[1]} coordinates of each point: the map has {dimensions}")
    known = {str(each): row for row, each in enumerate(range(rows) if ids is None else ids.tolist())}
    pins: dict[int, Any] = {}
    for each, place in zip(named.tolist(), places, strict=True):
        if str(each) not in known:
            hint = f"the rows are 0 to {rows - 1}" if ids is None else "no row of the data has it"
            raise ValueError(f"{path}: unknown id {each!r}, {hint}")
        if known[str(each)] in pins:
            raise ValueError(f"{path}: the id {each!r} is there twice")
        if not all(map(isfinite, place)):
            raise ValueError(f"{path}: the place of {each!r} must be finite numbers")
        pins[known[str(each)]] = place
    return pins


@dataclass(frozen=True)
class Made:
    """A map and what there is to tell of it."""

    Y: np.ndarray
    result: str  # in words
    interrupted: bool
    pinned: bool = False
    model: Embedder | None = None  # if it is to be kept
    checkpoint: Checkpoint | None = None  # if there is one


def make_map(
    X: np.ndarray | Source,
    method: Method | str,
    name: str,
    seed: int,
    max_iter: int | None,
    report: Report,
    given: dict[str, Any],
    pins: dict[int, Any] | None = None,
    *,
    shown: bool,
    quick: bool = False,
    keep: bool = False,
    labels: Any = None,
) -> Made:
    """Run a method to its end; the plan is said before, and how far it is if that is to be `shown`."""
    from nearfield.affinity.source import Source

    max_iter = 1000 if max_iter is None else max_iter
    if isinstance(method, str):  # principal components, which are no descent
        import nearfield  # whose estimators, which take a second to import, no other needs

        given = given | ({"pins": pins} if pins else {})
        data = X.X if isinstance(X, Source) else X
        model = nearfield.Embedder(method, random_state=seed, **given).fit(data)
        report("plan", str(model.plan_))
        count = model.embedding_.shape[1]
        return Made(model.embedding_, f"{count} principal components", False, model=model)
    from nearfield.cli.terminal import stage
    from nearfield.descent.finish import finish
    from nearfield.descent.run import Run

    doing, done = "finding neighbours", "while neighbours were searched"
    if method.target_kind == "distances":
        doing, done = "measuring distances", "while distances were measured"
    with stage(f"{doing} of {X.n if isinstance(X, Source) else len(X)} rows", done, report, shown=shown):
        run = Run(X, method, random_state=seed, **given | ({} if labels is None else {"labels": labels}))
    report("plan", str(run.plan))
    if run.checkpoint is not None and run.checkpoint.iteration is not None:
        report("", str(run.checkpoint))
    sooner: dict[str, Any] = {"quick": True} if quick else {}
    converged, interrupted = finish(run, max_iter, title=name, shown=shown, pins=pins, **sooner)
    result = f"cost {run.cost:.6g} after {run.iteration} iterations"
    kept = None
    if keep:
        from nearfield.estimators import Embedder

        asked: dict[str, Any] = {"max_iter": max_iter, "quick": quick, "pins": pins or None}
        kept = Embedder(method, random_state=seed, **asked, **given)
        kept._keep(run, converged, interrupted)
    return Made(run.Y, result, interrupted, bool(pins) and bool(run.pins), kept, run.checkpoint)


def nearest(source: Source, report: Report) -> Nearest:
    """The neighbours of each row, as they are written beside a map."""
    import numpy as np

    from nearfield.affinity.neighbours import remembered
    from nearfield.io.others import Nearest

    found = remembered(source)
    share = "" if found.recall == 1 else f", {100 * found.recall:.1f} % of them the true ones"
    report("", f"the {found.indices.shape[1]} nearest rows of each are written with it{share}")
    return Nearest(found.indices, np.sqrt(found.squared.astype(np.float64)) * found.unit)


def model_of(made: Made, how: Preparation) -> Embedder:
    """The model of a map, with the preparation that its rows need."""
    import numpy as np

    model = made.model
    if model is None:
        raise ValueError("no model was kept of this map")
    model.preparation_ = how
    model.n_features_in_ = len(how.names)
    model.feature_names_in_ = np.array(how.names, dtype=object)
    return model


def draw(path: Path, Y: np.ndarray, labels: np.ndarray | None, title: str, label: str | None = None) -> None:
    """Draw a map to a file."""
    from nearfield import show

    show.save(show.map(Y, labels, title=title, legend_title=label), path)
