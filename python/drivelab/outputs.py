"""The files that commands write for people. They replace no existing file unless asked.

A file that Drivelab writes carries a mark: the kind of output, its subject, and a checksum of its
content (`drivelab.output_mark`). The mark decides whether the file may be replaced::

    no file there                                  it is written
    a mark with the same kind and subject,
        and the content that the mark names        it is replaced
    anything else                                  refused; --force replaces it

Even with ``--force``, a command never replaces a file that it reads, and in a run's folder it
replaces only outputs. In the folder of its own run, a file without a mark is recognised by its
name, because copies, archives and some file systems lose marks. A link that leads out of that
folder is refused.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

from drivelab.errors import UsageError
from drivelab.output_mark import FoundFile, Mark, look_at, shortened
from drivelab.store import DATABASE, LOCK, check_inside, is_run
from drivelab.whole_file import (
    place_instead,
    place_where_nothing_is,
    whole_file,
    without_links,
)

#: Files that a run's commands keep next to its database and lock, and read again.
_KEPT: Final = {"model.json", "power.csv"}


@dataclass(frozen=True)
class Output:
    """A file that a command is to write.

    Parameters
    ----------
    path
        Where to write it.
    kind
        The kind of output, in words for people: "time series", "drawing".
    of
        Its subject: a run, or the question that it answers. Two outputs with the same kind and the
        same `of` are the same output, written again.
    own_run
        The folder of the run that it belongs to, if one of that run's own commands writes it.
    """

    path: Path
    kind: str
    of: str
    own_run: Path | None = None


def check_outputs(
    outputs: Iterable[Output], *, force: bool = False, inputs: Iterable[Path | None] = ()
) -> None:
    """Refuse outputs that must not be replaced, before the work begins.

    Parameters
    ----------
    outputs
        All files that the command writes.
    force
        Whether the user allows it to replace files.
    inputs
        Files that the command reads.

    Raises
    ------
    UsageError
        For the first output that may not be written.
    """
    read = [path for path in inputs if path is not None and path.exists()]
    places: dict[Path, Output] = {}
    for output in outputs:
        other = places.setdefault(without_links(output.path), output)
        if other is not output:
            raise UsageError(f"{other.path} is named for two files; name two")
        if output.path.exists() and any(output.path.samefile(one) for one in read):
            raise UsageError(f"{output.path} is read by this command; name another file to write")
        try:
            _refuse(output, force=force)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(
                f"{output.path} cannot be written: {reason}; name another place"
            ) from error


@contextmanager
def whole_output(output: Output, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a draft to write into. It replaces the output if the block ends without an error.

    Raises
    ------
    UsageError
        When the file may not be replaced (see `check_outputs`), at the beginning or at the end.
    OSError
        When it cannot be written; an older file stays.
    """
    found = _refuse(output, force=force)

    def place(file: BinaryIO, draft: Path, path: Path) -> None:
        Mark.write(file.fileno(), draft, output.kind, output.of)
        if force:
            draft.replace(path)
            return
        try:
            if found is None:
                place_where_nothing_is(draft, path)
            else:
                place_instead(draft, path, lambda there: look_at(there.stat()) == found.look)
        except FileExistsError as error:
            message = f"{output.path} was written by another meanwhile; {_remedy(output)}"
            raise UsageError(message) from error

    with whole_file(output.path, place) as file:
        yield file


@dataclass(frozen=True)
class OutputFolder:
    """A folder for the files of a report, a profile or a reproduction.

    Parameters
    ----------
    path
        The folder; created if it does not exist.
    of
        As `Output.of`, for each of its files.
    own_run
        As `Output.own_run`.
    force
        Whether to replace existing files of any kind.
    """

    path: Path
    of: str
    own_run: Path | None = None
    force: bool = False

    @classmethod
    def of_run(cls, run: Path, of: str, *, out: Path | None = None, force: bool = False) -> Self:
        """Return the folder of a run, or `out` if that is given, for outputs about that run."""
        if out is None or without_links(out) == without_links(run):
            return cls(run, of, run, force)
        return cls(out, of, None, force)

    def output(self, name: str, kind: str) -> Output:
        """Return the output with this name in the folder."""
        return Output(self.path / name, kind, self.of, self.own_run)

    def check_can_be_made(self) -> None:
        """Raise `UsageError` if the folder cannot be made; leave no trace of trying."""
        places = (self.path, *self.path.parents)
        missing = list(itertools.takewhile(lambda place: not place.exists(), places))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(
                f"the folder {self.path} cannot be made: {reason}; choose another folder"
            ) from error
        finally:
            for place in missing:
                with contextlib.suppress(OSError):
                    place.rmdir()

    def check(self, wanted: Mapping[str, str], *, inputs: Iterable[Path] = ()) -> None:
        """Refuse files with these names and kinds that may not be replaced; see `check_outputs`."""
        outputs = [self.output(name, kind) for name, kind in wanted.items()]
        check_outputs(outputs, force=self.force, inputs=inputs)

    def write(self, name: str, kind: str, content: str | bytes) -> Path:
        """Write a file in the folder, whole or not at all; return its path; see `write_output`."""
        output = self.output(name, kind)
        output.path.parent.mkdir(parents=True, exist_ok=True)
        write_output(output, content, force=self.force)
        return output.path

    def remove(self, name: str, kind: str) -> None:
        """Remove a file that is no longer wanted, if it could be replaced without ``--force``."""
        output = self.output(name, kind)
        with contextlib.suppress(UsageError, FileNotFoundError):
            if _refuse(output, force=False) is not None:
                output.path.unlink()


def write_output(output: Output, content: str | bytes, *, force: bool = False) -> None:
    """Write an output whole or not at all; raises as `whole_output` does."""
    with whole_output(output, force=force) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _refuse(output: Output, *, force: bool) -> FoundFile | None:
    """Raise `UsageError` if a file may not be replaced; return the existing file, if any."""
    path, place = output.path, without_links(output.path)
    run = next((folder for folder in place.parents if is_run(folder)), None)
    is_own = output.own_run is not None
    if output.own_run is not None:
        check_inside(output.own_run, path)
    found = FoundFile.at(path)
    is_kept = place.name == LOCK or place.name.startswith(DATABASE)
    is_strange = place.name in _KEPT or (found is not None and found.mark is None)
    if run is not None and (is_kept or (is_strange and not is_own)):
        raise UsageError(f"{path} belongs to the run {run}; name a file outside of it")
    if found is None or force:
        return found
    mark, remedy = found.mark, _remedy(output)
    if found.is_read_only:
        raise UsageError(f"{path} exists and is read-only; {remedy}")
    if mark is None:
        if not is_own:
            raise UsageError(f"{path} exists, and nothing shows that Drivelab wrote it; {remedy}")
        return found
    if (mark.kind, mark.of) != (output.kind, shortened(output.of)):
        raise UsageError(f"{path} exists: {mark.kind} of {mark.of}; {remedy}")
    if not found.is_whole:
        raise UsageError(f"{path} was changed since Drivelab wrote it; {remedy}")
    return found


def _remedy(output: Output) -> str:
    if output.own_run is not None:
        return "move it elsewhere"
    return "name another, or replace it with --force"


def is_changed(path: Path) -> bool:
    """Return whether somebody changed an output since Drivelab wrote it; False without a mark."""
    try:
        found = FoundFile.at(path)
    except OSError:
        return True
    return found is not None and found.mark is not None and not found.is_whole
