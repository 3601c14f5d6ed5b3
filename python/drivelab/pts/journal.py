"""What was done to a drive in a test, step after step, as a run stores it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from drivelab.drives.measurement import Measurement
from drivelab.drives.session import Purge
from drivelab.drives.stream_result import StreamResult
from drivelab.errors import RunError, UsageError
from drivelab.exhibits.quantities import PROVENANCE
from drivelab.pts.applied_settings import Extent
from drivelab.pts.settings import Settings
from drivelab.runs.header import command_of
from drivelab.runs.starts import drives_beside, has_new_file
from drivelab.store import Failure, RunStore, is_run
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus

#: Makes runs of tests.
COMMAND: Final = "pts"

ActionKind = Literal["purge", "run", "idle", "end"]


@dataclass(frozen=True)
class Action:
    """One action on the drive, as it was requested.

    Attributes
    ----------
    kind
        ``purge``, ``run`` (a stimulus), ``idle``, or ``end`` of the test.
    phase
        Its purpose: ``preconditioning``, ``rounds``, ``histogram``.
    section
        Name of its section, if a test has several; else empty.
    round
        Counted from 1; 0 outside rounds.
    stimulus
        The stimulus of a ``run``.
    seconds, total_bytes
        The limits of the action.
    beside
        Other stimuli at the same time, each with its own threads.
    shares
        Shares of the requests of all stimuli at the same time; empty if each runs as fast as it
        can.
    """

    kind: ActionKind
    phase: str
    section: str = ""
    round: int = 0
    stimulus: Stimulus | None = None
    seconds: float | None = None
    total_bytes: int | None = None
    beside: tuple[Stimulus, ...] = ()
    shares: tuple[float, ...] = ()

    @property
    def stimuli(self) -> tuple[Stimulus, ...]:
        """Return everything that is sent at the same time."""
        return () if self.stimulus is None else (self.stimulus, *self.beside)

    @property
    def work(self) -> Stimuli:
        """Return the same as a workload."""
        return Stimuli(self.stimuli, self.shares)

    def to_json(self) -> dict[str, Any]:
        """Return the attributes, whose names carry their units."""
        values = asdict(self)
        values["stimulus"] = None if self.stimulus is None else self.stimulus.to_json()
        for name in ("beside", "shares"):
            del values[name]
        # Steps of one stimulus keep their old form, in journals and in keys of states.
        if self.beside:
            values["beside"] = [stimulus.to_json() for stimulus in self.beside]
        if self.shares:
            values["shares"] = list(self.shares)
        return values

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Action:
        """Read what `to_json` wrote."""
        stimulus = None if data["stimulus"] is None else Stimulus.from_json(data["stimulus"])
        beside = tuple(Stimulus.from_json(each) for each in data.get("beside", ()))
        shares = tuple(data.get("shares", ()))
        return cls(**{**data, "stimulus": stimulus, "beside": beside, "shares": shares})


@dataclass(frozen=True)
class Step:
    """One stimulus and its results; for several at the same time, the first and all."""

    position: int
    action: Action
    stimulus: Stimulus
    result: Measurement

    @property
    def streams(self) -> tuple[Step, ...]:
        """Return each of its stimuli with its results."""
        if not self.action.beside:
            return (self,)
        parts = zip(self.action.stimuli, self.result.streams, strict=True)
        return tuple(
            replace(self, stimulus=stimulus, result=self._by_itself(stimulus, each))
            for stimulus, each in parts
        )

    def _by_itself(self, stimulus: Stimulus, did: StreamResult) -> Measurement:
        return Measurement(
            self.position,
            Stimuli((stimulus,)),
            did.duration_ns,
            did.read,
            did.write,
            stopped_by=self.result.stopped_by,
        )

    @property
    def iops(self) -> float:
        """Return reads plus writes per second."""
        return self.result.iops

    @property
    def megabytes_per_second(self) -> float:
        """Return decimal megabytes per second."""
        return self.result.bandwidth_bytes_per_second / 1e6

    @property
    def latency_ms_mean(self) -> float | None:
        """Return the mean of both directions; ``None`` if nothing completed."""
        return self.result.latency_ns_mean / 1e6 if self.result.requests else None

    @property
    def latency_ms_max(self) -> float | None:
        """Return the maximum of both directions; ``None`` if nothing completed."""
        return self.result.latency_ns_max / 1e6 if self.result.requests else None


@dataclass(frozen=True)
class Record:
    """A test as far as it has run.

    Attributes
    ----------
    test
        Its name.
    settings, extent
        Its settings, and the size of the drive.
    header
        The run's header: ``drive``, ``pts``, ``session``, ``origin``.
    steps
        Every stimulus, in order.
    purges
        Results of purging, in order.
    is_complete
        Whether the test finished.
    failure
        What stopped it the last time, if that is known.
    starts
        How often it was started or resumed.
    has_new_file
        Whether it resumed with another file than it started with.
    beside
        Real drives that the same command measured at the same time, at any start.
    """

    test: str
    settings: Settings
    extent: Extent
    header: dict[str, Any]
    steps: tuple[Step, ...]
    purges: tuple[Purge, ...]
    is_complete: bool
    failure: Failure | None = None
    starts: int = 1
    has_new_file: bool = False
    beside: tuple[str, ...] = ()
    _by_phase: dict[tuple[str, str], list[Step]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for step in self.steps:
            key = (step.action.phase, step.action.section)
            self._by_phase.setdefault(key, []).append(step)

    @property
    def is_simulated(self) -> bool:
        """Return whether the drive is simulated."""
        return bool(self.header["drive"]["kind"] == "simulated")

    @property
    def adjective(self) -> str:
        """Return the adjective of its numbers: measured, or simulated."""
        return PROVENANCE[str(self.header["drive"]["kind"])].adjective

    def of_phase(self, phase: str, section: str = "") -> list[Step]:
        """Return the steps of a phase, in order."""
        return self._by_phase.get((phase, section), [])

    def rounds(
        self, steps_a_round: int, section: str = "", phase: str = "rounds"
    ) -> list[list[Step]]:
        """Return the complete rounds, in order."""
        return whole_rounds(self.of_phase(phase, section), steps_a_round)


def whole_rounds(steps: Iterable[Step], steps_a_round: int) -> list[list[Step]]:
    """Group steps by round; an incomplete round is left out."""
    rounds: dict[int, list[Step]] = {}
    for step in steps:
        rounds.setdefault(step.action.round, []).append(step)
    return [rounds[number] for number in sorted(rounds) if len(rounds[number]) == steps_a_round]


def is_end(entry: dict[str, Any]) -> bool:
    """Return whether an entry of the journal says that its test finished."""
    return bool(entry["action"]["kind"] == "end")


@contextmanager
def of_another_version(path: Path) -> Iterator[None]:
    """Raise `RunError` for a run that contradicts this version."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, UsageError) as error:
        # The store's checksums are right, so it is unchanged. A name in it may contain anything.
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise RunError(
            f"{path} was written by another version of Drivelab, and this one does not "
            f"understand it ({reason}): resume it with that version, or start again with "
            "another --out"
        ) from error


