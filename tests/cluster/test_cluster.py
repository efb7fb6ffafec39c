"""Maps on clusters of Dask that the tests start on this machine."""

import os
import signal

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import nearfield as nf
from nearfield.cluster import fitting

N = 800
OPTIONS = {"random_state": 0, "perplexity": 10}


def blobs(n=N):
    random = np.random.default_rng(11)
    centres = 5 * random.normal(size=(8, 10))
    return (centres[np.arange(n) % 8] + random.normal(size=(n, 10))).astype(np.float32)


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", scheduler_port=0
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def alone():
    return nf.Embedder("tsne", engine="mesh", **OPTIONS).fit(blobs())


@pytest.fixture(scope="module")
def model(client):
    return nf.cluster.fit(blobs(), client=client, **OPTIONS)


def test_the_map_is_as_good_as_that_of_one_machine(model, alone):
    X = blobs()
    assert model.embedding_.shape == (N, 2)
    assert model.converged_
    assert model.cost_ == pytest.approx(alone.cost_, rel=0.02)
    auc, best = (nf.quality(X, each.embedding_).auc for each in (model, alone))
    assert auc > best - 0.02
    assert sum(each["points"] for each in model.cluster_["workers"]) == N
    assert all(each["sent"]["grid"] > 0 for each in model.cluster_["workers"])


def test_new_rows_are_placed(model):
    X = blobs()
    np.testing.assert_array_equal(model.transform(X[5:9]), model.embedding_[5:9])
    near = np.linalg.norm(model.transform(X[5:9] + 1e-3) - model.embedding_[5:9], axis=1)
    assert near.max() < 0.2 * model.embedding_.std()


def test_the_same_again_is_the_same_and_chunks_have_no_say(client, model):
    X = blobs()
    again = nf.cluster.fit(X, client=client, **OPTIONS)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    chunked = nf.cluster.fit(da.from_array(X, chunks=(170, -1)), client=client, max_iter=20, **OPTIONS)
    plain = nf.cluster.fit(X, client=client, max_iter=20, **OPTIONS)
    np.testing.assert_allclose(chunked.embedding_, plain.embedding_, rtol=1e-3, atol=1e-6)


def test_the_map_may_stay_on_the_workers(client, model):
    X = da.from_array(blobs(), chunks=(170, -1))
    lazy = nf.cluster.fit(X, client=client, as_dask=True, max_iter=20, **OPTIONS)
    assert lazy.embedding_.chunks == ((400, 400), (2,))
    here = nf.cluster.fit(X, client=client, max_iter=20, **OPTIONS)
    np.testing.assert_array_equal(lazy.embedding_.compute(), here.embedding_)
    with pytest.raises(ValueError, match="as_dask=False"):
        lazy.transform(blobs()[:3])


def test_pins_hold_and_their_neighbours_follow(client):
    model = nf.cluster.fit(blobs(), client=client, pins={3: (30, 0), 700: (-30, 5)}, max_iter=240, **OPTIONS)
    np.testing.assert_array_equal(model.embedding_[[3, 700]], [[30, 0], [-30, 5]])
    near = np.sort(np.linalg.norm(model.embedding_ - [30, 0], axis=1))
    assert near[10] < 15


def test_progress_is_heard_and_true_stops(client):
    heard = []

    def callback(at):
        heard.append((at.iteration, at.latest("cost"), at.seconds, at.bytes))
        return at.iteration >= 30

    model = nf.cluster.fit(blobs(), client=client, callback=callback, **OPTIONS)
    assert [each[0] for each in heard[:3]] == [10, 20, 30]
    assert all(cost > 0 and seconds > 0 and sent > 0 for _, cost, seconds, sent in heard)
    assert 30 <= model.n_iter_ < 200
    assert not model.converged_


def test_ctrl_c_keeps_the_map_and_leaves_nothing_behind(client):
    def callback(at):
        if at.iteration == 20:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted at iteration"):
        model = nf.cluster.fit(blobs(), client=client, callback=callback, **OPTIONS)
    assert model.interrupted_
    assert model.embedding_.shape == (N, 2)
    assert not any(client.processing().values())


