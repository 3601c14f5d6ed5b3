"""Coughlin et al. 2010, Choosing the Right Solid State Storage Device: figures 1, 2 and 3.

The paper tests seventeen drives, nine with single-level and eight with multi-level cells, and a
15,000 rpm disk, and names none of them. Here seventeen presets represent kinds of drives of that
time; no value was fitted to anything. So single numbers cannot be compared. What the paper says of
all drives is checked on ours:

- figure 1, write saturation: 4 KiB random writes from fresh out of the box, in rounds of a
  minute;
- figure 2, block sizes at 35 % writes, steady after preconditioning;
- figure 3, the same on one drive with three kinds of data.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits import Table
from drivelab.reproduce.claims import Claim, Ordering, Reproduction
from drivelab.reproduce.snia2010_runs import Job, results_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from drivelab.exhibits import Cell
    from drivelab.reproduce.claims import Drawing

REFERENCE: Final = (
    "Coughlin et al. 2010, Choosing the Right Solid State Storage Device: A Case Study of the SNIA "
    "SSSI Performance Test Specification"
)
SLC: Final = tuple(f"slc-{letter}" for letter in "abcdefghi")
MLC: Final = tuple(f"mlc-{letter}" for letter in "abcdefgh")
DISK: Final = "sas-15k"
#: The drive that compresses, which figure 3 needs.
CONTENT_DRIVE: Final = "mlc-c"
CONTENTS: Final = ("zero", "database", "random")

_SETTLED_MINUTES: Final = 700
_FIGURE_1_DRIVES: Final = 8
_LARGE_BYTES: Final = 131072

QUOTED: Final = (
    "The seventeen drives are not named, and no figure has numbers: what is compared are the "
    "paper's sentences.",
    "The queue depth is not given: here 32, in one thread, write cache on, the whole drive.",
    "The mix of figure 3 is not given: here 35 % writes, as in figure 2.",
    "A round of write saturation is a minute. It is judged once twice the capacity has been "
    "written, because a fresh drive is as even as a settled one, or at the end of 24 hours.",
    "mlc-d is a netbook's drive of 2008; the paper's drives were on sale in 2010. It loses more "
    "than any of them: its controller has the memory to map 32 log blocks per plane, a hundredth "
    "of the flash, so emptying a log of random writes merges nearly as many blocks as it has "
    "pages. With all its spare blocks as logs, which would need a memory chip, it would lose 94.5 "
    "%.",
    "Figure 3's drive has a slight peak at 4 KiB with random data, and no strong peak with the "
    "database load. A write of 0.5 KiB first reads the page that it is part of. This extra flash "
    "read for each write costs 7 % of the rate with random data; rounds scatter by 1 %, so that is "
    "not chance. Less than half of the database load's writes reach the flash, so the read is a "
    "larger share, a fifth. But at 4 KiB the database load already reaches the limit of the link, "
    "as zeroes do: 12 us for a command (assumed) and 13.7 us for 4 KiB at 3 Gb/s make 39,000 IOPS. "
    "At 6 Gb/s, with nothing else changed, the database load rises by 20 % from 0.5 to 4 KiB and "
    "has its strong peak there, while random data does not change. That SATA of this drive's time "
    "ran at 3 Gb/s is recalled, and no value is fitted to the figure.",
)

Series = dict[int, float]


@dataclass(frozen=True)
class Study:
    """Everything that was measured.

    Attributes
    ----------
    saturation
        Section of the write saturation result (docs/json-pts.md), by drive.
    blocks
        IOPS at 35 % writes, by drive and block size in bytes.
    contents
        The same for the one drive of figure 3, by kind of data.
    """

    saturation: Mapping[str, Mapping[str, Any]]
    blocks: Mapping[str, Series]
    contents: Mapping[str, Series]


def reproduce(folder: Path | None = None, *, scale: float = 1.0) -> Reproduction:
    """Run both tests on all eighteen drives and compare.

    Parameters
    ----------
    folder
        Folder that stores the runs, so that a stopped reproduction resumes. Without it, nothing is
        stored.
    scale
        Factor for times and capacities; below 1 for a trial.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="drivelab-") as made:
            return reproduction_of(measure(Path(made), scale))
    return reproduction_of(measure(folder / "runs", scale))


