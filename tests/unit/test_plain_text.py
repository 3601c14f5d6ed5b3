"""Names that would act on a terminal, in everything that Drivelab prints."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from brief_models import PROGRAM
from kernel_view import small_machine

from drivelab.plain_text import PlainStream, escaped, escaped_lines
from drivelab.runs.status_line import StatusLine

SMALL = Path(__file__).parents[1] / "small_drive.toml"
COMMAND = [sys.executable, "-c", PROGRAM]
#: Clears the screen, sets its title, colours, turns text around, hides, begins a line.
EVIL = "e\x1b[2Jv\x1b]0;t\x07i\x9b31ml\x7f\u202eg\u200bn\u2028\rp\nq"
ESCAPED = r"e\x1b[2Jv\x1b]0;t\x07i\x9b31ml\u007f\u202eg\u200bn\u2028\x0dp\x0aq"
NO_UTF8 = os.fsdecode(b"\xff\x9b1m")
ACTING = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def run_in(folder: Path, *words: str) -> tuple[int, str]:
    """Run a command; give its exit code and everything it said, of which no character acts."""
    done = subprocess.run(
        [*COMMAND, *words], cwd=folder, capture_output=True, check=False, timeout=300
    )
    said = (done.stdout + done.stderr).decode("utf-8")
    assert ACTING.search(said) is None, said
    assert "bug" not in said, said
    return done.returncode, said


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a preset, and a run of it whose folder is named alike and not in UTF-8."""
    path = tmp_path_factory.mktemp("names")
    shutil.copy(SMALL, path / f"{EVIL}.toml")
    words = ["--design", "huang2011:20", "--requests", "50", "--no-sweeps", "--check", "1"]
    code, said = run_in(path, "model", f"sim:{EVIL}.toml", *words, "--out", f"runs/{EVIL}{NO_UTF8}")
    assert code == 0, said
    return path


def test_everything_that_acts_is_escaped_once() -> None:
    assert escaped(EVIL) == ESCAPED
    assert escaped_lines(EVIL) == ESCAPED.replace(r"\x0a", "\n")
    assert escaped(ESCAPED) == ESCAPED
    assert escaped(NO_UTF8) == r"\udcff\udc9b1m"
    assert escaped("Grüße 漢字 😀 e\u0301") == "Grüße 漢字 😀 e\u0301"
    for code in [*range(0x300), *range(0x2000, 0x2070), 0xFEFF]:
        assert (escaped(chr(code)) != chr(code)) == (
            code < 0x20
            or 0x7F <= code <= 0x9F
            or 0x200B <= code <= 0x200F
            or 0x2028 <= code <= 0x202E
            or 0x2066 <= code <= 0x2069
            or code == 0xFEFF
        ), hex(code)


def test_shells_and_python_read_what_is_written() -> None:
    written = ESCAPED.replace(r"\u007f", r"\x7f")
    assert written.encode("ascii").decode("unicode_escape") == EVIL


def test_a_stream_escapes_whatever_is_written_to_it(tmp_path: Path) -> None:
    path = tmp_path / "said"
    with PlainStream.instead_of(path.open("w", encoding="utf-8")) as stream:
        print(EVIL, NO_UTF8, file=stream)
        stream.writelines(["\x1b[1m", "two\n"])
        stream.write_controls("\r\x1b[K")
    said = path.read_bytes().decode()
    lines = ESCAPED.replace(r"\x0a", "\n")
    assert said == f"{lines} {escaped(NO_UTF8)}\n\\x1b[1mtwo\n\r\x1b[K"


def test_the_drive_of_a_measurement(folder: Path) -> None:
    words = ["measure", f"sim:{EVIL}.toml", "--requests", "50"]
    code, said = run_in(folder, *words)
    assert code == 0
    assert f"sim:{ESCAPED}.toml\n" in said
    code, said = run_in(folder, *words, "--json")
    assert json.loads(said)["drive"] == f"sim:{EVIL}.toml"


def test_runs_are_a_line_each(folder: Path) -> None:
    code, said = run_in(folder, "runs", "list")
    assert code == 0
    head, line = said.splitlines()
    assert head.startswith("run ")
    assert line.startswith(f"runs/{ESCAPED}{escaped(NO_UTF8)}  sim:{ESCAPED}.toml  ")
    # Columns stand below each other.
    assert line.index("sim:") == head.index("drive")
    code, said = run_in(folder, "runs", "list", "--json")
    (run,) = json.loads(said)["runs"]
    assert run["drive"] == f"sim:{EVIL}.toml"
    assert run["run"] == f"runs/{EVIL}{NO_UTF8}"


