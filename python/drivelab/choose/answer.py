"""A choice for programs: the JSON that ``choose --json`` prints and ``result.json`` holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.choose import tables
from drivelab.choose.ranking import UNRANKED
from drivelab.choose.words import (
    cheapest_text,
    filled_texts,
    headline,
    lacking_texts,
    late_texts,
    where_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.choose.costs import Cost
    from drivelab.choose.ranking import Choice
    from drivelab.choose.settings import Asked

LAYOUT: Final = 1


def answer_of(choice: Choice, asked: Asked, costs: Sequence[Cost]) -> dict[str, Any]:
    """Return all results (docs/json-choose.md)."""
    by_drive = {row["drive"]: row for row in tables.drive_table(choice).records()}
    return {
        "kind": "choice",
        "layout": LAYOUT,
        "workload": asked.name,
        "description": asked.description,
        "seed": asked.seed,
        "repetitions": asked.repetitions,
        "notes": list(asked.notes),
        "scope": asked.scope,
        "ranked_by": choice.by.name,
        "headline": headline(choice),
        "differences": where_text(choice),
        "cautions": lacking_texts(choice) + late_texts(choice) + filled_texts(asked),
        "drives": [
            {
                "rank": None if rank == UNRANKED else int(rank),
                **{key: value for key, value in by_drive[one.drive].items() if key != "rank"},
                "keeps_up": not one.shortfalls,
                "late_ratio": one.late_ratio,
                "shortfalls": [
                    {
                        "stream": short.stream,
                        "asked_iops": short.asked_iops,
                        "served_iops": short.served_iops,
                        "late_ratio": short.late_ratio,
                        "late_ns_max": short.late_ns_max,
                    }
                    for short in one.shortfalls
                ],
            }
            for rank, one in zip(choice.ranks, choice.candidates, strict=True)
        ],
        "statements": [
            {**row, "is_carried": bool(row["is_carried"])}
            for row in tables.statement_table(choice).records()
        ],
        "streams": tables.stream_table(choice).records(),
        "costs": tables.cost_table(costs).records(),
        "cheapest": cheapest_text(costs),
    }
