"""What paces of collection do to the slowest requests, and reads beside published tails."""

from __future__ import annotations

from typing import Final

from drivelab.units import format_duration_ns
from validation.document import Section
from validation.tail_table import CASES, PACES, RULES, paced, reads_of

_PERCENT: Final = 99.99
# A review of five drives finds just over 2.5 times the mean for the slowest and less for the other
# drives of flash (docs/tail.md).
_PUBLISHED: Final = 2.5


def tails() -> Section:
    """Compare 99.99th percentiles of paces, and those of reads with published ones."""
    section = Section("Tails of latency", ".venv/bin/python -m validation tails")
    _paces(section)
    _published(section)
    return section


def _paces(section: Section) -> None:
    section.say(
        "`docs/tail.md` describes the drive and the workloads: writes alone, always 32 of them; "
        f"and reads beside writes at two thirds of what it can write. Percentiles are {_PERCENT}."
    )
    every = paced()
    slowest = {
        case: (one.writes.percentile_ns(_PERCENT), one.reads.percentile_ns(_PERCENT))
        for case, one in every.items()
    }
    section.tabulate(
        ("victims", "pace", "writes/s", "programs per write", "writes", "reads beside"),
        [
            (
                victims,
                pace,
                f"{every[victims, pace].alone.iops:,.0f}",
                f"{every[victims, pace].write_amplification_ratio:.2f}",
                *map(format_duration_ns, slowest[victims, pace]),
            )
            for victims in RULES
            for pace in PACES
        ],
    )
    for number, what in enumerate(("writes", "reads beside writes")):
        section.claim(
            f"{what}: for every rule, `adaptive` is below `paced` and `paced` below `whole_block`",
            holds=all(
                slowest[victims, "adaptive"][number]
                < slowest[victims, "paced"][number]
                < slowest[victims, "whole_block"][number]
                for victims in RULES
            ),
        )
    section.claim(
        "for every rule, `adaptive` programs fewest pages for a write, and serves most writes",
        holds=all(
            every[victims, "adaptive"].write_amplification_ratio
            == min(every[victims, pace].write_amplification_ratio for pace in PACES)
            and every[victims, "adaptive"].alone.iops
            == max(every[victims, pace].alone.iops for pace in PACES)
            for victims in RULES
        ),
    )


def _published(section: Section) -> None:
    for case in CASES:
        reads = reads_of(case)
        ratio = reads.percentile_ns(_PERCENT) / reads.latency_ns_mean
        mean = format_duration_ns(reads.latency_ns_mean)
        section.say(
            f"{case.drive}, {case.words}: reads take {mean} on average, and the {_PERCENT}th "
            f"percentile is {ratio:.2f} times that."
        )
        if case.workload.write_ratio == 0:
            section.claim(
                f"{case.drive}: {_PERCENT} % of the reads of a drive that only reads within "
                f"{_PUBLISHED} times the mean, as published; found {ratio:.2f}",
                holds=ratio <= _PUBLISHED,
            )
