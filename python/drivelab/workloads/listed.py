"""Designs that are a fixed list of workloads, from a paper or from the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drivelab._core import SECTOR_BYTES
from drivelab.errors import UsageError
from drivelab.workloads.calibration import calibration_count, shuffled
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from drivelab.workloads.selection import Accepts, Selection, narrowed


@dataclass(frozen=True)
class ListedDesign:
    """A list of workloads that are all measured.

    Attributes
    ----------
    name
        Name as the user writes it.
    listed
        The workloads. A workload that is listed twice is measured twice; the difference shows how
        well the drive repeats itself.
    population
        Origin of the workloads, in words.
    calibrates
        Whether to draw a fifth of the distinct workloads at random for calibration, each with all
        its repetitions. A workload that models were trained on would look too easy.
    """

    name: str
    listed: Sequence[Characteristics]
    population: str
    calibrates: bool

    @property
    def distinct(self) -> int:
        """Number of distinct workloads in the list."""
        return len({workload.key() for workload in self.listed})

    def select(
        self,
        seed: int,
        accepts: Accepts | None = None,
        block_bytes: int = SECTOR_BYTES,  # noqa: ARG002
    ) -> Selection:
        """Return the workloads that the drive can run, in the order of the list.

        Parameters
        ----------
        seed
            Key of the random numbers that choose the calibration share.
        accepts
            Returns whether the drive can run a workload; by default every one.
        block_bytes
            Unused: the drive refuses workloads that are not multiples of it.

        Raises
        ------
        UsageError
            When the drive can run none of them.
        """
        possible = [
            workload.without_ineffective()
            for workload in self.listed
            if accepts is None or accepts(workload)
        ]
        if not possible:
            raise UsageError(
                f"{self.name} has {len(self.listed)} workloads, and this drive can express none "
                "of them"
            )
        left_out = len(self.listed) - len(possible)
        keys = list(dict.fromkeys(workload.key() for workload in possible))
        count = calibration_count(len(keys)) if self.calibrates else 0
        reserved = set(shuffled(keys, seed)[:count])
        training = [each for each in possible if each.key() not in reserved]
        calibration = [each for each in possible if each.key() in reserved]
        return Selection(
            workloads=training + calibration,
            parts=Parts(len(training), len(calibration)),
            distinct=self.distinct,
            left_out=left_out,
            population=narrowed(self.population, left_out),
        )
