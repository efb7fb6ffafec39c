"""What MkDocs does not do by itself: files from beside docs/, folders in the navigation, formulas.

The pages are written to be read in the repository. Here the same links are made to work on the site: a file
of docs/ keeps its path there, and so does any other file of the repository that is shown (`SHOWN`). A site
that would load anything from another machine is refused.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
SHOWN = ("CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/RESULTS.md", "benchmarks/pictures/*.png")
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)(#[^)\s]*)?(\))")
FORMULA = re.compile(r'<(span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</\1>', re.DOTALL)
# Room as TeX leaves it: none around a stroke, some around a logarithm; and the index of a sum below it.
AS_IN_TEX = (
    (r"<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">/</mo>'),
    (r"<mi>log</mi>(?!<mo)", '<mi>log</mi><mspace width="0.17em"/>'),
    (r"(</m(?:i|n|sub|sup|subsup|frac)>)<mi>log</mi>", r'\1<mspace width="0.17em"/><mi>log</mi>'),
    (
        r"<msub>(<mo>&#x02211;</mo><mrow>(?:(?!</?m(?:row|sub)).)*</mrow>)</msub>",
        r"<munder>\1</munder>",
    ),
)
# Whatever a browser would load without being asked.
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?=[^>]*rel=["']?(?:stylesheet|preconnect|preload|dns-prefetch|icon))[^>]*href=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|url\(["']?((?:https?:)?//[^"')]+)""",
    re.IGNORECASE,
)


# ------------------------------------------------------------------------------------ files and links


def examples() -> str:
    """The page of the examples: each script as it is."""
    parts = [
        "# Examples\n\nEach runs in seconds, writes to the current folder only, and is run by the tests."
    ]
    for path in sorted((ROOT / "examples").glob("*.py")):
        parts.append(f"## {path.name}\n\n```python\n{path.read_text(encoding='utf-8').strip()}\n```")
    return "\n\n".join(parts) + "\n"


def on_config(config: Any) -> Any:
    """Replace a folder in the navigation by its pages: its index first, then by name."""
    config.nav = expanded(config.nav)
    return config


def expanded(nav: Any) -> Any:
    """The navigation, with all folders replaced."""
    if isinstance(nav, str) and nav.endswith("/"):
        pages = sorted((DOCS / nav).glob("*.md"), key=lambda path: (path.stem != "index", path.stem))
        return [{heading(path): path.relative_to(DOCS).as_posix()} for path in pages]
    if isinstance(nav, dict):
        return {title: inner for title, entry in nav.items() if (inner := expanded(entry))}
    if isinstance(nav, list):
        return [inner for entry in nav if (inner := expanded(entry))]
    return nav


def heading(path: Path) -> str:
    """The heading of a page, without what it shares with the others of its folder."""
    found = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return found[1].removeprefix("The gradient of ") if found else path.stem


def on_files(files: Any, config: Any) -> Any:
    """Add what lies beside docs/."""
    for path in (found for pattern in SHOWN for found in sorted(ROOT.glob(pattern))):
        name = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    files.append(File.generated(config, "examples.md", content=examples()))
    return files


def site_path(name: str, anchor: str) -> tuple[str, str]:
    """Where a file of the repository is on the site."""
    path = PurePosixPath(name)
    if path.parts[:1] == ("docs",):
        return path.relative_to("docs").as_posix(), anchor
    if path.parts[:1] == ("examples",):
        return "examples.md", "#" + path.name.replace(".", "")
    return ("index.md" if name == "README.md" else name), anchor


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links within the repository into links within the site."""
    uri = page.file.src_uri
    home = PurePosixPath("docs", uri) if (DOCS / uri).exists() else PurePosixPath(uri)

    def turned(link: re.Match[str]) -> str:
        before, target, anchor, after = link.groups()
        if "://" in target:
            return link[0]
        name = os.path.normpath(home.parent / target).replace(os.sep, "/")
        target, anchor = site_path(name, anchor or "")
        return (
            before + os.path.relpath(target, PurePosixPath(uri).parent).replace(os.sep, "/") + anchor + after
        )

    pieces, end = [], 0
    for code in CODE.finditer(markdown):  # which is left as it is
        pieces += [LINK.sub(turned, markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*pieces, LINK.sub(turned, markdown[end:])])


# ------------------------------------------------------------------------------------ formulas


def mathml(formula: re.Match[str]) -> str:
    """A formula that browsers draw by themselves."""
    _, inline, display = formula.groups()
    latex = html.unescape(inline or display).strip()
    latex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", latex)
    made = convert(latex, display="inline" if inline else "block")
    if re.search(r"\\|<mi>&</mi>", made):
        raise PluginError(f"no MathML for {latex}")
    for pattern, better in AS_IN_TEX if display else AS_IN_TEX[:-1]:
        made = re.sub(pattern, better, made)
    return made if inline else f'<div class="formula">{made}</div>'


def on_page_content(content: str, **_: Any) -> str:
    """Replace TeX by MathML, so that no script is needed."""
    return FORMULA.sub(mathml, content)


# ------------------------------------------------------------------------------------ no requests


def loaded_from_elsewhere(text: str) -> list[str]:
    """The addresses on other machines that a page or style sheet would load from.

    Examples
    --------
    >>> loaded_from_elsewhere('<a href="https://a.org">a</a><script src="https://b.org/c.js"></script>')
    ['https://b.org/c.js']
    """
    return [next(filter(None, found)) for found in LOADED.findall(text)]


def on_post_build(config: Any) -> None:
    """Refuse a site that asks other machines for anything."""
    for path in sorted(Path(config.site_dir).rglob("*")):
        if path.suffix in (".html", ".css"):
            found = loaded_from_elsewhere(path.read_text(encoding="utf-8"))
            if found:
                raise PluginError(f"{path.name} would load {found[0]}")
