"""A map that was saved is the map that is loaded; files are whole or absent, and nothing is unpickled."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import nearfield as nf
from nearfield.io.maps import FORMAT, versions

whole = st.integers(-(2**53), 2**53)
plain = st.none() | st.booleans() | whole | st.floats(allow_nan=False) | st.text(max_size=8)
names = st.text(st.characters(categories=["Ll"]), min_size=1, max_size=8)


def saved(**changes):
    """The bytes of a map file, or of one that is not quite."""
    about = {"format": FORMAT, "parameters": {}, "versions": {"nearfield": "0"}}
    contents = {"Y": np.zeros((3, 2)), "about": np.array(json.dumps(about)), **changes}
    file = io.BytesIO()
    np.savez_compressed(file, **{name: value for name, value in contents.items() if value is not None})
    return file.getvalue()


def about(**fields):
    return np.array(json.dumps(fields))


class Booby:
    """What runs code when it is unpickled."""

    sprung = False

    def __reduce__(self):
        return (setattr, (Booby, "sprung", True))


@given(
    Y=arrays.arrays(float, st.tuples(st.integers(0, 6), st.integers(1, 3))),
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
        nf.Map(np.eye(2), history={"cost": np.array([Booby()])}),
    ],
    ids=["parameters", "coordinates", "history"],
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
    "a history that is pickled": saved(history_cost=np.array([Booby()])),
    "half a map": saved()[:150],
    "all but the end of a map": saved()[:-30],
    "a damaged map": damaged(),
}


@pytest.mark.parametrize("contents", NOT_MAPS.values(), ids=NOT_MAPS.keys())
def test_what_is_no_map_is_refused_and_never_unpickled(contents, tmp_path):
    path = tmp_path / "a.nfmap"
    path.write_bytes(contents)
    with pytest.raises(ValueError, match=r"a\.nfmap is not a map that nearfield saved") as refusal:
        nf.Map.load(path)
    assert "\n" not in str(refusal.value)
    assert not Booby.sprung


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
