"""`nearfield studio` and `open_studio`, started as people start them."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.studio.keeping import reopened
from support.studios import Talk, blobs, talking, until

pytestmark = pytest.mark.slow
ADDRESS = re.compile(r"studio  (http://127\.0\.0\.1:\d+/\?token=\S+)")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table, and a place for sessions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    X, labels = blobs(60)
    rows = [",".join([*map(str, row), label]) for row, label in zip(X.tolist(), labels, strict=True)]
    (tmp_path / "blobs.csv").write_text("\n".join(["a,b,c,d,e,kind", *rows]) + "\n")
    return tmp_path


class Started:
    """The command in a process of its own."""

    def __init__(self, *arguments):
        command = [sys.executable, "-m", "nearfield", "studio", *arguments, "--no-browser", "--jobs", "1"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = iter(self.process.stdout.readline, "")
        self.address = next(found[1] for line in lines if (found := ADDRESS.search(line)))
        self.port = int(self.address.split(":")[2].partition("/")[0])

    def end(self, kind):
        self.process.send_signal(kind)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def kept_in(folder):
    return next((folder / "state" / "nearfield" / "studio").glob("blobs-*.nfmap"))


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_the_address_and_ends_cleanly_with_the_session_saved(here, kind):
    started = Started("blobs.csv", "--label", "kind", "--perplexity", "8")
    with talking(started) as talk:
        assert talk.hello["columns"][0]["name"] == "kind"
        talk.do("put", indices=[3], at=[9, 9])
    code, out, err = started.end(kind)
    assert (code, err) == (0, "")
    assert "saved" in out
    again, _ = reopened(kept_in(here), blobs(60)[0])
    assert list(again.pins) == [3]


def test_after_a_kill_the_next_start_goes_on_with_it(here):
    started = Started("blobs.csv", "--label", "kind", "--perplexity", "8")
    with talking(started) as talk:
        talk.do("pause")
        talk.do("put", indices=[3], at=[9, 9])
        talk.do("put", indices=[4], at=[-9, 9])
    started.end(signal.SIGKILL)
    started = Started("blobs.csv", "--label", "kind", "--perplexity", "8")
    with talking(started) as talk:
        talk.do("pause")
        assert talk.state["offer"]["commands"] == 2
        talk.do("reopen", accept=True)
        assert sorted(talk.steering["pins"]) == ["3", "4"]
    started.end(signal.SIGTERM)
    started = Started("blobs.csv", "--label", "kind", "--reopen")
    with talking(started) as talk:
        talk.do("pause")
        assert sorted(talk.steering["pins"]) == ["3", "4"]
    assert started.end(signal.SIGTERM)[0] == 0


def saved(here, name="session.nfmap"):
    """A session that was exported from the page."""
    started = Started("blobs.csv", "--label", "kind", "--perplexity", "8")
    with talking(started) as talk:
        talk.do("put", indices=[3], at=[9, 9])
        request = urllib.request.Request(f"http://127.0.0.1:{started.port}/export/session.nfmap")
        from support.studios import cookie

        request.add_header("Cookie", cookie(started))
        (here / name).write_bytes(urllib.request.urlopen(request).read())
    started.end(signal.SIGTERM)
    return here / name


def test_a_session_file_finds_its_data_and_complains_where_they_changed(here, capsys):
    path = saved(here)
    started = Started("session.nfmap")
    with talking(started) as talk:
        talk.do("near", index=0)
        assert talk.steering["pins"] == {"3": [9.0, 9.0]}
        assert talk.hello["columns"][0]["name"] == "kind"
    started.end(signal.SIGTERM)
    table = (here / "blobs.csv").read_text()
    (here / "blobs.csv").write_text(table.replace("1", "2"))
    assert main(["studio", str(path), "--no-browser"]) == 2
    assert "was made of other data than these" in capsys.readouterr().err
    (here / "blobs.csv").write_text("\n".join(table.splitlines()[:40]))
    assert main(["studio", str(path), "--no-browser"]) == 2
    assert "was made of other data than these" in capsys.readouterr().err
    (here / "blobs.csv").unlink()
    assert main(["studio", str(path), "--no-browser"]) == 2
    assert "which is not there: name the table with --data" in capsys.readouterr().err
    path.write_bytes(path.read_bytes()[:300])
    assert main(["studio", str(path), "--no-browser"]) == 2
    assert "is not a map that nearfield saved" in capsys.readouterr().err


def test_a_map_without_a_session_is_gone_on_with_from_its_table(here):
    Y = np.random.default_rng(0).normal(size=(60, 2)) * 8
    nf.Map(Y).save(here / "plain.nfmap")
    started = Started("plain.nfmap", "--data", "blobs.csv", "--label", "kind")
    with talking(started) as talk:
        np.testing.assert_allclose(talk.frame()[0], Y - Y.mean(axis=0), atol=8)
    started.end(signal.SIGTERM)


def test_what_cannot_be_opened_says_what_to_do(here, capsys):
    nf.Map(np.zeros((60, 2))).save(here / "plain.nfmap")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for arguments, words in (
            (["plain.nfmap"], "does not say what it was made of: name the table with --data"),
            (["blobs.csv", "--data", "blobs.csv"], "--data goes with a saved map"),
            (
                ["blobs.csv", "--port", port],
                f"port {port} is in use, perhaps by another studio: --port 0 takes",
            ),
            (["blobs.csv", "--label", "kind", "--reopen"], "there is no session of these data to reopen"),
            (["nothing.csv"], "there is no file nothing.csv"),
            (["blobs.csv", "--method", "nonsense"], "nonsense"),
        ):
            assert main(["studio", *arguments, "--no-browser"]) == 2, arguments
            assert words in capsys.readouterr().err


def test_without_a_browser_the_address_is_enough(here, monkeypatch, capsys):
    import webbrowser

    from nearfield.studio.opening import show_page

    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert show_page("http://127.0.0.1:1/") is False

    def none(address):
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "open", none)
    assert show_page("http://127.0.0.1:1/") is False


def test_from_python_a_run_is_steered_and_the_map_comes_back(capsys):
    X, labels = blobs(60)
    run = nf.Run(X, perplexity=8, random_state=0)
    run.step(50)
    studio = nf.open_studio(run, labels=labels, browser=False, block=False)
    assert ADDRESS.search(capsys.readouterr().out)[1] == studio.address
    with talking(studio) as talk:
        assert isinstance(talk, Talk)
        talk.do("pause")
        talk.do("put", indices=[3], at=[9, 9])
        talk.do("change", perplexity=5)
    made = studio.close()
    assert made.Y[3].tolist() == [9, 9]
    assert run.Y[3].tolist() == [9, 9]


def test_from_python_it_waits_until_it_is_told_to_end(here):
    code = (
        "import numpy as np, nearfield as nf\n"
        "made = nf.open_studio(np.random.default_rng(0).normal(size=(50, 4)), browser=False)\n"
        "print('ended', made.Y.shape, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert ADDRESS.search(process.stdout.readline())
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "ended (50, 2)\n"


def test_three_dimensions_are_refused():
    X, _ = blobs(60)
    with pytest.raises(ValueError, match="two dimensions"):
        nf.open_studio(nf.Run(X, n_components=3, perplexity=8), browser=False, block=False)
    assert until(lambda: True)
