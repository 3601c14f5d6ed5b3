"""`drivelab whatif`: a page that needs nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.report import what_if_page


def test_the_page_is_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert cli.main(["whatif", "--out", str(page), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer == {"page": str(page), "size_bytes": page.stat().st_size}
    text = page.read_text()
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    # The same again, and so it may be written again.
    before = page.read_bytes()
    assert cli.main(["whatif", "--out", str(page)]) == 0
    assert page.read_bytes() == before


def test_a_file_of_somebody_else_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert cli.main(["whatif", "--out", str(page)]) == 2
    assert "--force" in capsys.readouterr().err
    assert page.read_text() == "mine"
    assert cli.main(["whatif", "--out", str(tmp_path / "page.txt")]) == 2
    assert ".html" in capsys.readouterr().err


def test_a_package_without_simulator_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(what_if_page, "SIMULATOR", tmp_path / "none")
    assert cli.main(["whatif", "--out", str(tmp_path / "page.html")]) == 1
    assert "make what-if" in capsys.readouterr().err
