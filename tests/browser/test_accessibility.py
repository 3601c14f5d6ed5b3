"""Every kind of page for people who read with a keyboard, a screen reader, or on a dark screen.

axe-core finds what a program can find: contrast, names, roles, order of headings. What it cannot
find is tested by hand below: the first screen, keys, and words that are explained.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_profile import profiled
from made_pts_report import made_report
from made_run import made_run
from made_trace import msr_file
from opened_page import Opened

from drivelab.exhibits import Report
from drivelab.firmware.evaluation import evaluate
from drivelab.firmware.exhibits import evaluation_report
from drivelab.pages.campaign import campaign_report
from drivelab.pages.digest import digest
from drivelab.pages.several_runs import comparison_report
from drivelab.report.page import render
from drivelab.traces.characterization import characterize
from drivelab.traces.exhibits import trace_report
from drivelab.workloads.recorded import RecordedFiles

AXE = importlib.resources.files("axe_playwright_python") / "axe.min.js"


def run_page(_: Path) -> Report:
    # So few requests that there are cautions.
    return campaign_report(made_run(40, reserved=20, check=20, sweeps=True, requests=900))


def comparison_page(_: Path) -> Report:
    digests = [digest(made_run(20, name=name, sweeps=True), Path(name)) for name in ("a", "b")]
    return comparison_report(digests)


def sheets_page(_: Path) -> Report:
    return made_report()


def firmware_page(_: Path) -> Report:
    profiles = [profiled(f"W{reads}", reads, scatter=0.1) for reads in (0, 300, 700, 1000)]
    return evaluation_report(evaluate(profiles, ["linear"]), profiles, 32, "mine")


def trace_page(folder: Path) -> Report:
    return trace_report(
        characterize(RecordedFiles((str(msr_file(folder)),)), window_ns=2 * 10**7), {}
    )


KINDS: dict[str, Callable[[Path], Report]] = {
    "run": run_page,
    "comparison": comparison_page,
    "sheets": sheets_page,
    "firmware": firmware_page,
    "trace": trace_page,
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, make in KINDS.items():
        (folder / f"{name}.html").write_text(render(make(folder)).html, "utf-8")
    return {name: folder / f"{name}.html" for name in KINDS}


@pytest.fixture(scope="module")
def checked(browser: Any, pages: dict[str, Path]) -> Callable[[str, str], list[str]]:
    """Give what axe-core finds on a page in a colour scheme."""

    def check(name: str, scheme: str) -> list[str]:
        context = browser.new_context(
            viewport={"width": 1280, "height": 800}, color_scheme=scheme, bypass_csp=True
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing(
    checked: Callable[[str, str], list[str]], name: str, scheme: str
) -> None:
    assert checked(name, scheme) == []


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_first_screen_holds_a_picture_numbers_and_how_sure(
    browser: Any, pages: dict[str, Path], width: int, height: int
) -> None:
    window = Opened(browser, pages["run"], width)
    for what in (".first .panel svg", ".first .cards", ".first .sure"):
        box = window.page.locator(what).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= height, what
    window.context.close()


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
