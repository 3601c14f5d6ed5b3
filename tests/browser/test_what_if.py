"""The what-if page in Chromium: the numbers of the native simulator, to the last digit."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opened_page import Opened

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.exhibits.what_if import changeable_presets
from drivelab.report.what_if_page import what_if_page
from drivelab.workloads.characteristics import Characteristics

# The machine may be at work with something else.
PATIENCE_MS = 240_000
SIZES = [512 << step for step in range(12)]
DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("what-if") / "what-if.html"
    path.write_bytes(what_if_page())
    return path


@pytest.fixture
def opened(browser: Any, path: Path) -> Iterator[Opened]:
    opened = Opened(browser, path, 1280, patience_ms=PATIENCE_MS)
    opened.page.get_by_label("Channels").wait_for()
    yield opened
    opened.context.close()
    assert opened.said == []
    assert all(each.startswith(("file:", "data:", "blob:")) for each in opened.asked)


def move(page: Any, label: str, by: int) -> None:
    """Move a slider as a reader does who has no mouse."""
    slider = page.get_by_label(label, exact=True)
    slider.focus()
    for _ in range(abs(by)):
        page.keyboard.press("ArrowRight" if by > 0 else "ArrowLeft")


def measured(page: Any) -> None:
    page.get_by_text("Measured in full.", exact=True).wait_for()


def saved(page: Any, name: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    text: str = Path(download.value.path()).read_text()
    return text


# Moves of sliders from where they begin: writes at 30 %, requests of 4 KiB.
SETTINGS: dict[str, tuple[str, dict[str, int], bool]] = {
    "as it is": ("x25m", {}, True),
    "another size, spare and share of writes": (
        "mlc-a",
        {"Channels": -3, "Chips on a channel": 1, "Over-provisioning": 9, "Writes": 14},
        True,
    ),
    "other times, large reads": (
        "slc-b",
        {"Time to read a page": 4, "Writes": -6, "Request size": 5},
        True,
    ),
    "in order, onto an SLC region": (
        "consumer-qlc",
        {"Time to program a page": -3, "Writes": 4, "Request size": 4},
        False,
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_numbers_are_the_native_simulators(opened: Opened, name: str, tmp_path: Path) -> None:
    preset, moves, is_random = SETTINGS[name]
    page = opened.page
    page.get_by_label("Preset").select_option(preset)
    if not is_random:
        page.get_by_label("one behind the other").check()
    for label, by in moves.items():
        move(page, label, by)
    measured(page)
    rows = list(csv.DictReader(io.StringIO(saved(page, "CSV"))))
    assert [int(row["queue_depth"]) for row in rows] == DEPTHS
    assert {row["pass"] for row in rows} == {"full"}

    drive_file = tmp_path / "what-if.toml"
    drive_file.write_text(saved(page, "Save what-if.toml"))
    size = SIZES[3 + moves.get("Request size", 0)]
    writes = (6 + moves.get("Writes", 0)) / 20
    # What `drivelab measure --writes sustained` does of itself.
    plan = MeasurementPlan.of_kind("simulated", writes="sustained")
    with SimulatedDrive.open(f"sim:{drive_file}") as drive:
        work = [
            Characteristics(
                write_ratio=writes,
                queue_depth=depth,
                read_size=size,
                write_size=size,
                read_random=float(is_random),
                write_random=float(is_random),
            )
            for depth in DEPTHS
        ]
        # Of the page every measurement is the first by itself.
        native = [next(drive.measure([(0, each)], plan)) for each in work]
    for row, one in zip(rows, native, strict=True):
        assert float(row["iops"]) == one.iops
        assert float(row["bytes_per_second"]) == one.bandwidth_bytes_per_second
        assert int(row["duration_ns"]) == one.duration_ns
        assert row["stopped_by"] == one.stopped_by
        assert one.half_width_ratio is not None
        assert float(row["half_width_ratio"]) == one.half_width_ratio
        assert float(row["latency_ns_mean"]) == one.latency_ns_mean
        for direction in ("read", "write"):
            result = getattr(one, direction)
            if result is None:
                assert row[f"{direction}_requests"] == ""
                continue
            assert int(row[f"{direction}_requests"]) == result.requests
            assert float(row[f"{direction}_latency_ns_mean"]) == result.latency_ns_mean
            assert int(row[f"{direction}_latency_ns_p99"]) == result.percentile_ns(99.0)
        amplification = one.extra.get("write_amplification_ratio")
        written = row["write_amplification_ratio"]
        assert (float(written) if written else None) == amplification
        assert int(row["block_erases"]) == one.extra["block_erases"]


def test_a_quick_look_comes_first_and_the_preset_stays_to_compare_with(opened: Opened) -> None:
    page = opened.page
    # Of the full measurement there is a line only after all of the quick one.
    page.locator('#table tr[data-depth="128"]').wait_for()
    measured(page)
    assert page.get_by_text("the preset as it is").count() == 0
    move(page, "Time to program a page", -6)
    measured(page)
    assert page.get_by_text("the preset as it is").count() == 1
    assert page.locator("#numbers").inner_text().count("the preset") >= 3
    page.get_by_role("button", name="As the preset says").click()
    measured(page)
    assert page.get_by_text("the preset as it is").count() == 0


def test_what_there_cannot_be_is_said(opened: Opened) -> None:
    page = opened.page
    page.get_by_label("Preset").select_option("enterprise-tlc-pcie4")
    move(page, "Channels", 24)
    move(page, "Chips on a channel", 12)
    # Last, so that no drive of this size is prepared.
    page.get_by_label("Simulate", exact=True).select_option(str(2**23))
    page.get_by_role("status").get_by_text("too large for a page").wait_for()
    page.get_by_label("Preset").select_option("x25m-fob")
    move(page, "Writes", -6)
    page.get_by_role("status").get_by_text("holds nothing to read").wait_for()
    page.get_by_text("Presets that this page cannot have").click()
    assert "sas-15k: a hard disk has no channels" in page.locator("#refused").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_its_window_and_axes_have_units(
    browser: Any, path: Path, width: int, scheme: str
) -> None:
    opened = Opened(browser, path, width, patience_ms=PATIENCE_MS)
    page = opened.page
    page.emulate_media(color_scheme=scheme)
    page.locator('#table tr[data-depth="128"]').wait_for()
    wide = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    for figure in page.locator("#charts figure").all():
        assert "queue depth, requests outstanding" in figure.locator("svg").text_content()
        assert figure.locator("h3 small").inner_text()
        assert "over queue depth; at 8:" in figure.locator("svg").get_attribute("aria-label")
    for label in page.locator("label").all():
        assert label.inner_text().strip()
    assert opened.said == []
    opened.context.close()


@pytest.mark.parametrize(
    ("fragment", "values"),
    [
        ("mlc-a", ("mlc-a", "30 %", "4 KiB", "8", True)),
        (
            "preset=slc-b&write_ratio=1.0&size_bytes=65536&queue_depth=32&order=sequential",
            ("slc-b", "100 %", "64 KiB", "32", False),
        ),
        # Where a slider has no such mark, the nearest.
        ("preset=slc-b&write_ratio=0.02&queue_depth=30", ("slc-b", "5 %", "4 KiB", "32", True)),
    ],
)
def test_a_report_says_what_it_opens_with(
    browser: Any, path: Path, fragment: str, values: tuple[str, str, str, str, bool]
) -> None:
    opened = Opened(browser, path, 1280, patience_ms=PATIENCE_MS)
    page = opened.page
    page.goto(f"{path.as_uri()}#{fragment}")
    page.reload()
    page.get_by_label("Channels").wait_for()
    said = [
        page.get_by_label(label, exact=True).get_attribute("aria-valuetext")
        for label in ("Writes", "Request size", "Queue depth")
    ]
    preset = page.get_by_label("Preset", exact=True).input_value()
    assert (preset, *said, page.get_by_label("anywhere").is_checked()) == values
    assert not page.locator("#unknown").is_visible()
    opened.context.close()


def test_a_link_to_a_preset_that_is_not_there_is_reported(browser: Any, path: Path) -> None:
    opened = Opened(browser, path, 1280, patience_ms=PATIENCE_MS)
    page = opened.page
    page.goto(f"{path.as_uri()}#preset=sas-15k")
    page.reload()
    page.get_by_text("This page has no preset sas-15k; it shows x25m.").wait_for()
    opened.context.close()


def test_reports_link_to_the_presets_that_the_page_has(opened: Opened) -> None:
    options = opened.page.locator("#preset option").all_inner_texts()
    assert sorted(options) == sorted(changeable_presets())
