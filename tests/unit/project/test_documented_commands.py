"""Every command that the documentation shows is run, or at least understood.

Commands in blocks are run as a reader would: by a shell, page by page, in a folder of the page's
own. `NOT_RUN` lists those that are only parsed, each with the reason. A new command in a page is
run unless somebody gives such a reason.
"""

from __future__ import annotations

import gzip
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from documented_commands import (
    ROOT,
    blocks,
    commands,
    in_prose,
    pages,
    runnable,
    whole_lines,
    words_of,
)
from made_trace import blkparse_file, msr_file, spc_file
from mqsim_file import ssdconfig, workload

from drivelab.cli.main import COMMANDS, FOR_PROGRAMS, parser_of
from drivelab.errors import UsageError

OWN_DRIVE = "a drive or a file of the reader's"
OWN_TRACE = "a trace that is too large to be shipped"
OWN_RUN = "a run that takes minutes to make; tests of the command have small ones"
LONG = "takes minutes; tests of the command run smaller ones"
SERVER = "runs until somebody ends it; unit/cli/test_serve.py and test_watch.py run it"
PROGRAMS = "needs `make firmware` and minutes; unit/cli/test_tutorial_firmware.py runs a small one"
#: Pages whose commands another test runs, with what they print.
TESTED = {
    "docs/first-tasks.md": "unit/project/test_first_tasks.py",
    "docs/tutorial-drive.md": "unit/cli/test_tutorial_drive.py",
    "docs/tutorial-twin.md": "unit/cli/test_tutorial_twin.py",
    "docs/tutorial-firmware.md": "unit/cli/test_tutorial_firmware.py",
    "docs/tutorial-ssd.md": "unit/cli/test_tutorial_ssd.py",
    "docs/tutorial-trace.md": "unit/cli/test_tutorial_trace.py",
}
#: Of a page, how commands begin that are only parsed, and why.
NOT_RUN: dict[str, dict[str, str]] = {
    "README.md": {
        "predict runs/demo": OWN_RUN,
        "measure /mnt": OWN_DRIVE,
        "model /mnt": OWN_DRIVE,
        "model sim:my-drive.toml": LONG,
    },
    "docs/choose.md": {
        "choose tpc-c": LONG,
        "choose training-unet3d": LONG,
        "choose --drives sim:x25m,/mnt": OWN_DRIVE,
    },
    "docs/classes.md": {"pts run class sim": LONG, "pts run class /dev": OWN_DRIVE},
    "docs/coming-from-mqsim.md": {
        "simulate sim:mine.toml --trace traces/wsrch": "a trace that comes with MQSim",
    },
    "docs/firmware-board.md": {"firmware": "needs a board"},
    "docs/firmware-time.md": {"firmware": PROGRAMS},
    "docs/firmware.md": {"firmware": PROGRAMS, "simulate sim:drive.toml": PROGRAMS},
    "docs/fit.md": {
        "model /dev": OWN_DRIVE,
        "twin /dev": OWN_DRIVE,
        "fit runs/ssd": OWN_RUN,
        "fit runs/x25m": OWN_RUN,
        "model sim:x25m --writes": LONG,
        "simulate sim:mine.toml": OWN_RUN,
        "serve": SERVER,
    },
    "docs/forecast.md": {"model sim": LONG, "predict runs": OWN_TRACE},
    "docs/live.md": {"serve": SERVER},
    "docs/machines.md": {
        "model": "needs several machines; unit/cli/test_executors.py has them",
        "fit": "needs a cluster; unit/preset_fit/test_simulator.py has one that is made up",
    },
    "docs/models.md": {
        "predict runs/x25m": OWN_RUN,
        "simulate sim:x25m --trace DTRS100M": OWN_TRACE,
        "trace characterize replay": OWN_TRACE,
        "model --from minutes": OWN_TRACE,
    },
    "docs/place.md": {"place plan.toml": LONG},
    "docs/profile.md": {"profile sim": LONG, "profile /mnt": OWN_DRIVE},
    "docs/pts-report.md": {
        "pts report runs": OWN_RUN,
        "pts compare runs": OWN_RUN,
        "pts run iops /dev": OWN_DRIVE,
    },
    "docs/pts.md": {
        "pts run iops": LONG,
        "pts run all": OWN_DRIVE,
        "pts run wsat": LONG,
        "pts run latency": LONG,
        "pts compare": OWN_RUN,
        "pts report": OWN_RUN,
    },
    "docs/real-drives.md": {
        "measure /mnt": OWN_DRIVE,
        "model /mnt": OWN_DRIVE,
        "pts run": OWN_DRIVE,
    },
    "docs/replay.md": {"measure /mnt": OWN_DRIVE, "measure /dev": OWN_DRIVE},
    "docs/report.md": {
        "report runs": OWN_RUN,
        "model sim:$drive": "the line of a loop; the loop takes minutes",
    },
    "docs/simulator.md": {
        "simulate sim:bench-64gib --write-ratio 1": LONG,
        "simulate sim:bench-64gib --read-size 64k --from-state": LONG,
    },
    "docs/traces.md": {
        "trace fit web.trace.gz -o web.toml --window": LONG,
        "simulate sim:enterprise-tlc-pcie4 --scenario web.toml": LONG,
    },
    "docs/watch.md": {"serve": SERVER, "watch": SERVER},
    "docs/workloads.md": {"model DRIVE": "words in capitals stand for others"},
}
#: How commands of a page end that end otherwise than with 0, by how they begin.
ENDS = {
    "docs/outputs.md": {"simulate sim:bench-64gib --interval 10ms --csv a.csv #": 2},
    "docs/closed-form.md": {"analytic x25m --op read": 2},
    # Three rows are shown, and a fit needs more.
    "docs/fit.md": {"fit mine.csv": 2},
}
# Half an hour of requests to four devices.
LINES = [
    f"{at % 4},{8 * (at * 7919 % 5000)},4096,{'w' if at % 3 else 'r'},{at * 0.6:.6f}"
    for at in range(3000)
]
PROGRAM = "import sys; from drivelab.cli.main import main; sys.exit(main())"
# What a page writes in the place of a word that has to be one of several.
PLACEHOLDERS = {"TEST": "iops", "SPEC": "x25m", "[FOLDER]": "runs", "N": "5", "LEVEL": "90"}


