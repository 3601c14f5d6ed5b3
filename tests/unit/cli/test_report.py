"""`drivelab report` for every kind of run: the page again, and on paper."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from printing_browser import put_printing_browser

from drivelab.cli import main as cli

pytestmark = pytest.mark.usefixtures("models_in_outline")

SMALL_DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
PROFILE = (
    *("profile", SMALL_DRIVE, "--file-size", "1MiB", "--interval", "4KiB:16KiB:4KiB"),
    *("--optimization-cost", "1.5x", "--out", "profiled"),
)
CAMPAIGN = (
    *("model", SMALL_DRIVE, "--design", "huang2011:12", "--requests", "30"),
    *("--check", "0", "--no-sweeps", "--out", "modelled"),
)
TEST = ("pts", "run", "throughput", SMALL_DRIVE, "--client", "--scale", "0.05", "--out", "tested")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where `chromium` prints what is not a page, but is believed to be a PDF."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    put_printing_browser(tmp_path, monkeypatch)


def answer_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert cli.main([*words, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


@pytest.mark.parametrize("made", [PROFILE, CAMPAIGN, TEST], ids=lambda words: words[0])
def test_the_page_of_every_kind_of_run_is_written_again_and_printed(
    made: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(list(made)) == 0
    run = Path(made[-1])
    capsys.readouterr()
    assert cli.main(["report", str(run), "--out", "/proc/run"]) == 2
    assert capsys.readouterr().err == (
        "drivelab: the folder /proc/run cannot be made: No such file or directory; choose another "
        "folder\n"
    )
    page = (run / "report.html").read_bytes()
    (run / "report.html").unlink()
    answer = answer_of(capsys, "report", str(run), "--pdf")
    assert (run / "report.html").read_bytes() == page
    assert (answer["report"], answer["pdf"]) == (f"{run}/report.html", f"{run}/report.pdf")
    assert (run / "report.pdf").read_bytes().startswith(b"%PDF")
    assert (answer["run"], answer["kind"]) == (str(run), "simulated")
    elsewhere = answer_of(capsys, "report", str(run), "--out", "elsewhere")
    assert elsewhere["pdf"] is None
    assert Path("elsewhere/report.html").read_bytes() == page
    # It is the run's as its page is.
    assert cli.main(["runs", "remove", str(run), "--yes"]) == 0
    assert not run.exists()


def test_several_runs_are_printed_too(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("modelled", "again"):
        assert cli.main([*CAMPAIGN[:-1], name]) == 0
    answer = answer_of(capsys, "report", "modelled", "again", "--out", "both", "--pdf")
    assert answer["pdf"] == "both/report.pdf"
    assert Path("both/report.pdf").is_file()


def test_a_profile_that_was_stopped_says_what_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(list(PROFILE)) == 0
    with sqlite3.connect("profiled/run.sqlite") as database:
        database.execute("DELETE FROM measurement WHERE position >= 4")
    database.close()
    capsys.readouterr()
    assert cli.main(["report", "profiled"]) == 2
    line = capsys.readouterr().err
    assert "profiled is a profile that was stopped: 4 passes exist" in line
    assert "resumes it" in line


def test_the_page_of_a_profile_that_was_stopped_later_says_so() -> None:
    assert cli.main(list(PROFILE)) == 0
    page = Path("profiled/report.html")
    complete = page.read_text()
    assert "it was stopped" not in complete.lower()
    with sqlite3.connect("profiled/run.sqlite") as database:
        database.execute("DELETE FROM measurement WHERE position = 31")
    database.close()
    assert cli.main(["report", "profiled"]) == 0
    assert "It was stopped after 31 passes, before all were" in page.read_text()
    assert cli.main(list(PROFILE)) == 0
    assert page.read_text() == complete


def test_a_page_that_says_something_else_takes_its_print_away() -> None:
    assert cli.main(list(PROFILE)) == 0
    assert cli.main(["report", "profiled", "--pdf"]) == 0
    assert cli.main(list(PROFILE)) == 0
    assert Path("profiled/report.pdf").exists()
    assert cli.main([*PROFILE[:-3], "3x", *PROFILE[-2:]]) == 0
    assert not Path("profiled/report.pdf").exists()


def test_without_a_browser_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(list(PROFILE)) == 0
    Path("profiled/report.html").unlink()
    monkeypatch.setenv("PATH", "/nowhere")
    assert cli.main(["report", "profiled", "--pdf"]) == 2
    assert "--pdf needs Chromium" in capsys.readouterr().err
    assert not Path("profiled/report.html").exists()


def test_a_timeline_is_printed_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["timeline", SMALL_DRIVE, "--op", "read", "--record", "4k", "-o", "t.pdf"]
    assert cli.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pdf"] == "t.pdf"
    assert Path("t.pdf").read_bytes().startswith(b"%PDF")
    monkeypatch.setenv("PATH", "/nowhere")
    assert cli.main(words) == 2
    assert "t.pdf needs Chromium" in capsys.readouterr().err
