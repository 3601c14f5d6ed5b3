"""A report of every kind, each made in a second or two, for tests of pages in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

from fake_test_run import run_fake
from made_choice import candidate
from made_placement import demand, outcome, plan
from made_profile import profiled
from made_pts_report import made_report
from made_pts_results import drive
from made_run import made_run
from made_trace import msr_file

from drivelab.choose.candidate import QUALITIES
from drivelab.choose.exhibits import choice_report
from drivelab.choose.ranking import choose
from drivelab.choose.settings import Asked
from drivelab.drives.naming import open_drive
from drivelab.exhibits import Report, Table
from drivelab.firmware.core_counts import CoresAsked, CoresFound, CoresTried
from drivelab.firmware.core_exhibits import cores_report
from drivelab.firmware.evaluation import evaluate
from drivelab.firmware.exhibits import evaluation_report
from drivelab.pages.campaign import campaign_report
from drivelab.pages.digest import digest
from drivelab.pages.several_runs import comparison_report
from drivelab.place.exhibits import placement_report
from drivelab.place.measured import Bench, Group
from drivelab.place.outcome import Outcome
from drivelab.place.placing import place
from drivelab.place.plan import Offer
from drivelab.profile.exhibits import profile_report
from drivelab.profile.measured import profile
from drivelab.profile.settings import ProfileSettings
from drivelab.pts.compared_report import compare
from drivelab.pts.report import build
from drivelab.reproduce.claims import Claim, Reproduction
from drivelab.reproduce.exhibits import reproduction_report
from drivelab.timeline.exhibits import timeline_report
from drivelab.timeline.figure import describe, timing_diagram
from drivelab.timeline.stages import duration_ns, stages
from drivelab.traces.characterization import characterize
from drivelab.traces.exhibits import trace_report
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.recorded import RecordedFiles


def run_page(_: Path) -> Report:
    # So few requests that there are cautions.
    return campaign_report(made_run(40, reserved=20, check=20, sweeps=True, requests=900))


def real_run_page(_: Path) -> Report:
    name = "/dev/disk/by-id/nvme-A_DRIVE_WITH_A_LONG_NAME_AND_A_NUMBER_S4X7NX0R512345_1"
    return campaign_report(made_run(40, name=name, kind="real", sweeps=True))


def short_run_page(_: Path) -> Report:
    return campaign_report(made_run(40, name="sim:sas-15k"))


def comparison_page(_: Path) -> Report:
    digests = [digest(made_run(20, name=name, sweeps=True), Path(name)) for name in ("a", "b")]
    return comparison_report(digests)


def sheets_page(_: Path) -> Report:
    return made_report()


def performance_test_page(folder: Path) -> Report:
    run_fake(folder / "iops", "iops", scale=0.05)
    return build(folder / "iops")


def compared_sheets_page(_: Path) -> Report:
    names = ("sim:x25m", "/dev/disk/by-id/nvme-a-drive-with-a-long-name", "sim:mlc-a", "sim:slc-b")
    return compare([drive(name, speed=1 + place) for place, name in enumerate(names)])


def profile_page(_: Path) -> Report:
    with open_drive("sim:x25m") as opened:
        found = profile(opened, ProfileSettings(file_bytes=8 << 20, repetitions=2))
    note = "48 passes over a file of 8 MiB"
    return profile_report(found, (), drive="sim:x25m", kind="simulated", note=note)


def firmware_page(_: Path) -> Report:
    profiles = [profiled(f"W{reads}", reads, scatter=0.1) for reads in (0, 300, 700, 1000)]
    return evaluation_report(evaluate(profiles, ["linear"]), profiles, 32, "mine")


def cores_page(_: Path) -> Report:
    asked = CoresAsked("sim:lee2021-znand", Characteristics(queue_depth=32))
    tried = tuple(
        CoresTried(cores, clock, min(9e4, 80.0 * cores * clock), 1e5, 2e4, 0.5)
        for cores in asked.cores
        for clock in asked.clocks_mhz
    )
    free = CoresTried(0, 0, 9e4, 1e5, 0.0, 0.0)
    return cores_report(CoresFound(asked, "learned:page-map", free, tried))


def trace_page(folder: Path) -> Report:
    return trace_report(
        characterize(RecordedFiles((str(msr_file(folder)),)), window_ns=2 * 10**7), {}
    )


def choice_page(_: Path) -> Report:
    candidates = [
        candidate(name, [base, 1.1 * base, 1.05 * base])
        for name, base in (("sim:x25m", 2e5), ("sim:low-latency", 3e4), ("sim:slc-b", 9e4))
    ]
    asked = Asked("tpc-c", "a scenario of three streams", 0, 3)
    return choice_report(choose(candidates, QUALITIES["latency"]), asked, ())


class _MadeBench:
    """A drive of 8 GiB on which each neighbour makes a workload a little slower."""

    capacity_bytes = 8 * 2**30

    def check(self, group: Group) -> None:
        """Take any."""

    def fit_window(self) -> None:
        """Hold no trace."""

    def try_all(self, groups: Iterable[Group], what: str) -> None:
        """Have tried all."""

    def outcomes(self, group: Group) -> dict[int, Outcome]:
        slow = 1e9 if group.copies > 4 else 1e5 * 1.1 ** len(group.places)
        return {at: outcome(slow, iops=1000.0 * group.copies) for at in group.places}


def placement_page(_: Path) -> Report:
    demands = [demand(name, latency_ns_mean=2e5) for name in ("mail", "shop", "backup", "logs")]
    asked = plan(demands, [Offer("sim:x25m", 4, 50.0, 2.0)], utilisation_at_most=1.0)
    found = place(asked, [cast("Bench", _MadeBench())], rounds=20)
    return placement_report(found, "mine.toml", 0, 1.0)


def timeline_page(_: Path) -> Report:
    with open_drive("sim:x25m") as opened:
        operations, work = opened.timeline("write", 128 << 10)
        table = stages(operations)
        title = describe("write", 128 << 10, len(operations), duration_ns(table))
        figure = timing_diagram(table, title=title, work=work)
        return timeline_report(figure, table, drive=opened.name, condition=opened.condition)


def reproduction_page(_: Path) -> Report:
    claims = tuple(
        Claim(f"time of {pages} pages", 1010.0 * pages, 1000.0 * pages, "ns", 50.0, "printed in us")
        for pages in (1, 4, 16, 64, 256)
    )
    table = Table(
        "table_4",
        ("workload", "published_iops", "iops"),
        (("Rand Write", 944.6, 947.9), ("Rand Read", 4158.0, 4201.7)),
    )
    found = Reproduction("mine2020", "Mine 2020, A paper", (table,), claims, (), ("More.",))
    return reproduction_report(found)


KINDS: dict[str, Callable[[Path], Report]] = {
    "run": run_page,
    "run of a real drive": real_run_page,
    "run without sweeps": short_run_page,
    "comparison": comparison_page,
    "sheets": sheets_page,
    "performance test": performance_test_page,
    "compared sheets": compared_sheets_page,
    "profile": profile_page,
    "firmware": firmware_page,
    "cores": cores_page,
    "trace": trace_page,
    "choice": choice_page,
    "placement": placement_page,
    "timeline": timeline_page,
    "reproduction": reproduction_page,
}
