"""The command `drivelab`: find the command's module, turn every error into a line and a code.

A command is a module of this package with ``add_arguments(parser)`` and ``run(args)``. Only the
module of the chosen command is imported, so that `drivelab --help` answers immediately.

`EXIT_CODES` lists how a command can end. Signals that are ignored at the start stay ignored.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from drivelab.core_panic import panic_error
from drivelab.errors import DrivelabError, PanicError, TerminatedError, UsageError
from drivelab.near_names import meant
from drivelab.plain_text import PlainStream

if TYPE_CHECKING:
    from drivelab.cli.arguments import CommandParser

EXIT_FAILED: Final = 1
EXIT_MISTAKE: Final = 2
EXIT_INTERRUPTED: Final = 130
EXIT_READER_GONE: Final = 141
#: How a command can end, in words.
EXIT_CODES: Final = {
    0: "done",
    1: "something failed: a drive, a disk, a measurement, a claim. What was measured is saved, "
    "and the same command resumes",
    2: "a mistake in the command line or in a file: nothing was done, and the error says what "
    "to write instead",
    3: "a served drive was late more often than --late-share allows (serve)",
    129: "stopped by SIGHUP",
    130: "stopped by Ctrl-C; what was measured is saved",
    141: "the reader of the output went away, as `head` does",
    143: "stopped by SIGTERM; what was measured is saved",
}
# As shells do: the number of the signal is added.
EXIT_SIGNAL: Final = 128
# Longest command shown in an error; it may name thousands of files.
_MOST_COMMAND_LETTERS: Final = 1000
# These errors mean that the path is impossible here, whoever reports them.
_NO_PATHS: Final = {errno.ENAMETOOLONG, errno.ELOOP}


@dataclass(frozen=True)
class Command:
    """One line of the tour.

    Parameters
    ----------
    name
        The word on the command line, and the name of the module in this package.
    summary
        What it does, in half a line.
    example
        A command line that works unchanged, or nearly.
    libraries
        The libraries that it needs, a key of `LIBRARY_MIB`.
    """

    name: str
    summary: str
    example: str
    libraries: str = "none"


#: Memory that the libraries of a command need, in MiB: touched memory, and address space.
#: Measured with little data (`VmHWM`, `VmPeak` of /proc/PID/status), plus a quarter.
LIBRARY_MIB: Final = {
    "none": (32, 64),
    "numbers": (80, 256),
    "models": (448, 1024),
}


GROUPS: Final[dict[str, tuple[Command, ...]]] = {
    "Look and measure": (
        Command("drives", "list the drives that you can measure here", "drives"),
        Command(
            "measure",
            "measure one workload on one drive",
            "measure sim:x25m --write-ratio 0.3 --queue-depth 4",
            libraries="numbers",
        ),
        Command(
            "simulate",
            "run a simulated drive and show all results",
            "simulate sim:x25m --write-ratio 0.3 --queue-depth 32",
            libraries="numbers",
        ),
        Command("scenarios", "list the built-in workloads and their sources", "scenarios"),
        Command(
            "serve",
            "serve a simulated drive to your programs",
            "serve sim:x25m --socket x25m.sock",
            libraries="numbers",
        ),
        Command("watch", "watch a served drive, every second", "watch"),
        Command(
            "choose",
            "find the best drive for a workload, and show how sure that is",
            "choose vector-search --drives sim:bench-64gib,sim:enterprise-tlc-pcie4",
            libraries="models",
        ),
        Command(
            "place",
            "choose drives for several workloads, and what goes where",
            "place plan.toml --out placement",
            libraries="models",
        ),
    ),
    "Model and predict": (
        Command(
            "model",
            "the main job: measure many workloads, fit models, write a report",
            "model sim:x25m --measurements 300 --out runs/x25m",
            libraries="models",
        ),
        Command(
            "predict",
            "predict performance under any workload, from a model",
            "predict runs/x25m --read-size 64KiB --queue-depth 8",
            libraries="numbers",
        ),
        Command(
            "fit",
            "fit a simulated drive to a measured one",
            "fit runs/ssd --base x25m -o mine.toml",
            libraries="models",
        ),
        Command(
            "firmware",
            "measure what firmware costs on a drive's processor, and predict it",
            "firmware profile lee2021 --out runs/firmware",
            libraries="models",
        ),
        Command(
            "twin",
            "measure a drive, fit a simulated one to it, and compare both",
            "twin /dev/nvme0n1 --base enterprise-tlc-pcie4 --budget 1h",
            libraries="models",
        ),
        Command(
            "report",
            "write a run's report again, or compare several runs",
            "report runs/x25m runs/bench-64gib",
            libraries="models",
        ),
        Command("runs", "list, show, export or remove runs", "runs list"),
    ),
    "Profile and test": (
        Command(
            "profile",
            "measure how much sequential access is worth, at every request size",
            "profile sim:x25m --file-size 200MiB",
            libraries="models",
        ),
        Command(
            "pts",
            "run, report and compare the SNIA performance tests",
            "pts report runs/x25m-iops --pdf",
            libraries="models",
        ),
    ),
    "Recorded traces": (
        Command(
            "trace",
            "describe, convert and cut recorded block traces",
            "trace characterize web.trace.gz --out web",
            libraries="models",
        ),
    ),
    "Look inside an SSD": (
        Command(
            "whatif",
            "a page in which a simulated SSD can be changed, with curves that follow",
            "whatif --out what-if.html",
            libraries="numbers",
        ),
        Command(
            "analytic",
            "compute latency and throughput with the closed form",
            "analytic analytic:x25m-yoo2014 --op write --record 512KiB",
        ),
        Command(
            "timeline",
            "draw when dispatch, channels and dies work",
            "timeline sim:x25m-yoo2014 --op read --record 32KiB -o read.svg",
            libraries="models",
        ),
    ),
    "Check": (
        Command(
            "reproduce",
            "compare a paper's published numbers with ours",
            "reproduce yoo2014",
            libraries="models",
        ),
    ),
}
COMMANDS: Final = {command.name: command for group in GROUPS.values() for command in group}
#: Commands for programs, not for people.
FOR_PROGRAMS: Final = {
    command.name: command
    for command in (
        Command("worker", "measure for a run elsewhere", "worker --stdio", libraries="numbers"),
        Command(
            "completion",
            "print a script with which your shell completes commands",
            "completion bash",
        ),
    )
}

_INTRODUCTION: Final = """\
How fast will this drive be under my workload?

