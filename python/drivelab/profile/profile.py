"""A profile of a drive: every size estimated from those that were measured (Boito et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivelab.profile.estimate import Curve, Ratios, Test
from drivelab.profile.spread import Centres, gathered, is_known

if TYPE_CHECKING:
    from drivelab.profile.estimate import GainVariances, Scheme
    from drivelab.profile.measured_pass import MeasuredPass
    from drivelab.profile.sizes import Interval
    from drivelab.workloads.whole_pass import Direction


@dataclass(frozen=True)
class Profile:
    """What was measured, and what follows for every size.

    Attributes
    ----------
    measured
        Every pass.
    curves
        Access times estimated for every size, by test.
    ratios
        By direction.
    gain_variances
        How sure the gains of optimisations are; by direction.
    centres
        What was measured, summed up by test and size; by direction.
    scheme
        How curves go between measured sizes.
    """

    measured: tuple[MeasuredPass, ...]
    curves: dict[Test, Curve]
    ratios: dict[Direction, Ratios]
    gain_variances: dict[Direction, GainVariances]
    centres: dict[Direction, Centres]
    scheme: Scheme

    @property
    def measuring_ns(self) -> int:
        """Time that the passes took."""
        return sum(each.duration_ns for each in self.measured)

    @property
    def through_ends(self) -> list[tuple[Test, Interval]]:
        """Tests and intervals whose line by least squares was not above 0 everywhere."""
        return [(test, each) for test, curve in self.curves.items() for each in curve.through_ends]

    @property
    def tests_not_known(self) -> int:
        """Tests and sizes whose mean is not known within 10 % (section 4.2), by all passes."""
        return sum(
            not is_known(times)
            for by_size in gathered(self.measured).values()
            for times in by_size.values()
        )
