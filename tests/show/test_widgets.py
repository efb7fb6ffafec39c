"""The map in a notebook: the widget's own module, hosted in a real browser as a notebook hosts it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import nearfield as nf
from nearfield.show import widgets
from support.browser import opened, violations
from support.notebooks import in_notebook

pytestmark = pytest.mark.slow  # a browser takes its time

X = np.random.default_rng(0).normal(size=(60, 4))
Y, KINDS = X[:, :2], np.array(["left", "right"])[(X[:, 0] > 0).astype(int)]
SCRIPT = "<img src=x onerror='window.taken = 1'>"


def test_a_map_is_shown_with_search_legend_and_card(tab):
    with in_notebook(tab, nf.widget(Y, {"third": X[:, 2]}, KINDS, title="Noise")):
        assert tab.evaluate("nearfield.n") == 60
        assert tab.locator(".nearfield").bounding_box()["height"] == 520
        assert "left" in tab.locator(".nf-legend").inner_text()
        tab.mouse.move(*tab.evaluate("nearfield.screen(7)"))
        told = tab.locator(".nf-card dd").all_inner_texts()
        assert told[0] in ("left", "right")
        assert float(told[1]) == pytest.approx(
            X[X[:, 2].round(5) == round(float(told[1]), 5), 2][0], rel=1e-5
        )
        assert violations(tab) == []


def test_the_map_lives_while_its_run_steps(tab):
    run = nf.Run(X, perplexity=10, random_state=0)
    shown = nf.widget(run, labels=KINDS)
    sent = []
    shown.observe(lambda change: sent.append(np.frombuffer(change.new, np.float32)), "positions")
    with in_notebook(tab, shown) as send:
        np.testing.assert_array_equal(tab.evaluate("[...nearfield.positions()]"), np.float32(run.Y).ravel())
        shown.step(25)
        assert (run.iteration, len(sent)) == (25, 3)
        send("positions")
        np.testing.assert_array_equal(tab.evaluate("[...nearfield.positions()]"), np.float32(run.Y).ravel())
        assert all(
            0 < x < 1280 for x, _ in tab.evaluate("Array.from({length: 60}, (_, i) => nearfield.screen(i))")
        )
        run.step(5)
        shown.refresh()
        send("positions")
        np.testing.assert_array_equal(tab.evaluate("[...nearfield.positions()]"), np.float32(run.Y).ravel())


def test_selections_go_both_ways(tab):
    shown = nf.widget(Y, labels=KINDS)
    with in_notebook(tab, shown) as send:
        tab.mouse.click(*tab.evaluate("nearfield.screen(7)"))
        (chosen,) = tab.evaluate("model.saved.at(-1).selection")
        places = tab.evaluate("(i) => [nearfield.screen(7), nearfield.screen(i)]", chosen)
        assert np.linalg.norm(np.subtract(*places)) < 2
        shown.selection = [1, 2, 3]
        send("selection")
        assert tab.evaluate("[...nearfield.selection]") == [1, 2, 3]


def test_two_maps_are_apart_and_end_apart(tab):
    with in_notebook(tab, nf.widget(Y, labels=KINDS)):
        assert tab.evaluate("model.listeners()") == 2
        tab.evaluate("end()")
        assert tab.evaluate("model.listeners()") == 0


@pytest.mark.parametrize("dark", [False, True])
def test_the_notebooks_theme_decides(browser, dark):
    with opened(browser, dark=not dark) as tab, in_notebook(tab, nf.widget(Y), dark=dark):
        assert tab.locator(".nearfield").get_attribute("data-theme") == ("dark" if dark else "light")


def test_a_label_that_is_a_script_stays_text(tab):
    with in_notebook(tab, nf.widget(Y, {SCRIPT: [SCRIPT] * 60}, [SCRIPT] * 60, title=SCRIPT)):
        tab.mouse.move(*tab.evaluate("nearfield.screen(7)"))
        assert tab.locator(".nf-card dd").all_inner_texts() == [SCRIPT, SCRIPT]
        assert tab.evaluate("window.taken") is None


def test_only_runs_step():
    with pytest.raises(TypeError, match="only a Run can step"):
        nf.widget(Y).step()


def test_without_anywidget_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    widgets._kind.cache_clear()
    with pytest.raises(ImportError, match=r'pip install "nearfield\[notebook\]"'):
        nf.widget(Y)
    widgets._kind.cache_clear()


def test_the_widget_is_an_anywidget_with_a_module_and_a_sheet():
    import anywidget

    shown = nf.widget(Y)
    assert isinstance(shown, anywidget.AnyWidget)
    assert "export default { render };" in str(shown._esm)
    assert ".nearfield" in str(shown._css)