Drivelab measures drives, models them, simulates them and predicts their performance.
"""
_EXPLANATION: Final = """\
DRIVE is one of
  sim:x25m               a simulated drive, from a preset
  sim:file.toml          a simulated drive, from your own preset file
  analytic:x25m-yoo2014  the closed-form equations of such a drive
  /dev/nvme0n1           a block device; only read unless --allow-destructive names it
  path/to/file           a file on a real drive; created if it does not exist
`drivelab drives` lists the drives of this machine.

Sizes: k, M, G, KiB, MiB, GiB are binary (4k = 4KiB = 4096 bytes);
  kB, MB, GB are decimal (4kB = 4000 bytes); a plain number counts bytes.
Durations: 90s, 5m, 2h, 200ms; a plain number counts seconds.

Every command that prints a result takes --json.
`drivelab COMMAND --help` explains one command. `drivelab --version` prints the version.
`drivelab completion --help` shows how to complete commands with Tab in your shell.
"""


def tour() -> str:
    """Write the text of `drivelab --help`."""
    lines = [_INTRODUCTION]
    for title, commands in GROUPS.items():
        lines.append(f"{title}:")
        for command in commands:
            lines.append(f"  {command.name:<10} {command.summary}")
            lines.append(f"  {'':<10}   drivelab {command.example}")
        lines.append("")
    return "\n".join(lines) + "\n" + _EXPLANATION


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments
        The words after ``drivelab``; default `sys.argv`.
    """
    if arguments is None:
        arguments = sys.argv[1:]
        _open_standard_streams()
        _hear_signals()
    return guarded(lambda: _dispatch(arguments))


def guarded(work: Callable[[], int]) -> int:
    """Do some work, print its error as one line, and return the exit code."""
    try:
        code = work()
        sys.stdout.flush()
    except DrivelabError as error:
        _complain(_to_report(error) if isinstance(error, PanicError) else str(error))
        return EXIT_MISTAKE if isinstance(error, UsageError) else EXIT_FAILED
    except KeyboardInterrupt as interrupt:
        _complain(str(interrupt) or "stopped")
        return EXIT_INTERRUPTED
    except TerminatedError as terminated:
        _complain(str(terminated))
        return EXIT_SIGNAL + terminated.number
    except BrokenPipeError:
        _discard_output()
        return EXIT_READER_GONE
    except BaseException as error:  # the boundary: nothing may reach the user as a traceback
        panic = panic_error(error)
        is_exit = panic is None and not isinstance(error, Exception)
        if is_exit or os.environ.get("DRIVELAB_TRACEBACK") == "1":
            raise
        _complain(_unforeseen(error) if panic is None else _to_report(panic))
        _discard_output()
        return EXIT_MISTAKE if getattr(error, "errno", None) in _NO_PATHS else EXIT_FAILED
    return code


