"""Several workloads at the same time on one drive, each in its own part of it.

```text
0                                              the drive's end
├── database ──┼── log ──┼── backup ────┼─ ... ┤
  scenario       rate      trace
```

Each workload keeps its own pace: characteristics a queue depth or a rate, scenarios and traces the
pace that they define. Unlike a scenario, any workload can be a part, unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from drivelab._core import SECTOR_BYTES, Stream
from drivelab.errors import UsageError
from drivelab.units import format_size
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.content import CONTENTS, USUAL
from drivelab.workloads.given import END, attributes_of, check_items, is_number, is_whole, shown
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.trace import STREAM, Trace

if TYPE_CHECKING:
    from drivelab._core import WindowTuple

#: Kinds of workloads that can run next to others.
Placeable = Characteristics | Scenario | Trace
_KINDS: Final[dict[str, type[Placeable]]] = {
    each.kind: each for each in (Characteristics, Scenario, Trace)
}
#: Least and most requests per second, for arrivals at a rate.
RATES: Final = (0.001, 1e9)
_MOST_COPIES: Final = 64


@dataclass(frozen=True)
class Part:
    """One of the workloads, and its place on the drive.

    Attributes
    ----------
    name
        Name for people.
    workload
        The workload.
    size_bytes
        Size of its own part of the drive, in whole sectors.
    start_bytes
        Start of that part.
    rate_iops
        For characteristics: requests that arrive per second, whether or not earlier ones have
        completed. Without a rate, the queue depth determines the pace. Other workloads define their
        own pace.
    is_poisson
        Whether requests arrive at random times; otherwise at equal intervals.
    content
        Kind of written data, for characteristics and traces; scenarios define their own.
    copies
        Number of copies that run at the same time in the same place.

    Raises
    ------
    UsageError
        Names the attribute, its value and the allowed values.
    """

    name: str
    workload: Placeable
    size_bytes: int
    start_bytes: int = 0
    rate_iops: float | None = None
    is_poisson: bool = True
    content: str = USUAL
    copies: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise UsageError(f"name is {shown(self.name)}; allowed: a text")
        for name, least in (("size_bytes", SECTOR_BYTES), ("start_bytes", 0)):
            value = getattr(self, name)
            if not is_whole(value) or value % SECTOR_BYTES or not least <= value < END:
                raise UsageError(
                    f"{name} is {shown(value)}; allowed: a multiple of {SECTOR_BYTES} from {least}"
                )
        if not is_whole(self.copies) or not 1 <= self.copies <= _MOST_COPIES:
            raise UsageError(f"copies is {shown(self.copies)}; allowed: 1 to {_MOST_COPIES}")
        if self.content not in CONTENTS:
            raise UsageError(f"content is {shown(self.content)}; allowed: {', '.join(CONTENTS)}")
        self._check_rate()
        if isinstance(self.workload, Characteristics):
            self.workload.validate(self.size_bytes)
        self._check_place()

    def _check_rate(self) -> None:
        if self.rate_iops is None:
            return
        least, most = RATES
        if not is_number(self.rate_iops) or not least <= self.rate_iops <= most:
            raise UsageError(
                f"rate_iops is {shown(self.rate_iops)}; allowed: {least:g} to {most:,.0f}"
            )
        if not isinstance(self.workload, Characteristics):
            raise UsageError(
                f"a {self.workload.kind} already sets when requests arrive; leave rate_iops out"
            )

    def _check_place(self) -> None:
        end = self.workload.footprint_bytes
        if end is not None and end > self.size_bytes:
            raise UsageError(
                f"it takes {end} bytes ({format_size(end)}), and its place has "
                f"{self.size_bytes} ({format_size(self.size_bytes)}); give it more"
            )
        if isinstance(self.workload, Scenario) and self.workload.occupancy is not None:
            raise UsageError(
                "[occupancy] of a scenario is about the whole drive, and others use it too; leave "
                "it out"
            )
        if isinstance(self.workload, Scenario) and any(
            each.requests is not None for each in self.workload.streams()
        ):
            raise UsageError(
                "a scenario with a list of requests cannot be moved on a drive; give the list "
                "as a trace"
            )

    def streams(self) -> list[Stream]:
        """Return the streams for a drive, moved to the part's place."""
        return self._one() * self.copies

    def _one(self) -> list[Stream]:
        start, size = self.start_bytes, self.size_bytes
        if isinstance(self.workload, Characteristics):
            made = Stream.of_characteristics(
                self.workload.as_tuple(),
                name=self.name,
                rate_iops=self.rate_iops,
                is_poisson=self.is_poisson,
            )
            return [made.of_content(self.content).within(size, start)]
        if isinstance(self.workload, Trace):
            return [self.workload.paced_stream().of_content(self.content).within(size, start)]
        found = []
        for each in self.workload.streams():
            own = each.described()["range"]
            begin, length = (0, size) if own is None else own
            found.append(each.within(length, start + begin))
        return found

    def stream_names(self) -> list[str]:
        """Return the names of the streams, without opening files of a trace."""
        if isinstance(self.workload, Characteristics):
            return [self.name] * self.copies
        if isinstance(self.workload, Trace):
            return [STREAM] * self.copies
        return [each.described()["name"] for each in self.workload.streams()] * self.copies

    def to_json(self) -> dict[str, Any]:
        """Return the attributes that differ from the defaults."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        for name, usual in _USUAL.items():
            if values[name] == usual:
                del values[name]
        return values | {"workload": {"kind": self.workload.kind, **self.workload.to_json()}}

    @classmethod
    def from_json(cls, data: object) -> Part:
        """Read a value that `to_json` wrote; `UsageError` for anything else."""
        names = [each.name for each in fields(cls)]
        required = [name for name in names if name not in _USUAL]
        values = dict(attributes_of(data, "a part", names, required))
        asked = values["workload"]
        kind = asked.get("kind") if isinstance(asked, dict) else None
        if not isinstance(kind, str) or kind not in _KINDS:
            raise UsageError(f"the workload of a part is one of {', '.join(_KINDS)}")
        given = {name: value for name, value in asked.items() if name != "kind"}
        return cls(**{**values, "workload": _KINDS[kind].from_json(given)})


_USUAL: Final = {
    each.name: each.default
    for each in fields(Part)
    if each.name not in ("name", "workload", "size_bytes")
}


@dataclass(frozen=True)
class SideBySide:
    """Several workloads at the same time on one drive.

    Attributes
    ----------
    parts
        At least one part, all with different names.
    duration_ns
        Length of the counted time, in the drive's time.
    warmup_ns
        Time before counting begins.
    requests
        Number of counted requests, of all parts, after which it ends early; ``None`` for no limit.
    after
        Kind of writing that the drive saw before, as in `drivelab.drives.write_pattern`, if it
        changes the drive more than the kinds of the parts do.

    Raises
    ------
    UsageError
        Names the attribute, its value and the allowed values.
    """

    kind: ClassVar[Literal["side_by_side"]] = "side_by_side"

    parts: tuple[Part, ...]
    duration_ns: int
    warmup_ns: int = 0
    requests: int | None = None
    after: str | None = None

    def __post_init__(self) -> None:
        check_items("parts", self.parts, lambda each: isinstance(each, Part), "parts")
        if not self.parts:
            raise UsageError("parts is empty; allowed: one or more")
        names = [each.name for each in self.parts]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UsageError(f"two parts are called {shown(twice)}; allowed: names of their own")
        for name, least in (("duration_ns", 1), ("warmup_ns", 0), ("requests", 1)):
            value = getattr(self, name)
            if value is None and name == "requests":
                continue
            if not is_whole(value) or not least <= value < END:
                raise UsageError(f"{name} is {shown(value)}; allowed: a whole number from {least}")
        if self.after is not None and not isinstance(self.after, str):
            raise UsageError(f"after is {shown(self.after)}; allowed: a kind of writing")

    @property
    def window(self) -> WindowTuple:
        """Start and end of the counted time."""
        return (0, self.warmup_ns, self.requests, self.duration_ns, None, 0)

    @property
    def footprint_bytes(self) -> int:
        """Bytes from the start of the drive to the end of the last part."""
        return max(each.start_bytes + each.size_bytes for each in self.parts)

    def streams(self) -> list[Stream]:
        """Return the streams for a drive, part by part."""
        return [stream for part in self.parts for stream in part.streams()]

    def stream_names(self) -> list[str]:
        """Return the names of the streams, in order."""
        return [name for part in self.parts for name in part.stream_names()]

    def shares(self) -> Iterator[tuple[Part, slice]]:
        """Yield each part, and the slice of the streams that belong to it."""
        begin = 0
        for part in self.parts:
            end = begin + len(part.stream_names())
            yield part, slice(begin, end)
            begin = end

    def describe(self) -> str:
        """Describe in one line what is sent."""
        return f"{', '.join(each.name for each in self.parts)}, each in its part of the drive"

    def to_json(self) -> dict[str, Any]:
        """Return the attributes; their names contain the units."""
        limit = {
            name: value
            for name in ("requests", "after")
            if (value := getattr(self, name)) is not None
        }
        return {
            "parts": [each.to_json() for each in self.parts],
            "duration_ns": self.duration_ns,
            "warmup_ns": self.warmup_ns,
            **limit,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SideBySide:
        """Read a value that `to_json` wrote; `UsageError` for anything else."""
        names = ("parts", "duration_ns", "warmup_ns", "requests", "after")
        values = dict(attributes_of(data, "workloads side by side", names, names[:2]))
        if not isinstance(values["parts"], list):
            raise UsageError(f"parts is {shown(values['parts'])}; allowed: a list of parts")
        values["parts"] = tuple(map(Part.from_json, values["parts"]))
        return cls(**values)
