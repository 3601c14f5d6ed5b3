"""The page about a twin: its commands run, and the twin is what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drivelab.cli import main as cli

PAGE = Path(__file__).parents[3] / "docs" / "tutorial-twin.md"
PROGRAM = "import sys; from drivelab.cli.main import main; sys.exit(main())"


def throughput(capsys: pytest.CaptureFixture[str], command: str) -> float:
    """Measure as a command says, and give the throughput in IOPS."""
    capsys.readouterr()
    assert cli.main(command.split()) == 0
    found = re.search(r"^throughput +([\d,.]+) IOPS", capsys.readouterr().out, re.M)
    assert found
    return float(found[1].replace(",", ""))


def test_every_command_does_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    desk, changed = re.findall(r"^```toml\n(.*?)^```$", page, re.S | re.M)
    Path("desk.toml").write_text(desk)
    shown = r"^```\ndrivelab ([^\n]+)\n```$(?:\n\n```text\n(.*?)^```$)?"
    found = re.findall(shown, page, re.S | re.M)
    assert [command.split()[0] for command, _ in found] == [
        *("twin", "measure", "measure", "serve", "watch", "measure")
    ]
    for command, text in found[:3]:
        assert cli.main(command.split()) == 0
        assert capsys.readouterr().out == text, command
    assert Path("twin/page/report.html").is_file()
    serve, watch, faster = (command for command, _ in found[3:])
    _served(serve.removesuffix(" &").split(), watch.split())
    Path("twin/faster.toml").write_text(changed)
    # A random read waits for half a turn, which is 1 ms shorter.
    assert throughput(capsys, faster) > 1.1 * throughput(capsys, found[1][0])


def _served(serve: list[str], watch: list[str]) -> None:
    """Serve until the drive was watched."""
    place = Path(serve[serve.index("--socket") + 1])
    with subprocess.Popen([sys.executable, "-c", PROGRAM, *serve]) as server:
        try:
            deadline = time.monotonic() + 50
            while not place.exists() and server.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            assert cli.main(watch) == 0
        finally:
            server.terminate()
        # Nobody asked for anything, so no reply was late.
        assert server.wait(60) == 0
