"""Every kind of page for people who read with a keyboard, a screen reader, or on a dark screen.

axe-core finds what a program can find: contrast, names, roles, order of headings. What it cannot
find is tested by hand below: the first screen, keys, and words that are explained.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from made_once import made_once
from made_pages import KINDS
from opened_page import LABELS_TOUCHING, TEXTS_OUTSIDE, Opened

from drivelab.report.page import render

AXE = importlib.resources.files("axe_playwright_python") / "axe.min.js"
#: Rows that differ only in their words and numbers look alike: of those the first is enough. The
#: table of all workloads took axe-core four fifths of its time.
ALIKE = """
() => document.querySelectorAll("tbody").forEach((body) => {
  const seen = new Set();
  [...body.rows].forEach((row) => {
    const look = row.outerHTML
      .replace(/ data-[a-z-]+="[^"]*"/g, "")
      .replace(/>[^<]+</g, ">x<");
    seen.has(look) ? row.remove() : seen.add(look);
  });
})
"""
#: What a page begins with.
PARTS = (".first .picture .body", ".first .cards", ".first .sure")
#: On a phone where each drive is faster comes before the curves, of which the first is seen.
COMPARED = {390: (".first .second .body", ".first .picture .panel svg")}
#: A report of nothing but sheets begins with its first sheet.
BEGUN = [name for name in KINDS if name != "sheets"]


class Pages(Mapping[str, Path]):
    """Every kind of page, each made when it is first opened, by one worker for all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> Path:
        def make(path: Path) -> None:
            path.mkdir()
            html = render(KINDS[name](path), has_what_if=True).html
            (path / "page.html").write_text(html, "utf-8")

        return made_once(self._folder, f"page {name}", make) / "page.html"

    def __iter__(self) -> Iterator[str]:
        return iter(KINDS)

    def __len__(self) -> int:
        return len(KINDS)


@pytest.fixture(scope="module")
def pages(between_workers: Path) -> Mapping[str, Path]:
    return Pages(between_workers)


@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing(browser: Any, pages: Mapping[str, Path], name: str) -> None:
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(pages[name].as_uri())
    page.evaluate(ALIKE)
    page.evaluate(AXE.read_text("utf-8"))
    found = {}
    for scheme, width in [("light", 1280), ("dark", 1280), ("dark", 390)]:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        said = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        found[scheme, width] = [
            f"{one['id']}: {node['html'][:120]}"
            for one in said["violations"]
            for node in one["nodes"][:3]
        ]
    context.close()
    assert {where: what for where, what in found.items() if what} == {}


def test_only_rows_that_look_alike_are_left_out(browser: Any) -> None:
    page = browser.new_page()
    rows = [
        *("<tr><td>1</td><td>a</td></tr>", "<tr><td>2</td><td>b</td></tr>"),
        *("<tr><td>3</td><td></td></tr>", "<tr class=x><td>4</td><td>c</td></tr>"),
        *(
            "<tr><td style='color:red'>5</td><td>d</td></tr>",
            "<tr><td><b>6</b></td><td>e</td></tr>",
        ),
    ]
    page.set_content(f"<table><tbody>{''.join(rows)}</tbody></table>")
    page.evaluate(ALIKE)
    left = page.evaluate("[...document.querySelectorAll('tr')].map((row) => row.innerText[0])")
    page.close()
    assert left == ["1", "3", "4", "5", "6"]


@pytest.fixture(scope="module", params=[(1280, 800), (390, 844)], ids=str)
def window(browser: Any, request: pytest.FixtureRequest) -> Iterator[tuple[Any, int, int]]:
    """Give a window at a desk and on a phone, for one page after the other."""
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
    yield context.new_page(), width, height
    context.close()


@pytest.mark.parametrize("name", BEGUN)
def test_the_first_screen_holds_a_picture_numbers_and_how_sure(
    window: tuple[Any, int, int], pages: Mapping[str, Path], name: str
) -> None:
    page, width, height = window
    page.goto(pages[name].as_uri())
    parts = COMPARED.get(width, PARTS) if name == "comparison" else PARTS
    found = {what: page.locator(what).first for what in parts if page.locator(what).count()}
    assert parts[0] in found
    boxes = {what: one.bounding_box() for what, one in found.items()}
    assert {what for what, box in boxes.items() if box["y"] + box["height"] > height} == set()


@pytest.mark.parametrize("name", KINDS)
def test_pages_fit_their_window_and_their_drawings(
    window: tuple[Any, int, int], pages: Mapping[str, Path], name: str
) -> None:
    page, width, _ = window
    page.goto(pages[name].as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TEXTS_OUTSIDE) == []
    assert page.evaluate(LABELS_TOUCHING) == []


def test_keys_go_from_point_to_point(browser: Any, pages: Mapping[str, Path]) -> None:
    window = Opened(browser, pages["run"], 1280)
    page = window.page
    page.wait_for_selector("body[data-ready]", state="attached")
    page.locator(".first .panel[data-tips]").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").inner_text().startswith("Random reads, queue depth 1\n")
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").inner_text().startswith("Random reads, queue depth 2\n")
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()
    page.locator(".word").first.focus()
    assert page.locator("#tip").is_visible()
    assert window.said == []
    window.context.close()


def test_a_caution_unfolds_and_paper_has_all_of_it(browser: Any, pages: Mapping[str, Path]) -> None:
    window = Opened(browser, pages["run"], 1280)
    page = window.page
    more = page.locator("details.caution > p").first
    assert not more.is_visible()
    page.locator("details.caution > summary").first.focus()
    page.keyboard.press("Enter")
    assert more.is_visible()
    page.keyboard.press("Enter")
    page.emulate_media(media="print")
    assert more.is_visible()
    window.context.close()