def measure(folder: Path, scale: float = 1.0) -> Study:
    """Run every test of the study, or read it if it is there already."""
    drives = (*SLC, *MLC, DISK)
    # The longest jobs first, so that all cores finish at about the same time.
    jobs = [Job("wsat", drive, scale=scale) for drive in drives]
    jobs += [Job("blocks", drive, scale=scale) for drive in drives]
    others = [content for content in CONTENTS if content != "random"]
    jobs += [Job("blocks", CONTENT_DRIVE, content, scale) for content in others]
    results = results_of(jobs, folder)

    def series(drive: str, content: str = "random") -> Series:
        (section,) = results[Job("blocks", drive, content, scale)]["sections"]
        return {cell["block_bytes"]: cell["iops_mean"] for cell in section["cells"]}

    return Study(
        {drive: results[Job("wsat", drive, scale=scale)]["sections"][0] for drive in drives},
        {drive: series(drive) for drive in drives},
        {content: series(CONTENT_DRIVE, content) for content in CONTENTS},
    )


def reproduction_of(study: Study) -> Reproduction:
    """Compare what was measured with what the paper says."""
    tables = (_saturation_table(study), _blocks_table(study), _contents_table(study))
    return Reproduction(
        paper="snia2010",
        reference=REFERENCE,
        tables=tables,
        claims=(*_saturation_claims(study), *_content_claims(study)),
        orderings=tuple(_orderings(study)),
        quoted=QUOTED,
        drawings=_drawings(study),
    )


def lost_percent(section: Mapping[str, Any]) -> float:
    """Return how much of the first minute's throughput write saturation takes, in per cent."""
    iops = section["minutes"]["iops"]
    # A drive that did not settle is judged by its state at the end.
    last = section["settled_iops"]
    if last is None:
        last = sum(iops[-10:]) / len(iops[-10:])
    return 100.0 * (1.0 - float(last) / float(section["fresh_iops"]))


def peak_bytes(series: Mapping[int, float]) -> int:
    """Return the block size with the highest IOPS; the smallest if several are equal."""
    return min(series, key=lambda size: (-series[size], size))


def _saturation_table(study: Study) -> Table:
    rows = []
    for drive, section in study.saturation.items():
        settled = section["steady_after_minutes"]
        rows.append(
            (
                drive,
                float(section["fresh_iops"]),
                float(section["minutes"]["iops"][-1]),
                lost_percent(section),
                "" if settled is None else settled,
                float(section["drive_fills"]),
            )
        )
    columns = (
        "drive",
        "fresh_iops",
        "last_iops",
        "lost_percent",
        "settled_after_minutes",
        "drive_fills",
    )
    return Table(name="figure_1", columns=columns, rows=tuple(rows))


def _blocks_table(study: Study) -> Table:
    return _series_table("figure_2", "drive", study.blocks)


def _contents_table(study: Study) -> Table:
    return _series_table("figure_3", "content", study.contents)


def _series_table(name: str, of: str, series: Mapping[str, Series]) -> Table:
    sizes = sorted(next(iter(series.values())))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (key, *(values[size] for size in sizes)) for key, values in series.items()
    )
    return Table(name=name, columns=(of, *(f"{s / 1024:g}_kib_iops" for s in sizes)), rows=rows)


def _saturation_claims(study: Study) -> list[Claim]:
    claims = [
        Claim(
            name=f"figure 1, {drive}: lost by write saturation",
            ours=lost_percent(study.saturation[drive]),
            published=70.0,
            unit="%",
            tolerance=25.0,
            reason="the paper's drives lost 45 to 95 %",
        )
        for drive in (*SLC, *MLC)
    ]
    claims.append(
        Claim(
            name=f"figure 1, {DISK}: lost by writing",
            ours=lost_percent(study.saturation[DISK]),
            published=0.0,
            unit="%",
            tolerance=5.0,
            reason="a disk does not change; 5 % is what the paper's rule lets rounds differ by",
        )
    )
    return claims


