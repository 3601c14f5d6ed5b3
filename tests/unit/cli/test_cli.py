"""The command line's frame: the tour, exit codes, one line for every error."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.cli.arguments import (
    CommandParser,
    add_characteristics,
    inner_share,
    ratio,
    seed,
    share,
    whole_number,
)
from drivelab.errors import CannotAnswerError, RunError, TerminatedError, UsageError


def run_command(*words: str, **settings: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; "]
    command[-1] += "sys.exit(main())"
    return subprocess.run(
        [*command, *words], capture_output=True, text=True, check=False, timeout=120, **settings
    )


@pytest.fixture
def fake_command(monkeypatch):
    """Put a command `probe` in place whose `run` does what the test says."""

    def install(run) -> None:
        module = types.ModuleType("drivelab.cli.probe", "Probe.\n\nMore.")
        module.add_arguments = lambda parser: parser.add_argument("--op", choices=["read", "write"])
        module.run = run
        monkeypatch.setitem(sys.modules, "drivelab.cli.probe", module)
        monkeypatch.setitem(cli.COMMANDS, "probe", cli.Command("probe", "probe", "probe"))

    return install


def raising(error: BaseException):
    def run(_args: argparse.Namespace) -> int:
        raise error

    return run


def test_tour_names_every_command_with_its_example() -> None:
    text = cli.tour()
    for command in cli.COMMANDS.values():
        assert command.summary in text
        assert f"drivelab {command.example}" in text
    for word in ("KiB", "decimal", "sim:", "analytic:", "/dev/", "--json"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 96


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_help_is_the_tour(words: tuple[str, ...], capsys) -> None:
    assert cli.main(list(words)) == 0
    captured = capsys.readouterr()
    assert captured.out == cli.tour()
    assert captured.err == ""


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from drivelab.cli.main import main; code = main(['--help']);"
        "print('loaded', *sorted(sys.modules), file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(answer.stderr.split())
    assert "drivelab.cli.main" in loaded
    heavy = {"numpy", "sklearn", "scipy", "matplotlib", "sqlite3", "jinja2", "tqdm", "argparse"}
    assert not loaded & heavy


def test_version() -> None:
    answer = run_command("--version")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.startswith("drivelab 0.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "no command 'nonsense'; the commands are drives, measure,"),
        (["--nonsense"], "no option '--nonsense'"),
        (["probe", "--op", "erase"], "'erase' is not allowed; it takes"),
        (["probe", "--opp", "read"], "there is no option '--opp'; did you mean --op?"),
        (["probe", "--o", "read"], "there is no option '--o'; "),
        (["probe", "word"], "'word' is one word too many"),
        (["probe", "--op"], "expected one argument"),
    ],
)
def test_mistake_is_one_line_and_exit_2(words, said, fake_command, capsys) -> None:
    fake_command(lambda args: 0)
    assert cli.main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("drivelab: ")
    assert said in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("two\nlines"), 2, "drivelab: two lines"),
        (CannotAnswerError("only queue depth 1"), 2, "drivelab: only queue depth 1"),
        (RunError("fio died"), 1, "drivelab: fio died"),
        (KeyboardInterrupt(), 130, "drivelab: stopped"),
        (KeyboardInterrupt("stopped after 3 of 9"), 130, "drivelab: stopped after 3 of 9"),
        (TerminatedError(15), 143, "drivelab: terminated\n"),
        (TerminatedError(1, "terminated; 3 of 9"), 129, "drivelab: terminated; 3 of 9"),
        (OSError(errno.ENOSPC, "No space left on device", "x"), 1, "free some space"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 1, "Permission denied (x)"),
        (MemoryError(), 1, "out of memory"),
        (ZeroDivisionError("division"), 1, "DRIVELAB_TRACEBACK=1"),
    ],
)
def test_error_is_one_line_and_a_code(error, code, said, fake_command, capsys) -> None:
    fake_command(raising(error))
    assert cli.main(["probe"]) == code
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_traceback_is_there_when_asked_for(fake_command, monkeypatch) -> None:
    fake_command(raising(ZeroDivisionError("division")))
    monkeypatch.setenv("DRIVELAB_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main(["probe"])


def test_exit_code_of_the_command_is_kept(fake_command) -> None:
    fake_command(lambda args: 7)
    assert cli.main(["probe", "--op", "read"]) == 7


def test_help_of_a_command(fake_command, capsys) -> None:
    fake_command(lambda args: 7)
    assert cli.main(["probe", "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("usage: drivelab probe")
    assert "example: drivelab probe" in text


def test_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    answer = subprocess.run(
        [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (answer.returncode, answer.stderr) == (cli.EXIT_READER_GONE, "")


def test_full_disk_under_the_output_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from drivelab.cli.main import main; sys.exit(main())",
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert answer.returncode == 1
    assert answer.stderr.startswith("drivelab: No space left on device")
    assert answer.stderr.count("\n") == 1


def parse(*words: str) -> argparse.Namespace:
    parser = CommandParser(prog="drivelab probe", allow_abbrev=False)
    add_characteristics(parser)
    parser.add_argument("--seed", type=seed)
    return parser.parse_strictly(list(words))


def test_characteristics_are_read() -> None:
    args = parse("--write-ratio", "0.3", "--queue-depth", "4", "--read-size", "4KiB")
    assert (args.write_ratio, args.queue_depth, args.read_size) == (0.3, 4, 4096)
    assert args.write_size is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--write-ratio", "1.5"), "--write-ratio: '1.5' is not allowed; it takes a number from 0"),
        (("--write-ratio", "-0.1"), "--write-ratio: '-0.1' is not allowed"),
        (("--write-ratio", "nan"), "--write-ratio: 'nan' is not allowed"),
        (("--queue-depth", "0"), "--queue-depth: '0' is not allowed; it takes a whole number"),
        (("--queue-depth", "-3"), "--queue-depth: '-3' is not allowed"),
        (("--queue-depth", "1e9"), "--queue-depth: '1e9' is not allowed"),
        (("--read-size", "4XB"), "--read-size: '4XB' is not a size"),
        (("--read-size", "-4KiB"), "--read-size: '-4KiB' is not a size; write for example 4KiB"),
        (("--read-size", "-.5k"), "--read-size: '-.5k' is not a size; write for example 4KiB"),
        (("--seed", "9" * 30), "--seed: "),
    ],
)
def test_wrong_characteristic_names_its_option(words, said) -> None:
    with pytest.raises(UsageError) as caught:
        parse(*words)
    assert said in str(caught.value)


def test_whole_number_holds_both_ends() -> None:
    number = whole_number(1, 8)
    assert [number("1"), number("8")] == [1, 8]
    for text in ("0", "9"):
        with pytest.raises(argparse.ArgumentTypeError):
            number(text)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself(name: str, capsys) -> None:
    assert cli.main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: drivelab {name}")
    assert f"example: drivelab {cli.COMMANDS[name].example}" in text
    assert "--json" in text
    # A name in capitals between braces is a value that was not filled in.
    assert re.search(r"\{[A-Z_]+\}", text) is None


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_example_is_understood(name: str) -> None:
    first, *words = cli.COMMANDS[name].example.split()
    assert first == name
    parser = CommandParser(prog=f"drivelab {name}", allow_abbrev=False)
    importlib.import_module(f"drivelab.cli.{name}").add_arguments(parser)
    parser.parse_strictly(words)


@pytest.mark.parametrize(
    ("words", "takes_formulas"),
    [(("measure",), True), (("model",), True), (("profile",), False), (("pts", "run"), False)],
)
def test_help_offers_formulas_where_they_are_taken(words, takes_formulas: bool, capsys) -> None:
    assert cli.main([*words, "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "sim:PRESET or sim:FILE.toml (simulated), " in printed
    assert ("analytic:PRESET (closed form)" in printed) is takes_formulas


def test_every_command_module_is_in_the_tour() -> None:
    modules = {
        path.stem
        for path in Path(cli.__file__).parent.glob("*.py")
        if "def run(args" in path.read_text()
    }
    assert modules == {*cli.COMMANDS, *cli.FOR_PROGRAMS}


def test_measure_writes_ratios_with_two_decimals(capsys) -> None:
    drive = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
    words = ["--write-ratio", "1", "--write-random", "0", "--requests", "50"]
    assert cli.main(["measure", drive, *words]) == 0
    lines = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["write amplification"].strip() == "1.00"


@pytest.mark.parametrize("text", ["0.001", "1e-3", ".1e-2", "1E-03", "10e-4"])
def test_shares_have_exponents_too(text: str) -> None:
    assert ratio(text) == share(text) == inner_share(text) == pytest.approx(0.001)
    assert share(f"{text}%") == inner_share(f"{text} %") == pytest.approx(1e-5)


@pytest.mark.parametrize("text", ["1e1", "1e999", "1e-999%", "e-3", "1e", "1e-1.5", "nan", "-1e-3"])
def test_what_is_no_share_is_refused(text: str) -> None:
    for parse in (share, inner_share):
        with pytest.raises(argparse.ArgumentTypeError, match="is not allowed; it takes a share"):
            parse(text)
