"""What limits a drive, and where, as a sentence and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Table, Text
from drivelab.exhibits.quantities import NOTHING, latency_text, mre_text, share_text
from drivelab.models.bottleneck import PARTS

if TYPE_CHECKING:
    from drivelab.exhibits import Cell
    from drivelab.models.exhibits.run_data import RunData
    from drivelab.models.limits import Limits

#: What the parts are to people.
WORDS: Final = {
    "path": "the latency of single requests",
    "link": "commands and the link",
    "units": "the units that store data",
}
_HEADS: Final = {
    "path": "Latency of single requests",
    "link": "Commands and link",
    "units": "Units",
}


def limits_sentence(limits: Limits) -> str:
    """Say in a sentence what limits how many of the workloads, with what that part can do.

    A part that limits no workload has costs that nothing determines; it is left out.
    """
    able = {
        "path": f"a random read of 4 KiB alone takes about {latency_text(limits.read_alone_ns)}",
        "link": f"about {_rough(limits.link_bytes_per_second / 1e6)} MB/s at most",
        "units": f"about {_rough(limits.pages_per_second)} random writes of 4 KiB a second at most",
    }
    parts = sorted(PARTS, key=lambda part: -limits.shares[part])
    parts = [
        f"{share_text(limits.shares[part])} by {WORDS[part]} ({able[part]})"
        for part in parts
        if limits.shares[part] >= 0.01
    ]
    return f"What limits the workloads: {', '.join(parts)}."


def what_limits(run: RunData) -> list[Table | Text]:
    """Show which part of the drive limits which workloads; nothing where no model was asked."""
    limits = run.limits
    if limits is None:
        return []
    rows: list[tuple[Cell, ...]] = [
        (words, f"{count:,}", *(_share(shares[part]) for part in PARTS))
        for words, (count, shares) in limits.classes.items()
    ]
    total = sum(count for count, _ in limits.classes.values())
    rows.append(("All", f"{total:,}", *(_share(limits.shares[part]) for part in PARTS)))
    saved = Table(
        "limits",
        ("workloads", "count", *(f"{part}_ratio" for part in PARTS)),
        tuple(
            (words, count, *(shares[part] for part in PARTS))
            for words, (count, shares) in limits.classes.items()
        ),
    )
    return [
        Text((limits_sentence(limits),)),
        Table(
            "limits-table",
            ("Workloads", "Number", *(_HEADS[part] for part in PARTS)),
            tuple(rows),
            right=True,
            note="The share of the workloads that each part of the drive limits, as a formula of "
            "costs fitted to the measurements says it; it is off by "
            f"{mre_text(limits.mre)} on workloads that it has not seen. Units are flash "
            "chips or heads. Numbers of a part that hardly limits are rough.",
            saved=(saved,),
        ),
    ]


def _share(share: float) -> str:
    return share_text(share) if share else NOTHING


def _rough(value: float) -> str:
    """Write a number with the two digits that a fitted cost deserves."""
    return f"{float(f'{value:.2g}'):,.0f}"