def _content_claims(study: Study) -> list[Claim]:
    random, database = study.contents["random"], study.contents["database"]
    return [
        Claim(
            name="figure 3: where the database load's IOPS peak",
            ours=peak_bytes(database) / 1024,
            published=4.0,
            unit="KiB",
            tolerance=0.0,
            reason="the paper: a strong peak at 4 KiB",
        ),
        Claim(
            name="figure 3: random data's highest IOPS over those of its smallest block",
            ours=max(random.values()) / random[min(random)],
            published=1.0,
            unit="",
            tolerance=0.05,
            reason="the paper: random data peaks at no block size; 5 % is what it lets rounds of "
            "one stimulus differ by",
        ),
    ]


def _orderings(study: Study) -> list[Ordering]:
    """Compare counts of drives with the largest count that would not satisfy the paper's words."""
    ssds = (*SLC, *MLC)
    after = [study.saturation[drive]["steady_after_minutes"] for drive in ssds]
    in_time = sum(minutes is not None and minutes <= _SETTLED_MINUTES for minutes in after)
    peaks = [peak_bytes(study.blocks[drive]) for drive in ssds]
    disk = study.blocks[DISK]
    large = [size for size in disk if size >= _LARGE_BYTES]
    behind = sum(any(study.blocks[drive][size] < disk[size] for size in large) for drive in ssds)
    ahead = sum(study.blocks[drive][4096] > disk[4096] for drive in ssds)
    random, database = study.contents["random"], study.contents["database"]
    few, half = 0.6 * len(ssds), 0.5 * len(ssds)
    return [
        Ordering(
            f"figure 1: SSDs settled within {_SETTLED_MINUTES} minutes, above 60 %",
            few,
            in_time,
            "",
            "the paper: typically less than 700 minutes",
        ),
        Ordering(
            "figure 2: SSDs whose IOPS peak at 4 to 8 KiB, above half",
            half,
            sum(peak in (4096, 8192) for peak in peaks),
            "",
            "the paper: most of the drives",
        ),
        Ordering(
            f"figure 2: SSDs behind {DISK} at 128 KiB or more, above none",
            0.0,
            behind,
            "",
            "the paper: not better under all workloads, especially with large blocks",
        ),
        Ordering(
            f"figure 2: SSDs ahead of {DISK} at 4 KiB, above half",
            half,
            ahead,
            "",
            "the paper: in general better than the disk",
        ),
        Ordering(
            "figure 3: random data's rise from its smallest block to 4 KiB, below database's",
            random[4096] / random[min(random)],
            database[4096] / database[min(database)],
            "",
            "the paper: a strong peak with the database load, none with random data",
        ),
        Ordering(
            "figure 3: the highest of random data, below database at 4 KiB",
            max(random.values()),
            database[4096],
            "IOPS",
            "the paper: much higher with the database load",
        ),
    ]


def _drawings(study: Study) -> dict[str, Drawing]:
    from drivelab.reproduce import snia2010_figures as figures

    def of(draw: Callable[..., str], *what: Any) -> Drawing:
        return lambda: draw(*what)

    return {
        "figure_1.svg": of(figures.saturation, study.saturation, _shown(study)),
        "figure_2.svg": of(figures.block_sizes, study.blocks, (SLC, MLC, (DISK,))),
        "figure_3.svg": of(figures.contents, study.contents, CONTENT_DRIVE),
    }


def _shown(study: Study) -> Sequence[str]:
    """Choose eight SSDs for figure 1, evenly over what they lose, and the disk."""
    ordered = sorted((*SLC, *MLC), key=lambda drive: lost_percent(study.saturation[drive]))
    steps = (len(ordered) - 1) / (_FIGURE_1_DRIVES - 1)
    return [*(ordered[round(steps * place)] for place in range(_FIGURE_1_DRIVES)), DISK]
