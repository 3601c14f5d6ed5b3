"""fio's I/O engine: which one a target accepts, and which queue depths it keeps."""

from __future__ import annotations

from typing import Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio.files import FioFiles
from drivelab.drives.real.fio.measurement import FioSetup, measure_with_fio
from drivelab.drives.real.fio.program import REMEDY, FioHungError, FioProgram
from drivelab.drives.real.fio.result import UnknownReportError
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.workloads.characteristics import Characteristics

# In this order. With io_uring fio 3.33 keeps more requests outstanding than asked, up to the next
# power of two. So io_uring is for machines without libaio, and for powers of two.
IO_ENGINES: Final = ("libaio", "io_uring")
_PROBE_PLAN: Final = MeasurementPlan(warmup_requests=0, requests=16, seconds=5.0)


def find_engine(
    name: str,
    descriptor: int,
    capacity_bytes: int,
    program: FioProgram,
    slack_seconds: float,
) -> str:
    """Return the first engine that can read a target, tested by a short read.

    This also checks the form of fio's JSON. A file needs only to be allocated, not filled.

    Parameters
    ----------
    name
        The target's name in messages.
    descriptor, capacity_bytes, program, slack_seconds
        As in `FioSetup`.

    Raises
    ------
    RunError
        If no engine does, or the drive does not answer.
    UsageError
        If this fio reports something unknown.
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
    """Raise `CannotAnswerError` if fio would keep another queue depth."""
    if engine == "io_uring" and queue_depth & (queue_depth - 1):
        raise CannotAnswerError(
            f"queue_depth is {queue_depth}; without libaio, which does not work on "
            f"{name}, fio keeps powers of two only"
        )
