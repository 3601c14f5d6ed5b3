"""What fio can be asked for: single workloads, and steps of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.drives.real.fio.engine import check_depth
from drivelab.drives.real.fio.job import MAX_BUFFER_BYTES, MAX_QUEUE_DEPTH
from drivelab.drives.real.fio.passes import check_pass
from drivelab.drives.real.fio.replay_asked import check_replay, looks_like
from drivelab.drives.real.fio.step import check_stimuli, senders
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.trace import Trace
from drivelab.workloads.whole_pass import WholePass

if TYPE_CHECKING:
    from drivelab.workloads.workload import Workload


def requests_of(workload: Workload, name: str) -> Characteristics:
    """Return what a workload looks like to a real drive; `CannotAnswerError` for other kinds."""
    if isinstance(workload, WholePass):
        return workload.characteristics()
    if isinstance(workload, Characteristics):
        return workload
    if isinstance(workload, Trace):
        return looks_like(workload, name)
    if isinstance(workload, Stimuli):
        raise CannotAnswerError(f"{name} is asked for stimuli in a session, step by step")
    raise CannotAnswerError(
        f"a {workload.kind} cannot be sent to {name}, a real drive: measure it on a simulated one "
        "(sim:NAME)"
    )


def check_on_drive(
    workload: Workload,
    name: str,
    capacity_bytes: int,
    block_bytes: int,
    write_refusal: str | None,
) -> None:
    """Raise if a real drive with these properties cannot be asked for `workload`.

    Raises
    ------
    CannotAnswerError
        If the drive may not be written, has larger blocks, or memory is too small.
    UsageError
        If no drive of this size could be asked for it.
    """
    if isinstance(workload, Trace):
        check_replay(workload, name, capacity_bytes, block_bytes, write_refusal)
        return
    if isinstance(workload, WholePass):
        check_pass(workload, name, capacity_bytes)
    requests = requests_of(workload, name)
    check_possible(requests, capacity_bytes)
    if requests.write_ratio > 0 and write_refusal is not None:
        raise CannotAnswerError(f"no writes on {name}: {write_refusal}")
    for characteristic, value in requests.canonical().items():
        if characteristic.endswith(("_size", "_stride")) and (value or 0) % block_bytes:
            raise CannotAnswerError(
                f"{characteristic} {value} is not a multiple of {block_bytes} bytes, the block of "
                f"direct requests to {name}"
            )


def check_with_engine(
    workload: Workload,
    name: str,
    capacity_bytes: int,
    block_bytes: int,
    *,
    engine: str,
    write_refusal: str | None,
) -> None:
    """Raise as `check_on_drive`, or if fio's I/O engine cannot keep this queue depth."""
    check_on_drive(workload, name, capacity_bytes, block_bytes, write_refusal)
    check_kept_depth(engine, name, workload)


def check_kept_depth(engine: str, name: str, workload: Workload) -> None:
    """Raise if fio's I/O engine cannot keep the workload's queue depth."""
    # Jobs at recorded times send one request each and do not use the engine's queue.
    if not (isinstance(workload, Trace) and workload.speed is not None):
        check_depth(engine, name, requests_of(workload, name).queue_depth)


def check_possible(workload: Characteristics, capacity_bytes: int) -> None:
    """Raise if no real drive of `capacity_bytes` can be asked for `workload`.

    Raises
    ------
    CannotAnswerError
        If fio would need too much memory for it.
    UsageError
        If no drive of this size could be asked for it.
    """
    workload.validate(capacity_bytes)
    if workload.queue_depth > MAX_QUEUE_DEPTH:
        raise CannotAnswerError(
            f"queue_depth is {workload.queue_depth}; real drives take at most {MAX_QUEUE_DEPTH}"
        )
    largest = max(workload.read_size, workload.write_size)
    if workload.queue_depth * largest > MAX_BUFFER_BYTES:
        raise CannotAnswerError(
            f"{workload.queue_depth} requests of {largest} bytes in flight need more than "
            f"{MAX_BUFFER_BYTES} bytes of memory"
        )


def check_step(
    name: str,
    capacity_bytes: int,
    block_bytes: int,
    work: Workload,
    *,
    engine: str,
    write_refusal: str | None = None,
) -> None:
    """Raise if fio cannot send a step of a session: as `check_with_engine`, and for stimuli."""
    if isinstance(work, Trace):
        raise CannotAnswerError(
            f"a trace is not a step on {name}, a real drive: `drivelab measure` replays it alone"
        )
    if not isinstance(work, Stimuli):
        check_with_engine(
            work, name, capacity_bytes, block_bytes, engine=engine, write_refusal=write_refusal
        )
        return
    for stimulus in work.stimuli:
        end = stimulus.range_start_bytes + stimulus.range_bytes
        if end > capacity_bytes:
            raise UsageError(
                f"the stimulus goes to {end} bytes of {name}; allowed: at most {capacity_bytes}"
            )
        if stimulus.read_ratio < 1 and write_refusal is not None:
            raise CannotAnswerError(f"no writes on {name}: {write_refusal}")
        for size, _ in stimulus.sizes:
            if size % block_bytes:
                raise CannotAnswerError(
                    f"a request of {size} bytes is not a multiple of {block_bytes} bytes, the "
                    f"block of direct requests to {name}"
                )
        if stimulus.range_start_bytes % block_bytes:
            raise CannotAnswerError(
                f"the range begins at {stimulus.range_start_bytes}, not a multiple of "
                f"{block_bytes} bytes, the block of direct requests to {name}"
            )
    for sender in senders(work.stimuli, work.shares):
        check_depth(engine, name, sender.stimulus.queue_depth)
    check_stimuli(work.stimuli)
