"""How a test is run: the specification's edition, and the operator's choices."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal

from drivelab.errors import UsageError
from drivelab.pts.steady_state import RULES, SteadyStateRule

Edition = Literal["enterprise", "client"]

#: The specification's names of the editions.
EDITIONS: Final[dict[Edition, str]] = {"enterprise": "PTS-E", "client": "PTS-C"}
#: What the specification sets or recommends: share of the drive, threads, queue depth.
_DEFAULTS: Final[dict[Edition, tuple[float, int, int]]] = {
    "enterprise": (1.0, 4, 32),
    "client": (0.75, 2, 16),
}
MOST_ROUNDS: Final = 25

#: Stamped on every page of a result that does not follow the specification.
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
        Queue depth of preconditioning and test, if the test does not set it.
    content
        What written data looks like: ``random`` (the specification's), ``database``, ``zero``.
    rule
        The steady-state rule: ``pts`` or ``white-paper``.
    seed
        Key of all random numbers.
    scale
        Factor for times and capacities, above 0 to 1; below 1 it is not a PTS result.
    workload
        For write saturation: one of `drivelab.pts.procedures.wsat.WORKLOADS`.
    idle_seconds
        For write saturation: how long the drive rests after every minute of writes.
    block_bytes, write_ratio
        For DIRTH: the size of its requests, and the share of writes. For block-size sensitivity
        only the share of writes.
    operator
        Name of the person who runs it; may be empty.
    workload_class
        For the class test: what `WorkloadClass.to_json` returned, so that the run contains all of
        it.

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
        """Return the settings of an edition, overridden by what is given and not ``None``."""
        if edition not in EDITIONS:
            raise UsageError(f"edition is {edition!r}; allowed: {', '.join(EDITIONS)}")
        share, threads, queue_depth = _DEFAULTS[edition]
        settings = cls(edition, share, threads, queue_depth)
        return replace(
            settings, **{name: value for name, value in asked.items() if value is not None}
        )

    @property
    def steady_rule(self) -> SteadyStateRule:
        """Return the steady-state rule."""
        return RULES[self.rule]

    @property
    def usual_active_range_ratio(self) -> float:
        """Return the share of the drive that the specification wants tested in this edition."""
        return _DEFAULTS[self.edition][0]

    @property
    def writes_are_forced(self) -> bool:
        """Return whether the write cache is off."""
        return self.edition == "enterprise"

    @property
    def outstanding(self) -> int:
        """Return the outstanding requests of all threads."""
        return self.threads * self.queue_depth

    @property
    def stamp(self) -> str:
        """Return what every page must say."""
        return NO_PTS_RESULT if self.scale < 1 else ""

    def to_json(self) -> dict[str, Any]:
        """Return the attributes, whose names carry their units."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Settings:
        """Read what `to_json` wrote; what an older version did not have gets its default."""
        return cls(**{each.name: data[each.name] for each in fields(cls) if each.name in data})
