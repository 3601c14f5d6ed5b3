"""The settings of a choice: number of repetitions, varying drives, valid rates."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from drivelab.choose.candidate import Candidate
from drivelab.choose.run import measured_repetitions
from drivelab.choose.settings import Asked
from drivelab.errors import UsageError
from drivelab.exhibits.quantities import workload_text
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.trace import Trace
from drivelab.workloads.trace_notes import trace_notes

if TYPE_CHECKING:
    from pathlib import Path

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import Drive
    from drivelab.runs.executor import Executor
    from drivelab.workloads.workload import Workload

#: Repetitions per drive.
USUAL_REPETITIONS: Final = 5


def name_of(workload: Workload) -> str:
    """Return a name for a workload that has none; for a trace the names of its files."""
    if isinstance(workload, Trace) and workload.files is not None:
        return workload.files.name
    return workload_text(workload)


def varies(drive: Drive) -> bool:
    """Return whether a drive varies from run to run."""
    return drive.kind == "real" or getattr(drive, "variability", None) == "on"


def refuse_rates(
    workload: Workload, by: str, *, has_rate: bool, word: Callable[[str], str] = str
) -> None:
    """Refuse questions about throughput if a trace's recorded times already fix it.

    Parameters
    ----------
    workload
        The workload of the choice.
    by
        The quality that ranks the drives.
    has_rate
        Whether the user asks for the costs of a rate.
    word
        Writes the name of an option.
    """
    if not isinstance(workload, Trace) or workload.speed is None:
        return
    for option, is_given in (
        (word("rate"), has_rate),
        (f"{word('by')} {by}", by in ("bandwidth", "throughput")),
    ):
        if is_given:
            raise UsageError(
                f"{option} does not rank drives under a trace at its recorded times, because "
                "every drive that keeps up serves the same: leave it out, or replay with "
                f"{word('speed')} max"
            )


def asked_of(
    workload: Workload,
    name: str,
    *,
    seed: int,
    repetitions: int | None,
    varying: tuple[str, ...],
    writes: Collection[str | None],
    word: Callable[[str], str] = str,
) -> Asked:
    """Return the settings that are the same for all drives.

    Parameters
    ----------
    workload, name
        The workload, and its name for people.
    seed
        Key of all random numbers.
    repetitions
        Number of repetitions that the user asked for; ``None`` for the default.
    varying
        Names of the drives that vary from run to run.
    writes
        What writes find on each drive, if the workload has characteristics with writes.
    word
        Writes the name of an option.

    Raises
    ------
    UsageError
        When the user asks for repetitions that would all give the same result.
    """
    count = repetitions or USUAL_REPETITIONS
    described = workload_text(workload)
    if not isinstance(workload, Trace):
        said = workload.occupancy if isinstance(workload, Scenario) else None
        return Asked(
            name, described, seed, count, _writes_text(writes), varying=varying, occupancy=said
        )
    if repetitions is not None and not varying:
        raise UsageError(
            f"{word('repetitions')} has no effect on a trace: it has no random numbers, and "
            "none of these drives varies, so every repetition gives the same result; leave it "
            "out"
        )
    return Asked(
        name,
        described,
        seed,
        count if varying else 1,
        _writes_of(workload),
        tuple(trace_notes(workload)),
        varying,
        is_recorded=True,
    )


def _writes_of(trace: Trace) -> str:
    """Describe the state in which a trace's writes find the drives."""
    if "write" not in trace.commands:
        return ""
    return "those of the trace alone: they find each drive as its preset says"


def _writes_text(writes: Collection[str | None]) -> str:
    """Describe the state in which the writes of characteristics find the drives."""
    found = {each for each in writes if each is not None}
    if found == {"sustained"}:
        return (
            "sustained: each begins after the drive was written until more writing of its "
            "kind changes nothing"
        )
    if found == {"burst"}:
        return "a burst: they find the drive as found"
    if found:
        return "sustained on simulated drives; real ones and formulas are as they are"
    return ""


def candidate_of(
    drive: Drive,
    workload: Workload,
    plan: MeasurementPlan,
    asked: Asked,
    path: Path | None = None,
    *,
    command: str | None = None,
    executor: Executor | None = None,
    progress: bool = True,
) -> Candidate:
    """Measure a drive's repetitions with `measured_repetitions`; return the results."""
    is_varying = drive.name in asked.varying
    is_exact = asked.is_recorded and not is_varying
    found = measured_repetitions(
        drive,
        workload,
        plan.counted_whole() if asked.is_recorded else plan,
        1 if is_exact else asked.repetitions,
        path,
        name=asked.name,
        command=command,
        executor=executor,
        progress=progress,
    )
    return Candidate(
        drive.name, drive.kind, drive.capacity_bytes, tuple(found), is_varying, is_exact
    )