def read_record(store: RunStore) -> Record:
    """Read a test from its run.

    Raises
    ------
    UsageError
        If it is the run of something else.
    RunError
        If the run is damaged, or from a version that is not understood.
    """
    header = store.header
    if command_of(header) != COMMAND:
        raise UsageError(
            f"{store.path} is a run of `drivelab {command_of(header)}`, not of `drivelab pts "
            f"run`; `drivelab runs show {store.path}` shows its contents"
        )
    steps: list[Step] = []
    purges: list[Purge] = []
    is_complete = False
    with of_another_version(store.path):
        settings = Settings.from_json(header["pts"]["settings"])
        drive = header["drive"]
        extent = Extent.of(drive["capacity_bytes"], drive["block_bytes"], settings)
        for position, entry in enumerate(store.measurements()):
            action = Action.from_json(entry["action"])
            if action.kind == "purge":
                purges.append(Purge(**entry["result"]))
            elif is_end(entry):
                is_complete = True
            elif action.stimulus is not None:
                result = Measurement.of_results(position, action.work, entry["result"])
                steps.append(Step(position, action, action.stimulus, result))
        test = header["pts"]["test"]
    failures, starts = store.failures(), store.starts()
    return Record(
        test=test,
        settings=settings,
        extent=extent,
        header=header,
        steps=tuple(steps),
        purges=tuple(purges),
        is_complete=is_complete,
        failure=failures[-1] if failures else None,
        starts=max(len(starts), 1),
        has_new_file=has_new_file(starts),
        beside=tuple(drives_beside(starts)),
    )


def test_of(path: Path) -> str | None:
    """Return the test of a run's folder, without reading its steps; None for anything else.

    Raises
    ------
    DrivelabError
        If the run cannot be read.
    """
    if not is_run(path):
        return None
    with RunStore.open(path) as store:
        header = store.header
    return str(header["pts"]["test"]) if command_of(header) == COMMAND else None
