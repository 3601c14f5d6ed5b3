"""Access patterns that run at the same time (SNIA performance test specification)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from drivelab._core import Stream
from drivelab.errors import UsageError
from drivelab.units import format_size
from drivelab.workloads.given import attributes_of, check_items, is_number
from drivelab.workloads.stimulus import Stimulus


@dataclass(frozen=True)
class Stimuli:
    """One access pattern, or several side by side.

    Attributes
    ----------
    stimuli
        At least one.
    shares
        Share of the requests of each stimulus, above 0 to 1. A stimulus that is ahead of its share
        waits for the others. If empty, each is as fast as possible.

    Raises
    ------
    UsageError
        Names the impossible value and the allowed ones.
    """

    kind: ClassVar[Literal["stimuli"]] = "stimuli"

    stimuli: tuple[Stimulus, ...]
    shares: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.stimuli:
            raise UsageError("there is no stimulus; allowed: one or more")
        check_items("stimuli", self.stimuli, lambda each: isinstance(each, Stimulus), "stimuli")
        check_items("shares", self.shares, is_number, "numbers, one for each stimulus")
        shares = self.shares
        if shares and (
            len(shares) != len(self.stimuli) or not all(0 < share <= 1 for share in shares)
        ):
            raise UsageError(
                f"shares of {len(self.stimuli)} stimuli are {list(shares)}; allowed: one for each, "
                "above 0 to 1"
            )

    def streams(self) -> list[Stream]:
        """Return the streams for a drive: one per stimulus."""
        held: tuple[float | None, ...] = self.shares or (None,) * len(self.stimuli)
        return [
            Stream.of_stimulus(
                each.as_tuple(), f"stream {place}", each.is_forced, share
            ).of_content(each.content)
            for place, (each, share) in enumerate(zip(self.stimuli, held, strict=True))
        ]

    @property
    def footprint_bytes(self) -> int:
        """Bytes from the start of the drive to the last that may be addressed."""
        return max(each.range_start_bytes + each.range_bytes for each in self.stimuli)

    def describe(self) -> str:
        """Describe in one line what is sent."""
        return " next to ".join(_described(each) for each in self.stimuli)

    def to_json(self) -> dict[str, Any]:
        """Return the attributes; their names contain the units."""
        values: dict[str, Any] = {"stimuli": [each.to_json() for each in self.stimuli]}
        return {**values, "shares": list(self.shares)} if self.shares else values

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Stimuli:
        """Read a value that `to_json` wrote; `UsageError` for impossible values."""
        values = attributes_of(data, "a workload of stimuli", ["stimuli", "shares"], ["stimuli"])
        stimuli, shares = values["stimuli"], values.get("shares", [])
        check_items("stimuli", stimuli, lambda each: isinstance(each, dict), "stimuli")
        check_items("shares", shares, is_number, "numbers, one for each stimulus")
        return cls(tuple(map(Stimulus.from_json, stimuli)), tuple(map(float, shares)))


def _described(one: Stimulus) -> str:
    sizes = " and ".join(format_size(size) for size, _ in one.sizes)
    order = "at random" if one.is_random else "in order"
    what = {0.0: "writes", 1.0: "reads"}.get(
        one.read_ratio, f"{100 * one.read_ratio:g} % reads, else writes"
    )
    return f"{what} of {sizes} {order}, {one.threads} x {one.queue_depth} outstanding"