@pytest.mark.parametrize("action", ["show", "export", "remove"])
def test_a_run(folder: Path, action: str) -> None:
    words = ["--csv", f"{EVIL}.csv", "--force"] if action == "export" else []
    code, said = run_in(folder, "runs", action, f"runs/{EVIL}{NO_UTF8}", *words)
    assert (code, ESCAPED in said) == ((2, False) if action == "remove" else (0, True))


def test_a_report_is_written_and_says_the_name(folder: Path) -> None:
    """A browser obeys what turns text around; bytes that are no text stopped the writing."""
    run = f"runs/{EVIL}{NO_UTF8}"
    code, said = run_in(folder, "report", run)
    assert code == 0
    assert f"{ESCAPED}{escaped(NO_UTF8)}/report.html" in said
    page = (folder / run / "report.html").read_text("utf-8")
    assert ACTING.search(page.replace("\t", "")) is None
    assert f"<h1>sim:{escaped_lines(EVIL)}.toml</h1>" in page


def test_a_comparison_too(folder: Path) -> None:
    other = f"runs/{NO_UTF8}"
    shutil.copytree(folder / f"runs/{EVIL}{NO_UTF8}", folder / other)
    code, said = run_in(folder, "report", f"runs/{EVIL}{NO_UTF8}", other, "--out", f"both{EVIL}")
    shutil.rmtree(folder / other)
    assert code == 0, said
    page = (folder / f"both{EVIL}" / "report.html").read_text("utf-8")
    assert ACTING.search(page.replace("\t", "")) is None


def write_scenario(folder: Path, name: str) -> Path:
    path = folder / "s.toml"
    quoted = json.dumps(name)
    streams = "".join(
        f"[[stream]]\nname = {each}\nqueue_depth = {depth}\n"
        for depth, each in ((2, quoted), (1, "'b'"))
    )
    path.write_text(streams)
    return path


@pytest.mark.parametrize("letter", ["\x1b[2J", "\x9b31m", "\x7f", "\u202e", "\u200b", "\u2028"])
def test_streams_of_a_scenario(folder: Path, letter: str) -> None:
    """Their names and its summary are refused where they act, and in drawings no problem."""
    scenario = write_scenario(folder, f"s{letter}$x^$")
    words = ["--scenario", scenario.name]
    code, said = run_in(folder, "simulate", f"sim:{EVIL}.toml", *words, "--requests", "100")
    if code:
        assert (code, said.count("\n")) == (2, 1), said
        return
    assert f"\ns{escaped(letter)}$x^$  " in said
    code, said = run_in(
        folder, "timeline", f"sim:{EVIL}.toml", *words, "--for", "1ms", "-o", f"{EVIL}.svg"
    )
    assert code == 0
    assert said.splitlines()[1:] == [f"wrote {ESCAPED}.svg"]
    texts = " ".join(ET.parse(folder / f"{EVIL}.svg").getroot().itertext())  # noqa: S314 - our own
    assert f"s{escaped(letter)}$x^$" in texts


