"""Every kind of page for people who read with a keyboard, a screen reader, or on a dark screen.

axe-core finds what a program can find: contrast, names, roles, order of headings. What it cannot
find is tested by hand below: the first screen, keys, and words that are explained.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_pages import KINDS
from opened_page import LABELS_TOUCHING, TEXTS_OUTSIDE, Opened

from drivelab.report.page import render

AXE = importlib.resources.files("axe_playwright_python") / "axe.min.js"
#: What a page begins with.
PARTS = (".first .picture .body", ".first .cards", ".first .sure")
#: On a phone where each drive is faster comes before the curves, of which the first is seen.
COMPARED = {390: (".first .second .body", ".first .picture .panel svg")}
#: A report of nothing but sheets begins with its first sheet.
BEGUN = [name for name in KINDS if name != "sheets"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, make in KINDS.items():
        html = render(make(folder), has_what_if=True).html
        (folder / f"{name}.html").write_text(html, "utf-8")
    return {name: folder / f"{name}.html" for name in KINDS}


@pytest.fixture(scope="module")
def checked(browser: Any, pages: dict[str, Path]) -> Callable[[str, str, int], list[str]]:
    """Give what axe-core finds on a page in a colour scheme, at a width."""

    def check(name: str, scheme: str, width: int) -> list[str]:
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
        )
        page = context.new_page()
        page.goto(pages[name].as_uri())
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        context.close()
        return [
            f"{one['id']}: {node['html'][:120]}"
            for one in found["violations"]
            for node in one["nodes"][:3]
        ]

    return check


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 390)])
@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing(
    checked: Callable[[str, str, int], list[str]], name: str, scheme: str, width: int
) -> None:
    assert checked(name, scheme, width) == []


@pytest.fixture(scope="module", params=[(1280, 800), (390, 844)], ids=str)
def window(browser: Any, request: pytest.FixtureRequest) -> Iterator[tuple[Any, int, int]]:
    """Give a window at a desk and on a phone, for one page after the other."""
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
    yield context.new_page(), width, height
    context.close()


@pytest.mark.parametrize("name", BEGUN)
def test_the_first_screen_holds_a_picture_numbers_and_how_sure(
    window: tuple[Any, int, int], pages: dict[str, Path], name: str
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
    window: tuple[Any, int, int], pages: dict[str, Path], name: str
) -> None:
    page, width, _ = window
    page.goto(pages[name].as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TEXTS_OUTSIDE) == []
    assert page.evaluate(LABELS_TOUCHING) == []


def test_keys_go_from_point_to_point(browser: Any, pages: dict[str, Path]) -> None:
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


def test_a_caution_unfolds_and_paper_has_all_of_it(browser: Any, pages: dict[str, Path]) -> None:
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
