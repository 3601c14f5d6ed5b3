"""The stages of flash operations: when dispatch, channels and flash units work.

A stage is ``dispatch``, ``register`` (the transfer over the channel) or ``cell``. Between stages an
operation may wait: ``wait_unit`` until its unit has finished an earlier operation or has the data
of all pages that it programs together; ``wait_channel`` while another transfer uses the channel;
``wait_operation`` for the data of another operation. With in-order dispatch, the operation at the
head waits before its dispatch (t_wait of Yoo et al. 2014, equation 3). If each unit has a queue, it
waits after its dispatch.
unit has a queue, behind it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drivelab._core import CoreWork

    Operation = Mapping[str, Any]
    Span = tuple[str, int, int]

COLUMNS: Final = (
    "operation",
    "kind",
    "cause",
    "stream",
    "page",
    "channel",
    "way",
    "die",
    "plane",
    "unit",
    "stage",
    "start_ns",
    "end_ns",
)
_IDENTITY: Final = COLUMNS[1:10]
# The order of the stages after dispatch, by kind of operation.
_PATHS: Final = {
    "read": ("cell", "register"),
    "program": ("register", "cell"),
    "erase": ("cell",),
}
# The native core names a stage by what happens in it: data crosses to or from the register.
_NATIVE_NAMES: Final = {"dispatch": "dispatch", "register": "transfer", "cell": "cell"}


def stages(operations: Sequence[Operation], span: tuple[int, int] | None = None) -> Table:
    """Return one row for each stage and each wait of non-zero length, operation by operation.

    Parameters
    ----------
    operations
        As `drivelab._core.SimulatedDrive.record_timeline` returns them: in the order of dispatch,
        each with its place and the start and end of every stage in ns.
    span
        Start and end of a part of a longer run, in ns; `operations` then includes all that are
        under way in it. Only rows inside the part are returned. An operation that waits for one
        outside is shown as waiting for its unit. Without a span, `operations` is everything.
    """
    transfer_ends = {
        (operation["channel"], operation["transfer_end_ns"]) for operation in operations
    }
    before_ns = _unit_free(operations)
    dispatch_free_ns: int | None = None
    rows = []
    for ordinal, operation in enumerate(operations):
        free_ns = before_ns.get(ordinal)
        if free_ns is None:
            free_ns = 0 if span is None else _span(operation, _PATHS[operation["kind"]][0])[0]
        spans = [
            *_waits_for_dispatch(operation, dispatch_free_ns, free_ns),
            *_passage(operation, free_ns, transfer_ends),
        ]
        identity = tuple(operation[name] for name in _IDENTITY)
        rows += [(ordinal, *identity, *one) for one in spans if _lasts(one, span)]
        dispatch_free_ns = max(dispatch_free_ns or 0, operation["dispatch_end_ns"])
    return Table(name="timeline", columns=COLUMNS, rows=tuple(rows))


def core_work(work: Sequence[CoreWork]) -> list[dict[str, Any]]:
    """Return the work of the cores as ``--json`` prints it (docs/json-measure.md)."""
    return [
        {
            "core": core,
            "cause": "host" if is_for_host else "drive",
            "start_ns": start_ns,
            "end_ns": end_ns,
        }
        for core, is_for_host, start_ns, end_ns in work
    ]


def _lasts(one: Span, span: tuple[int, int] | None) -> bool:
    _, start_ns, end_ns = one
    inside = span is None or (end_ns > span[0] and start_ns < span[1])
    return start_ns < end_ns and inside


def _unit_free(operations: Sequence[Operation]) -> dict[int, int]:
    """Return for each operation, by number, when its unit had finished all earlier ones."""
    by_unit: dict[int, list[tuple[int, int]]] = {}
    for ordinal, operation in enumerate(operations):
        start_ns, _ = _span(operation, _PATHS[operation["kind"]][0])
        by_unit.setdefault(operation["unit"], []).append((start_ns, ordinal))
    free_ns = {}
    for served in by_unit.values():
        served.sort()
        latest = 0
        for (_, earlier), (_, ordinal) in itertools.pairwise(served):
            path = _PATHS[operations[earlier]["kind"]]
            latest = max(latest, *(_span(operations[earlier], stage)[1] for stage in path))
            free_ns[ordinal] = latest
    return free_ns


def duration_ns(table: Table) -> int:
    """Return the end of the last stage, in ns after the request's arrival."""
    place = COLUMNS.index("end_ns")
    return max((int(row[place] or 0) for row in table.rows), default=0)


def _span(operation: Operation, stage: str) -> tuple[int, int]:
    name = _NATIVE_NAMES[stage]
    return operation[f"{name}_start_ns"], operation[f"{name}_end_ns"]


def _waits_for_dispatch(
    operation: Operation, dispatch_free_ns: int | None, unit_free_ns: int
) -> Iterator[Span]:
    # The operation at the head started when its unit became free, after dispatch was ready.
    start_ns, _ = _span(operation, "dispatch")
    if dispatch_free_ns is not None and dispatch_free_ns < start_ns == unit_free_ns:
        yield "wait_unit", dispatch_free_ns, start_ns


def _passage(
    operation: Operation, unit_free_ns: int, transfer_ends: set[tuple[int, int]]
) -> Iterator[Span]:
    start_ns, at_ns = _span(operation, "dispatch")
    yield "dispatch", start_ns, at_ns
    path = _PATHS[operation["kind"]]
    # A unit that handles several operations is not free when it accepts the next one.
    unit_free_ns = min(unit_free_ns, _span(operation, path[0])[0])
    if unit_free_ns > at_ns:
        yield "wait_unit", at_ns, unit_free_ns
        at_ns = unit_free_ns
    for stage in path:
        start_ns, end_ns = _span(operation, stage)
        behind_transfer = (operation["channel"], start_ns) in transfer_ends
        wait = "wait_channel" if behind_transfer else "wait_operation"
        if (operation["kind"], stage) == ("program", "cell"):
            # Its data is in the unit, but the cell array works on another operation or awaits more
            # data.
            wait = "wait_unit"
        yield wait, at_ns, start_ns
        yield stage, start_ns, end_ns
        at_ns = end_ns
