"""The documentation site: every page has a place, nothing comes from elsewhere, search works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from manual import site
from opened_page import Opened

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Strict: a link or an anchor that leads nowhere ends it.
    return site.build(tmp_path_factory.mktemp("site"))


def test_every_page_has_one_place(index: Path) -> None:
    placed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert len(placed) == len(set(placed))
    assert set(placed) == {path.name for path in (index.parents[1] / "pages").glob("*.md")}


def test_links_lead_to_pages_or_are_names() -> None:
    pages = {"docs/fit.md": "fit.md", "VALIDATION.md": "validation.md"}
    for text, there in (
        ("[a](../VALIDATION.md#b)", "[a](validation.md#b)"),
        ("[a](fit.md)", "[a](fit.md)"),
        ("[a](#b)", "[a](#b)"),
        ("[a](https://example.org)", "[a](https://example.org)"),
        ("[one](../Makefile)", "one (`Makefile`)"),
        ("[`Makefile`](../Makefile)", "`Makefile`"),
        ("![p](images/live-sqlite.svg)", "![p](images/live-sqlite.svg)"),
    ):
        assert site.linked(text, Path("docs/x.md"), pages) == there
    assert site.linked("[a](docs/fit.md)", Path("README.md"), pages) == "[a](fit.md)"


@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_searched_without_a_server(browser: Any, index: Path, width: int) -> None:
    opened = Opened(browser, index, width)
    page = opened.page
    page.keyboard.press("Control+k")
    page.keyboard.type("over-provisioning")
    page.get_by_text("Write amplification under random writes").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "index.html" not in url)
    page.get_by_role("heading", level=1).first.wait_for()
    # The theme's own: a field that asks for the focus on a page that is opened in its middle.
    assert [each for each in opened.said if "Autofocus" not in each] == []
    assert all(each.startswith(("file:", "data:", "about:")) for each in opened.asked)
    opened.context.close()


@pytest.mark.parametrize("name", ["index", "commands", "choose", "json-measure", "preset-keys"])
def test_no_page_is_wider_than_its_window(browser: Any, index: Path, name: str) -> None:
    opened = Opened(browser, index.with_name(f"{name}.html"), 390)
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    opened.context.close()
