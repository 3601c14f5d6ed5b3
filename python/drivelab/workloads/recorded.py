"""Files of a trace and how they are read: which requests they hold, by what they are known."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Protocol

from drivelab import _core
from drivelab.errors import UsageError
from drivelab.workloads.given import END, attributes_of, is_number, is_whole, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from drivelab._core import SurveyedTrace, TraceSurvey

#: A request may come behind this many later ones.
SORT_WINDOW: Final = 4096

# So many requests are looked at before signals are, and whoever watches.
_STEP: Final = 1 << 20
# More devices are counted, not named.
_MOST_NAMED: Final = 32


class SurveyProgress(Protocol):
    """Whoever wants to know how far the first reading of a trace is."""

    def __call__(self, requests: int) -> None:
        """Take how many requests were looked at."""
        ...


@dataclass(frozen=True)
class RecordedFiles:
    """Files of one trace, merged by their times, and how they are read (docs/traces.md).

    Attributes
    ----------
    paths
        At least one, plain, gzip or zstd.
    format
        The name of the format; ``None`` for what the content says.
    devices
        Only requests to these devices, by name; ``None`` for all.
    skip_bad_lines
        Count and leave out what is wrong; else the first bad line is an error.
    device_bytes
        Requests that end beyond are bad.
    time_unit_ns, sector_bytes
        Units of times and of addresses where they are not the format's.
    sort_window
        A request may come behind this many later ones.
    columns
        Of a Parquet file pairs of what a column holds and its name.
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
        if self.format is not None and not isinstance(self.format, str):
            known = ", ".join(each["name"] for each in _core.trace_formats())
            raise UsageError(f"format is {shown(self.format)}; allowed: {known}")
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
        """Open it; raises `UsageError` or `RunError` with one line that says what is wrong."""
        reader = _core.TraceReader(list(self.paths), **self.options())
        self.refuse_unused(reader.format)
        return reader

    def refuse_unused(self, format_name: str | None) -> None:
        """Raise `UsageError` for an option that does nothing where this is the files' format."""
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
        """Return how they are read, as the core takes it."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        del values["paths"]
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    @property
    def name(self) -> str:
        """What people call it: the last part of the first path, and how many follow."""
        first = self.paths[0].rstrip("/").rpartition("/")[2]
        more = len(self.paths) - 1
        return f"{first} and {more} more" if more else first

    def to_json(self) -> dict[str, Any]:
        """Return the paths, and what is not as usual."""
        usual = RecordedFiles(self.paths)
        changed = {
            name: value
            for name, value in self.options().items()
            if getattr(self, name) != getattr(usual, name)
        }
        return {"paths": list(self.paths), **changed}

    @classmethod
    def from_json(cls, data: object) -> RecordedFiles:
        """Read what `to_json` wrote; `UsageError` for anything else."""
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
        How many are sent.
    commands
        As how many commands of each kind: requests above 64 MiB are sent as several.
    bytes
        Of these commands.
    span_ns
        From the first to the last, as recorded.
    end_bytes
        Bytes that it takes of a drive, from its first on: for addresses that begin again at the
        drive's end those of a drive where none does.
    devices, device_count
        Names of those with requests, each with how many, the first of them; and how many there are.
    rounded
        Requests that were no whole sectors, and are sent as the sectors that hold them.
    cut
        Requests that are sent as several commands.
    left_out
        Requests that are no commands of a drive, or trim nothing.
    skipped
        Bad lines, where these are skipped.
    depth_mean, depth_max
        Requests outstanding in the recording when one arrived, itself among them, where that was
        looked at.
    format
        Of files.
    cautions
        What speaks against the trace's units, or limits what it can tell; a sentence each.
    content
        By what the requests are known: a number of all of them in order, in 16 hexadecimal digits.
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
    def of_core(cls, told: Mapping[str, Any]) -> TraceFacts:
        """Take what the native core reports."""
        changed = {"commands", "devices", "device_count", "cautions"}
        names = {each.name for each in fields(cls)} - changed
        return cls(
            commands=tuple((name, count) for name, count in told["commands"].items() if count),
            devices=tuple(told["devices"][:_MOST_NAMED]),
            device_count=len(told["devices"]),
            cautions=tuple(told["cautions"]),
            **{name: told[name] for name in names},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the values under their names."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return values | {
            "commands": dict(self.commands),
            "devices": [list(each) for each in self.devices],
            "cautions": list(self.cautions),
        }

    @classmethod
    def from_json(cls, data: object) -> TraceFacts:
        """Read what `to_json` wrote; `UsageError` for anything else."""
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
        raise UsageError(f"{shown(value)} is no list of pairs")
    return tuple((each[0], each[1]) for each in value)


def refuse_named(files: Sequence[Path]) -> None:
    """Raise `UsageError` when a file of a trace is named twice, or is none."""
    seen: set[Path] = set()
    for path in files:
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name the files of the trace in it")
        if path.resolve() in seen:
            raise UsageError(f"{path} is named twice; name each file once")
        seen.add(path.resolve())


def survey_files(
    files: RecordedFiles, fit: str, *, needs_depth: bool, progress: SurveyProgress | None = None
) -> SurveyedTrace:
    """Read files once, to the end.

    Parameters
    ----------
    files
        Which, and how.
    fit
        How their addresses are fitted to a drive.
    needs_depth
        Whether the recorded depth is looked for; every request then has a response time.
    progress
        Called now and then.

    Raises
    ------
    UsageError
        When they are no trace, or cannot be replayed so.
    RunError
        When a file cannot be read on.
    """
    survey = _core.TraceSurvey.of_files(list(files.paths), files.options(), fit, needs_depth)
    found = surveyed(survey, progress)
    files.refuse_unused(found.facts()["format"])
    return found


def surveyed(survey: TraceSurvey, progress: SurveyProgress | None = None) -> SurveyedTrace:
    """Bring a survey to its end."""
    while survey.go_on(_STEP):
        if progress is not None:
            progress(survey.requests)
    return survey.finish()
