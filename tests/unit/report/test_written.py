"""The files of a test's report: complete or not at all, whatever happens meanwhile."""

from __future__ import annotations

import errno
import re
from dataclasses import replace
from pathlib import Path

import made_pts_report as made
import pytest

from drivelab import outputs
from drivelab.errors import RunError, UsageError
from drivelab.exhibits import Caution, Page, Report, WhatIf
from drivelab.outputs import Output, OutputFolder, write_output
from drivelab.report import what_if_page
from drivelab.report.page import render
from drivelab.report.pdf import find_chromium, printed
from drivelab.report.saved import PDF_KIND, WHAT_IF
from drivelab.report.written import write_report
from drivelab.sealed_json import unsealed_json

EVIL = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def fake_browser(folder: Path, script: str) -> str:
    path = folder / "chromium"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_page_tables_and_result_lie_in_the_folder(tmp_path: Path) -> None:
    report = made.made_report()
    paths = write_report(report, OutputFolder(tmp_path / "out", "a test"))
    assert set(paths) == {"report", "tables", "result"}
    assert unsealed_json(paths["result"].read_bytes()) == report.result
    names = [exhibit.name for page in report.pages for exhibit in page.exhibits]
    assert sorted(path.stem for path in paths["tables"].glob("*.csv")) == sorted(names)
    before = files(tmp_path)
    write_report(report, OutputFolder(tmp_path / "out", "a test"))
    assert files(tmp_path) == before


def test_header_stamp_and_cautions_stand_on_the_page() -> None:
    stamped = render(made.made_report(stamp="not a PTS result")).html
    # On each of five pages, and once over all of them.
    assert stamped.count("not a PTS result") == 6
    assert stamped.count("Form factor") == 5
    assert "Steady state was not reached in 25 rounds" in stamped
    assert "not a PTS result" not in render(made.made_report()).html


def test_a_test_lies_across_and_bars_of_drives_stand_upright() -> None:
    report = made.made_report()
    assert "size: A4 portrait" in render(report).html
    without_bars = replace(report, pages=report.pages[:-1])
    assert "size: A4 landscape" in render(without_bars).html


def test_foreign_text_is_harmless() -> None:
    report = replace(made.made_report(stamp=EVIL, header=((EVIL, EVIL),)), title=EVIL)
    figure = replace(made.window(), title=EVIL, note=EVIL)
    html = render(replace(report, pages=(Page(EVIL, (figure,), (Caution(seen=EVIL),)),))).html
    assert "<img" not in html
    assert html.count("<script") == 2


def test_two_exhibits_of_one_name_are_refused() -> None:
    other = replace(made.window(), lines=made.window().lines[:1])
    page = Page("twice", (made.window(), other))
    with pytest.raises(ValueError, match="two exhibits are named 'iops-window'"):
        render(replace(made.made_report(), pages=(page,)))


@pytest.mark.parametrize("name", ["iops-2d.csv", "report.html", "result.json"])
def test_a_full_disk_is_one_clear_line_and_the_older_page_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write_report(made.made_report(), OutputFolder(tmp_path, "a test"))
    page = (tmp_path / "report.html").read_bytes()

    def full(output: Output, content: str | bytes, *, force: bool) -> None:
        if output.path.name == name:
            raise OSError(errno.ENOSPC, "No space left on device", str(output.path))
        write_output(output, content, force=force)

    monkeypatch.setattr(outputs, "write_output", full)
    with pytest.raises(RunError) as raised:
        write_report(replace(made.made_report(), title="another"), OutputFolder(tmp_path, "a test"))
    assert str(raised.value) == (
        f"cannot write {next(tmp_path.rglob(name))}: No space left on device; what was measured "
        "is kept: make room or check the permissions, then write the report again"
    )
    assert (tmp_path / "report.html").read_bytes() == page
    assert [path.name for path in tmp_path.rglob(".*")] == []


def test_without_chromium_there_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError) as raised:
        find_chromium()
    assert str(raised.value) == (
        "--pdf needs Chromium (chromium or chromium-browser or google-chrome on the PATH): install "
        "it, or leave --pdf out and print the page from any browser"
    )


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo first >&2; echo the last line >&2; exit 3", "exit code 3: the last line"),
        ("exit 0", "it wrote no whole file"),
        (
            'for one in "$@"; do case $one in --print-to-pdf=*) '
            "printf '%%PDF-1.4 cut' >\"${one#*=}\";; esac; done",
            "it wrote no whole file",
        ),
    ],
)
def test_a_browser_that_fails_leaves_the_page_and_no_pdf(
    tmp_path: Path, script: str, reason: str
) -> None:
    browser = fake_browser(tmp_path, script)
    with pytest.raises(RunError) as raised:
        write_report(made.made_report(), OutputFolder(tmp_path / "out", "a test"), chromium=browser)
    assert f"({reason}); the page itself is complete" in str(raised.value)
    assert (tmp_path / "out" / "report.html").is_file()
    assert not (tmp_path / "out" / "report.pdf").exists()


def test_a_browser_that_prints_is_believed(tmp_path: Path) -> None:
    script = (
        'for one in "$@"; do case $one in --print-to-pdf=*) '
        "printf '%%PDF-1.4 whole\\n%%%%EOF\\n' >\"${one#*=}\";; esac; done"
    )
    page = tmp_path / "report.html"
    page.write_text("x")
    assert printed(page, fake_browser(tmp_path, script)) == b"%PDF-1.4 whole\n%%EOF\n"


