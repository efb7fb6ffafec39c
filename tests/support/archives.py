"""Archives as strangers send them: whole, and after an accident or an ill wish."""

import io
import json
import re
import resource

import numpy as np

VALUES = [
    -1,
    0,
    1,
    3,
    41,
    0.5,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    2**40,
    2**70,
    "x",
    None,
    [],
    {},
    True,
]


def odd_arrays(n):
    """Arrays that have no place in a file of n points."""
    return [
        np.zeros(0),
        np.ones(1),
        np.ones(2 * n - 1),
        np.full(2 * n, 1e308),
        np.full(2 * n, np.nan),
        np.full((n, 2), -5),
        np.full(3, n),
        np.array(7),
        np.zeros((2, 2, 2)),
        np.ones(2 * n, bool),
    ]


def written(members):
    """The bytes of a file."""
    file = io.BytesIO()
    arrays = {name: value for name, value in members.items() if name != "about"}
    np.savez(file, **arrays, about=np.array(json.dumps(members["about"])))
    return file.getvalue()


def mutated(members, random, n):
    """The bytes of a file after one accident or one ill wish."""
    kind, others = random.integers(6), odd_arrays(n)
    if kind < 2:
        contents = bytearray(written(members))
        if kind == 0:
            for _ in range(random.integers(1, 4)):
                contents[random.integers(len(contents))] ^= 1 << random.integers(8)
            return bytes(contents)
        return bytes(contents[: random.integers(len(contents))])
    names = [name for name in members if name != "about"]
    if kind == 2:  # two members in each other's place
        one, other = random.choice(names, 2, replace=False)
        return written({**members, one: members[other], other: members[one]})
    if kind == 3:
        return written({**members, random.choice(names): others[random.integers(len(others))]})
    text = json.dumps(members["about"])
    if kind == 4:  # another value in place of a number
        found = list(re.finditer(r"(?<=[ \[])-?\d+(\.\d+)?(e[-+]?\d+)?(?=[,\]}])", text))
        at = found[random.integers(len(found))]
        value = json.dumps(VALUES[random.integers(len(VALUES))])
    else:  # another name
        found = list(re.finditer(r'"[A-Za-z_]+"', text))
        at = found[random.integers(len(found))]
        value = found[random.integers(len(found))].group()
    return written({**members, "about": json.loads(text[: at.start()] + value + text[at.end() :])})


def memory():
    """The most that was ever in use, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
