"""Write the files that a command was asked for by name."""

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

#: Means standard output, or standard input, if a command accepts it.
STANDARD: Final = "-"
# Every other error is a mistake in the path that was named.
_FAILURES: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
# These options change how and where to answer, not the question.
_SWITCHES: Final = {"--force", "--json"}
_PLACES: Final = {"--csv", "--log", "--save-state", "--output", "--out", "--report", "-o"}


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Turn the system's error about writing a file into one line.

    Raises
    ------
    UsageError
        If the path cannot be written.
    RunError
        If the disk is full or fails.
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
    """Return the output for this command line; the same question has the same output."""
    words = shlex.join(["drivelab", *_question(shlex.split(args.command)[1:])])
    return Output(path, kind, f"`{words}` in {Path.cwd()}")


def _question(words: Sequence[str]) -> list[str]:
    """Return the question alone; the order of options does not change it."""
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
    """Refuse files that could not be written, before their content is computed.

    Parameters
    ----------
    wanted
        The allowed endings and the path of each file; `None` if no file is wanted.
    force, inputs
        As in `drivelab.outputs.check_outputs`.

    Raises
    ------
    UsageError
        If a name has another ending or is a folder, if nothing can be created in its folder, or if
        an existing file may not be replaced.
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
        # For a link, the folder of its target counts.
        folder = (without_links(path) if path.is_symlink() else path).parent
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder} to write {path.name} into")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(
                f"{path} cannot be written: nothing can be made in its folder; name another place"
            )
    check_outputs([output for _, output in outputs], force=force, inputs=inputs)


def is_standard(path: Path) -> bool:
    """Return whether a file's name means standard output."""
    return str(path) == STANDARD


def write_file(output: Output, content: str | bytes, *, force: bool) -> None:
    """Write a whole file or nothing, to a path (its folders are created) or to standard output.

    Raises
    ------
    UsageError, RunError
        As `output_errors` distinguishes them; also if an existing file may not be replaced.
    """
    if is_standard(output.path):
        sys.stdout.flush()
        sys.stdout.buffer.write(content.encode() if isinstance(content, str) else content)
        return
    with output_errors(output.path):
        output.path.parent.mkdir(parents=True, exist_ok=True)
        write_output(output, content, force=force)