@pytest.mark.parametrize(
    "words",
    [
        ["measure", f"sim:no{EVIL}.toml"],
        ["measure", f"sim:{EVIL}"],
        ["measure", EVIL],
        ["measure", f"./{EVIL}/{NO_UTF8}"],
        ["measure", f"sim:x25m{NO_UTF8}"],
        ["drives", "show", EVIL],
        ["drives", "new", f"{EVIL}.toml", "--like", EVIL],
        ["runs", "show", EVIL + NO_UTF8],
        ["runs", "list", EVIL + NO_UTF8],
        ["predict", EVIL],
        ["predict", EVIL, "--file", EVIL, "--out", EVIL],
        ["report", EVIL, NO_UTF8],
        ["profile", f"sim:no{EVIL}"],
        ["pts", "classes", EVIL],
        ["pts", "report", EVIL + NO_UTF8],
        ["reproduce", EVIL],
        ["simulate", "sim:x25m", "--scenario", f"{EVIL}.toml"],
        ["simulate", "sim:x25m", f"--{EVIL}"],
        [EVIL],
        [f"--{EVIL}"],
    ],
)
def test_errors_are_one_line(folder: Path, words: list[str]) -> None:
    code, said = run_in(folder, *words)
    assert code == 2
    assert said.startswith("drivelab: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("key", [EVIL, "\x1b[2J"])
def test_keys_of_files_from_outside(folder: Path, key: str) -> None:
    (folder / "keys.toml").write_text(f"{json.dumps(key)} = 1\n{SMALL.read_text()}")
    (folder / "keys.csv").write_text(f'"{key}",write_ratio\n1,2\n', newline="")
    for words in (
        ["measure", "sim:keys.toml"],
        ["simulate", "sim:x25m", "--scenario", "keys.toml"],
        ["pts", "classes", "keys.toml"],
        ["model", "sim:x25m", "--design", "keys.csv", "--out", "no"],
    ):
        code, said = run_in(folder, *words)
        assert (code, said.count("\n")) == (2, 1), said


def test_what_a_device_says_of_itself(tmp_path: Path) -> None:
    roots = small_machine(tmp_path)
    model = roots.sys / "block" / "sda" / "device" / "model"
    model.write_text(EVIL + "\n", newline="")
    program = (
        "import sys; from pathlib import Path; from drivelab.cli import main as cli\n"
        "from drivelab.drives.real import block_devices as listed\n"
        "roots = listed.SystemRoots(*map(Path, sys.argv[1:]))\n"
        "given = listed.list_block_devices(roots)\n"
        "listed.list_block_devices = lambda: given\n"
        "sys.argv = ['drivelab', 'drives']; sys.exit(cli.main())"
    )
    folders = (roots.sys, roots.proc, roots.dev, roots.run)
    done = subprocess.run(
        [sys.executable, "-c", program, *folders], capture_output=True, check=True
    )
    said = done.stdout.decode()
    assert ACTING.search(said) is None
    (line,) = (line for line in said.splitlines() if "/dev/sda " in line)
    # The kernel's files are read with any end of line.
    assert line.endswith("  " + ESCAPED.replace(r"\x0d", r"\x0a"))


def test_a_class_of_workloads_is_given_as_it_is_into_a_pipe(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "pts", "classes", "mail"], capture_output=True, check=True)
    text = done.stdout.decode() + "# \t\x9b1m\n"
    assert tomllib.loads(text)
    (tmp_path / "own.toml").write_text(text)
    again = subprocess.run(
        [*COMMAND, "pts", "classes", "own.toml"], cwd=tmp_path, capture_output=True, check=True
    )
    assert again.stdout.decode() == text
    said = on_terminal(tmp_path, "pts", "classes", "own.toml")
    assert said.endswith("#   \\x9b1m\r\n")


def on_terminal(folder: Path, *words: str) -> str:
    """Run a command on a terminal; give what that received."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b""
    try:
        while data := os.read(ours, 65536):
            said += data
    except OSError:
        # The other end is closed.
        pass
    os.close(ours)
    assert process.wait(60) == 0
    return said.decode()


def test_progress_is_drawn_over_itself_on_a_terminal(folder: Path) -> None:
    words = ["--design", "huang2011:20", "--requests", "50", "--no-sweeps", "--check", "1"]
    said = on_terminal(folder, "model", f"sim:{EVIL}.toml", *words, "--out", f"term{EVIL}")
    assert re.search(r"\r\[#*\.*\] \d+ of \d+ measurements", said)
    own = said.replace("\r", "")
    assert ACTING.search(own) is None
    assert ESCAPED in own.replace("\n", "")


def test_drives_side_by_side_have_a_line_each(folder: Path) -> None:
    shutil.copy(folder / f"{EVIL}.toml", folder / f"b{EVIL}.toml")
    drives = [f"sim:{name}{EVIL}.toml" for name in ("", "b")]
    code, said = run_in(folder, "profile", *drives, "--file-size", "100GiB")
    lines = said.splitlines()
    assert code in (0, 1, 2)
    notes = [line for line in lines if line.startswith("drivelab: ")]
    assert notes
    assert all(line.startswith(("drivelab: sim:e", "drivelab: sim:be")) for line in notes)
    assert not [line for line in lines if line.startswith("q")]


def test_a_status_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    StatusLine().show(f"{EVIL}: 3 of 4")
    assert capsys.readouterr().err == f"drivelab: {ESCAPED}: 3 of 4\n"


def test_a_warning_and_a_traceback_are_escaped_too(folder: Path) -> None:
    program = (
        "import sys, warnings; from drivelab.cli import main as cli\n"
        "cli._open_standard_streams(); warnings.warn('\\x1b[2J', stacklevel=1)\n"
        "raise ValueError('\\x1b[2J')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.stderr.count(rb"\x1b[2J") >= 2
    assert b"\x1b" not in done.stderr
