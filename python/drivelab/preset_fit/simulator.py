"""Running the simulations of a fit: on threads here, or by the workers of an executor.

::

    candidate ──> Simulator ──> DriveExecutor     a drive here, in the state of an earlier one
                       │
                       └──────> TurningExecutor   workers, which turn from one candidate to the next

Results are identical to the last digit in both cases.
"""

from __future__ import annotations

import math
from contextlib import ExitStack, closing
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.simulated.alike import DrivesAlike
from drivelab.drives.simulated.drive import PREFIX, SimulatedDrive
from drivelab.errors import DrivelabError, RunError
from drivelab.preset_fit.candidate import NAME, PERCENT, Behaviour
from drivelab.runs.executor import DriveExecutor, Failed, nobody_else

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.presets.source import PresetSource
    from drivelab.runs.executor import Executor, TurningExecutor, TurningExecutors, Work
    from drivelab.workloads.characteristics import Characteristics


class NobodySimulatesError(RunError):
    """No worker is left, so that no other candidate can be simulated either."""


class Simulators(ClosedOnExit):
    """Runs all simulations of a fit, from its first candidate to its last.

    Parameters
    ----------
    executors
        Starts workers for the first candidate's drive; they simulate all later ones too. By
        default, threads of this process do.
    """

    def __init__(self, executors: TurningExecutors = nobody_else) -> None:
        self._executors = executors
        self._open = ExitStack()
        self._is_open = False
        self._elsewhere: TurningExecutor | None = None
        self._groups = count()

    def simulator(self) -> Simulator:
        """Return a simulator for presets that differ only slightly."""
        return Simulator(self, next(self._groups))

    def workers_for(self, drive: SimulatedDrive) -> TurningExecutor | None:
        """Return the workers, which start with the first drive; ``None`` if there are none."""
        if not self._is_open:
            self._elsewhere = self._open.enter_context(self._executors(drive))
            self._is_open = True
        return self._elsewhere

    @property
    def is_over(self) -> bool:
        """Whether all workers are lost."""
        return self._elsewhere is not None and self._elsewhere.is_over

    def close(self) -> None:
        """End the workers."""
        self._open.close()
        self._elsewhere, self._is_open = None, False


class Simulator(ClosedOnExit):
    """Runs workloads on presets that differ only slightly, each from the state of an earlier one.

    Parameters
    ----------
    simulators
        Runs the simulations.
    group
        Distinguishes its presets from those of other simulators.
    """

    def __init__(self, simulators: Simulators, group: int) -> None:
        #: Number of drives simulated so far.
        self.runs = 0
        self._simulators = simulators
        self._group = group
        self._alike = DrivesAlike()

    def behaviour(
        self,
        source: PresetSource,
        work: Sequence[tuple[int, Characteristics]],
        plans: Sequence[MeasurementPlan],
        blocks: int | None = None,
    ) -> Behaviour:
        """Run workloads on a simulated drive without variability.

        Parameters
        ----------
        source
            The preset.
        work
            Workloads, each with the number that is part of the key of its random numbers.
        plans
            Length of each.
        blocks
            Blocks per plane, if they differ from those of the base. Only drives with the same
            number can start in the same state.

        Raises
        ------
        UsageError
            When the values are impossible together.
        NobodySimulatesError
            When every worker is lost.
        """
        executor = self._executor(source, blocks)
        self.runs += 1
        try:
            found = _measured(executor, work, plans)
        except DrivelabError as error:
            if self._simulators.is_over:
                raise NobodySimulatesError(str(error)) from error
            raise
        return behaviour_of([found[number] for number, _ in work])

    def _executor(self, source: PresetSource, blocks: Any) -> Executor:
        family, name = (self._group, blocks), PREFIX + NAME
        drive = SimulatedDrive(name, source, varies=False)
        workers = self._simulators.workers_for(drive)
        if workers is None:
            return DriveExecutor(self._alike.open(name, source, family=family))
        workers.turn_to(drive, family)
        return workers

    def close(self) -> None:
        """Release the states on this machine."""
        self._alike.close()


def _measured(
    executor: Executor,
    work: Sequence[tuple[int, Characteristics]],
    plans: Sequence[MeasurementPlan],
) -> dict[int, Measurement]:
    found: dict[int, Measurement] = {}
    same: dict[MeasurementPlan, list[Work]] = {}
    for (number, workload), plan in zip(work, plans, strict=True):
        same.setdefault(plan, []).append((number, workload))
    for plan, alike in same.items():
        with closing(executor.measure(alike, plan)) as answers:
            for one in answers:
                if isinstance(one, Failed):
                    raise one.reason
                found[one.index] = one
    return found


def behaviour_of(measurements: Sequence[Measurement]) -> Behaviour:
    """Convert latencies of measurements to arrays."""
    return Behaviour(
        np.log([max(one.latency_ns_mean, 1.0) for one in measurements]),
        np.log([max(one.percentile_ns(PERCENT), 1) for one in measurements]),
        np.array([_logarithm(one.read) for one in measurements]),
        np.array([_logarithm(one.write) for one in measurements]),
    )


def _logarithm(part: OperationResult | None) -> float:
    return math.nan if part is None else math.log(max(part.latency_ns_mean, 1.0))
