"""A workload in fio's own options, or why fio has none for it.

Every workload means the request stream of `crates/workload`. fio's options give that stream
in these cases, which the tests read back from what fio sent; all others are refused::

    one direction    random and sequential in any share of whole percents, stride 0
                     stride > 0 where nothing is random
    both directions  random and sequential in any shares, unless both are wholly
                     sequential: fio would start both at the same offset; 10 to 90 %
                     writes: fio catches up with smaller shares in bursts

What fio does otherwise, and what is done about it:

- A stream that is wholly sequential (or strided) in one direction starts at fio's ``offset``,
  not anywhere in the range. So it gets a window of half the drive, at a random aligned offset
  that changes with every measurement, and goes round in it.
- A strided stream that misses the window's end by part of a step makes fio drain the queue,
  close the file and begin again. So the window ends exactly with an access.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

from drivelab.errors import CannotAnswerError
from drivelab.workloads.characteristics import Characteristics

# Once it has changed direction, fio 3.33 stays until the share of this direction in the requests of
# the other one is w, not w / (1 - w). In 40,000 requests at 2 % writes 6 % of the writes are
# followed by a write; from 10 % on the difference cannot be told from chance.
_SMALLEST_SHARE = 0.10


@dataclass(frozen=True)
class Window:
    """The bytes that a measurement touches.

    Parameters
    ----------
    start_bytes, size_bytes
        Where the window begins on the drive, and its length.
    """

    start_bytes: int
    size_bytes: int


@dataclass(frozen=True)
class StreamKey:
    """What every random number of a stream depends on.

    Parameters
    ----------
    seed, index
        Of the campaign and of the measurement in it.
    phase
        ``warmup`` or ``measured``.
    """

    seed: int
    index: int
    phase: str

    def number(self, use: str) -> int:
        """Draw a number below 2**62 from the key and what it is used for."""
        text = f"{self.seed} {self.index} {self.phase} {use}"
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") >> 2


@dataclass(frozen=True)
class _Direction:
    """What one direction of a workload is asked to do."""

    name: str
    size: int
    random: float
    stride: int

    @property
    def stepping(self) -> bool:
        """No access of this direction is random, so it starts where the window starts."""
        return self.random == 0


def inexpressible(workload: Characteristics) -> str | None:
    """Say why fio's options cannot express `workload`, or `None` when they can."""
    active = _active(workload)
    shares = {"write_ratio": workload.write_ratio}
    shares |= {f"{direction.name}_random": direction.random for direction in active}
    for name, share in shares.items():
        if not _whole_percent(share):
            return f"{name} {share:g} is no whole percent, and fio takes no other"
    if len(active) == 2 and not _SMALLEST_SHARE <= workload.write_ratio <= 1 - _SMALLEST_SHARE:
        return (
            f"fio sends {100 * workload.write_ratio:g} % writes in bursts instead of one by one; "
            "a mix has 10 to 90 % writes"
        )
    strided = [direction for direction in active if direction.stride > 0]
    for direction in strided:
        if direction.random > 0:
            return (
                f"fio has no stream with {direction.name}_random {direction.random:g} and a "
                f"{direction.name}_stride; set one of them to 0"
            )
    if len(active) == 2 and strided:
        return "fio applies one stride to reads and writes alike; set the strides to 0"
    if len(active) == 2 and all(direction.stepping for direction in active):
        return (
            "fio starts sequential reads and sequential writes at the same offset; "
            "make one of them random in part, or measure them apart"
        )
    return None


def window_of(workload: Characteristics, capacity_bytes: int, key: StreamKey) -> Window:
    """Choose what the stream of `key` touches of a drive.

    Raises
    ------
    CannotAnswerError
        When the drive is too small for the workload.
    """
    active = _active(workload)
    stepping = [direction for direction in active if direction.stepping]
    # Alike for both directions, so that each one's offsets are multiples of its size.
    step = math.lcm(*(direction.size for direction in active))
    most = capacity_bytes // 2 if stepping else capacity_bytes
    if stepping and stepping[0].stride > 0:
        stride = stepping[0].stride
        accesses = (most + stride) // (step + stride)
        size = accesses * (step + stride) - stride
    else:
        accesses = most // step
        size = accesses * step
    if accesses < 2:
        raise CannotAnswerError(
            f"the drive holds {capacity_bytes} bytes, too few for this workload's sizes and stride"
        )
    if not stepping:
        return Window(0, size)
    places = (capacity_bytes - size) // step + 1
    return Window(key.number("start") % places * step, size)


def job_options(workload: Characteristics, window: Window, key: StreamKey) -> list[str]:
    """Write the options that make fio send the workload's stream.

    Parameters
    ----------
    workload
        One for which `inexpressible` has no objection.
    window
        From `window_of`.
    key
        The key of all its random numbers.
    """
    active = _active(workload)
    writes = workload.write_ratio
    kind = "rw" if 0 < writes < 1 else ("write" if writes == 1 else "read")
    sizes = f"{workload.read_size},{workload.write_size}"
    options = [f"bs={sizes}", f"iodepth={workload.queue_depth}"]
    if all(direction.stepping for direction in active):
        stride = active[0].stride
        options.append(f"rw={kind}:{stride}" if stride else f"rw={kind}")
    else:
        shares = f"{_percent(workload.read_random)},{_percent(workload.write_random)}"
        options += [f"rw=rand{kind}", f"percentage_random={shares}", "norandommap"]
    if len(active) == 2:
        options.append(f"rwmixwrite={_percent(writes)}")
    return [
        *options,
        f"offset={window.start_bytes}",
        f"size={window.size_bytes}",
        "randrepeat=0",
        f"randseed={key.number('stream')}",
    ]


def _active(workload: Characteristics) -> list[_Direction]:
    directions = []
    if workload.write_ratio < 1:
        directions.append(
            _Direction("read", workload.read_size, workload.read_random, workload.read_stride)
        )
    if workload.write_ratio > 0:
        directions.append(
            _Direction("write", workload.write_size, workload.write_random, workload.write_stride)
        )
    # A stride has no effect where every access is random.
    return [
        direction if direction.random < 1 else _Direction(direction.name, direction.size, 1.0, 0)
        for direction in directions
    ]


def _whole_percent(share: float) -> bool:
    # Sums of decimal fractions miss their value by some 1e-16; 0 and 1 are exact, because
    # they decide which kind of stream it is.
    percent = _percent(share)
    return math.isclose(share * 100, percent, rel_tol=1e-9) and (share in (0, 1)) == (
        percent in (0, 100)
    )


def _percent(share: float) -> int:
    return round(share * 100)