def test_a_checkpoint_is_gone_on_from_and_others_are_refused(client, tmp_path):
    X, folder = blobs(), tmp_path / "kept"
    nf.cluster.fit(X, client=client, checkpoint=folder, max_iter=60, **OPTIONS)
    first = []
    model = nf.cluster.fit(
        X,
        client=client,
        checkpoint=folder,
        max_iter=70,
        callback=lambda at: first.append(at.iteration),
        **OPTIONS,
    )
    assert first[0] == 60  # from 50 on
    assert model.n_iter_ == 70
    np.testing.assert_array_equal(
        model.embedding_, nf.cluster.fit(X, client=client, max_iter=70, **OPTIONS).embedding_
    )
    assert len(list(folder.iterdir())) == 3  # two parts, and what belongs together
    with pytest.raises(ValueError, match="a checkpoint of other data"):
        nf.cluster.fit(X + 1, client=client, checkpoint=folder, **OPTIONS)
    with pytest.raises(ValueError, match="of another method or of other options"):
        nf.cluster.fit(X, "hssne", client=client, checkpoint=folder, **OPTIONS)
    (folder / "checkpoint.json").write_text("{")
    with pytest.raises(ValueError, match="no checkpoint that can be read"):
        nf.cluster.fit(X, client=client, checkpoint=folder, **OPTIONS)


@pytest.mark.slow  # processes of its own
def test_a_worker_that_is_killed_does_not_end_the_job(tmp_path):
    X = blobs()
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            host="127.0.0.1",
            scheduler_port=0,
        ) as cluster,
        Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        killed = []

        def callback(at):
            if at.iteration >= 60 and not killed:
                killed.append(at.iteration)
                os.kill(victim, signal.SIGKILL)

        with pytest.warns(UserWarning, match="going on with the workers that are left"):
            model = nf.cluster.fit(
                X, client=client, checkpoint=tmp_path / "kept", callback=callback, **OPTIONS
            )
    assert model.cluster_["restarts"] >= 1
    assert model.converged_
    assert np.isfinite(model.embedding_).all()


REFUSED = [
    ({"method": "mds"}, "a cost of distances ties every pair"),
    ({"method": "pca"}, "principal components need no cluster"),
    ({"method": "msjse"}, "several scales|one perplexity"),
    ({"method": "nerv"}, "infinite at p = 0"),
    ({"perplexity": [5, 10]}, "one perplexity"),
    ({"metric": "cosine"}, "Euclidean distances"),
    ({"engine": "exact"}, "mesh engine alone"),
    ({"optimizer": "flow"}, "does not run on a cluster"),
    ({"init": "spectral"}, "use init='pca' or 'random'"),
    ({"supervision": 0.5}, "leave supervision at 0"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_cannot_be_done_is_refused_in_a_line(client, options, message):
    with pytest.raises(ValueError, match=message):
        nf.cluster.fit(blobs(), client=client, **options)


def test_data_that_cannot_be_dealt_out_are_refused(client):
    X = da.from_array(blobs(), chunks=(200, 5))
    with pytest.raises(ValueError, match="columns of X are cut into 2 chunks"):
        nf.cluster.fit(X, client=client)
    X = da.from_array(blobs(), chunks=(200, 10))
    with pytest.raises(ValueError, match="chunks of unknown size"):
        nf.cluster.fit(X[X[:, 0] > 0], client=client)
    wrong = blobs()
    wrong[7, 3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in row 7"):
        nf.cluster.fit(wrong, client=client)
    with pytest.raises(ValueError, match="too few for 2 workers"):
        nf.cluster.fit(blobs(15), client=client, perplexity=3)


def test_workers_of_another_version_are_refused(client, monkeypatch):
    monkeypatch.setattr(fitting, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"has nearfield .*, and the client 99.0"):
        nf.cluster.fit(blobs(), client=client)
    monkeypatch.setattr(fitting, "LOCATED", "nearfield.nowhere")
    with pytest.raises(ValueError, match="has no nearfield"):
        nf.cluster.fit(blobs(), client=client)


def test_a_client_that_is_gone_is_refused(client):
    other = Client(client.cluster, set_as_default=False)
    other.close()
    with pytest.raises(ValueError, match="the client is gone"):
        nf.cluster.fit(blobs(), client=other)
    with pytest.raises(TypeError, match=r"must be a distributed\.Client"):
        nf.cluster.fit(blobs(), client="tcp://127.0.0.1:1")


def jobs_at_work(dask_worker):
    return len(dask_worker.plugins["nearfield-post"].boxes)


def test_workers_stop_when_their_client_has_gone(client):
    other = Client(client.cluster, set_as_default=False)
    with pytest.raises((ConnectionError, OSError)):
        nf.cluster.fit(
            blobs(), client=other, callback=lambda at: other.close(), max_iter=10**6, tol=0.0, **OPTIONS
        )
    while any(client.run(jobs_at_work).values()):  # ends, or the test does not
        pass
    assert not any(client.processing().values())
