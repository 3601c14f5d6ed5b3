"""fio's options for one segment of a request stream.

Every workload is sent by iolog: text with one request a line, written by the one generator
(`crates/workload`), so that a real drive gets the very requests of a simulated one. fio 3.33
needs no more time a request for that than with its own random numbers (`benches/fio_iolog.py`).

What fio does otherwise than one would think, and what is done about it:

- At the end of an iolog the requests still in flight are left out of its statistics, unless
  ``number_ios`` is reached by then: it is set to the number of requests in the log.
- ``write_iolog`` is dropped in silence beside ``read_iolog``; what was sent is read back from
  the latency log, which carries offsets with ``log_offset=1``.
- When its latency log is full while the queue drains, what completes from then on is missing
  from it: the log has room for every request from the start.
- ``time_based`` would begin the log again, and ``ramp_time`` leaves counts that disagree:
  neither is used. ``runtime`` alone ends a log early and counts everything.
- A FIFO as an iolog hangs fio: it is a file in memory.
- ``refill_buffers`` draws all bytes of a write anew before sending it: 256 KiB at queue depth 1
  then leave the drive idle for a ninth of the time. Instead every 512 bytes are made different
  from those before.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.drives.real.fio.content import kept_content
from drivelab.workloads.content import USUAL

if TYPE_CHECKING:
    from drivelab.drives.real.fio.content import Mark
    from drivelab.workloads.characteristics import Characteristics

#: fio keeps one buffer a request in flight: of memory at most so much.
MAX_BUFFER_BYTES: Final = 2**30
# From 1024 on the latency log of fio 3.33 fails, and few queues of the kernel are deeper.
MAX_QUEUE_DEPTH: Final = 1023
# fio takes 1024 to 1048576, which is more than `fio_pace` sends at once.
LEAST_LOG_ENTRIES: Final = 1024


@dataclass(frozen=True)
class Segment:
    """A piece of a stream that one fio sends.

    Parameters
    ----------
    requests
        Number of requests in the iolog; at most this many are sent.
    seconds
        Nothing is sent after this time.
    """

    requests: int
    seconds: float

    @property
    def milliseconds(self) -> int:
        """Run time as fio takes it: whole, never shorter than asked."""
        return max(1, math.ceil(round(self.seconds * 1000, 6)))


def segment_options(
    workload: Characteristics,
    segment: Segment,
    *,
    engine: str,
    iolog: str,
    log_prefix: str,
    buffer_seed: int,
    content: str = USUAL,
    mark: Mark | None = None,
) -> list[str]:
    """Write the options, without leading dashes.

    Parameters
    ----------
    workload
        Whose stream it is.
    segment
        How much of it.
    engine
        fio's I/O engine.
    iolog
        The file that holds the requests.
    log_prefix
        fio appends ``_lat.1.log`` for the name of its latency log.
    buffer_seed
        Key of the bytes that are written.
    content
        What they look like.
    mark
        By which a file that Drivelab made is known again.
    """
    return [
        *(["readonly"] if workload.write_ratio == 0 else []),
        "name=segment",
        f"read_iolog={iolog}",
        "replay_no_stall=1",
        f"number_ios={segment.requests}",
        f"runtime={segment.milliseconds}ms",
        f"iodepth={workload.queue_depth}",
        f"ioengine={engine}",
        "allow_file_create=0",
        "direct=1",
        "thread",
        "invalidate=1",
        *kept_content(content, mark),
        "randrepeat=0",
        f"randseed={buffer_seed if mark is None else mark.randseed}",
        f"write_lat_log={log_prefix}",
        f"log_entries={max(LEAST_LOG_ENTRIES, segment.requests)}",
        "log_offset=1",
        "disable_slat=1",
        "disable_clat=1",
        "lat_percentiles=1",
        "clat_percentiles=0",
        "disk_util=0",
        "output-format=json+",
        "eta=never",
    ]


def buffer_seed(seed: int, index: int, position: int) -> int:
    """Draw a number below 2**62 from the key of a measurement and how far its stream is."""
    digest = hashlib.blake2b(f"{seed} {index} {position}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 2
