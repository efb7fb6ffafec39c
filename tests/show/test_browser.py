"""The rig itself: a Chromium that draws with WebGL2, and notices what a page must not do."""

import pytest

from support.browser import opened, served, violations

pytestmark = pytest.mark.slow  # a browser takes its time

PAGE = '<!doctype html><html lang="en"><title>a page</title><main><h1>a page</h1></main>'
KINDS = "['webgl2', '2d'].map((kind) => document.createElement('canvas').getContext(kind) !== null)"


def test_the_browser_draws_with_webgl(tab):
    with served({"index.html": PAGE}) as address:
        tab.goto(address)
        assert tab.evaluate(KINDS) == [True, True]


def test_webgl_can_be_taken_away(browser):
    with opened(browser, webgl=False) as tab, served({"index.html": PAGE}) as address:
        tab.goto(address)
        assert tab.evaluate(KINDS) == [False, True]


@pytest.mark.parametrize(
    ("script", "event"),
    [
        ("console.error('wrong')", "console"),
        ("setTimeout(() => { throw Error('wrong'); }, 0)", "pageerror"),
        ("void fetch('https://example.invalid/').catch(() => {})", "requestfailed"),
    ],
)
def test_what_a_page_must_not_do_is_noticed(browser, script, event):
    noticed = pytest.raises(AssertionError, match=r"wrong|example\.invalid")
    with noticed, opened(browser) as tab, tab.expect_event(event):
        tab.evaluate(script)


def test_an_inline_script_is_refused_by_the_policy(browser):
    inline = PAGE + "<script>document.title = 'taken'</script>"
    with served({"index.html": inline}) as address, opened(browser, allowed=("Content Security",)) as tab:
        tab.goto(address)
        assert tab.title() == "a page"


def test_axe_finds_what_is_wrong(tab):
    with served({"index.html": PAGE}) as address:
        tab.goto(address)
        assert violations(tab) == []
        tab.evaluate("document.body.append(document.createElement('button'))")
        assert [each.split(":")[0] for each in violations(tab)] == ["button-name"]
