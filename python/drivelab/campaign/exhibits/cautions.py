"""Warnings about the measurements of a run, in words.

Each warning says what was seen, what that means and what to do about it. `series` decides what a
single series shows; this module counts the results over a run and writes the sentences. Warnings
about the models are in `drivelab.models.exhibits.cautions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.campaign.exhibits.bursts import FOUND, room_found
from drivelab.campaign.exhibits.series import FEWEST_BATCHES, STEP_SHARE, drift, step_down
from drivelab.campaign.exhibits.sweeps import (
    LATENCY_THROUGHPUT,
    PATTERN_LATENCY,
    QUEUE_DEPTH,
    lines_of,
    saturation,
)
from drivelab.campaign.exhibits.workloads import repeatability
from drivelab.drives.write_pattern import BURST
from drivelab.exhibits import Caution
from drivelab.exhibits.quantities import METRICS, TIMES, latency_text, listed, share_text
from drivelab.units import format_duration_ns
from drivelab.workloads.scenario import Occupancy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drivelab.campaign.exhibits.data import CampaignData
    from drivelab.campaign.exhibits.series import Drift, Step
    from drivelab.drives.measurement import Measurement
    from drivelab.exhibits import Table

#: With fewer requests the mean latency is a rough guess, and its percentiles even more so.
FEW_REQUESTS: Final = 1000
#: A mean with a wider relative half-width is as uncertain as the models that are fitted to it.
WIDE: Final = 0.1
#: If equal workloads differ by more than this, the drive or the machine is noisy.
NOISY: Final = 0.1
#: With a smaller share of random requests a measurement stays near where it began.
IN_ORDER: Final = 0.05
#: From this utilisation on, another stream of requests would find no room.
BUSY: Final = 0.95


def measurement_cautions(run: CampaignData) -> list[Caution]:
    """Return the warnings about all numbers of a run, the most serious first."""
    found = [*_failed(run), *_unfinished(run), *_partly_filled(run)]
    steps = [(one, step) for one in run.measurements if (step := _step(one)) is not None]
    stepped = {one.index for one, _ in steps}
    drifts = [
        (one, moved)
        for one in run.measurements
        if one.index not in stepped and (moved := _drift(one)) is not None
    ]
    found += [*_throttled(run, steps), *_unsteady(run, drifts), *_bursts(run)]
    return [*found, *_repeats(run), *_busy(run)]


def figure_cautions(run: CampaignData, sweeps: Table) -> dict[str, list[Caution]]:
    """Return the warnings about single exhibits, by the exhibit's name.

    Parameters
    ----------
    run
        The run.
    sweeps
        As returned by `drivelab.campaign.exhibits.sweeps.sweep_table`.
    """
    return {
        LATENCY_THROUGHPUT: [*_saturated(sweeps)],
        f"sweep-{PATTERN_LATENCY}": [*_one_place(run)],
        "percentiles": [*_short(run)],
        "workload-table": [*_half_widths(run)],
    }


def _failed(run: CampaignData) -> Iterator[Caution]:
    if run.failures:
        first = run.failures[0]
        yield Caution(
            "Failed",
            f"{_workloads(len(run.failures))} failed; number {first.index}: {first.message}.",
            "Nothing here includes them. The command that started the run tries them again.",
            short=f"{_workloads(len(run.failures))} failed, and are left out.",
        )


def _unfinished(run: CampaignData) -> Iterator[Caution]:
    planned = run.planned
    missing = planned - len(run.measurements) - len(run.failures)
    if missing > 0:
        yield Caution(
            "Unfinished",
            f"{len(run.measurements):,} of {planned:,} workloads are done.",
            "This page shows only those. Run the same command again to continue.",
        )


def _step(measurement: Measurement) -> Step | None:
    batches = measurement.batches
    if batches is None or len(batches.ends_ns) < FEWEST_BATCHES:
        return None
    starts = (0, *batches.ends_ns[:-1])
    spans = [end - start for start, end in zip(starts, batches.ends_ns, strict=True)]
    if min(spans) <= 0:
        return None
    return step_down([batches.requests_per_batch * 1e9 / span for span in spans])


def _throttled(run: CampaignData, steps: Sequence[tuple[Measurement, Step]]) -> Iterator[Caution]:
    if not steps:
        return
    one, step = max(steps, key=lambda item: (item[1].share_lost, -item[0].index))
    assert one.batches is not None  # noqa: S101 - a step was found in them
    after = format_duration_ns(one.batches.ends_ns[step.place - 1])
    seen = (
        f"In {_of(len(steps), run)} the drive slowed down by {share_text(STEP_SHARE)} or more "
        f"at one moment and stayed slow (most: number {one.index}, which lost "
        f"{share_text(step.share_lost)} of its requests a second after {after})."
    )
    name = "Throttled" if run.kind == "real" else "Slowed down"
    if run.kind == "real":
        advice = (
            "A drive does that when it gets hot, or when a fast cache inside it is full. The "
            "mean mixes both speeds; what lasts is the slower one. Cool the drive, or warm up "
            "for longer than it stays fast (--warmup)."
        )
    else:
        advice = (
            "Nothing heats up in a simulation: a buffer filled up or cleaning began while it was "
            "counted. The mean mixes both speeds; what lasts is the slower one. Warm up for "
            "longer (--warmup-requests)."
        )
    short = f"{_of(len(steps), run)} became slower while they were counted, and stayed slow."
    yield Caution(name, seen, advice, short)


def _drift(measurement: Measurement) -> Drift | None:
    return None if measurement.batches is None else drift(measurement.batches.means_ns)


def _unsteady(run: CampaignData, drifts: Sequence[tuple[Measurement, Drift]]) -> Iterator[Caution]:
    if not drifts:
        return
    one, moved = max(
        drifts, key=lambda item: (max(item[1].ratio, 1 / item[1].ratio), -item[0].index)
    )
    option = "--warmup" if run.kind == "real" else "--warmup-requests"
    yield Caution(
        "Unsteady",
        f"In {_of(len(drifts), run)} the latency was still changing while it was counted: the "
        "last third differs from the first by more than a tenth, and by more than chance (most: "
        f"number {one.index}, from {latency_text(moved.first)} to {latency_text(moved.last)}).",
        "The result depends on how long one counts, and the drive may settle elsewhere. Warm up "
        f"for longer ({option}).",
        short=f"In {_of(len(drifts), run)} the latency was still changing while it was counted.",
    )


def _bursts(run: CampaignData) -> Iterator[Caution]:
    if run.header["plan"].get("writes", BURST) != BURST:
        return
    writing = [one for one in run.measurements if one.write is not None]
    rooms = [room_found(one, _preset(run), run.header["plan"]) for one in writing]
    # A drive has only one of these kinds of room.
    room = next((room for room in rooms if room is not None), None)
    if room is not None:
        count = sum(room is not None for room in rooms)
        yield Caution(
            "Bursts",
            f"In {count:,} of {_workloads(len(writing))} with writes, random writes found "
            f"{FOUND[room]}.",
            "They show how the drive takes a burst. When this space is used up, such writes may "
            "become ten times slower and more, and so may reads at the same time. "
            "`--writes sustained` shows what lasts.",
            short=f"Random writes found {FOUND[room]}; what lasts may be ten times slower.",
        )


def _half_widths(run: CampaignData) -> Iterator[Caution]:
    asked = run.header["plan"].get("half_width_ratio")
    if asked is not None:
        wide = [one for one in run.measurements if one.stopped_by != "half_width"]
        goal = f"the mean latency was known to within {share_text(asked)}"
        seen = f"{_of(len(wide), run)} ended before {goal}"
    else:
        wide = [one for one in run.measurements if (one.half_width_ratio or 0) > WIDE]
        seen = (
            f"In {_of(len(wide), run)} the mean latency is known to no better than "
            f"{share_text(WIDE)}"
        )
    if not wide:
        return
    short = f"{seen}."
    known = [(ratio, one.index) for one in wide if (ratio := one.half_width_ratio) is not None]
    if known:
        worst, index = max(known, key=lambda item: (item[0], -item[1]))
        seen += f" (widest: number {index}, known to within {share_text(worst)})"
    unknown = len(wide) - len(known)
    if unknown:
        seen += (
            f"; in {unknown:,} of them not even that can be said, because the latency changes "
            "slowly or there were too few requests"
        )
    is_burst = run.header["plan"].get("burst_ratio") is not None
    burst = " A burst ends before it has used up what was erased." if is_burst else ""
    yield Caution(
        "Noisy",
        f"{seen}.",
        "In 95 of 100 cases the true mean is within that distance. Count for longer (--seconds, "
        f"--requests, --max-requests).{burst}",
        short=short,
    )


def _repeats(run: CampaignData) -> Iterator[Caution]:
    for metric in METRICS:
        repeated = repeatability(run.measurements, metric)
        if repeated and repeated.mean_relative_difference > NOISY:
            difference = share_text(repeated.mean_relative_difference)
            yield Caution(
                "Noisy",
                f"Equal workloads differ from their own mean by {difference} on average in "
                f"{METRICS[metric].label.lower()} ({repeated.measurements} runs of "
                f"{repeated.groups} workloads).",
                "Expect no model to be much more accurate than that. Keep the machine quiet, or "
                "count for longer (--seconds, --requests).",
                short=f"Equal workloads differ from their own mean by {difference} on average.",
            )
            return


def _short(run: CampaignData) -> Iterator[Caution]:
    few = [one.index for one in run.measurements if one.requests < FEW_REQUESTS]
    if few:
        first = f"number {few[0]}" if len(few) == 1 else f"the first is number {few[0]}"
        yield Caution(
            "Short",
            f"{_of(len(few), run)} completed fewer than {FEW_REQUESTS:,} requests ({first}).",
            "Their mean is rough, and the latency of their slowest requests even more so. "
            "Count for longer (--seconds, --requests).",
        )


def _partly_filled(run: CampaignData) -> Iterator[Caution]:
    occupancy = (_preset(run).get("member_preset") or _preset(run)).get("occupancy") or {}
    filled = occupancy.get("filled", 1.0)
    if filled < 1:
        said = Occupancy(filled, occupancy.get("order", ""), steady=False).describe()
        yield Caution(
            "Partly filled",
            f"{said.capitalize()}.",
            "Reads elsewhere find nothing and never reach the flash, so they look faster than "
            "reads of your data. To measure a full drive, set `occupancy.filled` to 1.",
            short=f"{share_text(filled)} of the drive holds data; reads elsewhere skip the flash.",
        )


def _one_place(run: CampaignData) -> Iterator[Caution]:
    # Real drives that report themselves as disks often have other devices underneath.
    if (_preset(run).get("member_preset") or _preset(run)).get("kind") != "hdd":
        return
    in_order = [one for one in run.measurements if _is_in_order(one)]
    if in_order:
        yield Caution(
            "One place",
            f"In {_of(len(in_order), run)} sequential requests began at a random place, and stayed "
            "near it.",
            "The outer tracks of a disk are up to twice as fast as its inner ones, so points of "
            "one curve differ by that too, and half-widths do not show it. Another --seed draws "
            "other places.",
            short=f"In {_of(len(in_order), run)} requests stayed near one place of the disk.",
        )


def _preset(run: CampaignData) -> dict[str, Any]:
    preset = run.header["drive"].get("identity", {}).get("preset")
    return preset if isinstance(preset, dict) else {}


def _is_in_order(one: Measurement) -> bool:
    workload = one.characteristics
    reads = one.read is not None and (workload.read_random or 0) < IN_ORDER
    return reads or (one.write is not None and (workload.write_random or 0) < IN_ORDER)


def _saturated(sweeps: Table) -> Iterator[Caution]:
    parts, depths = [], []
    for line in lines_of(sweeps, QUEUE_DEPTH):
        found = saturation(line)
        if found is not None:
            depths.append(f"{line.label.lower()} beyond queue depth {found.depth:.0f}")
            parts.append(
                f"{line.label.lower()} gain less than a tenth beyond queue depth "
                f"{found.depth:.0f} (at {found.deepest:.0f}, {found.iops_ratio:.2f}{TIMES} the "
                f"throughput at {found.latency_ratio:.3g}{TIMES} the latency)"
            )
    if parts:
        yield Caution(
            "Saturated",
            f"With more requests in flight, {'; '.join(parts)}.",
            "A deeper queue only makes every request wait longer. Do not plan with one, and do "
            "not judge the drive by its latencies there.",
            short=f"Requests only wait longer: {listed(depths)}.",
        )


def _busy(run: CampaignData) -> Iterator[Caution]:
    names = {"die_utilisation_ratio": "flash chips", "channel_utilisation_ratio": "flash channels"}
    percent, workloads = share_text(BUSY), _workloads(len(run.measurements))
    parts = []
    for name, label in names.items():
        count = sum(one.extra.get(name, 0.0) >= BUSY for one in run.measurements)
        if count:
            parts.append(f"in {count:,} of {workloads} the {label} were busy {percent} of the time")
    if parts:
        text = " and ".join(parts)
        yield Caution(
            "At its limit",
            f"{text[0].upper()}{text[1:]} or longer.",
            "The drive itself is the limit there: neither a faster computer nor a deeper queue "
            "would give more.",
        )


def _workloads(count: int) -> str:
    return "1 workload" if count == 1 else f"{count:,} workloads"


def _of(count: int, run: CampaignData) -> str:
    return f"{count:,} of {_workloads(len(run.measurements))}"
