"""Damaged files of every kind that is read: bytes changed at random, and what a session holds replaced."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.verdicts import program

MADE = {  # how a file of each kind is written
    "run.nfmap": "run.map().save(path)",
    "model.nfmap": "model.save(path)",
    "checkpoint.nfmap": "",  # which the run has written
    "t.csv": 'path.write_text("id,a,b,kind\\n" + "".join(f"{i},{i / 3},-1,k{i % 3}\\n" for i in range(20)))',
    "t.tsv": 'path.write_text("a\\tb\\n" + "".join(f"{i / 7}\\t{1e5 * i}\\n" for i in range(20)))',
    "t.npy": "np.save(path, np.arange(24.0).reshape(8, 3))",
    "t.npz": "np.savez(path, X=np.arange(24.0).reshape(8, 3), y=np.arange(8))",
    "v.jsonl": 'path.write_text("".join(json.dumps({"v": [i, i / 3], "k": "a"}) + "\\n" for i in range(9)))',
    "v.parquet": "pq.write_table(pa.table(VECTORS), path)",
    "v.feather": "feather.write_feather(pa.table(VECTORS), path)",
    "v.arrow": "with pa.ipc.new_stream(path, (t := pa.table(VECTORS)).schema) as to: to.write_table(t)",
    "t.csv.gz": 'path.write_bytes(gzip.compress(b"a,b\\n1,2\\n3,4.5\\n5,6\\n"))',
    "t.zip": 'with zipfile.ZipFile(path, "w") as to: to.writestr("t.csv", "a,b\\n1,2\\n3,4.5\\n5,6\\n")',
    "t.h5ad": "anndata.AnnData(np.eye(8), obsm={'X_pca': np.eye(8)[:, :2]}).write_h5ad(path)",
    "t.parquet": 'write_map(path, np.arange(24.0).reshape(8, 3), labels=list("abcdefgh"))',
    "map.csv": 'write_map(path, np.arange(24.0).reshape(8, 3), labels=list("abcdefgh"))',
}
READ = {  # and how it may be read, where it is not as a table alone
    "run.nfmap": (
        "nf.Map.load(path)",
        "run = nf.Run.load(path, X)",
        "run = nf.Run.load(path, X, replay=True)",
    ),
    "model.nfmap": (
        "model = nf.load(path)",
        "model = nf.load(path)",
        "nf.Map.load(path)",
        "nf.Run.load(path, X)",
    ),
    "checkpoint.nfmap": (
        "nf.Map.load(path)",
        "run = nf.Run.load(path, X)",
        'run = nf.Run(X, "tsne", random_state=0, checkpoint=path)',
        'run = nf.Run(X, "tsne", random_state=0, checkpoint=path, checkpoint_every=1)',
    ),
    "v.jsonl": (
        "read_table(path)",
        'read_table(path, vector="v", label="k")',
        'read_table(path, keep="all")',
    ),
    "v.parquet": (
        "read_table(path)",
        'read_table(path, vector="v", label="k")',
        'read_table(path, keep="all")',
    ),
    "t.h5ad": ("read_table(path)", 'read_table(path, use_rep="X")', 'read_table(path, use_rep="X_pca")'),
    "map.csv": ("read_map(path)",),
    "t.parquet": ("read_table(path)", "read_map(path)", 'read_table(path, label="label", id="id")'),
    "t.csv": (
        "read_table(path)",
        'read_table(path, label="kind", id="id")',
        'read_table(path, columns="a,b")',
    ),
}
SESSION = [
    "X = np.random.default_rng(0).normal(size=(12, 3))",
    'run = nf.Run(X, "tsne", random_state=0)',
    "run.step(10)",
    "run.pin(3, (5.0, 1.0), follow=2)",
    "run.link(must=[(0, 1)])",
    "run.step(3)",
]
MODELS = (
    "nf.TSNE(max_iter=5, random_state=0, n_jobs=1).fit(X)",
    'nf.Embedder("jse", engine="mesh", perplexity=4, max_iter=5, random_state=0, n_jobs=1).fit(X)',
    'nf.Embedder("mds", metric="manhattan", max_iter=5, random_state=0, n_jobs=1).fit(X)',
    'nf.Embedder("pca").fit(X)',
)
SAVED = ("run.nfmap", "model.nfmap", "checkpoint.nfmap")
VALUES = (
    *("None", "-1", "0", "1e999", "10**30", "'x'", "[]", "{}", "[[1]]", "{'x': 1}", "True", "'tsne'"),
    *("{'array': 99}", "{'array': -1}", "{'list': 3}", "{'dict': []}"),
)
CHANGES = (
    *("parts[{name!r}] = parts[{name!r}][:1]", "parts[{name!r}] = parts[{name!r}] * np.nan"),
    *("parts[{name!r}] = parts[{name!r}].astype('S4')", "parts[{name!r}] = parts[{name!r}].T"),
    *("parts[{name!r}] = np.zeros(0)", "parts[{name!r}] = np.array(3)", "del parts[{name!r}]"),
)


def case(dice: Random) -> list[str]:
    """A file that is whole, then damaged, then read."""
    name = dice.choice((*MADE, *SAVED, *SAVED))
    lines = [f'path = tmp_path / "{name}"', *_made(name, dice.randrange(len(MODELS)))]
    lines += _session(dice, tuple(lines[1:])) if name in SAVED and dice.random() < 0.75 else _bytes(dice)
    lines.append(dice.choice(READ.get(name, ("read_table(path)",))))
    if lines[-1].startswith("run ="):
        lines += ["run.step(2)", 'assert np.isfinite(run.Y).all(), "the map is not finite"']
    if lines[-1].startswith("model ="):
        lines += [
            "if hasattr(model, 'place'): placed = model.place(X[:3] + 0.1)",
            "if hasattr(model, 'place'): assert np.isfinite(placed.Y).all(), 'a place is not finite'",
        ]
    return lines


def _made(name: str, model: int) -> list[str]:
    """How a whole file comes about."""
    if name == "model.nfmap":
        return [SESSION[0], f"model = {MODELS[model]}", MADE[name]]
    if name == "checkpoint.nfmap":
        made = SESSION[1].replace(")", ", checkpoint=path, checkpoint_every=1)")
        return [SESSION[0], made, *SESSION[2:]]
    return [*SESSION, MADE[name]] if name == "run.nfmap" else [MADE[name]]


def _bytes(dice: Random) -> list[str]:
    """Bytes changed, taken out, put in and cut off; places are shares of the length."""
    lines = ["data = bytearray(path.read_bytes())"]
    for _ in range(dice.choice((1, 1, 2, 4, 10))):
        at = f"int({dice.random():.4f} * len(data))"
        some = bytes(dice.randrange(256) for _ in range(dice.choice((1, 1, 2, 8))))
        changes = (
            f"data[(at := {at}) : at + {len(some)}] = {some!r}",
            f"data[(at := {at}) : at] = {some!r}",
            f"del data[(at := {at}) : at + {dice.choice((1, 4, 40))}]",
            f"del data[{at} :]",
            f"data += {some!r}",
            f"data = data[{at} :] + data",
        )
        lines.append(dice.choice(changes))
    return [*lines, "path.write_bytes(data)"]


def _session(dice: Random, made: tuple[str, ...]) -> list[str]:
    """A session or a model in which single values are others, or missing."""
    places, arrays = _anatomy(made)
    lines = ["with np.load(path) as file: parts = dict(file)", 'about = json.loads(str(parts["about"]))']
    for _ in range(dice.choice((1, 1, 1, 2))):
        if dice.random() < 0.8:
            place = "".join(f"[{key!r}]" for key in dice.choice(places))
            lines.append(dice.choice((f"about{place} = {dice.choice(VALUES)}",) * 3 + (f"del about{place}",)))
        else:
            lines.append(dice.choice(CHANGES).format(name=dice.choice(arrays)))
    lines.append('parts["about"] = np.array(json.dumps(about))')
    return [*lines, 'with path.open("wb") as file: np.savez(file, **parts)']


@lru_cache(maxsize=len(MODELS) + 2)
def _anatomy(made: tuple[str, ...]) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Where the values of a file that was so made are, and the names of its arrays."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "some.nfmap"
        exec(program(list(made)), {"path": path})
        with np.load(path) as file:
            about, names = json.loads(str(file["about"])), sorted(set(file.files) - {"about"})
    return list(_places(about)), names


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to every value within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*at, key)
        yield from _places(each, (*at, key))
