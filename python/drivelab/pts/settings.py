"""How a test is run: the specification's edition, and the operator's choices."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal

from drivelab.errors import UsageError
from drivelab.pts.steady_state import RULES, SteadyStateRule

Edition = Literal["enterprise", "client"]

#: What the specification calls each.
EDITIONS: Final[dict[Edition, str]] = {"enterprise": "PTS-E", "client": "PTS-C"}
#: What the specification sets or recommends: share of the drive, threads, requests of each.
_DEFAULTS: Final[dict[Edition, tuple[float, int, int]]] = {
    "enterprise": (1.0, 4, 32),
    "client": (0.75, 2, 16),
}
MOST_ROUNDS: Final = 25

#: Stamped on every page of what is not the specification's.
NO_PTS_RESULT: Final = "not a PTS result"


@dataclass(frozen=True)
class Settings:
    """What an operator chose; all of it is stored with the result.

    Attributes
    ----------
    edition
        ``enterprise`` (whole drive, write cache off) or ``client`` (75 %, write cache on).
    active_range_ratio
        Share of the drive that is preconditioned and tested, above 0 to 1.
    threads, queue_depth
        Outstanding requests of preconditioning and test, where the test leaves that open.
    content
        What written data looks like: ``random`` (the specification's), ``database``, ``zero``.
    rule
        When rounds count as steady: ``pts`` or ``white-paper``.
    seed
        Key of all random numbers.
    scale
        Share of times and capacities, above 0 to 1; below 1 it is not a PTS result.
    workload
        Of write saturation: one of `drivelab.pts.procedures.wsat.WORKLOADS`.
    idle_seconds
        For write saturation: the drive rests for this time after every minute of writes.
    block_bytes, write_ratio
        Of DIRTH: the size of its requests, and the share of writes; of block-size sensitivity
        the latter.
    operator
        Who runs it; empty for nobody in particular.
    workload_class
        Of the class test: what `WorkloadClass.to_json` gives, so that a run holds all of it.

    Raises
    ------
    UsageError
        Names what is impossible and what is allowed.
    """

    edition: Edition
    active_range_ratio: float
    threads: int
    queue_depth: int
    content: str = "random"
    rule: str = "pts"
    seed: int = 0
    scale: float = 1.0
    workload: str = "4k-random"
    idle_seconds: float = 0.0
    block_bytes: int = 4096
    write_ratio: float = 1.0
    operator: str = ""
    workload_class: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.edition not in EDITIONS:
            raise UsageError(f"edition is {self.edition!r}; allowed: {', '.join(EDITIONS)}")
        if self.rule not in RULES:
            raise UsageError(f"rule is {self.rule!r}; allowed: {', '.join(RULES)}")
        for name, share in (("scale", self.scale), ("active range", self.active_range_ratio)):
            if not 0 < share <= 1:
                raise UsageError(f"{name} is {share:g}; allowed: above 0 to 1")
        if not 0 <= self.write_ratio <= 1:
            raise UsageError(f"write ratio is {self.write_ratio:g}; allowed: 0 to 1")

    @classmethod
    def of_edition(cls, edition: Edition, **asked: Any) -> Settings:
        """Make the settings of an edition; what is asked for, and not ``None``, goes before."""
        if edition not in EDITIONS:
            raise UsageError(f"edition is {edition!r}; allowed: {', '.join(EDITIONS)}")
        share, threads, queue_depth = _DEFAULTS[edition]
        settings = cls(edition, share, threads, queue_depth)
        return replace(
            settings, **{name: value for name, value in asked.items() if value is not None}
        )

    @property
    def steady_rule(self) -> SteadyStateRule:
        """When rounds count as steady."""
        return RULES[self.rule]

    @property
    def usual_active_range_ratio(self) -> float:
        """The share of the drive that the specification wants tested in this edition."""
        return _DEFAULTS[self.edition][0]

    @property
    def writes_are_forced(self) -> bool:
        """Whether the write cache is off."""
        return self.edition == "enterprise"

    @property
    def outstanding(self) -> int:
        """Requests outstanding of all threads."""
        return self.threads * self.queue_depth

    @property
    def stamp(self) -> str:
        """What every page must say."""
        return NO_PTS_RESULT if self.scale < 1 else ""

    def to_json(self) -> dict[str, Any]:
        """Return the attributes, which carry their units."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Settings:
        """Read what `to_json` wrote; a choice that an older version did not offer is the usual."""
        return cls(**{each.name: data[each.name] for each in fields(cls) if each.name in data})
