"""A search for networks as a kind of run: when it is the same, how far it is, what it exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.runs.columns import Column, Rows
from drivelab.runs.kind import RunKind, Standing
from drivelab.store import damaged

if TYPE_CHECKING:
    from drivelab.store import RunStore


def _standing(store: RunStore) -> Standing:
    workloads = (store.header.get("asked") or {}).get("workloads")
    plan = store.header.get("plan") or {}
    if not isinstance(workloads, list):
        raise damaged(store.path, "what it was asked for is missing")
    last = [one for one in store.measurements() if len(one.get("left_out", ())) == 1]
    return Standing(
        f"networks for {len(workloads)} workloads",
        plan.get("seed"),
        is_complete=len(last) >= len(workloads),
        planned=None,
    )


def _stored_rows(store: RunStore) -> Rows:
    """Give a row a fit: its shape, what was left out, how long it learned."""
    entries = list(store.measurements())
    labels = store.header["asked"]["workloads"]

    def of_shape(name: str) -> list[float]:
        return [float(one["shape"][name]) for one in entries]

    left_out = [" ".join(labels[place] for place in one["left_out"]) for one in entries]
    return Rows(
        (),
        [
            Column("left_out", "text", left_out),
            *(Column(name, "real", of_shape(name)) for name in ("layers", "neurons")),
            Column("learning_rate", "real", of_shape("learning_rate")),
            Column("steps", "integer", [int(one["steps"]) for one in entries]),
        ],
        is_labelled_alone=True,
    )


FIRMWARE_SEARCH: Final = RunKind(
    "firmware evaluate",
    "search for networks",
    one="network",
    many="networks",
    compared=("drive", "asked", "plan"),
    rows=_stored_rows,
    standing=_standing,
)
