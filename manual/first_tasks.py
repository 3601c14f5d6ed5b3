"""The tasks of docs/first-tasks.md: run as a newcomer would, counted and timed.

``python -m manual.first_tasks`` runs all of them and writes the table into the page.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TARGET: Final = Path(__file__).parent.parent / "docs" / "first-tasks.md"
_BEGIN: Final = "<!-- times: written by `.venv/bin/python -m manual.first_tasks` -->\n"
_END: Final = "<!-- end of the times -->\n"
_PROGRAM: Final = "import sys; from drivelab.cli.main import main; sys.exit(main())"
_TASK: Final = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.S | re.M)
_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
_FILES: Final = re.compile(r"`([\w-]+\.toml)`:\n\n```toml\n(.*?)^```$", re.S | re.M)


@dataclass(frozen=True)
class Task:
    """A task of the page.

    Parameters
    ----------
    title
        Its heading.
    files
        What the page asks to save, by name.
    commands
        The words after ``drivelab``, a command each.
    """

    title: str
    files: dict[str, str]
    commands: list[list[str]]


@dataclass(frozen=True)
class Done:
    """A task that was carried out: the output of each command, and the time of all of them.

    Parameters
    ----------
    printed
        Standard output of each command.
    wall_seconds, processor_seconds
        Of all commands together, with the start of each program.
    """

    printed: list[str]
    wall_seconds: float
    processor_seconds: float


def tasks(page: str) -> list[Task]:
    """Read the tasks of a page."""
    return [
        Task(
            title,
            dict(_FILES.findall(text)),
            [
                shlex.split(line.removeprefix("drivelab "))
                for language, block in _BLOCK.findall(text)
                for line in block.splitlines()
                if not language
            ],
        )
        for title, text in _TASK.findall(page)
    ]


def carry_out(task: Task, folder: Path) -> Done:
    """Save the files of a task in a folder, and run its commands there, one after the other.

    Raises
    ------
    RuntimeError
        When a command fails, with what it said.
    """
    for name, text in task.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    started, used = time.monotonic(), _processor_seconds()
    printed = []
    for words in task.commands:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"drivelab {shlex.join(words)}: {done.stderr}")
        printed.append(done.stdout)
    return Done(printed, time.monotonic() - started, _processor_seconds() - used)


def with_table(page: str, done: list[Done]) -> str:
    """Return the page with its table as measured."""
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"the page has no place for the table, between {_BEGIN}{_END}")
    rows = [
        "| task | commands | files to save | minutes | processor time |",
        "|---|---|---|---|---|",
        *(
            f"| {task.title} | {len(task.commands)} | {len(task.files)} | "
            f"{one.wall_seconds / 60:.1f} | {one.processor_seconds:.0f} s |"
            for task, one in zip(tasks(page), done, strict=True)
        ),
    ]
    machine = (
        f"Measured on {platform.machine()} with {os.cpu_count()} cores and a load average of "
        f"{os.getloadavg()[2]:.0f} over the last quarter of an hour."
    )
    return f"{before}{begin}\n{chr(10).join(rows)}\n\n{machine}\n\n{end}{after}"


def write() -> None:
    """Run the tasks and write the table into docs/first-tasks.md."""
    page = TARGET.read_text(encoding="utf-8")
    done = []
    for task in tasks(page):
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="first-task-") as folder:
            done.append(carry_out(task, Path(folder)))
        sys.stderr.write(f"{task.title}: {done[-1].wall_seconds:.0f} s\n")
    TARGET.write_text(with_table(page, done), encoding="utf-8")


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    write()
