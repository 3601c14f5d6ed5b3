"""A simulated drive whose steps continue from each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab.drives.measurement import Measurement
from drivelab.drives.session import StepPlan
from drivelab.drives.sessions import open_session
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.simulated.session import SimulatedSession
from drivelab.errors import RunError, UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus
from drivelab.workloads.trace import Trace
from drivelab.workloads.whole_pass import WholePass

SMALL = f"sim:{Path(__file__).parents[3] / 'small_drive.toml'}"
MIB = 1 << 20


def stimulus(read_ratio: float = 0.0, **others: object) -> Stimulus:
    return Stimulus.of_size(4096, read_ratio, 2048 * MIB, **others)


def opened(name: str, seed: int = 0) -> SimulatedSession:
    return SimulatedDrive.open(name).session(seed=seed)


@pytest.fixture
def session() -> SimulatedSession:
    return opened(SMALL, seed=5)


def test_steps_wear_a_purged_drive_down_and_a_purge_makes_it_new(session: SimulatedSession) -> None:
    assert session.purge().outcome == "done"
    fresh = session.run(Stimuli((stimulus(queue_depth=32),)), StepPlan(seconds=10), 0)
    # Until the whole drive and its spare blocks are written, nothing is collected.
    filled = session.run(
        Stimuli((stimulus(queue_depth=32),)), StepPlan(total_bytes=16 * 2048 * MIB), 1
    )
    used = session.run(Stimuli((stimulus(queue_depth=32),)), StepPlan(seconds=10), 2)
    assert fresh.extra["write_amplification_ratio"] == 1.0
    assert used.extra["write_amplification_ratio"] > 1.01
    assert used.iops < fresh.iops
    assert filled.requests == 16 * 2048 * MIB // 4096
    session.purge()
    assert session.run(Stimuli((stimulus(queue_depth=32),)), StepPlan(seconds=10), 0) == fresh


def test_the_same_steps_give_the_same_results_from_a_saved_state(session: SimulatedSession) -> None:
    session.purge()
    session.run(Stimuli((stimulus(),)), StepPlan(seconds=1), 0)
    state = session.save_state()
    expected = session.run(Stimuli((stimulus(0.5),)), StepPlan(seconds=1), 1)
    other = opened(SMALL, seed=5)
    other.load_state(state)
    assert other.run(Stimuli((stimulus(0.5),)), StepPlan(seconds=1), 1) == expected
    other.load_state(state)
    assert other.run(Stimuli((stimulus(0.5),)), StepPlan(seconds=1), 2) != expected
    with pytest.raises(UsageError, match="damaged"):
        other.load_state(state[:-3] + b"xyz")


def test_a_step_is_written_as_json_and_read_back(session: SimulatedSession) -> None:
    result = session.run(Stimuli((stimulus(0.65),)), StepPlan(seconds=0.5), 0)
    assert Measurement.from_json(result.to_json()) == result
    assert result.duration_ns == 500_000_000
    assert result.read is not None
    assert result.read.requests / result.requests == pytest.approx(0.65, abs=0.01)
    assert result.bytes == 4096 * result.requests


def test_streams_at_the_same_time_share_the_drive(session: SimulatedSession) -> None:
    pages = stimulus(0.5, queue_depth=8)
    log = Stimulus.of_size(
        8192, 0.0, 64 * MIB, range_start_bytes=1024 * MIB, is_random=False, threads=2
    )
    session.purge()
    before = session.save_state()
    both = session.run(Stimuli((pages, log)), StepPlan(seconds=1), 0)
    of_pages, of_log = both.streams
    assert of_log.read is None
    assert both.read == of_pages.read
    assert both.write is not None
    assert of_pages.write is not None
    assert of_log.write is not None
    assert both.write.requests == of_pages.write.requests + of_log.write.requests
    assert both.bytes == of_pages.bytes + of_log.bytes
    assert both.iops == pytest.approx(of_pages.iops + of_log.iops)
    assert both.latency_ns_max == max(of_pages.latency_ns_max, of_log.latency_ns_max)
    assert Measurement.from_json(both.to_json()) == both
    # Each continues next to the other, and is slower for it.
    for alone, together in ((pages, of_pages), (log, of_log)):
        session.load_state(before)
        by_itself = session.run(Stimuli((alone,)), StepPlan(seconds=1), 0)
        assert by_itself.streams == ()
        assert 0.05 * by_itself.iops < together.iops < by_itself.iops
    session.load_state(before)
    assert session.run(Stimuli((pages, log)), StepPlan(seconds=1), 0) == both


def test_shares_are_held(session: SimulatedSession) -> None:
    # Eight sequential threads, each with an equal part of the share, and one deep queue.
    pages = stimulus(0.5, queue_depth=32)
    log = stimulus(is_random=False, threads=8)
    free = session.run(Stimuli((pages, log)), StepPlan(seconds=2), 0)
    held = session.run(Stimuli((pages, log), (0.9, 0.1)), StepPlan(seconds=2), 1)
    outstanding = pages.outstanding + log.outstanding
    assert abs(free.streams[1].requests - 0.1 * free.requests) > 4 * outstanding
    # Nine loops are each within a command a loop of their part, and what is outstanding at the
    # end is not complete.
    assert abs(held.streams[1].requests - 0.1 * held.requests) <= outstanding + 9
    with pytest.raises(UsageError, match=r"shares of 2 stimuli are \[0.9, 0.0\]; allowed: one"):
        session.run(Stimuli((pages, log), (0.9, 0.0)), StepPlan(seconds=1), 2)


def test_too_many_streams_are_refused(session: SimulatedSession) -> None:
    many = Stimulus.of_size(4096, 0.0, 64 * MIB, is_random=False, threads=64)
    session.check(Stimuli((many,)))
    with pytest.raises(UsageError, match=r"65 streams .* allowed on simulated drives: at most 64"):
        session.check(Stimuli((many, stimulus())))


def test_forced_writes_wait_for_the_flash(session: SimulatedSession) -> None:
    held = session.run(Stimuli((stimulus(),)), StepPlan(seconds=0.2), 0)
    forced = session.run(Stimuli((stimulus(is_forced=True),)), StepPlan(seconds=0.2), 1)
    # A program takes hundreds of microseconds, the buffer's answer tens.
    assert forced.latency_ns_mean > held.latency_ns_mean + 100_000


def test_a_time_in_which_nothing_completes_has_no_operations(session: SimulatedSession) -> None:
    result = session.run(Stimuli((stimulus(1.0),)), StepPlan(seconds=1e-6), 0)
    assert (result.operations, result.requests, result.iops) == ((), 0, 0.0)


def test_idle_time_passes(session: SimulatedSession) -> None:
    session.idle(3600)
    session.idle(0)
    assert session.run(Stimuli((stimulus(1.0),)), StepPlan(seconds=0.1), 0).requests > 0


def test_what_cannot_be_asked_is_refused(session: SimulatedSession) -> None:
    with pytest.raises(UsageError, match="nothing ends the step"):
        session.run(Stimuli((stimulus(),)), StepPlan(), 0)
    with pytest.raises(UsageError, match=r"allowed: at most 2147483648"):
        session.run(Stimuli((Stimulus.of_size(4096, 0, 2049 * MIB),)), StepPlan(seconds=1), 0)
    # A refusal leaves the state alone.
    assert session.run(Stimuli((stimulus(1.0),)), StepPlan(seconds=0.1), 0).requests > 0


def test_after_a_failed_step_the_state_is_gone_until_a_purge(tmp_path: Path) -> None:
    preset = tmp_path / "fresh.toml"
    preset.write_text(
        Path(SMALL.removeprefix("sim:"))
        .read_text()
        .replace("[geometry]", 'condition = "fresh"\n[geometry]')
    )
    session = opened(f"sim:{preset}")
    with pytest.raises(UsageError, match="no data to read"):
        session.run(Stimuli((stimulus(1.0),)), StepPlan(seconds=1), 0)
    with pytest.raises(RunError, match="state was lost"):
        session.run(Stimuli((stimulus(),)), StepPlan(seconds=1), 1)
    session.purge()
    # Of a purged drive, what was never written is answered.
    assert session.run(Stimuli((stimulus(1.0),)), StepPlan(seconds=0.1), 2).requests > 0


def test_sessions_are_opened_by_name() -> None:
    with open_session(SMALL, seed=3) as session:
        assert session.kind == "simulated"
        assert session.is_whole_device
        header = session.header()
    assert header["model"] == "small"
    assert header["write cache"] == "256 KiB in the controller"
    with pytest.raises(UsageError, match="formula"):
        open_session("analytic:x25m-yoo2014")


def test_the_stream_is_what_the_stimulus_says() -> None:
    mixed = Stimulus(
        read_ratio=0.25,
        sizes=((512, 0.5), (8192, 0.5)),
        zones=((0.9, 0.1), (0.1, 0.9)),
        range_bytes=100 * MIB,
    )
    [stream] = Stimuli((mixed,)).streams()
    [(directions, offsets, sizes)] = stream.generate(1, 2, 40_000)
    assert directions.count(0) == pytest.approx(10_000, abs=64)
    # Five standard deviations of the binomial.
    assert sizes.count(512) == pytest.approx(20_000, abs=500)
    assert sum(offset < 10 * MIB for offset in offsets) == pytest.approx(36_000, abs=300)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"read_ratio": 1.5}, "read_ratio is 1.5; allowed: 0 to 1"),
        ({"sizes": ((100, 1.0),)}, "a request of 100 bytes; allowed: multiples of 512"),
        ({"sizes": ((4096, 0.5),)}, "shares of sizes add up to 0.5; allowed: 1"),
        ({"sizes": ()}, "shares of sizes are"),
        ({"range_bytes": 512}, "are not a range for requests of 4096 bytes"),
        ({"threads": 0}, "threads is 0; allowed: 1 to 1024"),
        ({"threads": 1000, "queue_depth": 1000}, "threads x queue_depth is 1000000"),
        ({"content": "text"}, "content is 'text'; allowed: zero, database, random"),
        (
            {"is_random": False, "zones": ((0.5, 0.5), (0.5, 0.5))},
            "accesses in order have no zones",
        ),
    ],
)
def test_impossible_stimuli_say_what_is_allowed(change: dict[str, object], message: str) -> None:
    values: dict[str, object] = {
        "read_ratio": 0.0,
        "sizes": ((4096, 1.0),),
        "range_bytes": MIB,
    } | change
    with pytest.raises(UsageError) as refused:
        Stimulus(**values)  # type: ignore[arg-type]
    assert message in str(refused.value)


def test_a_step_takes_any_kind_of_workload() -> None:
    with open_session(SMALL) as session:
        written = session.run(WholePass("write", False, 65536, 8 * MIB), StepPlan(), 0)
        assert (written.bytes, written.stopped_by) == (8 * MIB, "requests")
        reads = Trace(tuple((at * 1_000_000, "read", at * 4096, 4096) for at in range(20)))
        read = session.run(reads, StepPlan(seconds=1), 1)
        assert (read.requests, read.stopped_by, read.workload) == (20, "requests", reads)
        mixed = session.run(Characteristics(write_ratio=0.5), StepPlan(seconds=0.1), 2)
        assert mixed.stopped_by == "seconds"
        assert mixed.duration_ns == 100_000_000
        with pytest.raises(UsageError, match="nothing ends the step"):
            session.run(Characteristics(), StepPlan(), 3)
