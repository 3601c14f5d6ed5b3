"""The warnings about how a run was measured: made-up runs on both sides of each threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from made_run import header, measurement, run_of, workloads

from drivelab.campaign.exhibits.cautions import (
    BUSY,
    FEW_REQUESTS,
    NOISY,
    WIDE,
    Caution,
    figure_cautions,
    measurement_cautions,
)
from drivelab.campaign.exhibits.sweeps import sweep_table
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.models.exhibits.run_data import RunData
from drivelab.store import Failure
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.huang2011_sweeps import sweeps

PER_BATCH = 300


def cautions(run: RunData) -> dict[str, Caution]:
    limits = figure_cautions(run, sweep_table(run.measurements)).values()
    found = [*measurement_cautions(run), *chain.from_iterable(limits)]
    for one in found:
        # Said of simulated drives too.
        assert "measured" not in f"{one.seen} {one.advice}"
        for text in (one.seen, one.advice):
            assert text[0].isupper() or text[0].isdigit()
            assert text.endswith(".")
    return {one.name: one for one in found}


def steady(count: int = 8) -> list[Measurement]:
    return [measurement(place, one) for place, one in enumerate(workloads(count))]


def with_batches(
    one: Measurement,
    means_ns: Sequence[float],
    rates: Sequence[float] | None = None,
    half_width_ratio: float | None = 0.005,
) -> Measurement:
    """Give a measurement batches of these mean latencies and requests a second."""
    ends, now = [], 0
    for rate in rates or [1e5] * len(means_ns):
        now += round(PER_BATCH * 1e9 / rate)
        ends.append(now)
    half_width = None if half_width_ratio is None else half_width_ratio * one.latency_ns_mean
    batches = LatencyBatches(PER_BATCH, tuple(means_ns), tuple(ends), 0.0, half_width)
    return replace(one, batches=batches)


def level(count: int, mean: float) -> list[float]:
    return [mean * (1.005 if place % 2 else 0.995) for place in range(count)]


def as_kind(run: RunData, kind: str) -> RunData:
    described = header(kind=kind)
    described["design"] |= run.header["design"]
    return replace(run, header=described)


def asking(run: RunData, ratio: float) -> RunData:
    plan = run.header["plan"] | {"half_width_ratio": ratio, "max_requests": 400_000}
    return replace(run, header={**run.header, "plan": plan})


def on_preset(run: RunData, preset: dict[str, Any]) -> RunData:
    drive = run.header["drive"]
    drive = {**drive, "identity": {**drive["identity"], "preset": preset}}
    return replace(run, header={**run.header, "drive": drive})


def test_a_steady_run_gives_no_warning() -> None:
    made = [with_batches(one, level(60, 1e6)) for one in steady()]
    assert cautions(run_of(made)) == {}


def test_a_drift_is_unsteady() -> None:
    made = [with_batches(one, level(60, 1e6)) for one in steady()]
    made[3] = with_batches(made[3], [1e6 + 1e4 * place for place in range(60)])
    found = cautions(run_of(made))
    assert list(found) == ["Unsteady"]
    assert found["Unsteady"].seen.startswith("In 1 of 8 workloads the latency was still changing")
    # Thirds of 20: means of places 0 to 19 and of 40 to 59.
    assert "number 3, from 1.09 ms to 1.50 ms" in found["Unsteady"].seen
    assert "--warmup-requests" in found["Unsteady"].advice
    assert "(--warmup)" in cautions(as_kind(run_of(made), "real"))["Unsteady"].advice


def test_a_lasting_step_down_is_throttled_and_not_unsteady() -> None:
    made = [with_batches(one, level(60, 1e6)) for one in steady()]
    rates = [*level(40, 1e5), *level(20, 6e4)]
    made[5] = with_batches(made[5], [1e10 / rate for rate in rates], rates)
    found = cautions(as_kind(run_of(made), "real"))
    assert list(found) == ["Throttled"]
    assert "In 1 of 8 workloads the drive slowed down by 20 % or more" in found["Throttled"].seen
    # 40 batches of 300 requests at 100,000 a second.
    assert "number 5, which lost 40 % of its requests a second after 120 ms" in (
        found["Throttled"].seen
    )
    assert "gets hot" in found["Throttled"].advice
    # Nothing heats up in a simulator.
    simulated = cautions(run_of(made))["Slowed down"].advice
    assert "hot" not in simulated
    assert "Nothing heats up" in simulated


def test_a_slow_decline_is_unsteady_and_not_throttled() -> None:
    rates = [1e5 - 1e3 * place for place in range(60)]
    made = steady()
    made[0] = with_batches(made[0], [1e10 / rate for rate in rates], rates)
    assert list(cautions(run_of(made))) == ["Unsteady"]


@pytest.mark.parametrize(("stopped_by", "seen"), [("half_width", False), ("max_requests", True)])
def test_a_half_width_that_was_asked_for_and_not_reached_is_noisy(
    stopped_by: str, seen: bool
) -> None:
    made = [
        replace(with_batches(one, level(60, 1e6), None, 0.009), stopped_by="half_width")
        for one in steady()
    ]
    made[2] = replace(with_batches(made[2], level(60, 1e6), None, 0.04), stopped_by=stopped_by)
    found = cautions(asking(run_of(made), 0.01))
    assert ("Noisy" in found) == seen
    if seen:
        assert found["Noisy"].seen == (
            "1 of 8 workloads ended before the mean latency was known to within 1.0 % (widest: "
            "number 2, known to within 4.0 %)."
        )
        made[2] = replace(
            with_batches(made[2], level(60, 1e6), None, None), stopped_by="max_requests"
        )
        text = cautions(asking(run_of(made), 0.01))["Noisy"].seen
        assert "in 1 of them not even that can be said" in text


@pytest.mark.parametrize(("ratio", "seen"), [(WIDE * 0.99, False), (WIDE * 1.01, True)])
def test_a_wide_half_width_is_noisy_also_when_none_was_asked_for(ratio: float, seen: bool) -> None:
    made = [with_batches(one, level(60, 1e6), None, ratio) for one in steady()]
    found = cautions(run_of(made))
    assert ("Noisy" in found) == seen
    if seen:
        assert found["Noisy"].seen.startswith("In 8 of 8 workloads the mean latency is known to no")


@pytest.mark.parametrize(("difference", "seen"), [(NOISY * 0.98, False), (NOISY * 1.02, True)])
def test_equal_workloads_that_differ_are_noisy(difference: float, seen: bool) -> None:
    def taking(index: int, mean_ns: float) -> Measurement:
        one = OperationResult(2000, 2000 * 4096, mean_ns, 0, 10**9, {1200: 2000})
        return replace(measurement(index, Characteristics()), read=one)

    # Of two that lie d below and above their mean, each differs from it by d relative to
    # itself: the mean of d / (1 - d) and d / (1 + d) is d / (1 - d^2).
    apart = (math.sqrt(1 + 4 * difference**2) - 1) / (2 * difference)
    made = [taking(0, 1e6 * (1 - apart)), taking(1, 1e6 * (1 + apart)), *steady(8)[2:]]
    found = cautions(run_of(made))
    assert ("Noisy" in found) == seen
    if seen:
        assert "Equal workloads differ from their own mean by 10 %" in found["Noisy"].seen
        assert "(2 runs of 1 workloads)" in found["Noisy"].seen


@pytest.mark.parametrize(("requests", "seen"), [(FEW_REQUESTS, False), (FEW_REQUESTS - 1, True)])
def test_few_requests_are_short(requests: int, seen: bool) -> None:
    made = [*steady(4), measurement(4, Characteristics(queue_depth=2), requests=requests)]
    found = cautions(run_of(made))
    assert ("Short" in found) == seen
    if seen:
        text = "1 of 5 workloads completed fewer than 1,000 requests (number 4)."
        assert found["Short"].seen == text


def queue_sweep(gain: float) -> list[Measurement]:
    """Measure the queue depths of figure 4: throughput at a depth is `gain` at half of it."""
    made = []
    for sweep in sweeps():
        if sweep.figure != 4:
            continue
        for place, workload in enumerate(sweep.workloads):
            iops = 1000 * gain**place
            one = measurement(len(made), workload)
            duration_ns = round(one.requests * 1e9 / iops)
            mean_ns = workload.queue_depth * 1e9 / iops
            parts = {
                name: replace(
                    part, latency_ns_mean=mean_ns, latency_ns_min=0, latency_ns_max=10**12
                )
                for name, part in (("read", one.read), ("write", one.write))
                if part
            }
            made.append(replace(one, duration_ns=duration_ns, **parts))
    return made


@pytest.mark.parametrize(("gain", "seen"), [(1.01, True), (1.12, False)])
def test_a_queue_deeper_than_the_drive_uses_is_saturated(gain: float, seen: bool) -> None:
    found = cautions(run_of(queue_sweep(gain)))
    assert ("Saturated" in found) == seen
    if seen:
        times = "\N{MULTIPLICATION SIGN}"
        # Depth 64 is six doublings from 1.
        assert (
            f"random reads gain less than a tenth beyond queue depth 1 (at 64, 1.06{times} the "
            f"throughput at 60.3{times} the latency); random writes gain"
        ) in found["Saturated"].seen


@pytest.mark.parametrize(("share", "seen"), [(BUSY, True), (BUSY - 0.001, False)])
def test_busy_chips_are_at_their_limit(share: float, seen: bool) -> None:
    made = [replace(one, extra={"die_utilisation_ratio": share}) for one in steady()]
    found = cautions(run_of(made))
    assert ("At its limit" in found) == seen
    if seen:
        assert found["At its limit"].seen == (
            "In 8 of 8 workloads the flash chips were busy 95 % of the time or longer."
        )


def test_failures_and_missing_results_are_reported() -> None:
    run = run_of(steady())
    failed = replace(run, measurements=run.measurements[:6], failures=[Failure(7, "fio hung", "")])
    found = cautions(failed)
    assert found["Failed"].seen == "1 workload failed; number 7: fio hung."
    assert found["Unfinished"].seen == "6 of 8 workloads are done."
    assert list(found) == ["Failed", "Unfinished"]
    assert "Unfinished" not in cautions(replace(failed, measurements=run.measurements[:7]))


@pytest.mark.parametrize(
    ("amplification", "random", "seen"),
    [(1.0, 1.0, True), (1.049, 0.1, True), (1.05, 1.0, False), (1.0, 0.0, False), (13, 1, False)],
)
def test_random_writes_into_spare_blocks_are_bursts(
    amplification: float, random: float, seen: bool
) -> None:
    made = steady()
    writing = [one for one in made if one.write is not None]
    assert len(made) > len(writing) > 0
    for place, one in enumerate(made):
        characteristics = replace(one.characteristics, write_random=random)
        extra = {"write_amplification_ratio": amplification} if one.write else {}
        made[place] = replace(one, workload=characteristics, extra=extra)
    found = cautions(run_of(made))
    assert ("Bursts" in found) is seen
    if seen:
        count = f"In {len(writing)} of {len(writing)} workloads with writes"
        assert found["Bursts"].seen.startswith(count)
        assert found["Bursts"].advice.endswith("`--writes sustained` shows what lasts.")
    lasting = run_of(made)
    plan = {**lasting.header["plan"], "writes": "sustained"}
    lasting = replace(lasting, header={**lasting.header, "plan": plan})
    assert "Bursts" not in cautions(lasting)


@pytest.mark.parametrize(
    ("preset", "random", "seen"),
    [
        ({"kind": "hdd"}, 0.0, True),
        ({"kind": "raid0", "member_preset": {"kind": "hdd"}}, 0.049, True),
        ({"kind": "hdd"}, 0.05, False),
        ({"kind": "ssd"}, 0.0, False),
    ],
)
def test_requests_in_order_stay_in_one_place_of_a_disk(
    preset: dict[str, Any], random: float, seen: bool
) -> None:
    made = steady()
    for place, one in enumerate(made):
        workload = replace(one.characteristics, read_random=random, write_random=random)
        made[place] = replace(one, workload=workload)
    run = on_preset(run_of(made), preset)
    found = cautions(run)
    assert ("One place" in found) is seen
    if seen:
        assert found["One place"].seen.startswith(f"In {len(made)} of {len(made)} workloads")


@pytest.mark.parametrize(
    ("occupancy", "words"),
    [
        (
            {"filled": 0.5, "order": "in_order"},
            "Only 50 % of the drive holds data, at its beginning.",
        ),
        (
            {"filled": 0.9, "order": "random"},
            "Only 90 % of the drive holds data, at random places.",
        ),
        ({"filled": 1.0, "order": "random"}, None),
        (None, None),
    ],
)
@pytest.mark.parametrize("is_array", [False, True])
def test_a_partly_filled_drive_answers_some_reads_without_the_flash(
    occupancy: dict[str, Any] | None, words: str | None, *, is_array: bool
) -> None:
    drive = {"kind": "ssd", "occupancy": occupancy}
    preset = {"kind": "raid0", "member_preset": drive} if is_array else drive
    found = cautions(on_preset(run_of(steady()), preset))
    assert (found["Partly filled"].seen if "Partly filled" in found else None) == words
