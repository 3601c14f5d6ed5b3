"""Reports in a browser: opened from disk, without network, at a desk, on a phone, on paper."""

from __future__ import annotations

import hashlib
import html
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_run import made_run
from opened_page import LABELS_TOUCHING, TEXTS_OUTSIDE, Opened

from drivelab.outputs import OutputFolder
from drivelab.pages.campaign import campaign_report
from drivelab.pages.digest import digest
from drivelab.pages.several_runs import comparison_report
from drivelab.report.pdf import printed
from drivelab.report.written import write_report

WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run")
    # A name that needs quoting in a CSV, escaping in HTML and wrapping on a phone.
    name = '/mnt/a "very" long, comma-ridden path/with/<b>markup</b>/' + "x" * 80
    run = made_run(60, name=name, kind="real", reserved=20, check=40, sweeps=True)
    write_report(campaign_report(run), OutputFolder(path, "a test"))
    return path


@pytest.fixture(scope="module")
def continuous_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Report workloads from continuous ranges, with so many requests that tails go far."""
    path = tmp_path_factory.mktemp("continuous")
    write_report(
        campaign_report(made_run(60, requests=400_000, check=10, sweeps=True, continuous=True)),
        OutputFolder(path, "a test"),
    )
    return path


@pytest.fixture(scope="module")
def comparison_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compare three kinds of drive, one of which ran no reads."""
    path = tmp_path_factory.mktemp("comparison")
    digests = []
    kinds = {
        "sim:made": "simulated",
        "/dev/disk/by-id/" + "y" * 60: "real",
        "analytic:c": "closed_form",
    }
    for name, kind in kinds.items():
        run = made_run(30, name=name, kind=kind, reserved=20, check=20, sweeps=True)
        if kind == "real":
            kept = [one for one in run.measurements if one.index < 70 or one.read is None]
            run = replace(run, measurements=kept)
        # Sums of files differ, and are one long word each.
        design = {
            **run.header["design"],
            "workloads_sha256": hashlib.sha256(name.encode()).hexdigest(),
        }
        run = replace(run, header={**run.header, "design": design})
        digests.append(digest(run, Path("runs") / kind))
    write_report(comparison_report(digests), OutputFolder(path, "a test"))
    return path


@pytest.fixture(params=WIDTHS, ids=lambda width: f"{width}px")
def opened(browser: Any, run_path: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    window = Opened(browser, run_path / "report.html", request.param)
    yield window
    window.context.close()


@pytest.fixture(params=["run_path", "continuous_path", "comparison_path"])
def either(browser: Any, request: pytest.FixtureRequest) -> Callable[[int], Opened]:
    """Open a report or a comparison at a width."""
    path: Path = request.getfixturevalue(request.param)
    return lambda width: Opened(browser, path / "report.html", width)


@pytest.fixture(params=WIDTHS, ids=lambda width: f"{width}px")
def page_of_any(
    either: Callable[[int], Opened], request: pytest.FixtureRequest
) -> Iterator[Opened]:
    window = either(request.param)
    yield window
    window.context.close()


def test_opens_without_network_complaints_or_overflow(page_of_any: Opened) -> None:
    opened = page_of_any
    page = opened.page
    page.wait_for_selector("body[data-ready]", state="attached")
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith(("file://", "data:"))] == []
    assert len([url for url in opened.asked if url.startswith("file://")]) == 1
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == page.viewport_size["width"]
    # Accuracy, predictions (three rows), percentiles, effects, importance, sweeps; or sweeps of
    # all drives, with a panel for reads, writes and each pattern. Latency against throughput first.
    wanted = 2 + 3 + 6 + 6 + 6 + 6 if "comparison" in page.title() else 1 + 3 + 9 + 2 + 24 + 3 + 13
    assert page.locator(".panel svg").count() == wanted
    assert page.locator("main b >> text=markup").count() == 0


def test_no_text_of_a_drawing_leaves_it(page_of_any: Opened) -> None:
    # A label outside its drawing is cut off. Half a pixel is rounding.
    outside = page_of_any.page.evaluate(TEXTS_OUTSIDE)
    assert outside == []


