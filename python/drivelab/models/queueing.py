"""The queueing model: a closed loop of requests over a link, a buffer and parallel units.

The core replays a few hundred requests of a workload (`crates/queueing`) at their real addresses,
on a drive with a `Layout`, which is a few counts and switches, and fifteen costs::

    path_read, path_write               after a read's data; after a write is in the buffer
    link_read, link_write               a command;   link_read_page, link_write_page   4 KiB
    channel                             a page on its way to or from a unit
        read, read_again                    a page; one that the previous read ended in
        program, program_again              a page; one that the previous write ended in
        partial, program_random             extra for a partly written page; for a random write
        read_waits                          for a running program, if reads go first
        merge                               a block whose log block is needed for another

and two factors for slower programs under small and under large random writes. They describe a
settled drive, in which garbage collection follows every program.

Where requests wait for rare long work, such as a collection, the mean of a few hundred is off by
several per cent. So more are replayed, until the standard error of the mean is 0.5 %, at most
sixteen times as many. `drivelab.models.queueing_search` finds layout and costs. Kriging sees the
costs that take the time, and their shares.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np

from drivelab import _core
from drivelab.checked_json import Node
from drivelab.models.features import FloatArray
from drivelab.models.work import kinds_of_writing
from drivelab.workloads.characteristics import FIELDS

#: The costs, in the order of the core.
OF_CORE: Final = (
    *("path_read", "path_write", "link_read", "link_write", "link_read_page", "link_write_page"),
    *("channel", "read", "read_again", "program", "program_again", "partial", "program_random"),
    *("read_waits", "merge"),
)
#: Factors for programs in a drive that had random writes for long, in small and in large pieces;
#: and the core's costs that they apply to.
FACTORS: Final = ("small_anywhere", "large_anywhere")
LENGTHENED: Final = ("program", "program_again")
_PLACES: Final = [OF_CORE.index(name) for name in LENGTHENED]
#: What is fitted: the costs, and the two factors.
COSTS: Final = (*OF_CORE, *FACTORS)
_COLUMN: Final = {name: number for number, name in enumerate(FIELDS)}
#: Approximate number of replayed requests where no single answer must be exact, or where only its
#: distance from another answer is asked for.
FEW_REQUESTS: Final = 384
# How often this is doubled at most where requests wait for rare long work.
_DOUBLINGS: Final = 4
# How many answers a model remembers. Cross-validation asks for the same ones in every fold.
_REMEMBERED: Final = 20_000


@dataclass(frozen=True)
class Layout:
    """The structure of a drive, as `drivelab._core.replay_loops` takes it.

    Attributes
    ----------
    units
        That work at the same time, of all members.
    page_bytes
        Consecutive bytes on one unit, read and written as a whole.
    members
        Of an array, each with a link and a buffer.
    buffer_pages
        That wait for their program.
    channels
        Ways to the units; 0 where none is shared.
    writes_in_turn
        Whether a page that is written goes to the next unit, wherever its address is.
    reads_first
        Whether reads pass programs.
    merges
        Whether what is written to a page again costs no further place in the buffer.
    caches_reads
        Whether a page that is read again needs no unit.
    reads_ahead
        Whether reads in order begin before they are asked for.
    duplex
        Whether data crosses the link both ways at once.
    log_blocks
        Of a unit, in a drive that maps whole blocks; 0 where pages are mapped one by one.
    block_pages
        Pages of a block.
    """

    units: int = 16
    page_bytes: int = 4096
    members: int = 1
    buffer_pages: int = 64
    channels: int = 0
    writes_in_turn: bool = False
    reads_first: bool = False
    merges: bool = False
    caches_reads: bool = False
    reads_ahead: bool = False
    duplex: bool = False
    log_blocks: int = 0
    block_pages: int = 64


# What the core replays, far beyond any drive; a stranger question is answered like the nearest.
_LEAST: Final = np.array([512.0 if name.endswith("_size") else 0.0 for name in FIELDS])
_MOST: Final = np.array(
    [1e9 if name == "queue_depth" else 1e12 if "_s" in name else 1.0 for name in FIELDS]
)
#: Values that are tried for each count and switch.
TRIED: Final[dict[str, tuple[int, ...] | tuple[bool, ...]]] = {
    "page_bytes": (4096, 8192, 16384, 32768),
    "units": (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64),
    "members": (1, 2, 4),
    "reads_first": (False, True),
    "writes_in_turn": (False, True),
    "channels": (0, 2, 4, 8, 16),
    "buffer_pages": (0, 16, 64, 256, 1024),
    "caches_reads": (False, True),
    "reads_ahead": (False, True),
    "merges": (False, True),
    "duplex": (False, True),
}
#: The same for the log blocks of a drive that maps whole blocks, which hardly any does.
TRIED_LOGS: Final[dict[str, tuple[int, ...]]] = {
    "log_blocks": (0, 1, 2, 4, 8, 16),
    "block_pages": (16, 32, 64, 128, 256),
}


@dataclass(frozen=True)
class Queueing:
    """A fitted loop.

    Attributes
    ----------
    layout
        The likeliest of those tried.
    parameters
        Logarithms of the costs in ns, in the order of `COSTS`.
    told
        The costs whose share of the time varied between the workloads of the fit.
    """

    layout: Layout
    parameters: FloatArray
    told: tuple[str, ...] = COSTS
    _known: dict[tuple[int | None, bytes], FloatArray] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def inputs(self, table: FloatArray, requests: int | None = None) -> FloatArray:
        """Return the logarithm of latency over queue depth in ns, then shares, shape (n, 1 + k)."""
        places = [0, *(1 + COSTS.index(name) for name in self.told)]
        return self._replayed(table, requests)[:, places]

    def time(self, table: FloatArray, requests: int | None = None) -> FloatArray:
        """Return the logarithm of latency over queue depth in ns, shape (n,)."""
        return self._replayed(table, requests)[:, 0]

    def _replayed(self, table: FloatArray, requests: int | None) -> FloatArray:
        """Return the logarithm of each time, and each cost's share of it, shape (n, 17)."""
        keys = [(requests, row.tobytes()) for row in table]
        answers = [self._known.get(key) for key in keys]
        places = [place for place, answer in enumerate(answers) if answer is None]
        if places:
            found = replayed(table[places], self.layout, self.parameters, requests)
            for place, answer in zip(places, np.column_stack(found), strict=True):
                answers[place] = answer
                if len(self._known) < _REMEMBERED:
                    self._known[keys[place]] = answer
        return np.array(answers, dtype=float).reshape(-1, 1 + len(COSTS))

    def latency_ns(self, table: FloatArray) -> FloatArray:
        """Return the mean latency of closed loops in ns, shape (n,)."""
        latency: FloatArray = np.exp(self.time(table)) * table[:, _COLUMN["queue_depth"]]
        return latency

    def costs_of(self, table: FloatArray) -> FloatArray:
        """Return the core's costs in ns for each workload, by how it writes, shape (n, 15)."""
        kinds = kinds_of_writing(table)
        return np.array([_costs_ns(self.parameters, int(kind)) for kind in kinds])

    def with_lone_writes(self, costs: FloatArray, lone: tuple[float, float] | None) -> FloatArray:
        """Return `costs_of` with those of a write up to the buffer as they were seen.

        Parameters
        ----------
        costs
            Shape (n, 15).
        lone
            Time of a write that does not wait: ns, and ns for each 4 KiB.
        """
        if lone is None or not self.layout.buffer_pages:
            return costs
        ns, per_page = lone
        link, page, path = (
            OF_CORE.index(name) for name in ("link_write", "link_write_page", "path_write")
        )
        seen = costs.copy()
        seen[:, link] = np.minimum(self.cost_ns("link_write"), ns)
        # Large writes, which the slope is of, are shared by the links of all members.
        seen[:, page] = per_page * self.layout.members
        seen[:, path] = ns - seen[:, link]
        return seen

    def cost_ns(self, name: str) -> float:
        """Return a cost, one of `COSTS`, in ns."""
        return float(np.exp(self.parameters[COSTS.index(name)]))

    def to_json(self) -> dict[str, Any]:
        """Return the layout, the costs and which of them carry information."""
        return {
            "layout": dataclasses.asdict(self.layout),
            "parameters": dict(zip(COSTS, self.parameters.tolist(), strict=True)),
            "told": list(self.told),
        }

    @classmethod
    def from_json(cls, node: Node) -> Self:
        """Read what `to_json` gave."""
        layout = node.of("layout")
        found: dict[str, Any] = {}
        for name, tried in (TRIED | TRIED_LOGS).items():
            value = layout.of(name)
            found[name] = value.boolean() if tried[0] is False else value.integer(0, max(tried))
            if found[name] not in tried:
                value.refuse("one that is tried")
        if found["units"] % found["members"]:
            layout.of("members").refuse("a divisor of the units")
        parameters = node.of("parameters")
        values = np.array([parameters.of(name).number() for name in COSTS])
        if not (np.abs(values) <= 100).all():
            parameters.refuse("logarithms of costs, from -100 to 100")
        told = tuple(item.choice(COSTS) for item in node.of("told").items())
        if told != tuple(name for name in COSTS if name in told):
            node.of("told").refuse("costs in their order, each once")
        return cls(Layout(**found), values, told)


