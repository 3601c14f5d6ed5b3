"""All that Boito et al. 2015 measured on a machine, and what the tool measures on its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivelab.profile.settings import DIRECTIONS
from drivelab.reproduce.boito2015_drives import KnownDrive
from drivelab.reproduce.boito2015_errors import (
    estimation_errors,
    paper_errors,
    partial_errors,
    whole_errors,
)
from drivelab.reproduce.processes import in_processes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.reproduce.boito2015_drives import FullProfile, Machine
    from drivelab.reproduce.boito2015_errors import EstimationError, RatioError


@dataclass(frozen=True)
class Job:
    """One machine to profile.

    Attributes
    ----------
    machine
        The drive of the paper.
    files
        Sizes of files in bytes.
    seed
        Seed of its random numbers, below 100.
    half_width_ratio
        Half-width of the ratios at which our own partial profiles stop repeating.
    own_profiles
        Number of our own profiles per file size: as many by whole as by partial passes.
    """

    machine: Machine
    files: tuple[int, ...]
    seed: int
    half_width_ratio: float
    own_profiles: int


@dataclass(frozen=True)
class Profiles:
    """All profiles of one machine.

    Attributes
    ----------
    summary
        Summary of the preset that represents the machine.
    execution_ns
        Duration of one pass of every test and size without variability, over all files.
    true_ratios
        Mean true ratio over the sizes at the last file size, by direction.
    full
        The full profile, by file size.
    estimates
        Errors of estimates with the paper's settings.
    ratios, whole, partial
        Errors of ratios: with the paper's settings, of our whole-pass and our partial-pass
        profiles.
    """

    summary: str
    execution_ns: int
    true_ratios: dict[str, dict[int, float]]
    full: dict[int, FullProfile]
    estimates: list[EstimationError]
    ratios: list[RatioError]
    whole: list[RatioError]
    partial: list[RatioError]


def profiles_of(job: Job) -> Profiles:
    """Simulate every pass of a machine, and profile it in each way."""
    drive = KnownDrive.simulate(job.machine, job.files)
    full = {
        file_bytes: drive.full_profile(file_bytes, 100 * job.seed + place)
        for place, file_bytes in enumerate(job.files)
    }
    return Profiles(
        summary=str(drive.varying.preset["summary"]),
        execution_ns=sum(drive.execution_ns(each) for each in job.files),
        true_ratios={each: drive.true_ratios(each, job.files[-1]) for each in DIRECTIONS},
        full=full,
        estimates=estimation_errors(drive, job.seed, full),
        ratios=paper_errors(drive, job.seed, full),
        whole=whole_errors(drive, job.seed, full, own_profiles=job.own_profiles),
        partial=partial_errors(
            drive,
            job.seed,
            full,
            half_width_ratio=job.half_width_ratio,
            own_profiles=job.own_profiles,
        ),
    )


@dataclass(frozen=True)
class AllProfiles:
    """The profiles of every machine, by its name, over the same files."""

    machines: tuple[Machine, ...]
    files: tuple[int, ...]
    own_profiles: int
    of: dict[str, Profiles]

    @property
    def estimates(self) -> list[EstimationError]:
        """Errors of access times."""
        return [one for each in self.of.values() for one in each.estimates]

    @property
    def ratios(self) -> list[RatioError]:
        """Errors of ratios with the paper's settings."""
        return [one for each in self.of.values() for one in each.ratios]

    @property
    def whole(self) -> list[RatioError]:
        """Errors of ratios by whole passes, with sizes and repetitions that the tool chose."""
        return [one for each in self.of.values() for one in each.whole]

    @property
    def partial(self) -> list[RatioError]:
        """Errors of ratios by partial passes, with sizes and repetitions that the tool chose."""
        return [one for each in self.of.values() for one in each.partial]

    def full_ns(self, machine: str, file_bytes: int) -> float:
        """Return the time of the full profile."""
        return self.of[machine].full[file_bytes].measuring_ns


def measured(
    machines: Sequence[Machine],
    files: Sequence[int],
    half_width_ratio: float,
    own_profiles: int,
) -> AllProfiles:
    """Profile machines, one per core at the same time; their seeds are 1, 2, ... in their order."""
    jobs = [
        Job(machine, tuple(files), seed, half_width_ratio, own_profiles)
        for seed, machine in enumerate(machines, start=1)
    ]
    profiles = in_processes(
        profiles_of, jobs, what="machines profiled", name=lambda job: job.machine.name
    )
    return AllProfiles(
        tuple(machines),
        tuple(files),
        own_profiles,
        {machine.name: each for machine, each in zip(machines, profiles, strict=True)},
    )
