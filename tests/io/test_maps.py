"""A map that was saved is the map that is loaded; files are whole or absent, and nothing is unpickled."""

import io
import json
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import nearfield as nf
from nearfield.io.maps import FORMAT, versions

whole = st.integers(-(2**53), 2**53)
finite = st.floats(allow_nan=False, allow_infinity=False)
plain = st.none() | st.booleans() | whole | st.floats(allow_nan=False) | st.text(max_size=8)
names = st.text(st.characters(categories=["Ll"]), min_size=1, max_size=8)


def saved(**changes):
    """The bytes of a map file, or of one that is not quite."""
    about = {"format": FORMAT, "parameters": {}, "versions": {"nearfield": "0"}, "history": [], "arrays": 0}
    contents = {"Y": np.zeros((3, 2)), "about": np.array(json.dumps(about)), **changes}
    file = io.BytesIO()
    np.savez_compressed(file, **{name: value for name, value in contents.items() if value is not None})
    return file.getvalue()


def about(**fields):
    return np.array(json.dumps(fields))


def told(**fields):
    """What is told of a map, but for what is another way."""
    usual = {"format": FORMAT, "parameters": {}, "versions": {}, "history": [], "arrays": 0}
    return about(**{**usual, **fields})


class Booby:
    """What runs code when it is unpickled."""

    sprung = False

    def __reduce__(self):
        return (setattr, (Booby, "sprung", True))


