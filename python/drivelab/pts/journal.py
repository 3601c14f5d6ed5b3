"""What was done to a drive in a test, step after step, as a run folder keeps it."""

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
    """One thing done to the drive, as it was asked for.

    Attributes
    ----------
    kind
        ``purge``, ``run`` (a stimulus), ``idle``, or ``end`` of the test.
    phase
        What it is for: ``preconditioning``, ``rounds``, ``histogram``.
    section
        Where a test is made of several alike, which of them; else empty.
    round
        Counted from 1; 0 outside rounds.
    stimulus
        What is sent, of a ``run``.
    seconds, total_bytes
        What ends it.
    beside
        What is sent at the same time, each by programs of its own.
    shares
        Of the requests, for each of those that are sent at the same time; empty where each is as
        fast as it can be.
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
        """Everything that is sent at the same time."""
        return () if self.stimulus is None else (self.stimulus, *self.beside)

    @property
    def work(self) -> Stimuli:
        """The same as a workload."""
        return Stimuli(self.stimuli, self.shares)

    def to_json(self) -> dict[str, Any]:
        """Return the attributes, which carry their units."""
        values = asdict(self)
        values["stimulus"] = None if self.stimulus is None else self.stimulus.to_json()
        for name in ("beside", "shares"):
            del values[name]
        # Steps of one stimulus stay what they always were, in journals and in keys of states.
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
    """One stimulus, and what the drive did; of several at the same time the first, and all."""

    position: int
    action: Action
    stimulus: Stimulus
    result: Measurement

    @property
    def streams(self) -> tuple[Step, ...]:
        """Each of its stimuli with what the drive did for that one."""
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
        """Reads plus writes a second."""
        return self.result.iops

    @property
    def megabytes_per_second(self) -> float:
        """Decimal."""
        return self.result.bandwidth_bytes_per_second / 1e6

    @property
    def latency_ms_mean(self) -> float | None:
        """Of both directions; ``None`` where nothing completed."""
        return self.result.latency_ns_mean / 1e6 if self.result.requests else None

    @property
    def latency_ms_max(self) -> float | None:
        """Of both directions; ``None`` where nothing completed."""
        return self.result.latency_ns_max / 1e6 if self.result.requests else None


@dataclass(frozen=True)
class Record:
    """A test as far as it came.

    Attributes
    ----------
    test
        Its name.
    settings, extent
        How it was run, on how large a drive.
    header
        Of the run: ``drive``, ``pts``, ``session``, ``origin``.
    steps
        Every stimulus, in order.
    purges
        What became of purging, in order.
    is_complete
        Whether the test came to its end.
    failure
        What stopped it the last time, where that is known.
    starts
        How often it was started or went on.
    has_new_file
        Whether it went on with another file than it began with.
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
        """Whether the drive was."""
        return bool(self.header["drive"]["kind"] == "simulated")

    @property
    def adjective(self) -> str:
        """What its numbers are: measured, or simulated."""
        return PROVENANCE[str(self.header["drive"]["kind"])].adjective

    def of_phase(self, phase: str, section: str = "") -> list[Step]:
        """Give the steps of a phase, in order."""
        return self._by_phase.get((phase, section), [])

    def rounds(
        self, steps_a_round: int, section: str = "", phase: str = "rounds"
    ) -> list[list[Step]]:
        """Give the rounds that are whole, in order."""
        return whole_rounds(self.of_phase(phase, section), steps_a_round)


def whole_rounds(steps: Iterable[Step], steps_a_round: int) -> list[list[Step]]:
    """Group steps by round; a round that was cut short is left out."""
    rounds: dict[int, list[Step]] = {}
    for step in steps:
        rounds.setdefault(step.action.round, []).append(step)
    return [rounds[number] for number in sorted(rounds) if len(rounds[number]) == steps_a_round]


def is_end(entry: dict[str, Any]) -> bool:
    """Tell whether an entry of the journal says that its test came to its end."""
    return bool(entry["action"]["kind"] == "end")


@contextmanager
def of_another_version(path: Path) -> Iterator[None]:
    """Raise a `RunError` for what a run says otherwise than this version does."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, UsageError) as error:
        # The store's checksums hold, so it is as it was written. A name in it may hold anything.
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
        When it is the run of something else.
    RunError
        When the run is damaged, or of a version that is not understood.
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
    """Give which test a folder is a run of, without reading its steps; None for anything else.

    Raises
    ------
    DrivelabError
        When the run cannot be read.
    """
    if not is_run(path):
        return None
    with RunStore.open(path) as store:
        header = store.header
    return str(header["pts"]["test"]) if command_of(header) == COMMAND else None
