"""How long workloads are tried: long enough for the slowest, within the drive's capacity."""

from __future__ import annotations

import pytest
from made_placement import demand

from drivelab.errors import UsageError
from drivelab.place.plan import Bounds, Demand
from drivelab.place.window import refuse_window, window_for
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.side_by_side import Part
from drivelab.workloads.trace import Trace

MIB = 2**20


def arriving(rate_iops: float, size: int) -> Demand:
    part = Part("a", Characteristics(read_size=size), 1024 * MIB, rate_iops=rate_iops)
    return Demand(part, Bounds())


@pytest.mark.parametrize(
    ("demands", "seconds"),
    [
        # The slowest counts 2,000 requests.
        ([arriving(100, 4096), arriving(1000, 4096)], 20.0),
        # But no less than half a second.
        ([arriving(90_000, 4096)], 0.5),
        ([demand("waits", rate_iops=None)], 0.5),
        # All together are 400,000 requests at most, and 4 GiB.
        ([arriving(10, 4096), arriving(39_990, 4096)], 10.0),
        ([arriving(10, MIB), arriving(1014, MIB)], 4.0),
        # A trace is over a tenth after what is counted.
        ([Demand(Part("t", Trace(((0, "read", 0, 512), (2_200_000_000, "read", 0, 512))), MIB),
                 Bounds())], 2.0),
    ],
)  # fmt: skip
def test_how_long_a_measurement_is(demands: list[Demand], seconds: float) -> None:
    window = window_for(demands)
    assert window.seconds == pytest.approx(seconds)
    assert window.warmup_ns == pytest.approx(window.duration_ns / 10, abs=1)


def test_what_is_asked_for_is_taken_unless_a_trace_is_shorter() -> None:
    assert window_for([arriving(1, 4096)], 3.0).seconds == 3.0
    trace = Trace(((0, "read", 0, 512), (1_100_000_000, "read", 0, 512)))
    assert window_for([Demand(Part("t", trace, MIB), Bounds())], 3.0).seconds == pytest.approx(1.0)


def test_a_time_that_was_asked_for_is_not_ended_by_requests() -> None:
    assert window_for([arriving(10, 4096)]).requests == 400_000
    window = window_for([arriving(10, 4096)], 100.0)
    assert window.requests is None
    assert window.for_copies(arriving(10, 4096)).requests == 100_000


def test_the_warm_up_is_short_where_something_waits_for_the_drive() -> None:
    waits = demand("waits", rate_iops=None)
    assert window_for([arriving(0.04, 4096), waits]).warmup_ns == 20_000_000_000
    assert window_for([arriving(100, 4096), waits]).warmup_ns == 2_000_000_000
    assert window_for([arriving(1000, 4096), waits]).warmup_ns == 200_000_000


def test_a_window_within_a_trace_that_is_sent_as_fast_as_the_drive_answers() -> None:
    window = window_for([demand("waits", rate_iops=None)])
    assert window.within(10**12) == window
    short = window.within(110_000_000)
    assert short.duration_ns + short.warmup_ns == pytest.approx(0.95 * 110_000_000, abs=2)


def trace_of(*times_ns: int) -> Demand:
    return Demand(Part("t", Trace(tuple((at, "read", 0, 512) for at in times_ns)), MIB), Bounds())


@pytest.mark.parametrize(
    ("demands", "seconds", "said"),
    [
        # Many requests of another workload.
        ([demand("slow", rate_iops=0.01), demand("fast", rate_iops=20_000.0)], None,
         "workload 'slow' sends about 0.2 requests in the 20.0 s that each measurement counts, "
         "because workload 'fast' sends 20,000 a second; give seconds 1000 or more"),
        # What was asked for.
        ([demand("slow", rate_iops=0.1)], 20.0,
         "workload 'slow' sends about 2 requests in the 20.0 s that each measurement counts, as "
         "seconds says; give seconds 100 or more"),
        # A trace.
        ([demand("slow", rate_iops=1.0), trace_of(0, 2_200_000_000)], 20.0,
         "workload 'slow' sends about 2 requests in the 2.00 s that each measurement counts, "
         "because the trace of workload 't' lasts 2.20 s; name a longer trace or a higher rate"),
        ([demand("slow"), trace_of(0, 0)], None,
         "workload 't': all requests of its trace have one time, so nothing says how fast they "
         'arrive; add speed = "max" to send them as fast as the drive answers'),
        # Beyond the end of simulated time.
        ([demand("fast"), trace_of(0, 10**16)], None,
         "workload 't': its trace lasts 2777 h 46 min at this speed, and a simulated run at most "
         '156 h 22 min; write speed = 18 or more to replay it faster, or speed = "max" to send it '
         "as fast as the drive answers"),
        ([demand("slow", rate_iops=0.001)], None,
         "each measurement lasts 555 h 33 min, because workload 'slow' sends 0.001 requests a "
         "second, and a simulated run at most 156 h 22 min; give seconds 486000 or less"),
        ([demand("fast")], 600_000.0,
         "each measurement lasts 166 h 40 min, as seconds says, and a simulated run at most "
         "156 h 22 min; give seconds 486000 or less"),
    ],
)  # fmt: skip
def test_a_window_in_which_a_workload_cannot_be_judged_is_refused(
    demands: list[Demand], seconds: float | None, said: str
) -> None:
    with pytest.raises(UsageError) as error:
        refuse_window(demands, window_for(demands, seconds))
    assert str(error.value) == said


def test_a_long_trace_is_no_obstacle_if_its_beginning_is_enough() -> None:
    busy = trace_of(*(at * 10**11 for at in range(10_000)))
    refuse_window([busy], window_for([busy], 1000.0))
    with pytest.raises(UsageError, match="its trace lasts 277 h"):
        refuse_window([busy], window_for([busy], 99.0))


def test_of_copies_so_much_is_counted_that_what_waits_has_room() -> None:
    window = window_for([arriving(1000, MIB)])
    assert window.for_copies(arriving(1000, MIB)).requests == 1024
    assert window.for_copies(arriving(1000, 4096)).requests == 100_000


def test_the_mean_size_of_requests() -> None:
    mixed = Characteristics(write_ratio=0.25, read_size=4096, write_size=8192)
    assert Demand(Part("a", mixed, MIB), Bounds()).request_bytes == 5120
    text = (
        '[[stream]]\nname="a"\nrate_iops=300\nrange_bytes=1048576\n'
        '[[stream]]\nname="b"\nrate_iops=100\nread_size_bytes=8192\nrange_bytes=1048576\n'
    )
    assert Demand(Part("a", Scenario(text), MIB), Bounds()).request_bytes == 5120
    trace = Trace(((0, "read", 0, 512), (5, "write", 0, 1536)))
    assert Demand(Part("a", trace, MIB), Bounds()).request_bytes == 1024
