"""Writing the files that a command was asked for by name."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.errors import RunError, UsageError
from drivelab.outputs import Output, check_outputs, write_output
from drivelab.whole_file import without_links

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

#: Names standard output, or standard input, where a command takes it.
STANDARD: Final = "-"
# Whatever else goes wrong lies in the path that was named.
_FAILURES: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
# They say how and where to answer, not what is asked.
_SWITCHES: Final = {"--force", "--json"}
_PLACES: Final = {"--csv", "--log", "--save-state", "--output", "--out", "--report", "-o"}


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Turn what the system says about writing a file into one line.

    Raises
    ------
    UsageError
        When nothing can be written there.
    RunError
        When the disk is full or fails.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FAILURES:
            raise RunError(
                f"{path} cannot be written: {reason}; free some space and run the same command "
                "again"
            ) from error
        raise UsageError(f"{path} cannot be written: {reason}; name another place") from error


def add_force(parser: argparse._ActionsContainer) -> None:
    """Add ``--force``."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace existing files; without it, only files that the same command wrote are "
        "replaced",
    )


def answer_to(args: argparse.Namespace, kind: str, path: Path) -> Output:
    """Give the output that answers this command line: the same question in the same folder."""
    words = shlex.join(["drivelab", *_question(shlex.split(args.command)[1:])])
    return Output(path, kind, f"`{words}` in {Path.cwd()}")


def _question(words: Sequence[str]) -> list[str]:
    """Leave out how and where to answer; the order of options is no other question."""
    alone: list[str] = []
    asked: list[list[str]] = []
    rest = iter(words)
    for word in rest:
        option, is_joined, value = word.partition("=")
        if option in _SWITCHES:
            continue
        if option in _PLACES:
            if not is_joined:
                next(rest, None)
        elif re.match(r"-o.", word):
            continue
        elif re.match(r"--?[^0-9.]", word):
            asked.append([option, value] if is_joined else [word])
        elif asked:
            asked[-1].append(word)
        else:
            alone.append(word)
    return alone + [word for each in sorted(asked) for word in each]


def check_files(
    wanted: Iterable[tuple[Sequence[str], Output | None]],
    *,
    force: bool,
    inputs: Iterable[Path | None] = (),
) -> None:
    """Refuse files that could not be written, before what they are to hold is worked out.

    Parameters
    ----------
    wanted
        The endings that each file may have, and the file; `None` where none is asked for.
    force, inputs
        As `drivelab.outputs.check_outputs` takes them.

    Raises
    ------
    UsageError
        When a name does not end so, is a folder, nothing can be made in its folder, or what is
        there may not be replaced.
    """
    outputs = [(endings, output) for endings, output in wanted if output is not None]
    for endings, output in outputs:
        path = output.path
        if is_standard(path):
            raise UsageError(
                f"{STANDARD} is standard output, where this command writes its answer; name a file "
                f"that ends in {' or '.join(endings)}"
            )
        if path.suffix not in endings:
            ending = " or ".join(endings)
            raise UsageError(f"{path} does not end in {ending}, which is what is written there")
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file")
        # Where a link leads to, that folder counts.
        folder = (without_links(path) if path.is_symlink() else path).parent
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder} to write {path.name} into")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(
                f"{path} cannot be written: nothing can be made in its folder; name another place"
            )
    check_outputs([output for _, output in outputs], force=force, inputs=inputs)


def is_standard(path: Path) -> bool:
    """Tell whether a file's name stands for standard output."""
    return str(path) == STANDARD


def write_file(output: Output, content: str | bytes, *, force: bool) -> None:
    """Write a file whole or not at all, folders above it are made; or to standard output.

    Raises
    ------
    UsageError, RunError
        As `output_errors` distinguishes them; also when an existing file may not be replaced.
    """
    if is_standard(output.path):
        sys.stdout.flush()
        sys.stdout.buffer.write(content.encode() if isinstance(content, str) else content)
        return
    with output_errors(output.path):
        output.path.parent.mkdir(parents=True, exist_ok=True)
        write_output(output, content, force=force)
