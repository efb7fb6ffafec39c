"""The documentation says what the code does: pages are current, blocks and examples run, links work."""

import contextlib
import importlib.util
import re
import shlex
import sys
from pathlib import Path

import matplotlib
import pytest

import nearfield as nf
from nearfield.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


def relative(path):
    return path.relative_to(ROOT).as_posix()


def blocks(page, *languages):
    """The fenced blocks of a page in these languages, each with its language."""
    return [found for found in BLOCK.findall(page.read_text(encoding="utf-8")) if found[0] in languages]


def commands(text):
    """The lines of a block that call nearfield, as arguments, without comments."""
    return [
        shlex.split(line, comments=True)[1:] for line in text.splitlines() if line.startswith("nearfield ")
    ]


@pytest.fixture(scope="module")
def generate():
    """docs/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path


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
    monkeypatch.setitem(generate.COST_DERIVATIVES, "KL", (r"\frac{p}{q}", "0"))
    monkeypatch.setitem(generate.KERNEL_DERIVATIVES, "Student", r"-\frac{\nu-1}{2(\nu+f)} w")
    assert [message.split(",")[0] for message in generate.wrong_formulas()] == ["KL", "Student"]


def test_check_fails_on_a_stale_page(generate, elsewhere, monkeypatch, capsys):
    monkeypatch.setattr(generate, "pages", lambda: {generate.DOCS / "reference" / "kernels.md": "other"})
    assert generate.main(["--check"]) == 1
    assert "docs/reference/kernels.md" in capsys.readouterr().err


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=relative)
def test_the_blocks_of_a_page_run_in_their_order(page, capsys):
    # In the tutorial the commands belong to the story; elsewhere they are about somebody's own data.
    languages = ("python", "sh") if page.name == "tutorial.md" else ("python",)
    names = {"__name__": "__main__"}
    for language, text in blocks(page, *languages):
        if language == "python":
            exec(compile(text, relative(page), "exec"), names)
        for arguments in commands(text) if language == "sh" else []:
            assert main(arguments) == 0, arguments
            assert capsys.readouterr().out


def test_the_readme_has_ten_lines_of_python():
    (block,) = blocks(ROOT / "README.md", "python")
    lines = [line for line in block[1].splitlines() if line.strip()]
    assert len(lines) <= 10


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_command_and_option_exists(page, capsys):
    for _, text in blocks(page, "sh"):
        for name, *rest in commands(text):
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
    linked, indices = set(), [ROOT / "docs" / "index.md", ROOT / "docs" / "derivations" / "index.md"]
    for index in indices:
        targets = [target for target, _ in LINK.findall(index.read_text(encoding="utf-8"))]
        linked |= {(index.parent / target).resolve() for target in targets if "://" not in target}
    assert {page for page in [*PAGES, *EXAMPLES] if page != indices[0]} <= linked


def test_the_catalogue_of_the_readme_is_complete():
    text = (
        (ROOT / "README.md").read_text(encoding="utf-8").partition("## The catalogue")[2].partition("\n[")[0]
    )
    assert sorted(re.findall(r"`(\w+)`", text)) == sorted(nf.methods())


def test_pictures_are_small():
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 250_000, picture.name
