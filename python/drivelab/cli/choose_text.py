"""A choice between drives as text: ranking, reasons, drives that cannot keep up, costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.choose.candidate import QUALITIES
from drivelab.choose.exhibits import amount_text, quality_text
from drivelab.choose.words import sentence
from drivelab.plain_text import escaped
from drivelab.report.terminal import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.choose.ranking import Choice


def text(answer: Mapping[str, Any], choice: Choice, repetitions: str) -> str:
    """Return the text of a choice, the best drive first.

    Parameters
    ----------
    answer
        What ``--json`` prints, with each text on one line.
    choice
        The choice that the answer was made from.
    repetitions
        Number of measurements of each drive.
    """
    lines = [f"workload     {answer['workload']}"]
    if answer["description"] != answer["workload"]:
        lines.append(f"             {answer['description']}")
    lines += [f"             {note}" for note in answer["notes"]]
    lines += [f"repetitions  {escaped(repetitions)}", ""]
    lines += _ranking(choice)
    # Overloaded drives come first: a drive that cannot keep up is no choice.
    lines += ["", *answer["cautions"], answer["headline"], *_steps(choice)]
    lines += [answer[each] for each in ("differences", "scope") if answer[each]]
    if answer["costs"]:
        lines += ["", *_costs(answer["costs"])]
        lines += ["", answer["cheapest"]] if answer["cheapest"] else []
    written = [answer[name] for name in ("report", "tables", "result") if answer[name]]
    lines += ["", *(f"wrote {name}" for name in written)] if written else []
    return "\n".join(lines)


def _ranking(choice: Choice) -> list[str]:
    heads = ["rank", "drive", *(each.metric.label.lower() for each in QUALITIES.values())]
    rows = [
        [
            rank,
            escaped(one.drive),
            *(quality_text(each, one) for each in QUALITIES.values()),
        ]
        for rank, one in zip(choice.ranks, choice.candidates, strict=True)
    ]
    return aligned([heads, *rows], left=2)


def _steps(choice: Choice) -> list[str]:
    """Yield how each drive compares to the next."""
    return [escaped(sentence(one)) for one in choice.steps()]


def _costs(costs: Sequence[Mapping[str, Any]]) -> list[str]:
    heads = ["drive", "price", "watts", "IOPS per price", "IOPS per watt", "price per TB"]
    keys = ["price", "watts", "iops_per_price", "iops_per_watt", "price_per_terabyte"]
    if costs[0]["rate_iops"] is not None:
        heads += [f"drives for {costs[0]['rate_iops']:,.0f} IOPS", "their price", "their watts"]
        keys += ["drives_for_rate", "price_for_rate", "watts_for_rate"]
    rows = [[str(one["drive"]), *(amount_text(one[key]) for key in keys)] for one in costs]
    return aligned([heads, *rows], left=1)
