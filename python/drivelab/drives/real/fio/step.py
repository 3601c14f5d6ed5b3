"""fio's options for one step of a session: stimuli sent by fio's own random numbers.

A step of the performance test specification is a minute with tens of millions of requests, sent by
several threads. They are never repeated one by one, and no log of them could be read back fast
enough. Surprises in fio, and what is done about them:

- Shares of a mix, of reads and of zones are whole per cent: others are refused.
- With several request sizes random offsets are multiples of one size. It is 4 KiB, or the
  smallest size if that is larger, so that most requests do not straddle pages.
- ``time_based`` ignores ``io_size``: if both may end a step, ``runtime`` alone is the limit of
  time. Before ``io_size`` is reached fio stops when less than its largest request is left.
- ``io_size`` and ``size`` apply to each thread.
- ``flow`` keeps shares: whole numbers up to 1000 per thread. fio checks before every request which
  thread may continue, so shares are exact to a few requests. A thread that is ahead checks again
  immediately and looks for no completions meanwhile. That keeps processors busy: nine threads on
  two sent an eightieth of what they sent without it, and the delay counts as latency. With
  ``flow_sleep`` a thread waits until all of its own requests are complete and then sleeps.
  Latencies are then the drive's, but its queue runs empty, and no sleep is shorter than about
  50 us. So threads of random accesses, which do not differ, become one thread with their total
  queue depth. When one thread has ended, the others no longer wait for it, and on a busy machine
  some begin later: ``exitall`` ends all with the first.
- Stimuli at the same time are one job each, and ``new_group`` keeps their results apart.
- Without ``refill_buffers`` a thread writes the same bytes again and again, which a drive may
  notice.
  notice.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from drivelab.drives.real.fio.content import filled_content
from drivelab.drives.real.fio.job import MAX_BUFFER_BYTES
from drivelab.errors import CannotAnswerError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.real.fio.content import Mark
    from drivelab.workloads.stimulus import Stimulus

_PAGE_BYTES: Final = 4096
# A thread starts at the latest where this share of its part is left.
_LEAST_PARTS: Final = 16
# fio takes zones and sizes of a mix in whole per cent.
_PERCENT_TOLERANCE: Final = 1e-6
# Weights of fio's flow control. A rounded weight may be off by this share of itself.
_LARGEST_FLOW: Final = 1000
_FLOW_TOLERANCE: Final = 0.01
# The shortest sleep, in microseconds.
_FLOW_SLEEP: Final = 1


@dataclass(frozen=True)
class Sender:
    """What a job of fio sends.

    Attributes
    ----------
    stimulus
        The stimulus, with the threads that fio uses for it.
    flow
        The weight of each thread if shares are kept; 0 if none are.
    """

    stimulus: Stimulus
    flow: int = 0

    @property
    def options(self) -> list[str]:
        """Return the option that keeps the share."""
        held = [f"flow={self.flow}", "flow_id=1", f"flow_sleep={_FLOW_SLEEP}"]
        return [*held, "exitall", "exit_what=all"] if self.flow else []


def senders(stimuli: Sequence[Stimulus], shares: Sequence[float] = ()) -> list[Sender]:
    """Return the jobs that send stimuli at the same time, with their shares if these are kept.

    Raises
    ------
    CannotAnswerError
        If fio cannot keep such shares.
    """
    if not shares:
        return [Sender(stimulus) for stimulus in stimuli]
    jobs = [
        replace(each, threads=1, queue_depth=each.outstanding) if each.is_random else each
        for each in stimuli
    ]
    each_thread = [share / job.threads for job, share in zip(jobs, shares, strict=True)]
    return [Sender(job, flow) for job, flow in zip(jobs, _flows(each_thread), strict=True)]


def _flows(shares: Sequence[float]) -> list[int]:
    """Return the whole numbers that come nearest to the ratio of the shares."""

    def rounded(largest: int) -> list[int]:
        return [round(share / max(shares) * largest) for share in shares]

    def error(largest: int) -> float:
        exact = [share / max(shares) * largest for share in shares]
        return max(abs(one / other - 1) for one, other in zip(rounded(largest), exact, strict=True))

    best = min(range(1, _LARGEST_FLOW + 1), key=error)
    if error(best) > _FLOW_TOLERANCE:
        raise CannotAnswerError(
            f"a thread has a share of {min(shares):g} and another one of {max(shares):g}; on "
            f"real drives fio keeps whole proportions up to {_LARGEST_FLOW}: choose shares that "
            "are closer to each other"
        )
    return rounded(best)


def step_options(
    stimuli: Sequence[Stimulus],
    *,
    engine: str,
    filename: str,
    key: tuple[int, int],
    seconds: float | None,
    total_bytes: int | None,
    shares: Sequence[float] = (),
    mark: Mark | None = None,
) -> list[str]:
    """Return the options, without leading dashes.

    Parameters
    ----------
    stimuli
        One stimulus, or several at the same time.
    engine
        fio's I/O engine.
    filename
        The file or device.
    key
        Key of fio's random numbers: the session's seed and the step's position.
    seconds, total_bytes
        Limits of the step, whichever is reached first; at least one.
    shares
        Share of the requests of each stimulus; empty if each runs as fast as it can.
    mark
        The mark by which a file that Drivelab made is recognised.

    Raises
    ------
    CannotAnswerError
        If fio cannot be asked for it.
    UsageError
        If the range is too small for the number of threads.
    """
    check_stimuli(stimuli)
    jobs = [
        [
            f"name=stream{number}",
            *(["new_group"] if number else []),
            f"filename={filename}",
            f"ioengine={engine}",
            f"randseed={step_seed(*key, number)}",
            *_job(sender.stimulus, mark),
            *sender.options,
            *_end(sender.stimulus, seconds, total_bytes),
        ]
        for number, sender in enumerate(senders(stimuli, shares))
    ]
    return [
        *(["readonly"] if all(stimulus.read_ratio == 1 for stimulus in stimuli) else []),
        *(option for job in jobs for option in job),
        "output-format=json+",
        "eta=never",
    ]


def _job(stimulus: Stimulus, mark: Mark | None) -> list[str]:
    return [
        *_pattern(stimulus),
        *_sizes(stimulus),
        *_range(stimulus),
        f"numjobs={stimulus.threads}",
        f"iodepth={stimulus.queue_depth}",
        *(["sync=dsync"] if stimulus.is_forced and stimulus.read_ratio < 1 else []),
        *filled_content(stimulus.content, mark),
        "direct=1",
        "thread",
        "group_reporting",
        "allow_file_create=0",
        "invalidate=0",
        "randrepeat=0",
        "lat_percentiles=1",
        "clat_percentiles=0",
        "disk_util=0",
    ]


def step_seed(seed: int, step: int, stream: int = 0) -> int:
    """Draw a number below 2**62 from the key of a stream of a step."""
    of_stream = f" {stream}" if stream else ""
    key = f"session {seed} {step}{of_stream}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") >> 2


def check_stimuli(stimuli: Sequence[Stimulus]) -> None:
    """Raise if fio cannot be asked for stimuli at the same time; see `step_options`."""
    for stimulus in stimuli:
        _check_stimulus(stimulus)
    outstanding = sum(stimulus.outstanding for stimulus in stimuli)
    if sum(each.outstanding * each.largest_bytes for each in stimuli) > MAX_BUFFER_BYTES:
        largest = max(stimulus.largest_bytes for stimulus in stimuli)
        raise CannotAnswerError(
            f"{outstanding} requests of up to {largest} bytes in flight need more than "
            f"{MAX_BUFFER_BYTES} bytes of memory; ask for fewer threads or a lower queue depth"
        )


def _check_stimulus(stimulus: Stimulus) -> None:
    percent("read_ratio", stimulus.read_ratio)
    for size, share in stimulus.sizes:
        percent(f"share of requests of {size} bytes", share)
    for accesses, part in stimulus.zones:
        percent("share of a zone's accesses", accesses)
        percent("share of a zone's range", part)
    largest = stimulus.largest_bytes
    if not stimulus.is_random and stimulus.part_bytes < largest:
        raise UsageError(
            f"{stimulus.range_bytes} bytes are not a range for {stimulus.threads} threads of "
            f"requests of {largest} bytes; allowed: at least one request a thread"
        )


def percent(name: str, share: float) -> int:
    """Return a share in per cent; `CannotAnswerError` if that is not a whole number."""
    exact = share * 100
    whole = round(exact)
    if abs(exact - whole) > _PERCENT_TOLERANCE:
        raise CannotAnswerError(
            f"{name} is {exact:g} %; on real drives, which fio measures, allowed: whole per cent"
        )
    return whole


def _pattern(stimulus: Stimulus) -> list[str]:
    reads, writes = stimulus.read_ratio > 0, stimulus.read_ratio < 1
    if reads and writes:
        pattern = "randrw" if stimulus.is_random else "rw"
        mix = [f"rwmixread={percent('read_ratio', stimulus.read_ratio)}"]
    else:
        pattern = ("rand" if stimulus.is_random else "") + ("read" if reads else "write")
        mix = []
    if not stimulus.is_random:
        return [f"rw={pattern}", *mix]
    zones = []
    if len(stimulus.zones) > 1:
        parts = [
            f"{percent('accesses', accesses)}/{percent('range', part)}"
            for accesses, part in stimulus.zones
        ]
        zones = [f"random_distribution=zoned:{':'.join(parts)}"]
    # Ranges of more than 2**32 blocks need more than 32 bits.
    return [f"rw={pattern}", *mix, *zones, "norandommap", "random_generator=tausworthe64"]


def _sizes(stimulus: Stimulus) -> list[str]:
    if len(stimulus.sizes) == 1:
        return [f"bs={stimulus.sizes[0][0]}"]
    parts = [f"{size}/{percent('sizes', share)}" for size, share in stimulus.sizes]
    options = [f"bssplit={':'.join(parts)}"]
    if stimulus.is_random:
        options.append(f"blockalign={_alignment(stimulus)}")
    return options


def _alignment(stimulus: Stimulus) -> int:
    smallest = min(size for size, _ in stimulus.sizes)
    return max(smallest, min(_PAGE_BYTES, stimulus.largest_bytes))


def _range(stimulus: Stimulus) -> list[str]:
    begin = 0 if stimulus.is_random else _begin(stimulus)
    options = [f"offset={stimulus.range_start_bytes + begin}"]
    if stimulus.is_random or stimulus.threads == 1:
        return [*options, f"size={stimulus.range_bytes - begin}"]
    part = stimulus.part_bytes
    return [*options, f"offset_increment={part}", f"size={part - begin}"]


def _begin(stimulus: Stimulus) -> int:
    """Return where each thread begins in its part; fio goes from there to the end and wraps around.

    Near the end that would be the same few requests again and again: then from the start.
    """
    begin = stimulus.begin_bytes % stimulus.part_bytes
    return begin if stimulus.part_bytes - begin >= stimulus.part_bytes / _LEAST_PARTS else 0


def _end(stimulus: Stimulus, seconds: float | None, total_bytes: int | None) -> list[str]:
    options = []
    if seconds is not None:
        options.append(f"runtime={milliseconds(seconds)}ms")
    if total_bytes is None:
        return [*options, "time_based"]
    each = -(-total_bytes // stimulus.threads)
    largest = stimulus.largest_bytes
    if len(stimulus.sizes) == 1:
        each = -(-each // largest) * largest
    else:
        each += largest
    return [*options, f"io_size={each}"]


def milliseconds(seconds: float) -> int:
    """Return a run time as fio takes it: whole milliseconds, never shorter than asked."""
    return max(1, math.ceil(round(seconds * 1000, 6)))
