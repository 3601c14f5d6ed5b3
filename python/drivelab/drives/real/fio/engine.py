"""fio's I/O engine: which one a target takes, and which queue depths it keeps."""

from __future__ import annotations

from typing import Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio.files import FioFiles
from drivelab.drives.real.fio.measurement import FioSetup, measure_with_fio
from drivelab.drives.real.fio.program import REMEDY, FioHungError, FioProgram
from drivelab.drives.real.fio.result import UnknownReportError
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.workloads.characteristics import Characteristics

# In this order. fio 3.33 keeps more requests in flight than asked by io_uring, up to the next
# power of two: it is for machines that forbid libaio, and for powers of two.
IO_ENGINES: Final = ("libaio", "io_uring")
_PROBE_PLAN: Final = MeasurementPlan(warmup_requests=0, requests=16, seconds=5.0)


def find_engine(
    name: str,
    descriptor: int,
    capacity_bytes: int,
    program: FioProgram,
    slack_seconds: float,
) -> str:
    """Give the first engine that reads a target by a short read.

    It also proves the shape of fio's JSON. A file need not be filled, only allocated.

    Parameters
    ----------
    name
        The target as messages name it.
    descriptor, capacity_bytes, program, slack_seconds
        As in `FioSetup`.

    Raises
    ------
    RunError
        When none does, or the drive does not answer.
    UsageError
        When this fio reports what is not known here.
    """
    failures = []
    with FioFiles() as files:
        for engine in IO_ENGINES:
            setup = FioSetup(program, files, descriptor, capacity_bytes, engine, slack_seconds)
            try:
                measure_with_fio(setup, 0, Characteristics(queue_depth=2), _PROBE_PLAN)
            except UnknownReportError as error:
                raise UsageError(f"{program.version}: {error}; {REMEDY}") from error
            except FioHungError:
                raise  # no engine is quicker on a drive that does not answer
            except RunError as error:
                failures.append(f"{engine}: {error}")
            else:
                return engine
    raise RunError(f"fio cannot read {name} ({'; '.join(failures)})")


def check_depth(engine: str, name: str, queue_depth: int) -> None:
    """Raise `CannotAnswerError` when fio would keep another number of requests in flight."""
    if engine == "io_uring" and queue_depth & (queue_depth - 1):
        raise CannotAnswerError(
            f"queue_depth is {queue_depth}; without libaio, which does not work on "
            f"{name}, fio keeps powers of two only"
        )
