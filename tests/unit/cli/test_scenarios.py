"""`drivelab scenarios` lists the package's scenarios, and prints one unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab._core import scenario_names, scenario_text
from drivelab.cli import main as cli


def test_it_lists_every_name_with_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line][: len(scenario_names())] == scenario_names()
    assert all(line == line.rstrip() for line in lines)
    assert "drivelab scenarios NAME > mine.toml   to edit one" in lines


def test_it_prints_one_with_its_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["scenarios", "mail-server"]) == 0
    printed = capsys.readouterr().out
    assert printed == scenario_text("mail-server")
    Path("mine.toml").write_text(printed)
    assert cli.main(["scenarios", "mine.toml", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["scenarios"]
    assert (found["name"], found["streams"], found["requests"]) == (
        "mine.toml",
        ["messages"],
        50_000,
    )


def test_a_scenario_runs_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "sim:bench-64gib", "--scenario", "vector-search", "--requests", "300"]
    assert cli.main(words) == 0
    assert capsys.readouterr().out.startswith("scenario  vector search in a graph on the drive")
    assert cli.main([*words[:-3], "vector_search"]) == 2
    assert "did you mean vector-search?" in capsys.readouterr().err
