"""The page that goes from a trace to a choice shows what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from drivelab.cli import main as cli

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-trace.md"


def block(page: str, language: str) -> str:
    """Give the one block of a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", page, re.S | re.M)
    return found


def test_every_command_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    exec(compile(block(page, "python"), "make_trace.py", "exec"), {})  # noqa: S102
    Path("prices.csv").write_text(block(page, "csv"))
    shown = re.findall(r"^```\ndrivelab ([^\n]+)\n```\n\n```text\n(.*?)^```$", page, re.S | re.M)
    assert [command.split()[0] for command, _ in shown] == [
        *("trace", "trace", "measure", "choose", "choose")
    ]
    for command, text in shown:
        assert cli.main(command.split()) == 0
        assert capsys.readouterr().out == text, command
