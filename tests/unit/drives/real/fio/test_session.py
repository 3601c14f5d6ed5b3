"""Steps of a session by the real fio, on a small file: what was sent is read back from its log."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drivelab.drives.measurement import Measurement
from drivelab.drives.real.fio import session as fio_session
from drivelab.drives.real.fio.program import FioOutput, run_fio
from drivelab.drives.real.fio.step import senders, step_seed
from drivelab.drives.session import StepPlan
from drivelab.drives.sessions import open_session
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus
from drivelab.workloads.trace import Trace
from drivelab.workloads.whole_pass import WholePass

KIB, MIB = 2**10, 2**20
CAPACITY = 16 * MIB
Row = tuple[int, int, int]  # direction, size, offset


@pytest.fixture(scope="module")
def session(require_tool: Callable[[str], Path], drive_folder: Path) -> Iterator[Any]:
    require_tool("fio")
    path = str(drive_folder / "session.bin")
    with open_session(path, size_bytes=CAPACITY, seed=7) as session:
        yield session


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], list[list[Row]]]:
    """Let fio log every request; give what each thread sent, in the order of completion."""

    def with_log(program: Any, options: list[str], **others: Any) -> FioOutput:
        log = [f"write_lat_log={tmp_path / 'log'}", "log_offset=1"]
        return run_fio(program, [*options, *log], **others)

    def rows() -> list[list[Row]]:
        found = []
        for path in sorted(tmp_path.glob("log_lat.*.log")):
            lines = (list(map(int, line.split(", "))) for line in path.read_text().splitlines())
            found.append([(one[2], one[3], one[4]) for one in lines])
        return found

    monkeypatch.setattr(fio_session, "run_fio", with_log)
    return rows


def test_a_session_reports_its_file(
    require_tool: Callable[[str], Path], drive_folder: Path
) -> None:
    require_tool("fio")

    def file_of(*, keep: bool) -> dict[str, Any]:
        path = str(drive_folder / "which.bin")
        with open_session(path, size_bytes=CAPACITY, keep=keep) as session:
            identity: dict[str, Any] = session.identity()["volatile"]["file"]
        return identity

    removed, kept, again = file_of(keep=False), file_of(keep=True), file_of(keep=False)
    assert kept == again
    # Without a generation, an inode may be that of the next file.
    assert removed != kept or removed["generation"] is None


def stimulus(**values: Any) -> Stimulus:
    sizes = values.pop("size", 4 * KIB)
    given = {"read_ratio": 1.0, "range_bytes": CAPACITY, **values}
    parts = ((sizes, 1.0),) if isinstance(sizes, int) else sizes
    return Stimulus(sizes=parts, **given)


def enough_of_each(run: Callable[[float], Measurement], *, least: int = 100) -> Measurement:
    """Run for longer and longer until each stream sent so many: a shared disk stands still."""
    for seconds in (0.5, 4, 32):
        result = run(seconds)
        if all(each.requests >= least for each in result.streams or (result,)):
            return result
    raise AssertionError(f"{least} requests of each stream take longer than half a minute")


def shares(values: list[Any]) -> dict[Any, float]:
    return {value: values.count(value) / len(values) for value in set(values)}


def test_counts_are_those_of_what_was_sent(session: Any, sent: Any) -> None:
    result = session.run(
        Stimuli((stimulus(read_ratio=0.4, queue_depth=4),)), StepPlan(total_bytes=2 * MIB), 0
    )
    (rows,) = sent()
    for bit, part in enumerate((result.read, result.write)):
        mine = [row for row in rows if row[0] == bit]
        assert (part.requests, part.bytes) == (len(mine), sum(row[1] for row in mine))
        assert sum(part.histogram.values()) == part.requests
    # Four standard deviations of a share of 512 draws.
    assert result.requests == 512
    assert result.read.requests / 512 == pytest.approx(0.4, abs=4 * (0.4 * 0.6 / 512) ** 0.5)
    assert Measurement.from_json(result.to_json()) == result


def test_random_accesses_go_all_over_the_range(session: Any, sent: Any) -> None:
    what = stimulus(range_start_bytes=4 * MIB, range_bytes=MIB, queue_depth=8)
    session.run(Stimuli((what,)), StepPlan(total_bytes=16 * MIB), 1)
    offsets = [row[2] for row in sent()[0]]
    assert all(4 * MIB <= offset < 5 * MIB and offset % (4 * KIB) == 0 for offset in offsets)
    assert len(offsets) == 4096
    # 256 places: none is missed by thousands of draws.
    assert len(set(offsets)) == 256


def test_a_composite_has_its_sizes_and_zones(session: Any, sent: Any) -> None:
    sizes = ((512, 0.04), (1536, 0.06), (4 * KIB, 0.67), (8 * KIB, 0.13), (64 * KIB, 0.1))
    zones = ((0.5, 0.05), (0.3, 0.15), (0.2, 0.8))
    what = stimulus(size=sizes, zones=zones, read_ratio=0.4, threads=2, queue_depth=8)
    # Of 10.2 KiB on average: some 4,700 requests, however fast the disk is.
    session.run(Stimuli((what,)), StepPlan(total_bytes=48 * MIB), 2)
    rows = [row for thread in sent() for row in thread]
    assert len(rows) > 4000
    # Four standard deviations of a share of 4000 are 0.03.
    for size, share in sizes:
        assert shares([row[1] for row in rows])[size] == pytest.approx(share, abs=0.03)
    ends = (0.05 * CAPACITY, 0.2 * CAPACITY, CAPACITY)
    places = shares([sum(row[2] >= end for end in ends[:2]) for row in rows])
    assert [places[zone] for zone in range(3)] == pytest.approx([0.5, 0.3, 0.2], abs=0.03)
    assert all(row[2] % (4 * KIB) == 0 for row in rows)
    assert shares([row[0] for row in rows])[0] == pytest.approx(0.4, abs=0.03)


def test_threads_in_order_have_parts_of_their_own(session: Any, sent: Any) -> None:
    # 12 MiB in 5 parts are 19 requests each, and something left over.
    what = stimulus(size=128 * KIB, is_random=False, threads=5, range_bytes=12 * MIB, read_ratio=0)
    result = session.run(Stimuli((what,)), StepPlan(total_bytes=24 * MIB), 3)
    threads = sent()
    part = 19 * 128 * KIB
    begins = {thread[0][2]: thread for thread in threads}
    assert sorted(begins) == [number * part for number in range(5)]
    for begin, thread in begins.items():
        # 24 MiB are 38.4 requests a thread: twice through its part, and one more.
        expected = [begin + number % 19 * 128 * KIB for number in range(39)]
        assert [row[2] for row in thread] == expected
    assert result.bytes == 5 * 39 * 128 * KIB
    assert result.read is None


@pytest.mark.parametrize("size", [128 * KIB, ((4 * KIB, 0.5), (64 * KIB, 0.5))])
def test_bytes_end_a_step_where_they_are_first(session: Any, sent: Any, size: Any) -> None:
    what = stimulus(size=size, read_ratio=0.5, queue_depth=4, threads=2)
    result = session.run(Stimuli((what,)), StepPlan(seconds=60, total_bytes=8 * MIB), 4)
    assert 8 * MIB <= result.bytes <= 8 * MIB + 2 * 4 * 128 * KIB
    assert result.duration_ns < 60e9
    assert result.bytes == sum(row[1] for thread in sent() for row in thread)


def test_time_ends_a_step_where_it_is_first(session: Any) -> None:
    result = session.run(Stimuli((stimulus(),)), StepPlan(seconds=0.2, total_bytes=2**40), 5)
    # No upper bound: what is under way then is as long as the disk takes for it.
    assert result.duration_ns >= 198_000_000
    assert result.bytes < 2**40


def test_steps_have_random_numbers_of_their_own(session: Any, sent: Any) -> None:
    found = []
    for step in (6, 7, 6):
        session.run(Stimuli((stimulus(),)), StepPlan(total_bytes=MIB), step)
        found.append(sent()[0])
    assert found[0] == found[2] != found[1]
    assert step_seed(7, 6) != step_seed(8, 6)


@pytest.mark.parametrize("content", ["zero", "database", "random"])
def test_what_is_written_looks_as_asked(session: Any, content: str) -> None:
    what = stimulus(size=MIB, read_ratio=0, is_random=False, content=content)
    session.run(Stimuli((what,)), StepPlan(total_bytes=4 * MIB), 8)
    written = Path(session.identity()["path"]).read_bytes()[: 4 * MIB]
    if content == "zero":
        assert not any(written)
        return
    # Each 512 bytes end with the file's tag: once of 16 bytes, and in half of a database's.
    tag = bytes.fromhex(session._drive.target.mark.tag)
    sectors = [written[at : at + 512] for at in range(0, len(written), 512)]
    assert all(sector.endswith(tag) for sector in sectors)
    left = sum(len(zlib.compress(sector, 1)) for sector in sectors) / len(written)
    # zlib adds 11 bytes to a sector that it cannot shrink, and finds no tag in the next one.
    low, high = {"database": (0.45, 0.65), "random": (0.95, 1.03)}[content]
    assert low < left < high


def test_a_forced_write_is_synchronous(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs: list[FioOutput] = []

    def keep(*args: Any, **others: Any) -> FioOutput:
        outputs.append(run_fio(*args, **others))
        return outputs[-1]

    monkeypatch.setattr(fio_session, "run_fio", keep)
    for forced in (True, False):
        session.run(
            Stimuli((stimulus(read_ratio=0, is_forced=forced),)), StepPlan(total_bytes=64 * KIB), 9
        )
    asked = [output.report["jobs"][0]["job options"].get("sync") for output in outputs]
    assert asked == ["dsync", None]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"read_ratio": 0.333}, "read_ratio is 33.3 %; .* allowed: whole per cent"),
        ({"size": ((4096, 0.335), (8192, 0.665))}, "share of requests of 4096 bytes is 33.5 %"),
        ({"range_bytes": 2 * CAPACITY}, "goes to 33554432 bytes .* allowed: at most 16777216"),
        ({"size": 64 * MIB, "range_bytes": 64 * MIB}, "goes to"),
        ({"size": 8 * MIB, "threads": 4, "is_random": False}, "not a range for 4 threads"),
        ({"size": 16 * MIB, "threads": 65}, "more than 1073741824 bytes of memory"),
    ],
)
def test_what_cannot_be_asked_for_is_reported(session: Any, values: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        session.run(Stimuli((stimulus(**values),)), StepPlan(seconds=1), 0)


def test_stimuli_at_the_same_time_are_reported_one_by_one_and_in_total(
    session: Any, sent: Any
) -> None:
    half = CAPACITY // 2
    pages = stimulus(read_ratio=0.5, queue_depth=4, threads=2, range_bytes=half)
    log = stimulus(
        size=8 * KIB, read_ratio=0, is_random=False, range_start_bytes=half, range_bytes=half
    )
    result = enough_of_each(
        lambda seconds: session.run(Stimuli((pages, log)), StepPlan(seconds=seconds), 10)
    )
    of_pages, of_log = result.streams
    assert of_pages.read.requests > 0 < of_pages.write.requests
    assert of_log.read is None
    assert of_log.write.bytes == of_log.write.requests * 8 * KIB > 0
    assert result.read == of_pages.read
    assert result.write.requests == of_pages.write.requests + of_log.write.requests
    assert result.bytes == of_pages.bytes + of_log.bytes
    assert sum(result.histogram.values()) == result.requests
    assert {each.duration_ns for each in result.streams} == {result.duration_ns}
    # The last job alone writes a log here: in order, from where its range begins.
    (rows,) = sent()
    assert [row[2] for row in rows[:3]] == [half, half + 8 * KIB, half + 16 * KIB]
    assert len(rows) == of_log.requests
    assert Measurement.from_json(result.to_json()) == result


def test_shares_are_held(session: Any) -> None:
    half = CAPACITY // 2
    pages = stimulus(read_ratio=0.5, queue_depth=4, threads=2, range_bytes=half)
    log = stimulus(
        size=8 * KIB, read_ratio=0, is_random=False, range_start_bytes=half, range_bytes=half
    )
    scan = stimulus(is_random=False, threads=2, range_bytes=half)
    for asked in ((0.7, 0.05, 0.25), (0.1, 0.6, 0.3)):

        def held(seconds: float, asked: tuple[float, ...] = asked) -> Any:
            return session.run(Stimuli((pages, log, scan), asked), StepPlan(seconds=seconds), 12)

        result = enough_of_each(held)
        for share, stream in zip(asked, result.streams, strict=True):
            # Threads begin and end one after the other, and look at the others' counts unlocked:
            # in less than 2 % of a share, and what is outstanding at the end.
            few = 2 * sum(each.outstanding for each in (pages, log, scan))
            assert stream.requests == pytest.approx(share * result.requests, rel=0.02, abs=few)


def test_shares_are_held_where_a_stream_begins_late(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(program: Any, options: list[str], **others: Any) -> FioOutput:
        # Of the last job.
        return run_fio(program, [*options, "startdelay=500ms"], **others)

    monkeypatch.setattr(fio_session, "run_fio", late)
    result = session.run(Stimuli((stimulus(), stimulus()), (0.9, 0.1)), StepPlan(seconds=1), 13)
    first, second = result.streams
    assert second.requests == pytest.approx(0.1 * result.requests, rel=0.02, abs=4)
    assert first.requests + second.requests == result.requests
    assert result.duration_ns >= 998_000_000


def test_shares_are_whole_weights_of_each_thread() -> None:
    pages, log = stimulus(threads=8, queue_depth=4), stimulus(is_random=False, threads=3)
    held = senders([pages, log], [0.96, 0.04])
    # Random threads are one; 0.96 to a third of 0.04 is 72 to 1.
    assert [(each.stimulus.threads, each.stimulus.queue_depth) for each in held] == [
        (1, 32),
        (3, 1),
    ]
    assert [each.flow for each in held] == [72, 1]
    assert [each.flow for each in senders([pages, log], [1 / 3, 2 / 3])] == [3, 2]
    assert all(not each.options for each in senders([pages, log]))
    with pytest.raises(
        CannotAnswerError, match=r"share of 0.0003 and another one of 0.999.*up to 1000"
    ):
        senders([pages, stimulus()], [0.999, 0.0003])


def test_streams_have_random_numbers_of_their_own(session: Any, sent: Any) -> None:
    assert len({step_seed(7, 6, stream) for stream in range(3)}) == 3
    what = stimulus()
    enough_of_each(
        lambda seconds: session.run(Stimuli((what, what)), StepPlan(seconds=seconds), 11)
    )
    (second,) = sent()
    session.run(Stimuli((what,)), StepPlan(total_bytes=MIB), 11)
    assert [row[2] for row in second[:20]] != [row[2] for row in sent()[0][:20]]


def test_streams_that_cannot_run_together_are_refused(session: Any) -> None:
    large = stimulus(size=8 * MIB, threads=65)
    session.check(Stimuli((large,)))
    with pytest.raises(CannotAnswerError, match="130 requests of up to 8388608 bytes in flight"):
        session.check(Stimuli((large, large)))
    with pytest.raises(UsageError, match="allowed: one for each, above 0 to 1"):
        session.check(Stimuli((stimulus(), stimulus()), (1.0,)))
    with pytest.raises(UsageError, match="2 stimuli at the same time end by time"):
        session.run(Stimuli((stimulus(), stimulus())), StepPlan(seconds=1, total_bytes=MIB), 0)


def test_something_must_end_a_step(session: Any) -> None:
    with pytest.raises(UsageError, match="nothing ends the step"):
        session.run(Stimuli((stimulus(),)), StepPlan(), 0)


def test_blocks_of_the_drive_are_respected(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "block_bytes", 4096)
    with pytest.raises(CannotAnswerError, match="512 bytes is not a multiple of 4096"):
        session.run(Stimuli((stimulus(size=512),)), StepPlan(seconds=1), 0)


def test_a_real_drive_keeps_its_state(session: Any) -> None:
    assert session.save_state() is None
    with pytest.raises(UsageError, match="keeps its own state"):
        session.load_state(b"state")
    assert (session.kind, session.is_whole_device, session.capacity_bytes) == (
        "real",
        False,
        CAPACITY,
    )


def test_somebody_else_s_file_is_only_read(
    require_tool: Callable[[str], Path], drive_folder: Path
) -> None:
    require_tool("fio")
    path = drive_folder / "mine.img"
    path.write_bytes(b"mine" * (MIB // 2))
    with open_session(str(path)) as session:
        assert (
            session.run(
                Stimuli((stimulus(range_bytes=2 * MIB),)), StepPlan(total_bytes=MIB), 0
            ).bytes
            >= MIB
        )
        with pytest.raises(CannotAnswerError, match="was not made by Drivelab"):
            session.run(
                Stimuli((stimulus(range_bytes=2 * MIB, read_ratio=0.9),)), StepPlan(seconds=1), 1
            )
    assert path.read_bytes() == b"mine" * (MIB // 2)
    path.unlink()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda job: job["read"]["lat_ns"].pop("bins"), "lacks 'bins'"),
        (lambda job: job["read"].pop("lat_ns"), "lacks 'lat_ns'"),
        (lambda job: job["read"]["lat_ns"]["bins"].popitem(), "are in its bins"),
        (lambda job: job["read"].update(total_ios=0), "no reads sent"),
        (lambda job: job["read"].update(short_ios=1), "cut them short"),
        (lambda job: job["read"].update(runtime=100), "fio ended after 100 ms"),
        (lambda job: job.update(error=5), "fio met an error: Input/output error"),
    ],
)
def test_a_report_that_makes_no_sense_is_no_result(
    session: Any, monkeypatch: pytest.MonkeyPatch, spoil: Any, said: str
) -> None:
    def spoilt(*args: Any, **others: Any) -> FioOutput:
        output = run_fio(*args, **others)
        spoil(output.report["jobs"][0])
        return output

    monkeypatch.setattr(fio_session, "run_fio", spoilt)
    with pytest.raises(RunError, match=said):
        session.run(Stimuli((stimulus(),)), StepPlan(seconds=0.2), 0)


def test_the_header_says_what_the_kernel_knows(session: Any) -> None:
    header = session.header()
    fields = ("vendor", "model", "serial", "firmware", "interface", "form factor", "media")
    others = ("host", "operating system", "driver", "write cache", "software", "I/O scheduler")
    assert set(fields + others) <= set(header)
    assert all(isinstance(value, str) for value in header.values())
    assert header["software"].startswith("fio-")
    assert "processors" in header["host"]


def test_what_fio_cannot_do_in_a_step_is_refused_in_a_line(session: Any) -> None:
    with pytest.raises(CannotAnswerError, match=r"a trace is not a step on .*: `drivelab measure`"):
        session.check(Trace(((0, "read", 0, 4096),)))
    scenario = Scenario('requests = 1\n[[stream]]\nname = "one"\nqueue_depth = 1')
    with pytest.raises(CannotAnswerError, match=r"a scenario cannot be sent to .* a simulated one"):
        session.run(scenario, StepPlan(seconds=1), 0)
    with pytest.raises(UsageError, match="nothing ends the step: give seconds or total_bytes"):
        session.run(Characteristics(), StepPlan(), 0)
    with pytest.raises(CannotAnswerError, match="queue_depth is 1024; real drives take at most"):
        session.check(Characteristics(queue_depth=1024))
    with pytest.raises(UsageError, match="allowed: a file of at most 16 MiB"):
        session.check(WholePass("read", False, 4 * KIB, 2 * CAPACITY))


def test_characteristics_are_a_step_too(session: Any) -> None:
    mixed = Characteristics(write_ratio=0.5, queue_depth=4, write_size=8 * KIB)
    by_bytes = session.run(mixed, StepPlan(total_bytes=3 * MIB), 4)
    # 6 KiB are the mean.
    assert (by_bytes.requests, by_bytes.stopped_by) == (512, "bytes")
    assert (by_bytes.index, by_bytes.workload) == (4, mixed)
    assert by_bytes.read is not None
    assert by_bytes.write is not None
    assert by_bytes.extra["began_unix_seconds"] > 1e9
    assert Measurement.from_json(by_bytes.to_json()) == by_bytes
    by_time = enough_of_each(lambda seconds: session.run(mixed, StepPlan(seconds=seconds), 5))
    assert by_time.stopped_by == "seconds"
    assert by_time.duration_ns >= 0.4e9


def test_a_whole_pass_is_a_step_too(session: Any) -> None:
    one = WholePass("write", is_random=True, request_bytes=4 * KIB, file_bytes=2 * MIB)
    for plan in (StepPlan(), StepPlan(seconds=60), StepPlan(total_bytes=1 << 30)):
        whole = session.run(one, plan, 6)
        assert (whole.requests, whole.bytes, whole.stopped_by) == (512, 2 * MIB, "requests")
    part = session.run(one, StepPlan(total_bytes=MIB), 6)
    assert (part.requests, part.stopped_by) == (256, "bytes")
    long = WholePass("read", is_random=False, request_bytes=512, file_bytes=CAPACITY)
    cut = session.run(long, StepPlan(seconds=0.01), 7)
    assert (cut.requests < long.requests, cut.stopped_by) == (True, "seconds")
