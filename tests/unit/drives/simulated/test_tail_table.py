"""The tables of docs/tail.md, and drives with an adaptive pace of collection."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from validation.tail_table import CASES, PACES, RULES, TARGET, with_table

from drivelab.cli import main as cli

SMALL = Path(__file__).parents[3] / "small_drive.toml"


def test_the_document_has_a_row_for_every_case() -> None:
    text = TARGET.read_text(encoding="utf-8")
    assert all(f"\n| `{rule}` | `{pace}` |" in text for rule in RULES for pace in PACES)
    assert all(f"\n| {case.drive} | {case.words} |" in text for case in CASES)
    assert with_table(text, "paces", "x").count("`whole_block` |") == 0
    with pytest.raises(ValueError, match="no table 'paces'"):
        with_table("# A page without one\n", "paces", "x")


def test_an_adaptive_pace_is_simulated_shown_and_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    adaptive = SMALL.read_text() + '\n[collection]\npace = "adaptive"\n'
    Path("mine.toml").write_text(adaptive)
    words = ["--write-ratio", "1", "--requests", "200000", "--json"]
    assert cli.main(["simulate", "sim:mine.toml", *words]) == 0
    assert json.loads(capsys.readouterr().out)["flash"]["collections"] > 0
    assert cli.main(["drives", "show", "mine.toml"]) == 0
    assert "adaptive" in capsys.readouterr().out
    Path("mine.toml").write_text(adaptive + '[mapping]\nscheme = "block"\n')
    assert cli.main(["simulate", "sim:mine.toml", *words]) == 2
    error = capsys.readouterr().err
    assert 'allowed: "paced" or "whole_block"' in error
    assert len(error.strip().splitlines()) == 1
