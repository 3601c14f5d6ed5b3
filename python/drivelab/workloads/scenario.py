"""Streams side by side, as a scenario file says them (docs/scenarios.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from drivelab import _core
from drivelab.bounded_toml import UnreadableTomlError, parse_toml
from drivelab.errors import UsageError
from drivelab.workloads.given import attributes_of, check_items, shown

if TYPE_CHECKING:
    from drivelab._core import Stream, WindowTuple


class Occupancy(NamedTuple):
    """Which pages of a drive contain data before the first request.

    Attributes
    ----------
    filled
        Their share of all pages.
    order
        ``in_order``: the first pages; ``random``: pages drawn at random.
    steady
        Whether they were then overwritten at random until more writes change nothing.
    """

    filled: float
    order: str
    steady: bool

    def describe(self) -> str:
        """Say it in a line, without a full stop."""
        is_random = self.order == "random"
        if self.filled < 1:
            where = "at random places" if is_random else "at its beginning"
            said = f"only {100 * self.filled:.3g} % of the drive holds data, {where}"
        else:
            order = "random" if is_random else "ascending"
            said = f"all of the drive holds data, written in {order} order"
        if self.steady:
            said += "; it was then overwritten until more writes change nothing"
        return said


@dataclass(frozen=True, eq=False)
class Scenario:
    """Several programs on one drive: closed loops, arrivals at a rate, listed requests.

    Scenarios that say the same are equal, whatever their comments and spaces.

    Attributes
    ----------
    text
        The scenario, in TOML.
    files
        Name and text of each list of requests that it names.

    Raises
    ------
    UsageError
        When it is not a scenario: names the line, the key and what is allowed.
    """

    kind: ClassVar[Literal["scenario"]] = "scenario"

    text: str
    files: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise UsageError(f"text is {shown(self.text)}; allowed: a scenario in TOML")
        check_items("files", self.files, _is_file, "pairs of a name and a text")
        _ = self._checked

    def __eq__(self, other: object) -> bool:
        """Compare what is said."""
        if not isinstance(other, Scenario):
            return NotImplemented
        # Lists may have millions of lines.
        is_same_text = (self.text, self.files) == (other.text, other.files)
        return is_same_text or self._said == other._said

    def __hash__(self) -> int:
        """Return a hash of what is said."""
        return hash(self._said)

    @cached_property
    def _said(self) -> str:
        return json.dumps(said_by(self.to_json()), sort_keys=True)

    @cached_property
    def _checked(self) -> _core.Scenario:
        return _core.Scenario(self.text, dict(self.files))

    @property
    def summary(self) -> str | None:
        """What it says of itself in a line."""
        return self._checked.summary

    @property
    def interval_ns(self) -> int | None:
        """Length of the intervals of time series, if it says one."""
        return self._checked.interval_ns

    @property
    def occupancy(self) -> Occupancy | None:
        """Which pages contain data before the first request; ``None`` if the drive decides."""
        said = self._checked.occupancy
        return None if said is None else Occupancy(*said)

    @property
    def window(self) -> WindowTuple:
        """When counting begins and ends, as far as it says so."""
        return self._checked.window

    @property
    def ends(self) -> bool:
        """Whether it says itself when the run ends."""
        _, _, requests, duration_ns, *_ = self.window
        is_listed = all(each.requests is not None for each in self.streams())
        return is_listed or requests is not None or duration_ns is not None

    def streams(self) -> list[Stream]:
        """Return it as a drive takes it."""
        return self._checked.streams()

    @property
    def footprint_bytes(self) -> int | None:
        """From the drive's first byte to the last that may be addressed; ``None`` for all of it."""
        ends = [each.end_bytes for each in self.streams()]
        known = [end for end in ends if end is not None]
        return max(known) if len(known) == len(ends) else None

    def describe(self) -> str:
        """Say in a line what is sent."""
        names = [each.described()["name"] for each in self.streams()]
        return self.summary or f"streams {', '.join(names)}"

    def to_json(self) -> dict[str, Any]:
        """Return the texts."""
        return {"text": self.text, "files": dict(self.files)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Scenario:
        """Read what `to_json` wrote; `UsageError` for anything else."""
        values = attributes_of(data, "a scenario", ["text", "files"], ["text"])
        files = values.get("files", {})
        if not isinstance(files, dict):
            raise UsageError(f"files is {shown(files)}; allowed: texts by their names")
        return cls(values["text"], tuple(files.items()))


def said_by(value: Any) -> Any:
    """Return JSON in which every scenario is replaced by what it says.

    Two scenarios that differ in comments, spaces, the order of keys or the spelling of numbers are
    then equal. One that cannot be read stays as it is.

    Parameters
    ----------
    value
        Anything that contains what `Scenario.to_json` wrote, at any depth.
    """
    if isinstance(value, list):
        return [said_by(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if {"text", "files"} <= value.keys() <= {"kind", "text", "files"}:
        text, files = value["text"], value["files"]
        try:
            if isinstance(text, str) and isinstance(files, Mapping):
                return {"scenario": _same_numbers(parse_toml(text)), "files": _rows(files)}
        except UnreadableTomlError:
            return value
    return {key: said_by(each) for key, each in value.items()}


def _same_numbers(value: Any) -> Any:
    """Write whole numbers in one way: a ratio may be 1 or 1.0."""
    if isinstance(value, dict):
        return {key: _same_numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_same_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _rows(files: Mapping[str, Any]) -> dict[str, Any]:
    """Return lists of requests as cells, without empty lines."""
    return {
        name: [
            [cell.strip() for cell in line.split(",")]
            for line in text.removeprefix("\ufeff").splitlines()
            if line.strip()
        ]
        if isinstance(text, str)
        else text
        for name, text in files.items()
    }


def _is_file(pair: object) -> bool:
    return (
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(each, str) for each in pair)
    )
