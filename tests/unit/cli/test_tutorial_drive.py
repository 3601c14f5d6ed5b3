"""The page about a drive on the desk: its commands run, and print lines as the page shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from drivelab.cli import main as cli

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-drive.md"
# A smaller file and fewer, shorter measurements: what is printed does not depend on them.
INSTEAD = {
    "measure bench.bin": "measure bench.bin --seconds 0.2s",
    "--keep": "--keep --size 16MiB",
    # Enough requests that some of the rarer direction are counted.
    "--budget 5m": "--design sobol:16 --requests 400 --check 0 --no-sweeps",
}

pytestmark = pytest.mark.usefixtures("models_in_outline")


def shape(text: str) -> list[str]:
    """Give lines without what differs from drive to drive."""
    lines = [re.sub(r"\d[\d.,]*", "#", line) for line in text.splitlines()]
    lines = [re.sub(r"# ([num]?s|[kMG]?i?B/s)\b", "#", line) for line in lines]
    return [" ".join(line.split()) for line in lines]


def test_every_command_prints_lines_as_the_page_shows(
    drive_folder: Path,
    require_tool: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    require_tool("fio")
    monkeypatch.chdir(drive_folder)
    page = PAGE.read_text(encoding="utf-8")
    found = re.findall(
        r"^```\ndrivelab ([^\n]+)\n```\n(?:\n```text\n(.*?)^```$)?", page, re.S | re.M
    )
    assert [command.split()[0] for command, _ in found] == [
        *("measure", "measure", "measure", "measure", "model", "predict", "measure")
    ]
    for command, text in found:
        small = command
        for old, new in INSTEAD.items():
            small = small.replace(old, new)
        assert cli.main(small.split()) == 0, command
        printed = capsys.readouterr().out
        if text:
            if command.startswith("predict"):
                # What a model warns of, and why it answers, is a matter of the drive.
                labels = {line.split("  ")[0] for line in printed.splitlines()}
                assert {line.split("  ")[0] for line in text.splitlines()} <= labels
            else:
                assert shape(printed) == shape(text), command
            # What was asked is not a number of the drive.
            (asked,) = (line for line in text.splitlines() if line.startswith("workload"))
            assert asked in printed.splitlines()
    assert Path("runs/desk/report.html").is_file()
    for name in re.findall(r"^rm (.+)$", page, re.M)[0].split():
        Path(name).unlink()
