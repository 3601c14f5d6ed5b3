"""The page about an SSD of your own shows what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from drivelab.cli import main as cli

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-ssd.md"


def test_every_command_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    presets = re.findall(r"^```toml\n(.*?)^```$", page, re.S | re.M)
    for name, text in zip(("mine", "more"), presets, strict=True):
        Path(f"{name}.toml").write_text(text)
    shown = re.findall(r"^```\ndrivelab ([^\n]+)\n```\n\n```text\n(.*?)^```$", page, re.S | re.M)
    # As many as the page's first paragraph says.
    assert len(shown) == 3
    for command, text in shown:
        assert cli.main(command.split()) == 0
        assert capsys.readouterr().out == text, command
