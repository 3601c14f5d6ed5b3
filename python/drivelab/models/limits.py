"""What limits a drive, and where, as the bottleneck model fitted to a run says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.models.bottleneck import Bottleneck
from drivelab.models.evaluate import ModelKey
from drivelab.models.features import PAGE_BYTES, mean_size
from drivelab.models.measured import METRICS
from drivelab.workloads.characteristics import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.models.model import PerformanceModel

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
        Latency of a single random read of 4 KiB.
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
