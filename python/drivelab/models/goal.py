"""When a run that asks round by round has enough: the first of its limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from drivelab.errors import UsageError
from drivelab.units import format_duration_ns

#: Measurements of a run that is asked for nothing else.
USUAL_MEASUREMENTS: Final = 300
#: Where only an error or a budget is asked for.
MOST_UNLESS_ASKED: Final = 1_200
#: With fewer there is no model to choose by.
FEWEST_MEASUREMENTS: Final = 10
#: A run that is to have fewer measurements for its models is not worth 24 probes.
FEWEST_WITH_PROBES: Final = 100
#: Kriging takes no more.
MOST_MEASUREMENTS: Final = 5_000
#: With fewer measurements nobody knows the error well enough to stop.
FEWEST_FOR_ERROR: Final = 60
_MOST_BUDGET_SECONDS: Final = 30 * 86_400.0

EndedBy = Literal["measurements", "error", "budget"]


@dataclass(frozen=True)
class Goal:
    """What a run is asked to reach.

    Attributes
    ----------
    measurements
        For models, all starts together; None where nothing else was asked for is 300, where an
        error or a budget was, 1,200 at most.
    error_ratio
        Expected mean relative error on workloads that were not measured, such as 0.05.
    budget_seconds
        The drive's time, all starts together; of a simulated drive simulated time.
    """

    measurements: int | None = None
    error_ratio: float | None = None
    budget_seconds: float | None = None

    def __post_init__(self) -> None:
        count, error, budget = self.measurements, self.error_ratio, self.budget_seconds
        if count is not None and not FEWEST_MEASUREMENTS <= count <= MOST_MEASUREMENTS:
            raise UsageError(
                f"{count} measurements; allowed: {FEWEST_MEASUREMENTS} to {MOST_MEASUREMENTS:,}"
            )
        # The comparison is false for NaN.
        if error is not None and not 0 < error < 1:
            raise UsageError(f"an error of {100 * error:g} %; allowed: above 0 and below 100 %")
        if budget is not None and not 0 < budget <= _MOST_BUDGET_SECONDS:
            raise UsageError(f"a budget of {budget:g} s; allowed: above 0, at most 30 days")

    @property
    def most(self) -> int:
        """Measurements for models, at most."""
        if self.measurements is not None:
            return self.measurements
        alone = self.error_ratio is None and self.budget_seconds is None
        return USUAL_MEASUREMENTS if alone else MOST_UNLESS_ASKED

    @property
    def has_probes(self) -> bool:
        """Whether the run begins with probes."""
        return self.most >= FEWEST_WITH_PROBES

    def describe(self) -> str:
        """Say it in words, without a full stop."""
        parts = [f"{self.most:,} measurements"]
        if self.error_ratio is not None:
            parts.append(f"an expected error of {100 * self.error_ratio:g} %")
        if self.budget_seconds is not None:
            parts.append(f"{format_duration_ns(self.budget_seconds * 1e9)} of the drive's time")
        if len(parts) == 1:
            return parts[0]
        return f"{', '.join(parts[:-1])} or {parts[-1]}, whichever comes first"

    def to_json(self) -> dict[str, Any]:
        """Return what was asked for, null where nothing was."""
        return asdict(self)
