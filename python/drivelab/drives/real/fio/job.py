"""fio's options for one segment of a request stream.

Every workload is sent by iolog: a text with one request per line, written by the one generator
(`crates/workload`), so that a real drive gets exactly the requests of a simulated one. In fio 3.33
this costs no more time per request than its own random numbers (`benches/fio_iolog.py`).

Surprises in fio, and what is done about them:

- fio leaves requests that are outstanding at the end of an iolog out of its statistics, unless
  ``number_ios`` is reached by then. So it is set to the number of requests in the log.
- fio silently ignores ``write_iolog`` together with ``read_iolog``. What was sent is read back
  from the latency log, which contains offsets with ``log_offset=1``.
- If fio's latency log is full while the queue drains, later completions are missing from it.
  So the log has space for every request from the start.
- ``time_based`` would restart the log, and ``ramp_time`` leaves counts that disagree, so neither
  is used. ``runtime`` alone ends a log early and counts everything.
- A FIFO as an iolog hangs fio, so it is a file in memory.
- ``refill_buffers`` redraws all bytes of a write before sending it: with 256 KiB at queue depth 1
  the drive is then idle for a ninth of the time. Instead every 512 bytes are made different from
  the previous ones.
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

#: fio keeps one buffer per outstanding request: the most memory for them.
MAX_BUFFER_BYTES: Final = 2**30
# At 1024 and more the latency log of fio 3.33 fails, and few kernel queues are deeper.
MAX_QUEUE_DEPTH: Final = 1023
# fio accepts 1024 to 1048576, which is more than `fio_pace` sends at a time.
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
        """Return the run time as fio takes it: whole milliseconds, never shorter than asked."""
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
        The workload of the stream.
    segment
        How much of the stream to send.
    engine
        fio's I/O engine.
    iolog
        The file that contains the requests.
    log_prefix
        Prefix of the latency log, to which fio appends ``_lat.1.log``.
    buffer_seed
        Key of the written bytes.
    content
        Kind of the written data.
    mark
        The mark by which a file that Drivelab made is recognised.
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
    """Draw a number below 2**62 from the key of a measurement and its stream's progress."""
    digest = hashlib.blake2b(f"{seed} {index} {position}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 2
