"""The results of a choice in sentences: who is ahead, by how much, and what is uncertain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.choose.ranking import shortfall_text
from drivelab.choose.tables import stream_table
from drivelab.drives.lateness import LATE_NS
from drivelab.exhibits import number
from drivelab.exhibits.quantities import latency_text, listed, share_text
from drivelab.units import format_duration_ns
from drivelab.workloads.trace import PLURALS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.choose.candidate import Quality
    from drivelab.choose.costs import Cost
    from drivelab.choose.ranking import Choice, Statement
    from drivelab.choose.settings import Asked
    from drivelab.exhibits import Cell
    from drivelab.student import Interval

#: From here on a factor is easier to read than per cent.
_FACTOR: Final = 2.0
# Few repetitions that scatter widely give an interval without a lower end.
_LEAST_TIMES: Final = 0.01
# A smaller difference is written as "less than 0.1 %".
_LEAST_ADDED: Final = 0.0005


def noun_of(quality: Quality) -> str:
    """Return the name of a quality inside a sentence."""
    return quality.metric.label[0].lower() + quality.metric.label[1:]


def ratio_text(ratio: Interval) -> str:
    """Write a ratio with its interval: ``12 % (11 % to 13 %)``, ``3.2 times (3.1 to 3.3)``.

    Per cent are added to the smaller of the two values: a longer latency, a higher rate.
    """
    ends = [ratio.mean] if ratio.ends is None else [ratio.mean, *ratio.ends]
    is_factor = ratio.mean >= _FACTOR
    said = [_times(end) if is_factor else _added(end) for end in ends]
    unit = " times" if is_factor else ""
    if all(abs(end - 1) < _LEAST_ADDED for end in ends):
        return "less than 0.1 %"
    if len(set(said)) == 1:
        return f"{said[0]}{unit}"
    return f"{said[0]}{unit} ({said[1]} to {said[2]})"


def _times(ratio: float) -> str:
    if ratio < _LEAST_TIMES:
        return f"<{_LEAST_TIMES}"
    return f"{ratio:,.0f}" if ratio >= 99.95 else f"{ratio:#.3g}"


def _added(ratio: float) -> str:
    sign = "-" if ratio < 1 else ""
    return f"{sign}{share_text(abs(ratio - 1))}"


def statement_text(one: Statement) -> str:
    """Write a statement, or that the repetitions do not carry it."""
    noun = noun_of(one.quality)
    if not one.is_carried:
        if one.ratio.ends == (1.0, 1.0):
            return f"{one.better} and {one.worse} have the same {noun}"
        between = f" ({ratio_text(one.ratio)})" if one.ratio.ends else ""
        return f"{one.better} and {one.worse} cannot be told apart by {noun}{between}"
    larger, smaller = one.better, one.worse
    more = "higher"
    if one.quality.is_less_better:
        larger, smaller, more = smaller, larger, "longer"
    by = ratio_text(one.ratio)
    if one.ratio.mean < _FACTOR:
        return f"the {noun} of {larger} is {by} {more} than that of {smaller}"
    times, _, ends = by.partition(" times")
    return f"the {noun} of {larger} is {times} times that of {smaller}{ends}"


def sentence(one: Statement) -> str:
    """Write a statement as a complete sentence."""
    text = statement_text(one)
    return f"{text[0].upper() if text.startswith('the ') else text[0]}{text[1:]}."


def headline(choice: Choice) -> str:
    """Say in one or two sentences which drive is ahead."""
    able = [one for one in choice.candidates if not one.shortfalls]
    if not able:
        if choice.candidates[0].late_ratio is not None:
            return (
                "No drive keeps up with the recorded times; of the first of them the fewest "
                "requests were late."
            )
        return "No drive keeps up with what arrives; the first of them serves the most."
    quality = choice.by
    noun = noun_of(quality)
    if len(able) == 1:
        beside = len(choice.candidates) - 1
        others = "the other one does not" if beside == 1 else "the others do not"
        return f"{able[0].drive} alone keeps up with what arrives; {others}."
    firsts = [
        one.drive for one, rank in zip(choice.candidates, choice.ranks, strict=True) if rank == "1"
    ]
    mean = quality.metric.text(able[0].interval(quality).mean)
    if len(firsts) > 1:
        if all(one.is_exact for one in choice.candidates):
            return f"{listed(firsts)} share the best {noun}, {mean}."
        return (
            f"{listed(firsts)} share the best {noun}, about {mean}: these repetitions do not "
            "show which is better."
        )
    return f"{able[0].drive} has the best {noun}, {mean}."


def lacking_texts(choice: Choice) -> list[str]:
    """Say for each drive that cannot keep up why."""
    return [shortfall_text(one) for one in choice.lacking]


def late_texts(choice: Choice) -> list[str]:
    """Name the drives that are ranked although a small part of a trace was late."""
    return [
        f"{one.drive} sent {share_text(one.late_ratio)} of the requests more than "
        f"{format_duration_ns(LATE_NS)} late. That is little enough for a rank; its slowest "
        "requests may have been slower still."
        for one in choice.candidates
        if one.late_ratio and not one.shortfalls
    ]


def filled_texts(asked: Asked) -> list[str]:
    """Say which part of the drives holds data, if the workload says it."""
    occupancy = asked.occupancy
    if occupancy is None:
        return []
    said = f"By [occupancy] of the scenario {occupancy.describe()}."
    if occupancy.filled < 1:
        said += " On SSDs reads elsewhere find nothing and never reach the flash."
    return [said]


def where_text(choice: Choice) -> str | None:
    """Say in which kinds of requests the drives that keep up differ most, and least.

    ``None`` for a workload with one kind of request.
    """
    able = {one.drive for one in choice.candidates if not one.shortfalls}
    spans: dict[str, tuple[float, float]] = {}
    for row in stream_table(choice).records():
        if row["drive"] in able:
            name = kind_text(row)
            mean = number(row["latency_ns_mean"])
            low, high = spans.get(name, (mean, mean))
            spans[name] = (min(low, mean), max(high, mean))
    if len(spans) < 2 or len(able) < 2:
        return None
    ordered = sorted(spans, key=lambda name: spans[name][1] / max(spans[name][0], 1.0))
    said = [
        f"{name} (mean latency {latency_text(spans[name][0])} to {latency_text(spans[name][1])})"
        for name in (ordered[-1], ordered[0])
    ]
    return f"They differ most in {said[0]}, and least in {said[1]}."


def kind_text(row: Mapping[str, Cell]) -> str:
    """Return the name of the requests in a row of `stream_table`."""
    kind = PLURALS[str(row["operation"])]
    return f"{row['stream']}: {kind}" if row["stream"] else kind


def cheapest_text(costs: Sequence[Cost]) -> str | None:
    """Say with which drive the required rate costs least; ``None`` without a rate."""
    priced = [(one.rate_price, one) for one in costs if one.rate_price is not None]
    if not priced:
        return None
    price, least = min(priced, key=lambda pair: pair[0])
    drives = "one drive" if least.drives == 1 else f"{least.drives} drives"
    return (
        f"{least.rate_iops:,.0f} IOPS cost least with {least.drive}: {drives}, "
        f"{price:,.6g} in all, {least.rate_watts:,.4g} W."
    )