@given(
    Y=arrays.arrays(float, st.tuples(st.integers(0, 6), st.integers(1, 3)), elements=finite),
    parameters=st.dictionaries(names, plain | st.lists(plain, max_size=3), max_size=4),
    history=st.dictionaries(names, arrays.arrays(float, st.integers(0, 5)), max_size=3),
)
def test_what_is_saved_is_what_is_loaded(Y, parameters, history, tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "some map.nfmap"
    nf.Map(Y, parameters, history).save(path)
    found = nf.Map.load(path)
    np.testing.assert_array_equal(found.Y, Y)
    assert found.Y.dtype == Y.dtype
    assert found.parameters == parameters
    assert found.versions == versions()
    assert found.history.keys() == history.keys()
    for name, values in history.items():
        np.testing.assert_array_equal(found.history[name], values)


@pytest.mark.parametrize("name", ["map.nfmap", "map.npz", "map", "Karte mit Umlaut ä.nfmap"])
def test_the_file_has_the_name_that_was_given(name, tmp_path):
    nf.Map(np.eye(2)).save(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    np.testing.assert_array_equal(nf.Map.load(str(tmp_path / name)).Y, np.eye(2))


def test_a_map_tells_what_it_was_made_with():
    assert {"nearfield", "python", "numpy", "scipy", "numba"} <= nf.Map(np.eye(2)).versions.keys()
    assert nf.Map(np.eye(2)).versions["nearfield"] == nf.__version__


def test_the_file_is_readable_without_nearfield(tmp_path):
    nf.Map(np.eye(2), {"method": "tsne"}, {"cost": np.arange(3.0)}).save(tmp_path / "a.nfmap")
    with np.load(tmp_path / "a.nfmap", allow_pickle=False) as file:
        np.testing.assert_array_equal(file["Y"], np.eye(2))
        assert json.loads(str(file["about"]))["parameters"] == {"method": "tsne"}


@pytest.mark.parametrize(
    "spoilt",
    [
        nf.Map(np.eye(2), {"what": object()}),
        nf.Map(np.array([[Booby(), Booby()]])),
        nf.Map(np.array([[0.0, np.nan]])),
        nf.Map(np.zeros(3)),
        nf.Map(np.eye(2), history={"cost": np.array([Booby()])}),
    ],
    ids=["parameters", "coordinates", "NaN", "one column", "history"],
)
@pytest.mark.parametrize("existed", [True, False])
def test_what_cannot_be_saved_leaves_everything_as_it_was(spoilt, existed, tmp_path):
    path = tmp_path / "a.nfmap"
    if existed:
        nf.Map(np.eye(2)).save(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises((TypeError, ValueError)):
        spoilt.save(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_an_error_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.nfmap"
    nf.Map(np.eye(2)).save(path)

    def half(file, **contents):
        file.write(b"half a file")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez_compressed", half)
    with pytest.raises(OSError, match="no space left"):
        nf.Map(np.ones((5, 2))).save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["a.nfmap"]
    np.testing.assert_array_equal(nf.Map.load(path).Y, np.eye(2))


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def zipped(**files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return file.getvalue()


def with_header(text, member_size=None):
    """A map whose coordinates have this header, and perhaps claim to be so large."""
    header = text.encode().ljust(118) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(48)
    return zipped(**{"about.npy": npy(told()), "Y.npy": data})


def large(name, size, **more):
    """A map with a member of so many bytes, all of them zero, which take next to no room."""
    file = io.BytesIO(saved(**more))
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as member:
        member.write(npy(np.zeros((size // 16, 2)))[:128])
        for _ in range(size // 2**20):
            member.write(bytes(2**20))
    return file.getvalue()


def encrypted():
    contents = bytearray(saved())
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = contents.index(magic)
        while at >= 0:
            contents[at + flags] |= 1
            at = contents.find(magic, at + 4)
    return bytes(contents)


def packed_otherwise():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("about.npy", npy(told()))
        archive.writestr("Y.npy", npy(np.zeros((3, 2))))
    return file.getvalue()


def twice():
    file = io.BytesIO(saved())
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("Y.npy", npy(np.ones((3, 2))))
    return file.getvalue()


def damaged():
    good = bytearray(saved(Y=np.random.default_rng(0).normal(size=(200, 2))))
    for i in range(200, 260):
        good[i] ^= 0xFF
    return bytes(good)


NOT_MAPS = {
    "empty": b"",
    "text": b"id,y1,y2\n0,1,2\n",
    "a pickle": pickle.dumps({"Y": [[0, 0]]}),
    "a pickle that bites": pickle.dumps(Booby()),
    "an array": npy(np.eye(3)),
    "an empty archive": zipped(),
    "an archive of something else": zipped(readme="hello"),
    "arrays of something else": saved(Y=None, about=None, x=np.eye(2)),
    "no coordinates": saved(Y=None),
    "no description": saved(about=None),
    "a description that is no JSON": saved(about=np.array("{")),
    "a description that is a list": saved(about=np.array("[1]")),
    "a description that is a number": saved(about=np.arange(3.0)),
    "a description without a format": saved(about=about(parameters={}, versions={})),
    "a format that is text": saved(about=about(format="one", parameters={}, versions={})),
    "no parameters": saved(about=about(format=FORMAT, versions={})),
    "coordinates that are pickled": saved(Y=np.array([[Booby()]])),
    "a history that is pickled": saved(about=told(history=["cost"]), history_cost=np.array([Booby()])),
    "half a map": saved()[:150],
    "all but the end of a map": saved()[:-30],
    "a damaged map": damaged(),
    "coordinates that are text": saved(Y=np.array([["a", "b"]])),
    "coordinates that are complex": saved(Y=np.ones((3, 2), complex)),
    "coordinates that are NaN": saved(Y=np.array([[0.0, np.nan]])),
    "coordinates without columns": saved(Y=np.zeros(3)),
    "a history of a table": saved(about=told(history=["cost"]), history_cost=np.zeros((3, 2))),
    "a history that is promised": saved(about=told(history=["cost"])),
    "a history of lines": saved(about=told(history=["a\nb"])),
    "a history of numbers": saved(about=told(history=[3])),
    "arrays that are promised": saved(about=told(arrays=1)),
    "arrays without end": saved(about=told(arrays=10**9)),
    "arrays in text": saved(about=told(arrays="many")),
    "versions that are numbers": saved(about=told(versions={"nearfield": 3})),
    "a session that is a list": saved(about=told(session=[1])),
    "a description that is deep": saved(about=np.array("[" * 10**5)),
    "parameters that are deep": saved(about=told(parameters={"a": json.loads("[" * 200 + "]" * 200)})),
    "a number without end": saved(about=told(parameters={"a": 10**400})),
    "a description without end": saved(about=np.array(" " * (2**24 + 2**17))),
    "encrypted": encrypted(),
    "packed otherwise": packed_otherwise(),
    "two of a name": twice(),
    "terabytes": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }"),
    "less than nothing": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-3, -2), }"),
    "more than is there": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }"),
    "a header that is none": with_header("{'descr': '<f8', 'shape': ((((((((((("),
    "a header that is code": with_header("__import__('os').getcwd()"),
}


@pytest.mark.parametrize("contents", NOT_MAPS.values(), ids=NOT_MAPS.keys())
def test_what_is_no_map_is_refused_and_never_unpickled(contents, tmp_path):
    path = tmp_path / "a.nfmap"
    path.write_bytes(contents)
    with pytest.raises(ValueError, match=r"a\.nfmap is not a map that nearfield saved") as refusal:
        nf.Map.load(path)
    assert "\n" not in str(refusal.value)
    assert not Booby.sprung


@pytest.mark.parametrize("name", ["Y.npy", "session_0.npy"])
def test_what_would_unpack_to_a_thousand_times_its_size_is_refused_before_it_is(name, tmp_path):
    path = tmp_path / "a.nfmap"
    path.write_bytes(large(name, 2**28, about=told(arrays=1), Y=None if name == "Y.npy" else np.eye(2)))
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"would unpack to 256 MB and more, 50 times its own size"):
        nf.Map.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**24


def test_what_was_not_promised_is_not_read(tmp_path):
    path = tmp_path / "a.nfmap"
    path.write_bytes(large("more.npy", 2**28))
    tracemalloc.start()
    assert nf.Map.load(path).arrays == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**24


def test_a_map_that_is_all_but_empty_is_no_trap(tmp_path):
    nf.Map(np.zeros((2**22 + 1, 2))).save(tmp_path / "a.nfmap")
    assert nf.Map.load(tmp_path / "a.nfmap").Y.shape == (2**22 + 1, 2)


@pytest.mark.parametrize(
    "contents",
    [
        saved(about=about(format=1, parameters={"method": "tsne"}, versions={}), history_cost=np.ones(3)),
        saved(
            about=about(format=2, parameters={"method": "tsne"}, versions={}, session={"a": {"array": 0}}),
            history_cost=np.ones(3),
            session_0=np.arange(4),
        ),
    ],
    ids=["first", "second"],
)
def test_files_of_the_first_formats_are_read(contents, tmp_path):
    path = tmp_path / "a.nfmap"
    path.write_bytes(contents)
    found = nf.Map.load(path)
    assert found.Y.shape == (3, 2)
    assert found.parameters == {"method": "tsne"}
    assert found.history["cost"].tolist() == [1, 1, 1]
    assert [each.tolist() for each in found.arrays] == ([[0, 1, 2, 3]] if found.session else [])


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.nfmap")
    with pytest.raises(ValueError, match="it is no regular file"):
        nf.Map.load(tmp_path / "a.nfmap")


@pytest.mark.parametrize(
    "more", [{}, {"versions": {"nearfield": "99.1"}}, {"versions": {}, "parameters": {}}]
)
def test_a_file_of_a_newer_format_asks_for_an_update(more, tmp_path):
    path = tmp_path / "a.nfmap"
    path.write_bytes(saved(about=about(format=FORMAT + 1, **more)))
    with pytest.raises(ValueError, match="newer: update nearfield") as refusal:
        nf.Map.load(path)
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_missing_and_a_folder_no_map(tmp_path):
    with pytest.raises(FileNotFoundError):
        nf.Map.load(tmp_path / "nothing.nfmap")
    with pytest.raises(ValueError, match="is not a map"):
        nf.Map.load(tmp_path)
