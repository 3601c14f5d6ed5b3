"""What limits a drive, and where, as the bottleneck model fitted to a run says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.exhibits import Table, Text
from drivelab.exhibits.quantities import NOTHING, latency_text, share_text
from drivelab.models.bottleneck import PARTS, Bottleneck
from drivelab.models.evaluate import ModelKey
from drivelab.models.features import PAGE_BYTES, mean_size
from drivelab.models.measured import METRICS
from drivelab.workloads.characteristics import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.exhibits import Cell
    from drivelab.models.exhibits.run_data import RunData
    from drivelab.models.model import PerformanceModel

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
_SMALL: Final = 16 * 1024
_MIXED: Final = (0.25, 0.75)


@dataclass(frozen=True)
class Limits:
    """What limits the workloads that a run trained on.

    Attributes
    ----------
    shares
        By part (`drivelab.models.bottleneck.PARTS`), the share of the workloads that it limits.
    classes
        By class of workloads in words: how many there are, and the shares among them.
    read_alone_ns
        Latency of a random read of 4 KiB by itself.
    link_bytes_per_second
        That the link moves at most.
    pages_per_second
        Random writes of 4 KiB that the units take at most.
    mre
        Cross-validated mean relative error of the bottleneck model's throughput.
    """

    shares: Mapping[str, float]
    classes: Mapping[str, tuple[int, Mapping[str, float]]]
    read_alone_ns: float
    link_bytes_per_second: float
    pages_per_second: float
    mre: float

    def to_json(self) -> dict[str, Any]:
        """Return the shares and costs under names that carry the unit."""
        return {
            "limited_ratio": dict(self.shares),
            "read_alone_ns": self.read_alone_ns,
            "link_bytes_per_second": self.link_bytes_per_second,
            "unit_writes_per_second": self.pages_per_second,
            "mre_ratio": self.mre,
        }


def limits_of(model: PerformanceModel) -> Limits:
    """Ask the bottleneck model of a drive what limits the workloads that it was fitted to."""
    key = ModelKey(METRICS[-1], "extended", "bottleneck")
    fitted = model.predictors[key].surface
    if not isinstance(fitted, Bottleneck):
        raise TypeError("the bottleneck model is another")
    table = model.trained.table
    write = table[:, FIELDS.index("write_ratio")]
    small = mean_size(table) <= _SMALL
    kinds = {
        "Mostly reads": write < _MIXED[0],
        "Reads and writes": (write >= _MIXED[0]) & (write <= _MIXED[1]),
        "Mostly writes": write > _MIXED[1],
    }
    classes = {}
    for words, its in kinds.items():
        for size, chosen in (("up to 16 KiB", small), ("larger", ~small)):
            rows = table[its & chosen]
            if len(rows):
                classes[f"{words}, {size}"] = (len(rows), fitted.limiting(rows))
    alone = ("path_read", "path_read_page", "path_read_random")
    return Limits(
        shares=fitted.limiting(table),
        classes=classes,
        read_alone_ns=float(np.sum([fitted.cost_ns(name) for name in alone])),
        link_bytes_per_second=1e9 * PAGE_BYTES / fitted.cost_ns("link_page"),
        pages_per_second=1e9 / (fitted.cost_ns("unit_write") + fitted.cost_ns("unit_write_random")),
        mre=model.evaluation.cross_validated[key].mre,
    )


def limits_sentence(limits: Limits) -> str:
    """Say in a sentence what limits how many of the workloads, with what that part can do.

    A part that limits none has costs that nothing tells; they are left out.
    """
    able = {
        "path": f"a random read of 4 KiB alone takes about {latency_text(limits.read_alone_ns)}",
        "link": f"about {_rough(limits.link_bytes_per_second / 1e6)} MB/s at most",
        "units": f"about {_rough(limits.pages_per_second)} random writes of 4 KiB a second at most",
    }
    parts = sorted(PARTS, key=lambda part: -limits.shares[part])
    told = [
        f"{share_text(limits.shares[part])} by {WORDS[part]} ({able[part]})"
        for part in parts
        if limits.shares[part] >= 0.01
    ]
    return f"What limits the workloads: {', '.join(told)}."


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
            f"{share_text(limits.mre)} on workloads that it has not seen. Units are flash "
            "chips or heads. Numbers of a part that hardly limits are rough.",
            saved=(saved,),
        ),
    ]


def _share(share: float) -> str:
    return share_text(share) if share else NOTHING


def _rough(value: float) -> str:
    """Write a number with the two digits that a fitted cost deserves."""
    return f"{float(f'{value:.2g}'):,.0f}"
