"""The page that goes from a drive to its cores shows what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from drivelab.cli import main as cli

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-firmware.md"
ROOT = PAGE.parents[1]


def commands(page: str) -> list[tuple[str, str | None]]:
    """Give every command of a page, with what it prints where the page shows that."""
    found = re.findall(
        r"^```\ndrivelab ([^\n]+)\n```\n(?:\n```text\n(.*?)^```$)?", page, re.S | re.M
    )
    return [(command, text or None) for command, text in found]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Save the files of the page where its commands look for them."""
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    drive, mix = re.findall(r"^```toml\n(.*?)^```$", text, re.S | re.M)
    Path("drive.toml").write_text(drive)
    Path("mix.toml").write_text(mix)
    Path("examples").symlink_to(ROOT / "examples")
    return text


def test_simulations_print_what_the_page_shows(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = [(command, text) for command, text in commands(page) if text is not None]
    assert [command.split()[:2] for command, _ in shown] == [
        ["simulate", "sim:lee2021-znand"],
        ["simulate", "sim:drive.toml"],
        ["firmware", "cores"],
    ]
    for command, text in shown:
        assert cli.main(command.split()) == 0
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        # The page leaves lines out, in one piece or several; those that it shows are all there.
        places = [printed.index(line) for line in text.splitlines() if line]
        assert places == sorted(places), command


def test_firmware_is_profiled_and_learned_from(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The profiles of four workloads take a minute: the last step's small drive stands for them."""
    without_output = [command for command, text in commands(page) if text is None]
    assert [command.split()[1] for command in without_output] == [
        "profile",
        "evaluate",
        "train",
        "profile",
    ]
    assert cli.main(without_output[-1].split()) == 0
    assert "mix.toml" in capsys.readouterr().out
    # One workload says nothing about others.
    for command in without_output[1:3]:
        assert cli.main(command.replace("runs/firmware", "runs/own").split()) == 2
        assert "3 are needed, and there is 1" in capsys.readouterr().err
