"""Both orders of a direction, kriged together as far as what was measured says that they belong so.

Where a drive cuts requests into pages and stripes, it cuts those in random order as it does those
in order: both curves bend and jump at the same sizes, and their ratio does not. Elsewhere one curve
tells little of the other. So there are two models, and each counts by its evidence, the mean
likelihood of its parameters (Rasmussen and Williams 2006, section 5.2), from even odds::

    apart       each order its own process, of its own amplitude, length and nugget
    together    one process of two curves, correlated, with jumps in common (kriging.py)

What one order was measured at then tells of the other, and a ratio is surer than its two times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from drivelab.profile.kriging import Kriging, Points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class PairKriging:
    """The curves of sequential and of random accesses.

    Parameters
    ----------
    times_ns
        Of each order the measured access times by size in bytes, at least two sizes.
    variances
        Of their logarithms, likewise.
    """

    def __init__(
        self,
        times_ns: tuple[Mapping[int, float], Mapping[int, float]],
        variances: tuple[Mapping[int, float], Mapping[int, float]],
    ) -> None:
        sizes = [list(times) for times in times_ns]
        times = [list(each.values()) for each in times_ns]
        spread = [[each[size] for size in its] for each, its in zip(variances, sizes, strict=True)]
        self._apart = [
            Kriging(Points.of(its), some, its_spread)
            for its, some, its_spread in zip(sizes, times, spread, strict=True)
        ]
        self._together = Kriging(
            Points.of(*sizes), [*times[0], *times[1]], [*spread[0], *spread[1]]
        )
        apart = sum(each.log_evidence for each in self._apart)
        #: How much the model of both together counts, 0 to 1.
        self.share = float(1 / (1 + np.exp(min(apart - self._together.log_evidence, 700.0))))

    def at(self, sizes: Sequence[int]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Return logarithms of access times in ns, and their variances, of each order at sizes."""
        in_order, random = (
            self._mixed(self._apart[order].at(sizes), self._together.at(sizes, order))
            for order in (0, 1)
        )
        return in_order, random

    def gain_variances(
        self, sizes: Sequence[int], larger: Sequence[int], *, is_random: bool
    ) -> Array:
        """Return the variances of the logarithms of what becomes of random accesses.

        Parameters
        ----------
        sizes
            Of accesses in random order, in bytes.
        larger
            Of those that each of them becomes; the same for the ratio of a size.
        is_random
            Whether these are in random order too.
        """
        order = int(is_random)
        if is_random:
            apart = self._apart[1].differences(sizes, larger, (0, 0))
        else:
            random, in_order = self._apart[1].at(sizes), self._apart[0].at(larger)
            apart = (random[0] - in_order[0], in_order[1] + random[1])
        together = self._together.differences(sizes, larger, (1, order))
        return self._mixed(apart, together)[1]

    @property
    def jump_variances(self) -> tuple[float, float]:
        """Return the uncertainty at a size that is not measured, without its neighbours' jumps.

        Of a time, and of the ratio of both orders.
        """
        of_time, of_ratio = self._together.jump_variances
        apart = sum(each.jump_variances[0] for each in self._apart)
        together = np.array([of_time, of_ratio])
        mixed = (1 - self.share) * np.array([apart / 2, apart]) + self.share * together
        return float(mixed[0]), float(mixed[1])

    def covariance(self, sizes: Sequence[int]) -> Array:
        """Return the covariance of the logarithms at sizes in order, then at those in random."""
        found = self.share * self._together.covariance(Points.of(sizes, sizes))
        for order, each in enumerate(self._apart):
            its = slice(order * len(sizes), (order + 1) * len(sizes))
            found[its, its] += (1 - self.share) * each.covariance(Points.of(sizes))
        return found

    def _mixed(
        self, apart: tuple[Array, Array], together: tuple[Array, Array]
    ) -> tuple[Array, Array]:
        """Return mean and variance of both models, and what they disagree in."""
        mean = (1 - self.share) * apart[0] + self.share * together[0]
        variance = (1 - self.share) * (apart[1] + (apart[0] - mean) ** 2)
        return mean, variance + self.share * (together[1] + (together[0] - mean) ** 2)