def test_no_two_labels_of_an_axis_touch(page_of_any: Opened) -> None:
    touching = page_of_any.page.evaluate(LABELS_TOUCHING)
    assert touching == []


def test_every_csv_button_saves_the_file_in_data(
    opened: Opened, run_path: Path, tmp_path: Path
) -> None:
    buttons = opened.page.locator("button[data-csv]")
    names = {button.get_attribute("data-csv") for button in buttons.all()}
    assert names == {path.stem for path in (run_path / "data").glob("*.csv")}
    # Chromium takes ten downloads in a row from a page.
    assert len(names) <= 10
    for name in sorted(names):
        with opened.page.expect_download() as waiting:
            opened.page.locator(f'button[data-csv="{name}"]').first.click()
        target = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(target)
        assert target.read_bytes() == (run_path / "data" / f"{name}.csv").read_bytes()


def point_at(page: Any, panel: Any, number: int) -> str:
    """Point at a panel's point and return what the page says about it."""
    panel.scroll_into_view_if_needed()
    # Two frames, so that the scrolling, which hides what was said, is over.
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    at = panel.evaluate(
        """(panel, number) => {
          const svg = panel.querySelector("svg");
          const path = svg.querySelector('[id$="-points"] path').getAttribute("d");
          const [, x, y] = [...path.matchAll(/M(-?[\\d.]+) (-?[\\d.]+)/g)][number];
          const place = new DOMPoint(Number(x), Number(y)).matrixTransform(svg.getScreenCTM());
          return { x: place.x, y: place.y };
        }""",
        number,
    )
    page.mouse.move(at["x"] + 1, at["y"] + 1)
    tip = page.locator("#tip")
    assert tip.is_visible()
    box = tip.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]
    return str(tip.inner_text())


def test_pointing_at_a_dot_names_its_workload(opened: Opened) -> None:
    page = opened.page
    page.wait_for_selector("body[data-ready]", state="attached")
    predicted = page.locator('[data-tips^="predictions-"]').first
    text = point_at(page, predicted, 7)
    assert text.startswith("7: ")
    assert "MB/s" in text
    # The check part has other workloads.
    assert point_at(page, page.locator('[data-tips^="check-"]').first, 0).startswith("80: ")
    sweep = page.locator('[data-tips="sweep-4-latency_ns_mean"]')
    text = point_at(page, sweep, 8)
    assert text.startswith("Random writes, queue depth 2\nMean latency: ")
    page.mouse.move(0, 0)
    assert not page.locator("#tip").is_visible()


def test_a_click_on_a_heading_sorts_by_number(opened: Opened) -> None:
    page = opened.page
    column = page.locator("#figure-workload-table table thead button", has_text="Throughput")
    place = int(column.get_attribute("data-column")) + 1

    def values() -> list[float]:
        cells = page.locator(
            f"#figure-workload-table table tbody td:nth-child({place})"
        ).all_inner_texts()
        return [float(cell.removesuffix(" IOPS").replace(",", "")) for cell in cells]

    def sorted_by(heading: Any, way: str) -> None:
        heading.click()
        page.wait_for_selector(f'#figure-workload-table table th[aria-sort="{way}"][data-sorted]')

    before = values()
    sorted_by(column, "ascending")
    # Among all, not only among those that were shown.
    assert values() == sorted(values())
    assert len(values()) == len(before) == 100
    assert sorted(values()) != sorted(before)
    page.locator(".all-rows").click()
    page.wait_for_function(
        "document.querySelectorAll('#figure-workload-table table tbody tr').length > 100"
    )
    every = values()
    assert len(every) == 195
    assert every == sorted(every)
    sorted_by(column, "descending")
    assert values() == sorted(every, reverse=True)
    # What is empty stays below, whichever way.
    size = page.locator("#figure-workload-table table thead button", has_text="Write size")
    for way in ("ascending", "descending"):
        sorted_by(size, way)
        index = int(size.get_attribute("data-column")) + 1
        cells = page.locator(
            f"#figure-workload-table table tbody td:nth-child({index})"
        ).all_inner_texts()
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
    page.locator(".columns-3 .panel").first.hover()
    page.locator(".columns-3 .zoom").first.click()
    large = page.locator("#large svg")
    assert large.is_visible()
    small = page.locator(".columns-3 .panel svg").first.bounding_box()
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
    # Figures and texts, and the first hundred workloads.
    assert 10 <= pages <= 15
    window.page.emulate_media(media="print")
    # On paper every metric's effects are shown, and nothing that needs a click.
    assert window.page.locator(".tab:visible").count() == 3
    assert window.page.locator("button.csv:visible").count() == 0
    window.context.close()


