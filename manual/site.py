"""Make the documentation site: ``python -m manual.site`` (``make docs``).

::

    docs/, README, code ──lay_out──> pages ──zensical──> html ──keep_offline──> opened as files

Links to pages stay links; of files that the site has not, the name stays. With ``--pages`` it ends
at the pages, for another program that reads mkdocs.yml.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from drivelab.report.saved import WHAT_IF
from drivelab.report.what_if_page import what_if_page
from manual import json_schemas
from manual.commands import commands_page

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
#: Where mkdocs.yml looks for pages, and puts the site.
SITE: Final = ROOT / "target" / "site"
# What the theme would load from elsewhere if pages are files.
_LOADED: Final = re.compile(r"https://unpkg\.com/iframe-worker/shim")
#: Pages from elsewhere in the repository.
FROM_ELSEWHERE: Final = {
    "README.md": "index.md",
    "VALIDATION.md": "validation.md",
    "CHANGELOG.md": "changelog.md",
}
MADE: Final = {"commands.md": commands_page}
#: The page that holds the simulator, and the page of the site that ends with a link to it. In a
#: folder of its own: it has none of the site's theme.
_PAGE: Final = f"page/{WHAT_IF}"
_ABOUT: Final = "what-if.md"
#: Schemas of what `--json` prints, and the page that ends with a list of them.
_SCHEMAS: Final = "schemas"
_ABOUT_JSON: Final = "json.md"
_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_OUTSIDE: Final = re.compile(r"[a-z]+:")


def lay_out(folder: Path) -> None:
    """Write every page, and what pages show, into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    texts = {f"docs/{path.name}": path.name for path in DOCS.glob("*.md")} | FROM_ELSEWHERE
    for source, page in texts.items():
        text = (ROOT / source).read_text()
        (folder / page).write_text(linked(text, Path(source), texts))
    for page, made in MADE.items():
        (folder / page).write_text(made())
    (folder / _PAGE).parent.mkdir()
    (folder / _PAGE).write_bytes(what_if_page())
    with (folder / _ABOUT).open("a") as about:
        about.write(f"\n[Open the page]({_PAGE}).\n")
    names = [path.name for path in json_schemas.write(folder / _SCHEMAS)]
    with (folder / _ABOUT_JSON).open("a") as about:
        about.writelines(f"- [{name}]({_SCHEMAS}/{name})\n" for name in names)


def linked(text: str, source: Path, pages: Mapping[str, str]) -> str:
    """Change the links of a page so that they lead to pages of the site.

    Parameters
    ----------
    text
        The page.
    source
        Where it is in the repository.
    pages
        Of each page's path in the repository what it is called in the site.
    """

    def changed(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        path, hash_mark, anchor = target.partition("#")
        if _OUTSIDE.match(target) or not path:
            return found[0]
        there = (ROOT / source.parent / path).resolve()
        if not there.is_relative_to(ROOT):
            return words
        name = str(there.relative_to(ROOT))
        if name in pages:
            return f"{mark}[{words}]({pages[name]}{hash_mark}{anchor})"
        if there.is_relative_to(DOCS):
            return f"{mark}[{words}]({there.relative_to(DOCS)})"
        return words if words.startswith("`") or mark else f"{words} (`{name}`)"

    return _LINK.sub(changed, text)


def keep_offline(folder: Path) -> None:
    """Change the search so that pages opened as files load nothing from elsewhere."""
    name = "offline_worker.js"
    shutil.copy(Path(__file__).with_name(name), folder / "assets" / name)
    for page in folder.glob("*.html"):
        # The page for missing pages is served from any address, so it names files from the root.
        start = "/" if page.name == "404.html" else ""
        text, count = _LOADED.subn(f"{start}assets/{name}", page.read_text())
        if count != 1:
            sys.exit(f"{page} loads the worker's stand-in {count} times, and not once")
        page.write_text(text)


def build(folder: Path) -> Path:
    """Make the site in a folder; return its first page. `SystemExit` where a link leads nowhere."""
    pages, html = folder / "pages", folder / "html"
    lay_out(pages)
    config = (ROOT / "mkdocs.yml").read_text()
    for key, there in (("docs_dir", pages), ("site_dir", html)):
        config = re.sub(rf"^{key}: .*$", f"{key}: {there.name}", config, flags=re.MULTILINE)
    (folder / "mkdocs.yml").write_text(config)
    zensical = Path(sys.executable).with_name("zensical")
    done = subprocess.run([zensical, "build", "--strict", "--clean"], cwd=folder, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    keep_offline(html)
    return html / "index.html"


def main(words: list[str]) -> None:
    """Make the site, or its pages alone."""
    if words == ["--pages"]:
        lay_out(SITE / "pages")
    else:
        SITE.mkdir(parents=True, exist_ok=True)
        print(build(SITE))


if __name__ == "__main__":
    main(sys.argv[1:])
