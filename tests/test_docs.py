"""The documentation says what the code does: pages are current, blocks and examples run, links work."""

import contextlib
import importlib.util
import re
import sys
from pathlib import Path
from urllib.parse import unquote

import matplotlib
import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import PluginError

import nearfield as nf
from nearfield.cli import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
BESIDE = [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]  # docs/, and on the site all the same
PAGES = [ROOT / "README.md", *BESIDE, *DOCS]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


def relative(path):
    return path.relative_to(ROOT).as_posix()


def blocks(page, *languages):
    """The fenced blocks of a page in these languages, each with its language."""
    return [found for found in BLOCK.findall(page.read_text(encoding="utf-8")) if found[0] in languages]


def script(name):
    """A script of docs/tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for the module that they are in
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generate():
    """docs/tools/generate.py as a module."""
    path = list(sys.path)
    yield script("generate")
    sys.path[:] = path


OUTPUTS = script("outputs")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path):
    """Whatever is written goes to a folder of its own, and windows are not opened."""
    matplotlib.use("Agg")
    with contextlib.chdir(tmp_path):
        yield tmp_path


def test_the_reference_is_what_the_code_gives(generate):
    assert generate.stale() == [], "run: make docs"


def test_the_formulas_are_what_the_code_computes(generate):
    assert generate.wrong_formulas() == []


def test_a_wrong_formula_is_noticed(generate, monkeypatch):
    monkeypatch.setattr(nf.costs.KL, "derivative_formula", r"\frac{p}{q}")
    monkeypatch.setattr(nf.kernels.Student, "derivative_formula", r"-\frac{\nu-1}{2(\nu+f)} w")
    assert [message.split(",")[0] for message in generate.wrong_formulas()] == ["KL", "Student"]


def test_check_fails_on_a_stale_page(generate, elsewhere, monkeypatch, capsys):
    monkeypatch.setattr(generate, "pages", lambda: {generate.DOCS / "reference" / "kernels.md": "other"})
    monkeypatch.setattr(generate, "drifted", lambda: {generate.DOCS / "tutorial.md": "other"})
    assert generate.main(["--check"]) == 1
    told = capsys.readouterr().err
    assert "docs/reference/kernels.md is not what the code gives" in told
    assert "docs/tutorial.md is not what the code gives" in told


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=relative)
def test_the_blocks_of_a_page_run_in_their_order_and_print_what_it_shows(page):
    outputs = OUTPUTS.run_page(page)
    assert bool(outputs) == OUTPUTS.shows_output(page)
    for output in outputs:
        assert output.current, (
            f"run make docs, for {page.name} shows\n{output.shown}in place of\n{output.printed}"
        )


def test_the_pages_that_show_outputs_are_found():
    assert {page.name for page in OUTPUTS.with_outputs()} >= {"README.md", "tutorial.md", "own.md"}


SHOWN = (
    "cost 0.3917 (lam=0.9) after 330 iterations in 0.4 s, error 1.1e-11, K up to 2, best 96.6 %*, wrote a.csv"
)


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        (("0.3917", "0.3821"), True),
        (("330", "410"), True),
        (("0.4 s", "12.9 s"), True),
        (("1.1e-11", "3e-16"), True),
        (("up to 2", "up to 18"), True),
        (("%*", "%"), True),
        (("0.3917", "0.5102"), False),
        (("lam=0.9", "lam=0.91"), False),
        (("a.csv", "b.csv"), False),
        (("wrote", "wrote 2"), False),
        ((", best 96.6 %*", ""), False),
    ],
)
def test_what_of_an_output_may_differ(change, is_same):
    assert OUTPUTS.same(SHOWN, SHOWN.replace(*change)) == is_same


def test_an_output_that_has_drifted_is_put_right_and_the_others_stay(elsewhere):
    page = elsewhere / "page.md"
    first, second = (
        "```python\nprint('now', 0.501)\n```\n\n```text\n{} 0.5\n```\n",
        "```text\n$ nearfield methods\n```\n",
    )
    page.write_text(first.format("then") + "words\n" + first.format("now") + second, encoding="utf-8")
    outputs = OUTPUTS.run_page(page)
    assert [output.current for output in outputs] == [False, True, False]
    text = OUTPUTS.renewed(outputs, page.read_text(encoding="utf-8"))
    assert "then" not in text
    assert text.count("now 0.501\n") == text.count("now 0.5\n") == 1
    assert "$ nearfield methods\n" in text
    assert "tsne" in text
    page.write_text("```sh\nnearfield embed nowhere.csv\n```\n\n```text\n```\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"gave 2: .*nowhere\.csv"):
        OUTPUTS.run_page(page)


def test_the_readme_has_ten_lines_of_python():
    (block,) = blocks(ROOT / "README.md", "python")
    lines = [line for line in block[1].splitlines() if line.strip()]
    assert len(lines) <= 10


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_command_and_option_exists(page, capsys):
    for _, text in blocks(page, "sh"):
        for name, *rest in OUTPUTS.commands(text):
            assert main([name, "--help"]) == 0
            help = capsys.readouterr().out
            assert all(option in help for option in rest if option.startswith("--")), (name, rest)


@pytest.mark.parametrize("example", EXAMPLES, ids=relative)
def test_an_example_runs_and_writes_to_the_current_folder(example, elsewhere):
    before = {path for path in ROOT.iterdir() if path.is_file()}
    source = example.read_text(encoding="utf-8")
    exec(compile(source, relative(example), "exec"), {"__name__": "__main__"})
    assert (elsewhere / f"{example.stem}.png").stat().st_size > 1000
    assert {path for path in ROOT.iterdir() if path.is_file()} == before
    assert len(source.splitlines()) < 30


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_link_leads_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in (first or second for first, second in LINK.findall(text)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_every_page_is_linked_from_the_index():
    docs, linked = ROOT / "docs", set()
    for index in (docs / "index.md", docs / "derivations" / "index.md", docs / "api" / "index.md"):
        targets = [target for target, _ in LINK.findall(index.read_text(encoding="utf-8"))]
        linked |= {(index.parent / target).resolve() for target in targets if "://" not in target}
    assert {*BESIDE, *DOCS, *EXAMPLES} - {docs / "index.md"} <= linked


def test_the_catalogue_of_the_readme_is_complete():
    text = (
        (ROOT / "README.md").read_text(encoding="utf-8").partition("## The catalogue")[2].partition("\n[")[0]
    )
    assert sorted(re.findall(r"`(\w+)`", text)) == sorted(nf.methods())


def test_the_methods_of_the_table_that_says_when_exist():
    text = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8").partition("## The table")[2]
    rows = [row.split("|") for row in text.partition("\n## ")[0].splitlines() if row.startswith("| ")][2:]
    names = {name for row in rows for name in re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", row[2]))}
    assert len(names) > 20
    assert names <= {*nf.methods(), "pca"}


def test_every_public_name_is_in_the_api(generate):
    api = script("public")
    names = [name for _, names in api.public().values() for name in names]
    assert {name for name in nf.__all__ if name[0] != "_"} == {name.partition(".")[0] for name in names}
    assert all(api.in_a_line(name) for name in names)


# ------------------------------------------------------------------------------------ the site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` builds it."""
    config = load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(tmp_path_factory.mktemp("site")))
    build(config)  # strict: a warning is an error
    return config