def _open_standard_streams() -> None:
    """Make sure that there is somewhere to write, and that no character stops or controls it."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        # If it stayed closed, the next opened file would get its number.
        try:
            os.fstat(descriptor)
        except OSError:
            _discard(descriptor)
        stream = getattr(sys, name)
        if stream is None:
            mode = "w" if descriptor else "r"
            stream = open(descriptor, mode, closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
        if descriptor and isinstance(stream, io.TextIOWrapper):
            plain = PlainStream.instead_of(stream)
            setattr(sys, name, plain)
            setattr(sys, f"__{name}__", plain)


def _hear_signals() -> None:
    """Stop cleanly on a signal, and leave ignored signals ignored.

    A shell starts background jobs with SIGINT ignored, and nohup ignores SIGHUP. Python itself
    installs its handler of SIGINT only if SIGINT is not ignored.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_terminate)
    # SIGCHLD stops nobody. If it were ignored, we could not see how fio and others end.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] == ["help"] and arguments[1:2] and arguments[1] in COMMANDS:
        arguments = [*arguments[1:], "--help"]
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(tour(), end="")
        return 0
    name, rest = arguments[0], arguments[1:]
    if name == "--version":
        from importlib.metadata import version

        print(f"drivelab {version('drivelab')}")
        return 0
    if name in FOR_PROGRAMS:
        return _run(FOR_PROGRAMS[name], rest)
    if name not in COMMANDS:
        kind = "option" if name.startswith("-") else "command"
        raise UsageError(
            f"no {kind} {name!r}; {meant(name, COMMANDS)}the commands are {', '.join(COMMANDS)}"
        )
    return _run(COMMANDS[name], rest)


def module_of(command: str) -> Any:
    """Import the module of a command."""
    return importlib.import_module(f"drivelab.cli.{command}")


def parser_of(command: Command) -> CommandParser:
    """Return the parser of a command, with its description and example."""
    import argparse

    from drivelab.cli.arguments import CommandParser

    module = module_of(command.name)
    parser = CommandParser(
        prog=f"drivelab {command.name}",
        description=_paragraph(module.__doc__ or command.summary),
        epilog=f"example: drivelab {command.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    return parser


def _run(command: Command, arguments: list[str]) -> int:
    from drivelab.cli.command_line import command_line
    from drivelab.memory import Need, require, require_stack

    require_stack()
    touched, addresses = (mib * 2**20 for mib in LIBRARY_MIB[command.libraries])
    require(f"drivelab {command.name}", Need(touched, addresses))
    if command.libraries == "models":
        _draw_to_files()
    try:
        parsed = parser_of(command).parse_strictly(arguments)
    except SystemExit:  # --help was printed; errors are raised as UsageError
        return 0
    parsed.command = command_line(command.name, arguments)
    return int(module_of(command.name).run(parsed))


def _draw_to_files() -> None:
    """Set up Matplotlib for a process that is all ours; in a notebook the owner's choice stays.

    Matplotlib reads this at its first import. Figures go to files, whatever the shell is set up
    for, and nobody needs the message about its font cache.
    """
    import logging

    os.environ["MPLBACKEND"] = "agg"
    logging.getLogger("matplotlib").setLevel(logging.ERROR)


def _paragraph(text: str) -> str:
    """Wrap a docstring's paragraphs to the terminal; indented lines stay unchanged."""
    first, _, rest = text.partition("\n")
    width = shutil.get_terminal_size().columns - 2
    parts = (first + "\n" + textwrap.dedent(rest)).strip().split("\n\n")
    return "\n\n".join(
        part if "\n " in part or part.startswith(" ") else textwrap.fill(part, max(width, 40))
        for part in parts
    )


def _unforeseen(error: BaseException) -> str:
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        where = f" ({error.filename})" if error.filename else ""
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            return f"{reason}{where}; free some space and run the same command again"
        if error.errno in _NO_PATHS:
            return f"{reason}{where}; name another path"
        return f"{reason}{where}"
    if isinstance(error, MemoryError):
        return "out of memory; what was measured is saved: use a smaller drive or fewer workers"
    return (
        f"this is a bug in Drivelab, {type(error).__name__}: {error} "
        "(DRIVELAB_TRACEBACK=1 shows where)"
    )


def _to_report(panic: PanicError) -> str:
    import shlex
    from importlib.metadata import version

    command = shlex.join(["drivelab", *sys.argv[1:]])
    if len(command) > _MOST_COMMAND_LETTERS:
        command = f"{command[:_MOST_COMMAND_LETTERS]}..."
    return (
        f"this is a bug in Drivelab, {panic}; what was measured is saved. Please report this "
        f"line: version {version('drivelab')}, {command}"
    )


def _complain(message: str) -> None:
    # One line, whatever the text contains: scripts and tests rely on it.
    line = " ".join(message.split())
    try:
        print(f"drivelab: {line}", file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr.fileno())


def _discard_output() -> None:
    """Redirect standard output to nothing, so that its flush at exit raises no second error."""
    try:
        _discard(sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _discard(descriptor: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != descriptor:
        os.dup2(nothing, descriptor)
        os.close(nothing)


def _on_terminate(number: int, _frame: FrameType | None) -> NoReturn:
    raise TerminatedError(number)
