"""What a choice is asked, whoever asks: how often, what varies, which rates say something."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from drivelab.choose.candidate import Candidate
from drivelab.choose.run import measured_repetitions
from drivelab.choose.settings import Asked
from drivelab.errors import UsageError
from drivelab.exhibits.quantities import workload_text
from drivelab.workloads.trace import Trace
from drivelab.workloads.trace_notes import trace_notes

if TYPE_CHECKING:
    from pathlib import Path

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import Drive
    from drivelab.runs.executor import Executor
    from drivelab.workloads.workload import Workload

#: Of each drive.
USUAL_REPETITIONS: Final = 5


def name_of(workload: Workload) -> str:
    """Call a workload that has no name: a trace by its files."""
    if isinstance(workload, Trace) and workload.files is not None:
        return workload.files.name
    return workload_text(workload)


def varies(drive: Drive) -> bool:
    """Return whether a drive varies from run to run."""
    return drive.kind == "real" or getattr(drive, "variability", None) == "on"


def refuse_rates(
    workload: Workload, by: str, *, has_rate: bool, word: Callable[[str], str] = str
) -> None:
    """Refuse what asks how much a drive serves, where the recorded times say that.

    Parameters
    ----------
    workload
        What is asked of the drives.
    by
        What they are ranked by.
    has_rate
        Whether the costs of a rate are asked for.
    word
        How an option is written.
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
    """Say what all drives are asked alike.

    Parameters
    ----------
    workload, name
        What it is, and what people call it.
    seed
        Key of all random numbers.
    repetitions
        As asked for; ``None`` for as many as are usual.
    varying
        The drives that vary from run to run.
    writes
        Of each drive what its writes find, where the workload has characteristics that write.
    word
        How an option is written.

    Raises
    ------
    UsageError
        When repetitions are asked for that would all give the same.
    """
    count = repetitions or USUAL_REPETITIONS
    described = workload_text(workload)
    if not isinstance(workload, Trace):
        return Asked(name, described, seed, count, _writes_text(writes), varying=varying)
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
    """Say what a trace's writes find on the drives."""
    if "write" not in trace.commands:
        return ""
    return "those of the trace alone: they find each drive as its preset says"


def _writes_text(writes: Collection[str | None]) -> str:
    """Say what writes find on the drives, where they are characteristics."""
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
    """Measure a drive's repetitions, as `measured_repetitions` does; give what it did."""
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