def replayed(
    table: FloatArray, layout: Layout, parameters: FloatArray, requests: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the logarithm of the time of each workload, and each cost's share of it.

    Parameters
    ----------
    table
        Workloads in effect, shape (n, 8).
    layout, parameters
        The drive.
    requests
        About how many are replayed of each workload; None for as many as its mean needs.
    """
    length = (FEW_REQUESTS, _DOUBLINGS) if requests is None else (requests, 0)
    time, shares = np.empty(len(table)), np.zeros((len(table), len(COSTS)))
    kinds = kinds_of_writing(table)
    for kind in np.unique(kinds):
        rows = kinds == kind
        costs = _costs_ns(parameters, int(kind))
        replayed_rows = _core.replay_loops(
            np.clip(table[rows], _LEAST, _MOST),
            dataclasses.asdict(layout),
            costs.tolist(),
            *length,
        )
        found = np.frombuffer(replayed_rows).reshape(-1, 1 + len(OF_CORE))
        time[rows] = np.maximum(found[:, 0], 1e-3)
        shares[rows, : len(OF_CORE)] = found[:, 1:] * costs / time[rows, np.newaxis]
        if kind:
            shares[rows, len(OF_CORE) + kind - 1] = shares[np.ix_(rows, _PLACES)].sum(axis=1)
    return np.log(time), shares


def _costs_ns(parameters: FloatArray, kind: int) -> FloatArray:
    """Return the core's costs for a kind of writing."""
    costs: FloatArray = np.exp(parameters[: len(OF_CORE)])
    if kind:
        costs[_PLACES] *= np.exp(parameters[len(OF_CORE) + kind - 1])
    return costs
