"""How many cores at what clock a drive needs before its flash is the limit.

::

    the drive with free firmware ──> what its flash can do
    cores x clocks, simulated    ──> which of them come near it
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.firmware_costs import modelled_time, refuse_other_drives
from drivelab.drives.presets.source import PresetSource, read_preset
from drivelab.drives.simulated.drive import PREFIX, SimulatedDrive
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from drivelab.workloads.workload import Workload

USUAL_CORES: Final = (1, 2, 4, 8)
USUAL_CLOCKS_MHZ: Final = (150, 300, 600, 1200, 2400)
USUAL_TIME: Final = "learned:page-map"
#: Of the flash's throughput; what comes so near is not limited by cores.
ENOUGH: Final = 0.95
# A preset's own name has no dot at its beginning.
_BASE: Final = ".drive"


@dataclass(frozen=True)
class CoresAsked:
    """What is asked.

    Attributes
    ----------
    drive
        Its name, ``sim:lee2021-znand``.
    workload
        The workload that it serves.
    cores, clocks_mhz
        The values to try, each with each.
    time
        Where costs come from: ``learned:page-map``. The preset's own where it is ``None`` and the
        preset has counted ones, else `USUAL_TIME`.
    requests, warmup_requests, seed
        Counted in each run, before counting, key of all random numbers.
    """

    drive: str
    workload: Workload
    cores: Sequence[int] = USUAL_CORES
    clocks_mhz: Sequence[int] = USUAL_CLOCKS_MHZ
    time: str | None = None
    requests: int = 100_000
    warmup_requests: int = 2_000
    seed: int = 0


@dataclass(frozen=True)
class CoresTried:
    """What the drive did with this number of cores.

    Attributes
    ----------
    cores, clock_mhz
        Of its controller; both 0 where the firmware is free.
    throughput_iops
        Requests a second.
    mean_latency_ns
        Mean latency of all requests.
    firmware_ns
        Part of it that they waited for cores and their work.
    busy_ratio
        Share of the time in which a core worked, mean over cores.
    """

    cores: int
    clock_mhz: int
    throughput_iops: float
    mean_latency_ns: float
    firmware_ns: float
    busy_ratio: float


@dataclass(frozen=True)
class CoresFound:
    """What was found.

    Attributes
    ----------
    asked
        The values to try.
    time
        Where costs came from.
    free
        The drive with free firmware: what its flash can do.
    tried
        Every number of cores with every clock.
    """

    asked: CoresAsked
    time: str
    free: CoresTried
    tried: tuple[CoresTried, ...]

    def ratio(self, one: CoresTried) -> float:
        """Return how much of the flash's throughput one reaches."""
        return one.throughput_iops / self.free.throughput_iops

    @property
    def least(self) -> CoresTried | None:
        """The one that is enough with the fewest cycles a second, of several with fewer cores."""
        enough = [one for one in self.tried if self.ratio(one) >= ENOUGH]
        return min(enough, key=lambda one: (one.cores * one.clock_mhz, one.cores), default=None)


def find_cores(asked: CoresAsked, told: Callable[[str], None] | None = None) -> CoresFound:
    """Simulate the drive with free firmware, then with every number of cores at every clock.

    Parameters
    ----------
    asked
        What.
    told
        Is given a line before each run.

    Raises
    ------
    UsageError
        When there is no such drive, its costs cannot be had, or it refuses the workload.
    """
    say = told or (lambda _: None)
    source = read_preset(asked.drive.removeprefix(PREFIX))
    resolved, _ = source.resolved()
    if resolved["kind"] != "ssd":
        raise UsageError(f"{asked.drive} is not a single SSD, whose cores could be tried: name one")
    time, cost = _costs(asked, resolved)
    say("firmware is free")
    with SimulatedDrive(asked.drive, _with(source, ["time = 'free'"])) as drive:
        drive.check(asked.workload)
        free = _run(drive, asked, (0, 0))
        tried = []
        for cores in asked.cores:
            for clock in asked.clocks_mhz:
                say(f"{cores} {'core' if cores == 1 else 'cores'} at {clock} MHz")
                lines = ["time = 'counted'", f"cores = {cores}", f"clock_mhz = {clock}"]
                lines += [f"cost.{key} = {value}" for key, value in cost.items()]
                with SimulatedDrive(asked.drive, _with(source, lines), like=drive) as other:
                    tried.append(_run(other, asked, (cores, clock)))
    return CoresFound(asked, time, free, tuple(tried))


def _costs(asked: CoresAsked, resolved: Mapping[str, Any]) -> tuple[str, Mapping[str, float]]:
    """Say where costs come from, and give them."""
    own = resolved.get("firmware")
    if asked.time is None and own is not None:
        if own["time"] != "counted":
            raise UsageError(
                f"the firmware of {asked.drive} takes a fixed time, which no clock changes: "
                f"say --time {USUAL_TIME}"
            )
        return "the preset's own", own["cost"]
    time = modelled_time(asked.time or USUAL_TIME, Path(), key="--time", plain=())
    refuse_other_drives(resolved, time)
    return time.word, time.table()


def _with(source: PresetSource, lines: Sequence[str]) -> PresetSource:
    """Return the drive with another table of firmware."""
    text = "\n".join([f'base = "{_BASE}"', 'name = ".cores"', "[firmware]", *lines])
    return PresetSource(source.reference, text, {**source.base_texts, _BASE: source.toml_text})


def _run(drive: SimulatedDrive, asked: CoresAsked, built: tuple[int, int]) -> CoresTried:
    values = drive.simulate(
        asked.workload,
        seed=asked.seed,
        requests=asked.requests,
        warmup_requests=asked.warmup_requests,
    ).values
    kinds = [each for stream in values["streams"] for each in stream["operations"].values()]
    counted = sum(each["requests"] for each in kinds)
    duration_ns = values["duration_ns"]
    cores, clock = built

    def mean(of: Callable[[Mapping[str, Any]], float]) -> float:
        return float(sum(each["requests"] * of(each) for each in kinds) / counted)

    def waited_ns(each: Mapping[str, Any]) -> float:
        part = each["latency_parts"].get("firmware")
        return 0.0 if part is None else float(part["latency_ns_mean"])

    return CoresTried(
        cores=cores,
        clock_mhz=clock,
        throughput_iops=counted / duration_ns * 1e9,
        mean_latency_ns=mean(lambda each: float(each["latency_ns_mean"])),
        firmware_ns=mean(waited_ns),
        busy_ratio=values["flash"]["core_busy_ns"] / (max(cores, 1) * duration_ns),
    )