def test_an_older_pdf_does_not_outlive_its_page(tmp_path: Path) -> None:
    write_report(made.made_report(), OutputFolder(tmp_path, "a test"))
    OutputFolder(tmp_path, "a test").write("report.pdf", PDF_KIND, b"printed of it")
    write_report(made.made_report(), OutputFolder(tmp_path, "a test"))
    assert (tmp_path / "report.pdf").exists()
    write_report(made.made_report(stamp="not a PTS result"), OutputFolder(tmp_path, "a test"))
    assert not (tmp_path / "report.pdf").exists()


# --- the page on which a drive is changed ------------------------------------------------


@pytest.fixture
def simulator(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a file in the place of the simulator, whether this package has one or not."""
    path = tmp_path_factory.mktemp("programs") / "what-if.wasm.gz"
    path.write_bytes(b"a simulator")
    monkeypatch.setattr(what_if_page, "SIMULATOR", path)
    return path


def links(folder: Path) -> list[str]:
    """Give the files that a report links to."""
    text = (folder / "report.html").read_text("utf-8")
    found = re.findall(r'<a href="([^"#]+)', text)
    assert all((folder / name).is_file() for name in found), found
    return found


def leading(preset: str = "x25m", **settings: int) -> Report:
    return replace(made.made_report(), what_if=WhatIf(preset, tuple(settings.items())))


def test_a_report_of_a_simulated_drive_links_to_the_page_that_changes_it(
    tmp_path: Path, simulator: Path
) -> None:
    write_report(leading(queue_depth=32), OutputFolder(tmp_path, "a test"))
    assert links(tmp_path) == [WHAT_IF]
    text = (tmp_path / "report.html").read_text("utf-8")
    assert f'href="{WHAT_IF}#preset=x25m&amp;queue_depth=32"' in text
    assert "What if x25m were built differently?" in text
    # An earlier one of ours is replaced.
    simulator.write_bytes(b"another simulator")
    write_report(leading(""), OutputFolder(tmp_path, "a test"))
    assert (tmp_path / WHAT_IF).read_bytes() == what_if_page.what_if_page()
    text = (tmp_path / "report.html").read_text("utf-8")
    assert f'href="{WHAT_IF}"' in text
    assert "Simulate an SSD of your own design" in text


@pytest.mark.parametrize("is_run", [False, True])
def test_a_file_of_the_user_s_stays_and_there_is_no_link(
    tmp_path: Path, simulator: Path, is_run: bool
) -> None:
    mine = tmp_path / WHAT_IF
    mine.write_text("mine")
    folder = OutputFolder(tmp_path, "a test", tmp_path if is_run else None)
    write_report(leading(), folder)
    assert (mine.read_text(), links(tmp_path)) == ("mine", [])
    mine.unlink()
    # Written by us and changed since: not ours any more.
    write_report(leading(), folder)
    assert links(tmp_path) == [WHAT_IF]
    with mine.open("ab") as file:
        file.write(b"my remark")
    simulator.write_bytes(b"another simulator")
    write_report(leading(), folder)
    assert mine.read_bytes().endswith(b"my remark")
    assert links(tmp_path) == []


@pytest.mark.parametrize("is_run", [False, True])
def test_force_replaces_a_file_of_the_user_s_but_no_folder(
    tmp_path: Path, simulator: Path, is_run: bool
) -> None:
    mine = tmp_path / WHAT_IF
    mine.write_text("mine")
    folder = OutputFolder(tmp_path, "a test", tmp_path if is_run else None, force=True)
    write_report(leading(), folder)
    assert (mine.read_bytes(), links(tmp_path)) == (what_if_page.what_if_page(), [WHAT_IF])
    mine.unlink()
    mine.mkdir()
    write_report(leading(), folder)
    assert mine.is_dir()
    assert links(tmp_path) == []


def test_a_copy_without_its_mark_is_still_known(tmp_path: Path, simulator: Path) -> None:
    write_report(leading(), OutputFolder(tmp_path / "there", "a test"))
    (tmp_path / "here").mkdir()
    page = tmp_path / "here" / WHAT_IF
    page.write_bytes((tmp_path / "there" / WHAT_IF).read_bytes())
    assert what_if_page.is_what_if(page)
    simulator.write_bytes(b"another simulator")
    write_report(leading(), OutputFolder(tmp_path / "here", "a test"))
    assert page.read_bytes() == what_if_page.what_if_page()
    assert not what_if_page.is_what_if(tmp_path / "nothing")


def test_there_is_no_link_where_there_is_nothing_to_link_to(
    tmp_path: Path, simulator: Path
) -> None:
    # Of real drives alone.
    write_report(made.made_report(), OutputFolder(tmp_path / "real", "a test"))
    assert links(tmp_path / "real") == []
    assert not (tmp_path / "real" / WHAT_IF).exists()
    # A page in no folder, such as one that is printed.
    assert WHAT_IF not in render(leading()).html
    simulator.unlink()
    write_report(leading(), OutputFolder(tmp_path / "without", "a test"))
    assert links(tmp_path / "without") == []
    assert not (tmp_path / "without" / WHAT_IF).exists()
