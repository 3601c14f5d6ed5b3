"""Results on a terminal: a text that is too wide continues on the next line, indented."""

from __future__ import annotations

import json

import pytest

from drivelab.cli import terminal
from drivelab.cli.main import main
from drivelab.cli.terminal import show, wrapped


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("short  enough", ["short  enough"]),
        (
            "population  the workloads of a paper that nobody has read",
            ["population  the workloads of a paper", "            that nobody has read"],
        ),
        (
            "mean latency  2.01 ms      off by 15 % on average",
            ["mean latency  2.01 ms      off by 15 %", "              on average"],
        ),
        (
            "- Published: an Intel X25-M of 80 GB, under many workloads",
            ["- Published: an Intel X25-M of 80 GB,", "  under many workloads"],
        ),
        (
            "    a note that stands below something else",
            ["    a note that stands below something", "    else"],
        ),
        # A number and its unit stay on one line.
        (
            "off by on average, as far as is known, 15 %",
            ["off by on average, as far as is known,", "  15 %"],
        ),
        ("made  " + "x" * 50, ["made", "      " + "x" * 50]),
    ],
)
def test_long_lines_go_on_below_their_text(line: str, lines: list[str]) -> None:
    assert wrapped(line, 40).split("\n") == lines
    # Too narrow to wrap for.
    assert wrapped(line, 39) == line


def test_only_a_terminal_wraps(capsys, monkeypatch) -> None:
    long = "workload  " + "word " * 30 + "end"
    show(long)
    assert capsys.readouterr().out == f"{long}\n"
    monkeypatch.setattr(terminal.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    show(f"{long}\nnext")
    said = capsys.readouterr().out.splitlines()
    assert max(map(len, said)) <= 60
    assert said[1].startswith(" " * 10 + "word")
    assert said[-1] == "next"
    assert " ".join(said[:-1]).split() == long.split()


def test_json_is_never_wrapped(capsys, monkeypatch) -> None:
    monkeypatch.setattr(terminal.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["analytic", "x25m-yoo2014", "--op", "write", "--record", "512KiB", "--json"]) == 0
    said = capsys.readouterr().out
    assert json.loads(said)["drive"]
    assert max(map(len, said.splitlines())) > 40
