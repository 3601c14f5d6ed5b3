"""What `drivelab profile` prints."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits import Table
from drivelab.profile.cautions import cautions
from drivelab.profile.sizes import size_text
from drivelab.report.terminal import table_lines
from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.profile.decision import Decision
    from drivelab.profile.profile import Profile
    from drivelab.profile.settings import ProfileSettings

# Number of sizes printed per interval; --json and the files contain all.
_SHOWN_SIZES: Final = 9
# Characters for the answers of a line, after a label of about 22.
_WIDTH: Final = 62


def profile_text(
    found: Profile, plan: ProfileSettings, head: Mapping[str, Any], answers: Sequence[Decision]
) -> str:
    """Return the ratios, what was measured, and whether optimisations pay."""
    lines = _head(found, plan, head)
    lines += ["", *_table(found), ""]
    for direction, ratios in found.ratios.items():
        half_width = ratios.half_width_ratio
        sure = (
            "" if half_width is None else f", 95 % half-width {_half_width_text(half_width)} of it"
        )
        if half_width is not None and plan.missed(half_width):
            sure += f" instead of {100 * plan.half_width_ratio:g} %"
        lines.append(
            f"{direction}s: ratio {ratios.mean:.2f} mean over the sizes, {ratios.least:.2f} least, "
            f"{ratios.most:.2f} most{sure}"
        )
    lines += cautions(found, plan, has_new_file=head["has_new_file"], beside=head["beside"])
    if answers:
        lines += ["", _asked(head), *_answers(answers), *_unsure(found, plan, answers)]
    return "\n".join(lines)


def _half_width_text(half_width: float) -> str:
    percent = 100 * half_width
    return f"{percent:.1f} %" if percent >= 0.1 else "below 0.1 %"


def _head(found: Profile, plan: ProfileSettings, head: Mapping[str, Any]) -> list[str]:
    sizes = sorted({one.whole_pass.request_bytes for one in found.measured})
    what = f"{len(found.measured):,} passes over {size_text(plan.file_bytes)}"
    if plan.share < 1:
        what += f", PARTIAL: at least {100 * plan.share:.3g} % of the file each"
    lines = [
        ("drive", f"{head['drive']} ({head['kind']})"),
        ("file system", head["file_system"] or _unknown(head)),
        ("scheduler", head["scheduler"] or _unknown(head)),
        ("kernel", f"Linux {head['kernel']}" if head["kernel"] else _unknown(head)),
        ("measured", f"{what}, {len(sizes)} of {len(plan.sizes)} sizes"),
        ("drive's time", format_duration_ns(found.measuring_ns)),
    ]
    if head["variability"] in ("on", "off"):
        lines.insert(1, ("variability", head["variability"]))
    width = max(len(label) for label, _ in lines)
    return [f"{label:<{width}}  {text}" for label, text in lines]


def _unknown(head: Mapping[str, Any]) -> str:
    return "none, the drive is simulated" if head["kind"] == "simulated" else "not known"


def _table(found: Profile) -> list[str]:
    """Return the ratios as a table, with measured sizes marked."""
    directions = list(found.ratios)
    sizes = list(found.ratios[directions[0]].by_size)
    measured = {
        direction: set.intersection(*map(set, found.centres[direction].times_ns.values()))
        for direction in directions
    }
    columns = ("size", *itertools.chain(*((f"{each}s ", "95 %") for each in directions)))
    rows: list[tuple[str, ...]] = []
    for size in _shown(sizes, set.union(*measured.values())):
        row = [size_text(size)]
        for direction in directions:
            ratios = found.ratios[direction]
            mark = "*" if size in measured[direction] else " "
            row.append(f"{ratios.by_size[size]:.2f}{mark}")
            bounds = ratios.bounds.get(size)
            row.append("" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}")
        rows.append(tuple(row))
    note = "* measured sequentially and at random; sequential over random throughput"
    if not all(each.issuperset(sizes) for each in measured.values()):
        note += ", estimated at the others"
    return table_lines(Table("ratios", columns, tuple(rows), note=note), left=0)


def _shown(sizes: Sequence[int], measured: set[int]) -> list[int]:
    """Choose sizes to print: powers of two, the ends, and some that were measured."""
    if len(sizes) <= _SHOWN_SIZES:
        return list(sizes)
    powers = {size for size in sizes if size & (size - 1) == 0}
    shown = powers | {sizes[0], sizes[-1]}
    if len(measured) <= _SHOWN_SIZES:
        shown |= measured & set(sizes)
    return sorted(shown)


def _asked(head: Mapping[str, Any]) -> str:
    """Return the cost of the optimisation as it was understood."""
    if head["optimization_ratio"] is not None:
        return f"an optimisation that has to make requests {head['optimization_ratio']:g}x as fast:"
    time_ns = head["optimization_cost_ns"]
    return f"an optimisation that adds {format_duration_ns(time_ns)} to each request:"


def _answers(answers: Sequence[Decision]) -> list[str]:
    from drivelab.profile.decision import spans

    groups = [
        (f"{optimisation} {direction}s", spans(list(group)))
        for (direction, optimisation), group in itertools.groupby(
            answers, lambda one: (one.direction, one.optimisation)
        )
    ]
    width = max(len(label) for label, _ in groups)
    lines = []
    for label, parts in groups:
        begin = f"  {label:<{width}}  "
        for each in _joined([f"{answer} {_span(first, last)}" for answer, first, last in parts]):
            lines.append(begin + each)
            begin = " " * len(begin)
    return lines


def _unsure(found: Profile, plan: ProfileSettings, answers: Sequence[Decision]) -> list[str]:
    """Return what unsure answers depend on, and what makes them surer."""
    from drivelab.profile.decision import open_half_width_ratio

    if all(one.answer != "unsure" for one in answers):
        return []
    width = open_half_width_ratio(answers)
    if math.isinf(width):
        return ["unsure because nothing was repeated"]
    if plan.is_full:
        how = "every size was measured until its time was known within 10 %"
        if found.tests_not_known:
            how += " or --max-repetitions reached"
    elif not plan.is_auto:
        how = "more --points or --repetitions make it narrower"
    elif width <= plan.half_width_ratio:
        how = "a smaller --half-width measures on"
    else:
        how = f"{plan.ended_by} ended it before it was {100 * plan.half_width_ratio:g} %"
    interval = f"the gain's 95 % interval, half-width {100 * width:.1f} %"
    return [f"unsure: {interval}, contains the needed gain;", f"  {how}"]


def _joined(parts: Sequence[str]) -> list[str]:
    """Put as many parts on a line as fit, without breaking one."""
    lines = [""]
    for place, part in enumerate(parts, start=1):
        text = part if place == len(parts) else f"{part};"
        longer = f"{lines[-1]} {text}".lstrip()
        if len(longer) <= _WIDTH or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(text)
    return lines


def _span(first: int, last: int) -> str:
    if first == last:
        return f"at {size_text(first)}"
    return f"from {size_text(first)} to {size_text(last)}"
