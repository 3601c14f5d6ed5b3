"""Recorded requests, replayed at their times or as fast as possible.

```text
requests, or files ──> at recorded times x speed ──┐
                       as fast as answered ────────┴─> keep, wrap, scale ──> a drive
```

Files are read twice: once when the workload is made, to find its addresses and its length, and
again while requests are sent. Requests are not stored, so memory does not grow with the files.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from drivelab._core import MAX_QUEUE_DEPTH, TRACE_FITS, Stream, TraceSurvey
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns
from drivelab.workloads.given import END, attributes_of, check_items, is_number, is_whole, shown
from drivelab.workloads.recorded import (
    RecordedFiles,
    SurveyProgress,
    TraceFacts,
    survey_files,
    surveyed,
)

if TYPE_CHECKING:
    from drivelab._core import RecordedSegments, SurveyedTrace

#: Time in ns since the start, action (``read``, ``write``, ``trim``, ``flush``), offset and size in
#: bytes. A flush concerns the whole drive, and its offset and size are 0.
Request = tuple[int, str, int, int]

_ALLOWED: Final = (
    "requests (ns from the beginning; read, write, trim or flush; offset and size in bytes)"
)
_SIZE_END: Final = 1 << 32
#: Plural words for the kinds of requests.
PLURALS: Final = {
    "read": "reads",
    "write": "writes",
    "trim": "trims",
    "flush": "flushes",
    "write_zeroes": "writes of zeroes",
}
#: Name of the single stream.
STREAM: Final = "trace"
#: Slowest and fastest speed of a replay.
SPEEDS: Final = (1e-6, 1e6)

_FITTED: Final = {
    "keep": "",
    "wrap": ", addresses beyond the drive begin again at 0",
    "scale": ", touched regions of 1 MiB laid in a row",
}


@dataclass(frozen=True)
class Trace:
    """Requests in memory or in files, sent at their times or as fast as possible.

    Attributes
    ----------
    requests
        Requests in order of arrival; see `Request`. Offsets and sizes are whole sectors.
    files
        Files with the requests instead.
    speed
        How many times as fast as recorded. ``None`` sends as fast as possible: the next request as
        soon as fewer than `depth` are outstanding.
    depth
        Most outstanding requests; a request beyond this limit is sent late. ``None`` at recorded
        times means 1024 for files, and no limit for requests in memory. ``None`` as fast as
        possible means as many as were recorded, for files with response times.
    fit
        Where requests go on the drive. ``keep``: to the recorded addresses; a smaller drive is
        refused. ``wrap``: modulo the drive's size. ``scale``: the touched regions of 1 MiB are
        moved together, in their order. Several devices are placed one after the other.
    facts
        What the files contain; determined by reading them if not given.

    Raises
    ------
    UsageError
        Names the impossible value and the allowed ones.
    RunError
        When a file cannot be read to its end.
    """

    kind: ClassVar[Literal["trace"]] = "trace"

    requests: tuple[Request, ...] = ()
    files: RecordedFiles | None = None
    speed: float | None = 1.0
    depth: int | None = None
    fit: str = "keep"
    facts: TraceFacts | None = None
    _surveyed: SurveyedTrace | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_pace(self.speed, self.depth, self.fit)
        if self.files is None:
            self._check_requests()
            return
        if self.requests:
            raise UsageError("a trace has requests or files, not both")
        if self.facts is None:
            object.__setattr__(self, "facts", TraceFacts.of_core(self._survey().facts()))

    @classmethod
    def of_files(
        cls, files: RecordedFiles, *, progress: SurveyProgress | None = None, **how: Any
    ) -> Trace:
        """Return a trace of files.

        Parameters
        ----------
        files
            The files, and how to read them.
        progress
            Called from time to time with the number of requests read.
        how
            Other attributes by name.
        """
        speed, depth, fit = how.get("speed", 1.0), how.get("depth"), how.get("fit", "keep")
        _check_pace(speed, depth, fit)
        needs_depth = speed is None and depth is None
        found = survey_files(files, fit, needs_depth=needs_depth, progress=progress)
        return cls(files=files, facts=TraceFacts.of_core(found.facts()), _surveyed=found, **how)

    def _check_requests(self) -> None:
        if not self.requests:
            raise UsageError("the trace contains no request; allowed: one or more")
        check_items("the trace", self.requests, _is_request, _ALLOWED)
        if self.speed is None and self.depth is None:
            raise UsageError("requests in memory have no recorded depth; give a depth")
        # The native core checks sectors and names.
        Stream.of_requests(list(self.requests), STREAM)
        before = 0
        for place, (at_ns, *_) in enumerate(self.requests):
            if at_ns < before:
                raise UsageError(
                    f"request {place} of the trace arrives at {at_ns} ns, before the one before "
                    "it; sort them by their times"
                )
            before = at_ns

    @property
    def _is_plain(self) -> bool:
        """Whether it is a list that is sent unchanged."""
        usual = (self.speed, self.depth, self.fit) == (1.0, None, "keep")
        return self.files is None and usual

    @property
    def _needs_depth(self) -> bool:
        return self.speed is None and self.depth is None

    def _survey(self, progress: SurveyProgress | None = None) -> SurveyedTrace:
        if self._surveyed is not None:
            return self._surveyed
        if self.files is None:
            found = surveyed(TraceSurvey.of_requests(list(self.requests), self.fit))
        else:
            needs_depth = self._needs_depth
            found = survey_files(self.files, self.fit, needs_depth=needs_depth, progress=progress)
        object.__setattr__(self, "_surveyed", found)
        return found

    def _unchanged(self) -> SurveyedTrace:
        found = self._survey()
        if self.files is not None and self.facts is not None:
            content = found.facts()["content"]
            if content != self.facts.content:
                raise UsageError(
                    f"{self.files.paths[0]} contains other requests than before ({content} "
                    f"instead of {self.facts.content}); name the file that was replayed, or "
                    "start again"
                )
        return found

    def streams(self) -> list[Stream]:
        """Return the streams for a drive: a single one.

        Raises
        ------
        UsageError
            When a file has other requests than when the workload was made.
        """
        if self._is_plain:
            return [Stream.of_requests(list(self.requests), STREAM)]
        return [self.paced_stream()]

    def paced_stream(self) -> Stream:
        """Return a stream that may start anywhere on a drive; raises as `streams` does."""
        found = self._unchanged()
        depth = self.depth
        if depth is None and self.files is None:
            depth = MAX_QUEUE_DEPTH
        return found.stream(STREAM, speed=self.speed, depth=depth)

    def on_real_drive(self, capacity_bytes: int, depth: int) -> RecordedSegments:
        """Return the trace in pieces for fio, with at most `depth` requests outstanding.

        Raises
        ------
        UsageError
            When the trace does not fit into `capacity_bytes`, or a file has other requests than
            when the workload was made.
        """
        return self._unchanged().segments(0, capacity_bytes, speed=self.speed, depth=depth)

    @property
    def largest_bytes(self) -> int:
        """Size of the largest command in bytes."""
        return int(self._survey().facts()["largest_bytes"])

    @property
    def alignment_bytes(self) -> int:
        """Largest power of two that divides the offsets and sizes of all commands."""
        return int(self._survey().facts()["alignment_bytes"])

    @property
    def footprint_bytes(self) -> int | None:
        """Bytes from the start of the drive to the last one addressed; None if any drive fits."""
        if self.fit == "wrap":
            return None
        if self.facts is not None:
            return self.facts.end_bytes
        if self.fit == "scale":
            return int(self._survey().facts()["end_bytes"])
        return max(offset + size for _, _, offset, size in self.requests)

    @property
    def span_ns(self) -> int:
        """Time from the first to the last request, as recorded."""
        return self.requests[-1][0] if self.facts is None else self.facts.span_ns

    @property
    def has_times(self) -> bool:
        """Whether requests have several times; otherwise all are sent at once, and none is late."""
        return self.span_ns > 0

    @property
    def lasting_ns(self) -> int | None:
        """Least duration at its speed; None if requests are sent as fast as possible."""
        return None if self.speed is None else round(self.span_ns / self.speed)

    @property
    def commands(self) -> dict[str, int]:
        """Number of commands of each kind that occurs."""
        if self.facts is not None:
            return dict(self.facts.commands)
        return dict(Counter(action for _, action, _, _ in self.requests))

    def describe(self) -> str:
        """Describe in one line what is sent, when and where."""
        parts = [
            f"{count:,} {PLURALS[action] if count > 1 else action}"
            for action, count in self.commands.items()
        ]
        source = "" if self.files is None else f" of {self.files.name}"
        said = f"{' and '.join(parts)}{source} recorded over {format_duration_ns(self.span_ns)}"
        return f"{said}{self._pace_text()}{_FITTED[self.fit]}"

    def _pace_text(self) -> str:
        if self.speed is None and self.depth is not None:
            return f", as fast as possible with {self.depth:,} outstanding"
        if self.speed is None:
            mean, most = (self.facts.depth_mean, self.facts.depth_max) if self.facts else (None, 0)
            said = "" if mean is None else f" (mean {mean:.3g}, at most {most:,})"
            return f", as fast as possible with as many outstanding as recorded{said}"
        at_most = "" if self.depth is None else f", at most {self.depth:,} outstanding"
        return f"{'' if self.speed == 1.0 else f', {self.speed:g} times as fast'}{at_most}"

    def to_json(self) -> dict[str, Any]:
        """Return the requests or the files, and the options that differ from the defaults."""
        how = {
            name: value
            for name, value, usual in (
                ("speed", self.speed, 1.0),
                ("depth", self.depth, None),
                ("fit", self.fit, "keep"),
            )
            if value != usual
        }
        if self.files is None or self.facts is None:
            return {"requests": [list(each) for each in self.requests], **how}
        return {"files": self.files.to_json(), "facts": self.facts.to_json(), **how}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Trace:
        """Read what `to_json` wrote, without opening files; `UsageError` for anything else."""
        how = ["speed", "depth", "fit"]
        if isinstance(data, dict) and "files" in data:
            names = ["files", "facts", *how]
            values = dict(attributes_of(data, "a trace", names, ["files", "facts"]))
            values["files"] = RecordedFiles.from_json(values["files"])
            values["facts"] = TraceFacts.from_json(values["facts"])
            return cls(**values)
        values = dict(attributes_of(data, "a trace", ["requests", *how], ["requests"]))
        requests = values.pop("requests")
        check_items("requests", requests, lambda each: isinstance(each, list), _ALLOWED)
        return cls(tuple(tuple(each) for each in requests), **values)


def _check_pace(speed: object, depth: object, fit: object) -> None:
    least, most = SPEEDS
    if speed is not None and not (is_number(speed) and least <= speed <= most):
        raise UsageError(
            f"speed is {shown(speed)}; allowed: {least:g} to {most:g}, or None for as fast as "
            "requests are answered"
        )
    if depth is not None and not (is_whole(depth) and 1 <= depth <= MAX_QUEUE_DEPTH):
        raise UsageError(f"depth is {shown(depth)}; allowed: 1 to {MAX_QUEUE_DEPTH}")
    if fit not in TRACE_FITS:
        raise UsageError(f"fit is {shown(fit)}; allowed: {', '.join(TRACE_FITS)}")


def _is_request(request: object) -> bool:
    if not isinstance(request, tuple) or len(request) != 4:
        return False
    at_ns, action, offset, size = request
    # A trace may have millions of requests.
    return (
        type(at_ns) is type(offset) is type(size) is int
        and isinstance(action, str)
        and 0 <= at_ns < END
        and 0 <= offset < END
        and 0 <= size < _SIZE_END
    )
