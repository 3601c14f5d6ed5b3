"""A choice between drives as text: the ranking, what carries it, who cannot keep up, the costs."""

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
    """Write what was found, the best drive first.

    Parameters
    ----------
    answer
        What ``--json`` prints, each text in one line.
    choice
        Behind it.
    repetitions
        How often each drive was measured.
    """
    lines = [f"workload     {answer['workload']}"]
    if answer["description"] != answer["workload"]:
        lines.append(f"             {answer['description']}")
    lines += [f"             {note}" for note in answer["notes"]]
    lines += [f"repetitions  {escaped(repetitions)}", ""]
    lines += _ranking(choice)
    # Before whoever is ahead: a drive that is overrun is no choice at all.
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
    """Say how each drive stands to the next."""
    return [escaped(sentence(one)) for one in choice.steps()]


def _costs(costs: Sequence[Mapping[str, Any]]) -> list[str]:
    heads = ["drive", "price", "watts", "IOPS per price", "IOPS per watt", "price per TB"]
    keys = ["price", "watts", "iops_per_price", "iops_per_watt", "price_per_terabyte"]
    if costs[0]["rate_iops"] is not None:
        heads += [f"drives for {costs[0]['rate_iops']:,.0f} IOPS", "their price", "their watts"]
        keys += ["drives_for_rate", "price_for_rate", "watts_for_rate"]
    rows = [[str(one["drive"]), *(amount_text(one[key]) for key in keys)] for one in costs]
    return aligned([heads, *rows], left=1)