def test_paper_holds_the_whole_page_and_nothing_to_click(
    run_path: Path,
    comparison_path: Path,
    tmp_path: Path,
    require_tool: Callable[[str], Path],
) -> None:
    for path in (run_path, comparison_path):
        pdf = tmp_path / "report.pdf"
        pdf.write_bytes(printed(path / "report.html", str(require_tool("chromium"))))
        command = [require_tool("pdftotext"), "-layout", pdf, "-"]
        text = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        *sheets, end = text.split("\f")
        assert end == ""
        assert "A click on" not in text
        # Not a sheet for a line or two, the last one excepted.
        assert min(len(sheet.split()) for sheet in sheets[:-1]) > 60
        for heading in re.findall(r"<h[23][^>]*>([^<]+)", (path / "report.html").read_text()):
            words = html.unescape(heading).strip()
            assert words.split()[0] in text, words


def test_every_point_of_a_comparison_names_its_drive(browser: Any, comparison_path: Path) -> None:
    window = Opened(browser, comparison_path / "report.html", 1280)
    page = window.page
    page.wait_for_selector("body[data-ready]", state="attached")
    panel = page.locator('[data-tips="sweep-4-iops-reads-random"]')
    # The real drive ran no reads; both others follow the same formula, so their points coincide.
    simulated, calculated = point_at(page, panel, 0).split("\n\n")
    assert simulated.startswith("sim:made, queue depth 1\nThroughput: ")
    assert calculated.startswith("analytic:c, queue depth 1\nThroughput: ")
    assert window.said == []
    window.context.close()


def test_nothing_is_cut_on_paper(either: Callable[[int], Opened]) -> None:
    # A4 less the margins that the page asks for, at 96 pixels an inch.
    width, height = (210 - 22) / 25.4 * 96, (297 - 24) / 25.4 * 96
    window = either(int(width))
    window.page.emulate_media(media="print")
    found = window.page.evaluate(
        """([width, height]) => {
          const wide = [...document.querySelectorAll("main *")].filter((one) => {
            const box = one.getBoundingClientRect();
            return box.width && box.right > width + 1 && !one.closest("svg");
          });
          // Figures of up to two rows of panels, and each panel of larger ones.
              const few = ".panels:not(:has(> .panel:nth-child(7)))";
              const kept = `.panel, ${few}, .exhibit.short, .facts, tr`;
          const whole = [...document.querySelectorAll(kept)];
          const broken = whole.filter((one) => getComputedStyle(one).breakInside !== "avoid");
          const high = whole.filter((one) => one.getBoundingClientRect().height > height);
          const names = (all) => all.map((one) => `${one.tagName}.${one.className}`);
          return { wide: names(wide), broken: names(broken), high: names(high) };
        }""",
        [width, height],
    )
    assert found == {"wide": [], "broken": [], "high": []}
    # However much is to be said of a drive, labels are words, not letters one below the other.
    widths = window.page.evaluate(
        """() => {
          for (const cell of document.querySelectorAll("#figure-identities td")) {
            cell.append(" and on".repeat(40));
          }
          const labels = [...document.querySelectorAll("#figure-identities tbody td:first-child")];
          return labels.map((one) => one.getBoundingClientRect().width);
        }"""
    )
    assert all(width >= 90 for width in widths)
    window.context.close()
