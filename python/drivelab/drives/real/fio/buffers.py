"""What fio's buffers contain: fio itself is asked, because it fills them alike for a seed.

If fio keeps a workload's buffers (`fio.job`), it writes them again and again, each time with
another stamp. To recognise such a sector, a fio with the same seed writes each of its buffers once,
without stamps, into memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Final

from drivelab.drives.real.fio.engine import IO_ENGINES
from drivelab.drives.real.fio.program import FioHungError, FioProgram, run_fio
from drivelab.errors import RunError
from drivelab.memory import available_bytes, lacking

_PART_BYTES: Final = 64 * 2**20
# At least some hundred MB/s, and the time to start fio.
_START_SECONDS: Final = 10.0
_BYTES_A_SECOND: Final = 100e6


def buffers_with(program: FioProgram) -> Callable[[int, int, int], Iterator[bytes]]:
    """Return a function from a seed, a queue depth and a request size in bytes to fio's buffers."""

    def buffers_of(randseed: int, depth: int, size: int) -> Iterator[bytes]:
        # In this process's file and in fio's own memory.
        needed_bytes, available = 2 * depth * size, available_bytes()
        if available is not None and needed_bytes > available:
            raise lacking("looking at what fio wrote", needed_bytes, "end other programs")
        descriptor = os.memfd_create("drivelab-buffers", os.MFD_CLOEXEC)
        try:
            os.ftruncate(descriptor, depth * size)
            _write_once(program, descriptor, randseed, depth, size)
            for place in range(0, depth * size, _PART_BYTES):
                yield os.pread(descriptor, min(_PART_BYTES, depth * size - place), place)
        finally:
            os.close(descriptor)

    return buffers_of


def _write_once(program: FioProgram, descriptor: int, randseed: int, depth: int, size: int) -> None:
    failures = []
    for engine in IO_ENGINES:
        options = [
            "name=segment",
            "rw=write",
            f"filename=/proc/self/fd/{descriptor}",
            f"ioengine={engine}",
            f"bs={size}",
            f"size={depth * size}",
            # All are filled before the first is used again.
            f"iodepth={depth}",
            f"iodepth_batch_submit={depth}",
            f"iodepth_batch_complete_min={depth}",
            "allow_file_create=0",
            "thread",
            "scramble_buffers=0",
            "randrepeat=0",
            f"randseed={randseed}",
            "output-format=json",
            "eta=never",
        ]
        try:
            seconds = _START_SECONDS + depth * size / _BYTES_A_SECOND
            run_fio(program, options, deadline_seconds=seconds, descriptors=[descriptor])
        except FioHungError:
            raise
        except RunError as error:
            failures.append(f"{engine}: {error}")
        else:
            return
    raise RunError(f"fio does not show its buffers ({'; '.join(failures)})")
