"""Files of a trace: how they are read, and what they contain."""

from __future__ import annotations

import stat
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from drivelab import _core
from drivelab.errors import DrivelabError, UsageError
from drivelab.named_file import opened_elsewhere
from drivelab.near_names import meant
from drivelab.workloads.given import END, attributes_of, is_number, is_whole, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from drivelab._core import SurveyedTrace, TraceSurvey

#: A request may come after this many later ones.
SORT_WINDOW: Final = 4096

# Requests between two checks for signals and two progress reports.
_STEP: Final = 1 << 20
# Further devices are counted but not named.
_MOST_NAMED: Final = 32
# What other programs call standard input, and its name as a file.
_DASH: Final = Path("-")
_STANDARD_INPUT: Final = Path("/dev/stdin")


class SurveyProgress(Protocol):
    """Receives the progress of the first reading of a trace."""

    def __call__(self, requests: int) -> None:
        """Report the number of requests read so far."""
        ...


@dataclass(frozen=True)
class RecordedFiles:
    """The files of one trace, merged by their times, and how to read them (docs/traces.md).

    Attributes
    ----------
    paths
        At least one file: plain, gzip or zstd.
    format
        Name of the format; ``None`` recognises it from the content.
    devices
        Names of the devices whose requests are kept; ``None`` for all.
    skip_bad_lines
        Whether to count bad lines and skip them; otherwise the first one is an error.
    device_bytes
        Size of the recorded device; a request that ends beyond it is a bad line.
    time_unit_ns, sector_bytes
        Units of times and addresses, if they differ from those of the format.
    sort_window
        A request may come after this many later ones.
    columns
        For a Parquet file: pairs of a column's meaning and its name.
    """

    paths: tuple[str, ...]
    format: str | None = None
    devices: tuple[str, ...] | None = None
    skip_bad_lines: bool = False
    device_bytes: int | None = None
    time_unit_ns: int | None = None
    sector_bytes: int | None = None
    sort_window: int = SORT_WINDOW
    columns: tuple[tuple[str, str], ...] | None = None

    def __post_init__(self) -> None:
        for name in ("paths", "devices"):
            value = getattr(self, name)
            if name == "devices" and value is None:
                continue
            if not isinstance(value, tuple) or not all(isinstance(each, str) for each in value):
                raise UsageError(f"{name} is {shown(value)}; allowed: a list of texts")
            if not value:
                raise UsageError(f"{name} is empty; allowed: one or more")
        for name in ("device_bytes", "time_unit_ns", "sector_bytes", "sort_window"):
            value = getattr(self, name)
            if value is not None and not (is_whole(value) and 0 <= value < END):
                raise UsageError(f"{name} is {shown(value)}; allowed: a whole number")
        self._check_how()

    def _check_how(self) -> None:
        known = [each["name"] for each in _core.trace_formats()]
        if self.format is not None and not isinstance(self.format, str):
            raise UsageError(f"format is {shown(self.format)}; allowed: {', '.join(known)}")
        if self.format is not None and self.format not in known:
            raise UsageError(
                f"there is no trace format {shown(self.format)}; {meant(self.format, known)}"
                f"there are {', '.join(known)}"
            )
        if not isinstance(self.skip_bad_lines, bool):
            raise UsageError(
                f"skip_bad_lines is {shown(self.skip_bad_lines)}; allowed: True or False"
            )
        for pair in self.columns or ():
            if not all(isinstance(each, str) for each in pair):
                raise UsageError(
                    f"columns has {shown(pair)}; allowed: what a column contains and its name, "
                    "both texts"
                )

    def open(self) -> _core.TraceReader:
        """Open the files; raises `UsageError` or `RunError` with a one-line message."""
        with self.opened_by_core():
            reader = _core.TraceReader(list(self.paths), **self.options())
        self.refuse_unused(reader.format)
        return reader

    def opened_by_core(self) -> AbstractContextManager[None]:
        """Explain it if the core, in this block, cannot open a file."""
        return opened_elsewhere(map(Path, self.paths), "a trace", "name the file of a trace")

    def refuse_unused(self, format_name: str | None) -> None:
        """Raise `UsageError` for an option that has no effect on files of this format."""
        if self.columns is not None and format_name != "parquet":
            raise UsageError(
                f"{self.name} is of the format {format_name}; only Parquet has columns to map: "
                "leave --column out"
            )
        with_unit = {each["name"] for each in _core.trace_formats() if each["has_address_unit"]}
        if self.sector_bytes is not None and format_name not in with_unit:
            raise UsageError(
                f"{self.name} is of the format {format_name}, whose unit of addresses is known: "
                "leave --address-unit out"
            )

    def options(self) -> dict[str, Any]:
        """Return the options of reading, for the native core."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        del values["paths"]
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    @property
    def name(self) -> str:
        """Name for people: the last part of the first path, and the number of further files."""
        first = self.paths[0].rstrip("/").rpartition("/")[2]
        more = len(self.paths) - 1
        return f"{first} and {more} more" if more else first

    def to_json(self) -> dict[str, Any]:
        """Return the paths, and the options that differ from the defaults."""
        usual = RecordedFiles(self.paths)
        changed = {
            name: value
            for name, value in self.options().items()
            if getattr(self, name) != getattr(usual, name)
        }
        return {"paths": list(self.paths), **changed}

    @classmethod
    def from_json(cls, data: object) -> RecordedFiles:
        """Read a value that `to_json` wrote; `UsageError` for anything else."""
        names = [each.name for each in fields(cls)]
        values = dict(attributes_of(data, "files of a trace", names, ["paths"]))
        for name in ("paths", "devices"):
            if isinstance(values.get(name), list):
                values[name] = tuple(values[name])
        if "columns" in values:
            values["columns"] = _pairs(values["columns"])
        return cls(**values)


@dataclass(frozen=True)
class TraceFacts:
    """What the first reading of a trace found.

    Attributes
    ----------
    requests
        Number of requests that are sent.
    commands
        Number of commands of each kind: a request above 64 MiB is sent as several commands.
    bytes
        Bytes of these commands.
    span_ns
        Time from the first to the last request, as recorded.
    end_bytes
        Space that the trace needs on a drive, from its first byte on. For addresses that wrap
        around at the drive's end, the size of a drive on which none does.
    devices, device_count
        Names and request counts of the first devices, and the number of all devices.
    rounded
        Requests that were not whole sectors; they are sent as the sectors that contain them.
    cut
        Requests that are sent as several commands.
    left_out
        Requests that are not commands of a drive, or trim nothing.
    skipped
        Number of skipped bad lines.
    depth_mean, depth_max
        Outstanding requests in the recording when a request arrived, including itself, if they were
        counted.
    format
        Format of the files.
    cautions
        Sentences on doubts about the trace's units, or on limits of what it can show.
    content
        Identifies the requests: a checksum of all of them in order, in 16 hexadecimal digits.
    """

    requests: int
    commands: tuple[tuple[str, int], ...]
    bytes: int
    span_ns: int
    end_bytes: int
    devices: tuple[tuple[str, int], ...]
    device_count: int
    rounded: int
    cut: int
    left_out: int
    skipped: int
    depth_mean: float | None
    depth_max: int | None
    format: str | None
    cautions: tuple[str, ...]
    content: str

    @classmethod
    def of_core(cls, reported: Mapping[str, Any]) -> TraceFacts:
        """Return the facts that the native core found."""
        changed = {"commands", "devices", "device_count", "cautions"}
        names = {each.name for each in fields(cls)} - changed
        return cls(
            commands=tuple((name, count) for name, count in reported["commands"].items() if count),
            devices=tuple(reported["devices"][:_MOST_NAMED]),
            device_count=len(reported["devices"]),
            cautions=tuple(reported["cautions"]),
            **{name: reported[name] for name in names},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the values by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return values | {
            "commands": dict(self.commands),
            "devices": [list(each) for each in self.devices],
            "cautions": list(self.cautions),
        }

    @classmethod
    def from_json(cls, data: object) -> TraceFacts:
        """Read a value that `to_json` wrote; `UsageError` for anything else."""
        names = [each.name for each in fields(cls)]
        values = dict(attributes_of(data, "facts of a trace", names, names))
        commands, devices = values["commands"], values["devices"]
        if not isinstance(commands, dict) or not isinstance(devices, list):
            raise UsageError("facts of a trace have commands by name and a list of devices")
        if not isinstance(values["cautions"], list):
            raise UsageError("facts of a trace have a list of cautions")
        values["cautions"] = tuple(values["cautions"])
        values["commands"] = tuple(commands.items())
        values["devices"] = _pairs(devices)
        counts = [value for _, value in (*values["commands"], *values["devices"])]
        whole = ("requests", "bytes", "span_ns", "end_bytes", "device_count", "rounded", "cut")
        counts += [values[name] for name in (*whole, "left_out", "skipped")]
        mean, most = values["depth_mean"], values["depth_max"]
        if not all(is_whole(each) and each >= 0 for each in counts) or not (
            (mean is None or is_number(mean)) and (most is None or is_whole(most))
        ):
            raise UsageError("facts of a trace are whole numbers of 0 or more")
        return cls(**values)


def _pairs(value: object) -> tuple[tuple[Any, Any], ...]:
    if not isinstance(value, list) or not all(
        isinstance(each, (list, tuple)) and len(each) == 2 for each in value
    ):
        raise UsageError(f"{shown(value)} is not a list of pairs")
    return tuple((each[0], each[1]) for each in value)


def refuse_named(files: Sequence[Path]) -> None:
    """Raise `UsageError` if a file of a trace is named twice, is a folder, or is ``-``."""
    seen: set[Path] = set()
    for path in files:
        if path == _DASH and not path.exists():
            raise UsageError(
                f"there is no file -; to read a trace from standard input, name {_STANDARD_INPUT}"
            )
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name the files of the trace in it")
        if path.resolve() in seen:
            raise UsageError(f"{path} is named twice; name each file once")
        seen.add(path.resolve())


def refuse_pipes(files: Sequence[Path], reader: str) -> None:
    """Raise `UsageError` if a file of a trace is a pipe; `reader` reads the trace twice."""
    for path in files:
        named = _STANDARD_INPUT if path == _DASH and not path.exists() else path
        try:
            mode = named.stat().st_mode
        except OSError:
            # Opening it explains what is wrong with it.
            continue
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            raise UsageError(
                f"{path} is a pipe, which can be read only once, and {reader} reads a trace "
                "twice: save it to a file"
            )


def recognised_format(path: Path) -> str | None:
    """Return the format of a file that is recognised as a trace; ``None`` for any other file."""
    try:
        # Reading a pipe would take its beginning away.
        return _core.TraceReader([str(path)]).format if path.is_file() else None
    except (DrivelabError, OSError):
        return None


def why_no_trace(path: Path) -> str | None:
    """Return why a file cannot be read as a trace; ``None`` if it is recognised as one."""
    try:
        _core.TraceReader([str(path)])
    except (DrivelabError, OSError) as error:
        return str(error)
    return None


def survey_files(
    files: RecordedFiles, fit: str, *, needs_depth: bool, progress: SurveyProgress | None = None
) -> SurveyedTrace:
    """Read files once, to the end.

    Parameters
    ----------
    files
        The files, and how to read them.
    fit
        How to map their addresses to a drive.
    needs_depth
        Whether to compute the recorded depth; then every request needs a response time.
    progress
        Called from time to time.

    Raises
    ------
    UsageError
        When they are not a trace, are pipes, or cannot be replayed with these options.
    RunError
        When a file cannot be read to its end.
    """
    refuse_pipes([Path(each) for each in files.paths], "a replay")
    with files.opened_by_core():
        survey = _core.TraceSurvey.of_files(list(files.paths), files.options(), fit, needs_depth)
    found = surveyed(survey, progress)
    files.refuse_unused(found.facts()["format"])
    return found


def surveyed(survey: TraceSurvey, progress: SurveyProgress | None = None) -> SurveyedTrace:
    """Run a survey to its end."""
    while survey.go_on(_STEP):
        if progress is not None:
            progress(survey.requests)
    return survey.finish()