def refusal(words: list[str]) -> str | None:
    """Say what the parser of a command does not take, if anything."""
    name, *rest = words
    if words in (["--help"], ["--version"], ["COMMAND", "--help"]):
        return None
    command = {**COMMANDS, **FOR_PROGRAMS}.get(name)
    if command is None:
        return f"there is no command {name!r}"
    try:
        parser_of(command).parse_strictly(rest)
    except UsageError as error:
        return str(error)
    except SystemExit:  # --help
        return None
    return None


def reason(page: str, command: str) -> str | None:
    """Say why a command of a page is not run."""
    return next(
        (why for start, why in NOT_RUN.get(page, {}).items() if command.startswith(start)), None
    )


@pytest.mark.parametrize("page", pages())
def test_every_command_of_a_block_is_understood(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = {
        command: why
        for command in commands(pages()[page])
        if (why := refusal(words_of(command))) is not None
    }
    capsys.readouterr()  # help texts
    assert refused == {}


@pytest.mark.parametrize("page", pages())
def test_every_command_in_prose_is_understood(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Prose may leave out words that have to be there, and writes some in capitals."""
    refused = {}
    for command in in_prose(pages()[page]):
        words = [PLACEHOLDERS.get(word, word.split("|")[0]) for word in command.split()]
        why = refusal([word for word in words if word != "..."])
        if why is not None and not re.search(r"\b(is|are) missing\b|expected .*argument", why):
            refused[command] = why
    capsys.readouterr()
    assert refused == {}


def test_every_reason_is_of_a_command() -> None:
    texts = pages()
    for page, starts in [*NOT_RUN.items(), *ENDS.items()]:
        found = list(commands(texts[page]))
        for start in starts:
            assert any(command.startswith(start) for command in found), (page, start)
    for test in TESTED.values():
        assert (ROOT / "tests" / test).is_file()


def prepare(folder: Path, page: str) -> None:
    """Put into a folder what the commands of pages read."""
    for name in ("examples", "crates"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("web.trace.gz", "web.csv.gz", "web.spc.gz", "Financial1.spc.gz"):
        # What a page makes itself does not exist before.
        if f"-o {name}" not in page:
            trace = spc_file(folder, LINES, name="plain.spc").read_bytes()
            (folder / name).write_bytes(gzip.compress(trace))
    (folder / "hm_0.csv").write_bytes(gzip.decompress(msr_file(folder).read_bytes()))
    for name in ("blk.0", "blk.1"):
        path = blkparse_file(folder, name)
        path.write_text(path.read_text().replace("no line of blkparse\n", ""))
    (folder / "ssdconfig.xml").write_text(ssdconfig({"Ideal_Mapping_Table": "true"}))
    (folder / "workload.xml").write_text(workload([{}]))
    # A page's own file is saved under the name that it gives itself.
    for text in re.findall(r"^```toml\n(.*?)^```$", page, re.S | re.M):
        named = re.search(r'^name = "([^"]+)"$', text, re.M)
        if named:
            (folder / f"{named[1]}.toml").write_text(text)


def to_run() -> list[str]:
    """Give the pages with commands that are run here."""
    return [
        page
        for page, text in pages().items()
        if page not in TESTED and any(reason(page, each) is None for each in commands(text))
    ]


def code_of(page: str, command: str) -> int:
    """Give the exit code with which a command of a page has to end."""
    found = (code for start, code in ENDS.get(page, {}).items() if command.startswith(start))
    return next(found, 0)


def script_of(page: str, text: str) -> tuple[list[str], list[int]]:
    """Give the lines of a page that a shell is to run, and how its commands have to end."""
    lines, codes = [], []
    for block in blocks(text):
        for line in whole_lines(block):
            found = next(commands(f"```\n{line}\n```\n"), None)
            if found is None:
                # Other programs; but what a command with a prompt prints is no command.
                lines += [] if "\n$ " in f"\n{block}" or line.startswith("make ") else [line]
            elif reason(page, found) is None:
                lines.append(runnable(line))
                codes.append(code_of(page, found))
    return lines, codes


@pytest.mark.parametrize("page", to_run())
def test_every_other_command_is_run(page: str, tmp_path: Path) -> None:
    text = pages()[page]
    prepare(tmp_path, text)
    lines, expected = script_of(page, text)
    python = f"{shlex.quote(sys.executable)} -c {shlex.quote(PROGRAM)}"
    shim = f'drivelab() {{ {python} "$@"; local code=$?; echo $code >>codes; return $code; }}'
    done = subprocess.run(
        ["/bin/bash", "-c", "\n".join([shim, *lines])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    codes = [int(line) for line in (tmp_path / "codes").read_text().split()]
    assert codes == expected, done.stderr


def test_a_command_that_does_not_exist_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    page = "Type `drivelab measure DRIVE --deep 4`:\n\n```\ndrivelab maesure sim:x25m\n```\n"
    (shown,) = commands(page)
    assert refusal(words_of(shown)) == "there is no command 'maesure'"
    (named,) = in_prose(page)
    assert "there is no option '--deep'" in str(refusal(named.split()))
    assert refusal(["measure", "sim:x25m", "--queue-depth", "4"]) is None
