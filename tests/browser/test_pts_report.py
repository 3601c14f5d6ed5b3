"""Reports of performance tests in a browser and as PDF: at a desk, on a phone, on paper."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_pts_report import HEADER, convergence, made_report, window_table
from made_pts_results import drive
from opened_page import LABELS_TOUCHING, TEXTS_OUTSIDE, Opened

from drivelab.exhibits import Page, Report
from drivelab.outputs import OutputFolder
from drivelab.pts.compared_report import compare
from drivelab.pts.merit import merit_classes
from drivelab.report.written import write_report

WIDTHS = (1280, 390)
STAMP = "not a PTS result"
LONG = "/dev/disk/by-id/" + "y" * 80 + " <b>markup</b>"
#: Texts that are not turned, of one drawing, that lie over each other.
TEXTS_TOUCHING = """
() => [...document.querySelectorAll(".panel svg")].flatMap((svg) => {
  const texts = [...svg.querySelectorAll("text")]
    .filter((text) => !/rotate\\((?!0|-0)/.test(text.getAttribute("transform") ?? ""))
    .map((text) => [text.textContent, text.getBoundingClientRect()]);
  const found = [];
  texts.forEach(([one, a], place) => texts.slice(place + 1).forEach(([other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    // A line is a little higher than its letters.
    if (wide > 0.5 && high > 0.2 * Math.min(a.height, b.height))
      found.push(`${svg.getAttribute("aria-label")}: ${one} / ${other}`);
  }));
  return found;
})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], Path]) -> Path:
    path = tmp_path_factory.mktemp("pts")
    report = made_report(stamp=STAMP, header=(*HEADER, ("drive", LONG)))
    write_report(
        replace(report, statement="Every number is made."),
        OutputFolder(path, "a test"),
        chromium=str(require_tool("chromium")),
    )
    return path


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compare twenty drives, every third of them real."""
    path = tmp_path_factory.mktemp("compared")
    names = [
        f"enterprise-drive-number-{place}" if place % 4 else f"d{place}" for place in range(20)
    ]
    drives = [
        drive(name, kind="simulated" if place % 3 else "real", speed=1.2**place)
        for place, name in enumerate(names)
    ]
    write_report(compare(drives, block_bytes=12288, read_ratio=0.7), OutputFolder(path, "a test"))
    return path


@pytest.mark.parametrize("width", WIDTHS)
def test_twenty_drives_fit_on_one_page(browser: Any, compared: Path, width: int) -> None:
    window = Opened(browser, compared / "report.html", width)
    page = window.page
    page.wait_for_selector("body[data-ready]", state="attached")
    assert window.said == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(TEXTS_OUTSIDE) == []
    assert page.evaluate(LABELS_TOUCHING) == []
    # The first picture; bars at the size and mix, four normalised, seven mixes, all classes.
    assert page.locator(".panel svg").count() == 1 + 1 + 4 + 7 + len(merit_classes())
    window.context.close()


@pytest.fixture(params=WIDTHS, ids=lambda width: f"{width}px")
def opened(browser: Any, folder: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    window = Opened(browser, folder / "report.html", request.param)
    yield window
    window.context.close()


def test_opens_without_network_complaints_or_overflow(opened: Opened) -> None:
    page = opened.page
    page.wait_for_selector("body[data-ready]", state="attached")
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith(("file://", "data:"))] == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == page.viewport_size["width"]
    # Convergence, window, 2-D, 3-D, histogram, course, two groups of bars.
    assert page.locator(".panel svg").count() == 8
    assert page.locator("main b >> text=markup").count() == 0


@pytest.mark.parametrize("media", ["screen", "print"])
def test_every_sheet_has_the_whole_header_and_a_screen_shows_it_once(
    opened: Opened, media: str
) -> None:
    opened.page.emulate_media(media=media)
    sheets = opened.page.locator(".sheet")
    assert sheets.count() == 5
    for place in range(5):
        text = sheets.nth(place).locator("thead").first.inner_text().replace("\xa0", " ")
        assert STAMP in text
        if media == "screen" and place > 0:
            assert HEADER[0][0] not in text
            continue
        for name, value in (*HEADER, ("drive", LONG)):
            assert name in text
            assert value in text


def test_texts_of_drawings_are_whole_and_apart(opened: Opened) -> None:
    assert opened.page.evaluate(TEXTS_OUTSIDE) == []
    assert opened.page.evaluate(LABELS_TOUCHING) == []
    assert opened.page.evaluate(TEXTS_TOUCHING) == []


def test_every_csv_button_saves_the_file_in_data(
    opened: Opened, folder: Path, tmp_path: Path
) -> None:
    buttons = opened.page.locator("button[data-csv]")
    names = sorted(button.get_attribute("data-csv") for button in buttons.all())
    assert names == sorted(path.stem for path in (folder / "data").glob("*.csv"))
    for name in names:
        with opened.page.expect_download() as waiting:
            opened.page.locator(f'button[data-csv="{name}"]').click()
        target = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(target)
        assert target.read_bytes() == (folder / "data" / f"{name}.csv").read_bytes()


@pytest.mark.parametrize("name", ["folder", "compared"])
def test_nothing_is_wider_than_paper(
    browser: Any, name: str, request: pytest.FixtureRequest
) -> None:
    width = (210 - 22) / 25.4 * 96
    path: Path = request.getfixturevalue(name)
    window = Opened(browser, path / "report.html", int(width))
    window.page.emulate_media(media="print")
    wide = window.page.evaluate(
        """(width) => [...document.querySelectorAll("main *")].filter((one) => {
          const box = one.getBoundingClientRect();
          return box.width && box.right > width + 1 && !one.closest("svg");
        }).map((one) => `${one.tagName}.${one.className}`)""",
        width,
    )
    assert wide == []
    window.context.close()


@pytest.mark.parametrize(("wide", "high"), [(210, 297), (297, 210)])
def test_a_head_is_below_a_quarter_of_a_sheet(
    browser: Any, folder: Path, wide: int, high: int
) -> None:
    """Chromium repeats no higher one where a page goes on on the next sheet."""
    margins_across, margins_along = 22, 19
    window = Opened(browser, folder / "report.html", int((wide - margins_across) / 25.4 * 96))
    window.page.emulate_media(media="print")
    heights = window.page.evaluate(
        "[...document.querySelectorAll('.sheet > thead')].map((one) => one.offsetHeight)"
    )
    assert 40 < max(heights) < (high - margins_along) / 25.4 * 96 / 4
    window.context.close()


def sheets_of(pdf: Path, pdftotext: Path) -> list[str]:
    command = [pdftotext, "-layout", pdf, "-"]
    text = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return text.split("\f")[:-1]


def test_short_tables_share_a_sheet(tmp_path: Path, require_tool: Callable[[str], Path]) -> None:
    tables = [replace(window_table(), name=f"table-{number}") for number in range(4)]
    pages = (
        Page("Summary", (tables[0],)),
        Page("Efficiency", (tables[1], tables[2])),
        Page("Convergence", (convergence(),)),
        Page("Levels", (tables[3],)),
    )
    report = Report(title="Short", header=HEADER, stamp=STAMP, pages=pages, result={})
    write_report(report, OutputFolder(tmp_path, "a test"), chromium=str(require_tool("chromium")))
    sheets = sheets_of(tmp_path / "report.pdf", require_tool("pdftotext"))
    # The drawing takes most of the second one.
    assert len(sheets) == 2
    first, second = (" ".join(sheet.split()) for sheet in sheets)
    for sheet in (first, second):
        assert STAMP in sheet
        assert all(name in sheet for name, _ in HEADER)
    # Its list of pages names all of them.
    assert first.count("Efficiency") == 2
    assert (second.count("Convergence"), second.count("Levels")) == (1, 1)


def test_drawings_of_one_page_share_a_sheet(
    tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    first, second = (
        replace(convergence(), name=name, title=f"The {name} one") for name in ("first", "second")
    )
    report = Report(
        title="Two",
        header=HEADER,
        stamp=STAMP,
        pages=(Page("Both", (first, second, window_table())),),
        result={},
    )
    write_report(report, OutputFolder(tmp_path, "a test"), chromium=str(require_tool("chromium")))
    (sheet,) = sheets_of(tmp_path / "report.pdf", require_tool("pdftotext"))
    # Beside each other, on one line.
    assert re.search(r"^The first one +The second one$", sheet, re.MULTILINE)


def test_three_drawings_and_their_table_share_a_sheet(
    tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    drawings = [replace(convergence(), name=f"drawing-{number}") for number in range(3)]
    page = Page("Window", (*drawings, window_table()))
    report = Report(title="Three", header=HEADER, stamp=STAMP, pages=(page,), result={})
    write_report(report, OutputFolder(tmp_path, "a test"), chromium=str(require_tool("chromium")))
    assert len(sheets_of(tmp_path / "report.pdf", require_tool("pdftotext"))) == 1


def test_two_pages_of_two_drawings_share_a_sheet(
    tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    drawings = [replace(convergence(), name=f"drawing-{number}") for number in range(6)]
    # A list of pages stands on the first sheet, and takes room there.
    pages = tuple(
        Page(f"Course {number}", tuple(drawings[2 * number : 2 * number + 2]))
        for number in range(3)
    )
    report = Report(title="Courses", header=HEADER, stamp=STAMP, pages=pages, result={})
    write_report(report, OutputFolder(tmp_path, "a test"), chromium=str(require_tool("chromium")))
    sheets = sheets_of(tmp_path / "report.pdf", require_tool("pdftotext"))
    assert len(sheets) == 2
    assert all(STAMP in sheet for sheet in sheets)
    assert "Course 1" in sheets[1]
    assert "Course 2" in sheets[1]


def test_every_sheet_of_the_pdf_has_header_and_stamp(
    folder: Path, require_tool: Callable[[str], Path]
) -> None:
    sheets = sheets_of(folder / "report.pdf", require_tool("pdftotext"))
    # Five pages, the last of which has a table of 70 rows, on two sheets or three.
    assert 6 <= len(sheets) <= 7
    for number, sheet in enumerate(sheets, start=1):
        words = " ".join(sheet.split())
        assert STAMP in words
        assert f"sheet {number} of {len(sheets)}" in words
        # Values in several lines stand between each other; their first words do not.
        for name, value in HEADER:
            assert name in words
            assert value.split()[0] in words
        assert "/dev/disk/by-" in words
    # A table that goes on has its headings again.
    assert "minute" in sheets[-1]


def test_a_heading_of_several_lines_stands_whole_above_what_it_heads(
    tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    words = " ".join(["messages that must survive every loss of power"] * 4)
    pages = tuple(
        Page(
            f"begin{number} {words} end{number}",
            (replace(window_table(), name=f"table-{number}", title=f"exhibit{number} {words}"),),
        )
        for number in range(16)
    )
    report = Report(title="Long", header=HEADER, stamp=STAMP, pages=pages, result={})
    write_report(report, OutputFolder(tmp_path, "a test"), chromium=str(require_tool("chromium")))
    sheets = sheets_of(tmp_path / "report.pdf", require_tool("pdftotext"))
    words_of_sheets = [set(sheet.split()) for sheet in sheets]
    for number in range(16):
        # The list of pages names the exhibits of none.
        heading = {f"begin{number}", f"end{number}", f"exhibit{number}"}
        assert any(heading <= found for found in words_of_sheets), number


def test_a_long_word_widens_no_page(browser: Any, tmp_path: Path) -> None:
    word = "mailboxes" * 14
    figure = convergence()
    named = tuple(replace(line, label=f"{word}{line.label}") for line in figure.lines)
    exhibit = replace(figure, lines=named, title=word)
    report = Report(
        title=word, header=HEADER, stamp=STAMP, pages=(Page(word, (exhibit,)),), result={}
    )
    write_report(report, OutputFolder(tmp_path, "a test"))
    window = Opened(browser, tmp_path / "report.html", WIDTHS[-1])
    window.page.wait_for_selector("body[data-ready]", state="attached")
    assert window.page.evaluate("document.documentElement.scrollWidth") == WIDTHS[-1]
    window.context.close()
