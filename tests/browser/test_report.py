"""The report in a browser: opened from disk, without network, at a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_run import made_run

from drivelab.report.build import write_report
from drivelab.report.html import render

WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run")
    # A name that needs quoting in a CSV, escaping in HTML and wrapping on a phone.
    name = '/mnt/a "very" long, comma-ridden path/with/<b>markup</b>/' + "x" * 80
    write_report(render(made_run(60, name=name, kind="real")), path)
    return path


@pytest.fixture(scope="module")
def browser(require_tool: Callable[[str], Path]) -> Iterator[Any]:
    executable = require_tool("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Root may not use Chromium's sandbox; the page is our own.
        browser = playwright.chromium.launch(
            executable_path=str(executable), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


class Opened:
    """The report in a window, and everything it complained about or asked for."""

    def __init__(self, browser: Any, path: Path, width: int) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, offline=True, accept_downloads=True
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())


@pytest.fixture(params=WIDTHS, ids=lambda width: f"{width}px")
def opened(browser: Any, run_path: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    window = Opened(browser, run_path / "report.html", request.param)
    yield window
    window.context.close()


def test_opens_without_network_complaints_or_overflow(opened: Opened) -> None:
    page = opened.page
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith(("file://", "data:"))] == []
    assert len([url for url in opened.asked if url.startswith("file://")]) == 1
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == page.viewport_size["width"]
    assert page.locator("svg").count() == 38
    assert page.locator("main b >> text=markup").count() == 0


def test_no_text_of_a_drawing_leaves_it(opened: Opened) -> None:
    # A label outside its drawing is cut off. Half a pixel is rounding.
    outside = opened.page.evaluate(
        """() => [...document.querySelectorAll(".panel svg")].flatMap((svg) => {
          const box = svg.getBoundingClientRect();
          if (!box.width) return [];
          return [...svg.querySelectorAll("text")].filter((text) => {
            const own = text.getBoundingClientRect();
            return own.left < box.left - 0.5 || own.right > box.right + 0.5
              || own.top < box.top - 0.5 || own.bottom > box.bottom + 0.5;
          }).map((text) => `${svg.getAttribute("aria-label")}: ${text.textContent}`);
        })"""
    )
    assert outside == []


def test_no_two_labels_of_an_axis_touch(opened: Opened) -> None:
    touching = opened.page.evaluate(
        """() => [...document.querySelectorAll(".panel svg")].flatMap((svg) => {
          const texts = [...svg.querySelectorAll('[id*="matplotlib.axis"] text')]
            .map((text) => [text.textContent, text.getBoundingClientRect()])
            .filter(([, box]) => box.width);
          const found = [];
          texts.forEach(([one, a], place) => texts.slice(place + 1).forEach(([other, b]) => {
            if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
              found.push(`${svg.getAttribute("aria-label")}: ${one} / ${other}`);
          }));
          return found;
        })"""
    )
    assert touching == []


def test_every_csv_button_saves_the_file_in_data(
    opened: Opened, run_path: Path, tmp_path: Path
) -> None:
    buttons = opened.page.locator("button.csv")
    saved = set()
    for place in range(buttons.count()):
        with opened.page.expect_download() as waiting:
            buttons.nth(place).click()
        download = waiting.value
        target = tmp_path / download.suggested_filename
        download.save_as(target)
        assert target.read_bytes() == (run_path / "data" / target.name).read_bytes()
        saved.add(target.name)
    assert saved == {path.name for path in (run_path / "data").iterdir()}


def test_pointing_at_a_dot_names_its_workload(opened: Opened) -> None:
    page = opened.page
    dot = page.locator('[data-points] [id$="-points"] use').nth(7)
    dot.scroll_into_view_if_needed()
    # Two frames, so that the scrolling, which hides what was said, is over.
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    dot.dispatch_event("pointermove", {"bubbles": True, "clientX": 100, "clientY": 100})
    tip = page.locator("#tip")
    assert tip.is_visible()
    text = tip.inner_text()
    assert text.startswith("7: ")
    assert "MB/s" in text
    box = tip.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]


def test_a_click_on_a_heading_sorts_by_number(opened: Opened) -> None:
    page = opened.page
    column = page.locator("#workload-table thead button", has_text="Throughput")
    place = int(column.get_attribute("data-column")) + 1

    def values() -> list[float]:
        cells = page.locator(f"#workload-table tbody td:nth-child({place})").all_inner_texts()
        return [float(cell.removesuffix(" IOPS").replace(",", "")) for cell in cells]

    before = values()
    column.click()
    assert values() == sorted(before) != before
    column.click()
    assert values() == sorted(before, reverse=True)
    # What is empty stays below, whichever way.
    size = page.locator("#workload-table thead button", has_text="Write size")
    for _ in range(2):
        size.click()
        index = int(size.get_attribute("data-column")) + 1
        cells = page.locator(f"#workload-table tbody td:nth-child({index})").all_inner_texts()
        empty = [cell == "\N{EN DASH}" for cell in cells]
        assert any(empty)
        assert empty == sorted(empty)


def test_choosing_a_metric_shows_its_effects(opened: Opened) -> None:
    page = opened.page
    tabs = page.locator(".tab")
    assert [tabs.nth(place).is_visible() for place in range(3)] == [True, False, False]
    page.locator(".tabs > label", has_text="Throughput").click()
    assert [tabs.nth(place).is_visible() for place in range(3)] == [False, False, True]


def test_a_panel_opens_large_and_closes(browser: Any, run_path: Path) -> None:
    window = Opened(browser, run_path / "report.html", 1280)
    page = window.page
    page.locator(".panel").first.hover()
    page.locator(".zoom").first.click()
    large = page.locator("#large svg")
    assert large.is_visible()
    small = page.locator(".panel svg").first.bounding_box()
    assert large.bounding_box()["width"] > 2 * small["width"]
    page.locator("#large .close").click()
    assert not large.is_visible()
    assert window.said == []
    window.context.close()


def test_prints_to_a_pdf_of_a_few_pages(browser: Any, run_path: Path) -> None:
    window = Opened(browser, run_path / "report.html", 1280)
    pdf = window.page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    pages = pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") + pdf.count(b"/Type /Page/")
    # Six pages of figures and texts, and sixty workloads.
    assert 5 <= pages <= 9
    window.page.emulate_media(media="print")
    # On paper every metric's effects are shown, and nothing that needs a click.
    assert window.page.locator(".tab:visible").count() == 3
    assert window.page.locator("button.csv:visible").count() == 0
    window.context.close()
