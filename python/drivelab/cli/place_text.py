"""A placement as text: what goes where, what it costs, which limits are met or in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.exhibits.quantities import latency_text, share_text
from drivelab.place.exhibits import bounds_text
from drivelab.place.words import drive_names, obstacle_texts, total_text
from drivelab.plain_text import escaped
from drivelab.report.terminal import aligned
from drivelab.units import format_iops

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.place.placing import Placement, Shared


def text(answer: Mapping[str, Any], placement: Placement) -> str:
    """Return the text of a placement.

    Parameters
    ----------
    answer
        What ``--json`` prints, with each text on one line.
    placement
        The placement that the answer was made from.
    """
    if placement.drives:
        lines = _placed(answer, placement)
    else:
        lines = [answer["headline"], *map(escaped, obstacle_texts(placement))]
    written = [answer[name] for name in ("report", "tables", "result") if answer[name]]
    lines += ["", *(f"wrote {name}" for name in written)] if written else []
    return "\n".join(lines)


def _placed(answer: Mapping[str, Any], placement: Placement) -> list[str]:
    # A broken limit comes before everything else.
    broken = [] if placement.holds else [answer["headline"], *answer["cautions"], ""]
    lines = [*broken, *_workloads(placement), "", *_drives(answer, placement), ""]
    if not broken:
        lines += [answer["headline"], *answer["cautions"]]
    return [*lines, *(answer[each] for each in ("proof", "agreement") if answer[each])]


def _workloads(placement: Placement) -> list[str]:
    plan = placement.plan
    names = drive_names(plan, [each.placed for each in placement.drives])
    rows = [["workload", "mean", "predicted", "99 %", "predicted", "IOPS", "limits"]]
    heads = {}
    for name, each in zip(names, placement.drives, strict=True):
        heads[len(rows)] = escaped(name)
        for at in each.placed.group:
            done, said = each.simulated[at], each.predicted[at]
            rows.append(
                [
                    f"  {escaped(plan.demands[at].name)}",
                    latency_text(done.latency_ns_mean),
                    latency_text(said.latency_ns_mean),
                    latency_text(done.latency_ns_p99),
                    latency_text(said.latency_ns_p99),
                    format_iops(done.iops).removesuffix(" IOPS"),
                    _bounds(each, at, plan.demands[at].bounds.given()),
                ]
            )
    # The name of a drive may be as wide as it is; its workloads are below it.
    lines = []
    for place, line in enumerate(aligned(rows, left=1)):
        lines += [heads[place], line] if place in heads else [line]
    return lines


def _bounds(shared: Shared, at: int, bounds: Mapping[str, float]) -> str:
    """Yield the limits of a workload; a broken one is marked."""
    return bounds_text(shared, at, bounds).removeprefix("met: ")


def _drives(answer: Mapping[str, Any], placement: Placement) -> list[str]:
    rows = [["drive", "price", "watts", "capacity used", "utilisation"]]
    for each in answer["drives"]:
        price, watts = (
            "" if each[key] is None else f"{each[key]:,.6g}" for key in ("price", "watts")
        )
        used = share_text(each["size_bytes"] / each["capacity_bytes"])
        rows.append([each["drive"], price, watts, used, share_text(each["utilisation_ratio"])])
    total = total_text(placement.plan, [each.placed for each in placement.drives])
    return [*aligned(rows, left=1), total]