def entries(nav):
    """The pages of a navigation."""
    if isinstance(nav, str):
        return [nav]
    return [page for entry in (nav.values() if isinstance(nav, dict) else nav) for page in entries(entry)]


def test_the_navigation_has_every_page_once_and_nothing_else(site):
    shown = entries(site.nav)
    assert len(shown) == len(set(shown))
    beside = {relative(page) for page in BESIDE} | {"benchmarks/RESULTS.md", "examples.md"}
    assert set(shown) == {relative(page).removeprefix("docs/") for page in DOCS} | beside


def test_the_site_is_whole(site):
    folder = Path(site.site_dir)
    for page in entries(site.nav):
        text = (folder / page).with_suffix(".html").read_text(encoding="utf-8")
        assert "arithmatex" not in text, page
    assert "<mfrac>" in (folder / "mathematics.html").read_text(encoding="utf-8")
    assert "growth.png" in (folder / "benchmarks" / "RESULTS.html").read_text(encoding="utf-8")
    assert (folder / "benchmarks" / "pictures" / "growth.png").exists()
    assert "Triangular" in (folder / "examples.html").read_text(encoding="utf-8")
    assert (folder / "search" / "search_index.js").exists()


def test_links_lead_to_files_and_nothing_comes_from_elsewhere(site):
    hooks, folder = script("hooks"), Path(site.site_dir)
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert hooks.loaded_from_elsewhere(text) == [], page.name
        for target in re.findall(r'(?:href|src)="([^"#?]+)', text):
            if page.name != "404.html" and not target.startswith(("http", "mailto:", "data:")):
                assert (page.parent / unquote(target)).exists(), (page.name, target)


@pytest.mark.parametrize(
    "loading",
    [
        '<script async src="https://elsewhere.org/a.js">',
        "<img alt='a' src='//elsewhere.org/a.png'>",
        '<link rel="stylesheet" href="https://elsewhere.org/a.css">',
        '<link href="https://elsewhere.org" rel="preconnect">',
        "body { background: url(https://elsewhere.org/a.png) }",
    ],
)
def test_what_would_be_loaded_from_elsewhere_is_noticed(loading):
    found = script("hooks").loaded_from_elsewhere
    assert len(found(loading)) == 1
    assert found('<a href="https://elsewhere.org">there</a>') == []


def test_a_formula_that_cannot_be_drawn_is_noticed():
    hooks = script("hooks")
    assert "<mfrac>" in hooks.on_page_content('<span class="arithmatex">\\(\\frac{p}{q}\\)</span>')
    with pytest.raises(PluginError, match="no MathML"):
        hooks.on_page_content('<span class="arithmatex">\\(\\nonsense\\)</span>')


def test_pictures_are_small():
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 250_000, picture.name
