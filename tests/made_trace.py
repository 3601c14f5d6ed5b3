"""Small traces for tests, and the commands that read them."""

from __future__ import annotations

import gzip
from pathlib import Path

#: Two devices, of which one is read in order by two programs in turn; writes to one place.
LINES = [
    *(f"0,{2048 * (step % 2) + 8 * (step // 2)},4096,r,{step * 0.25:.6f}" for step in range(400)),
    *(f"1,{8 * (step % 4)},2048,w,{100 + step * 0.01:.6f}" for step in range(200)),
]


def spc_file(folder: Path, lines: list[str] | None = None, name: str = "small.spc") -> Path:
    """Write a trace of SPC, in order of time."""
    found = LINES if lines is None else lines
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in found))
    return path


def msr_file(folder: Path, name: str = "small.msr.gz") -> Path:
    """Write a trace with response times: 300 requests each 1 ms, outstanding for 2 ms."""
    lines = [
        f"{128166372000000000 + 10_000 * index},web,{index % 2},"
        f"{'Read' if index % 3 else 'Write'},{4096 * (index * 7919 % 1000)},4096,20000\n"
        for index in range(300)
    ]
    path = folder / name
    path.write_bytes(gzip.compress("".join(lines).encode()))
    return path


def blkparse_file(folder: Path, name: str = "small.blkparse") -> Path:
    """Write a trace with queue events: places come again, one line is bad, one request huge."""
    lines = []
    for index in range(200):
        at, sector = index / 100, 8 * (index % 50)
        what = "WS" if index % 4 == 0 else "R"
        count = 262144 if index == 7 else 8
        for action, later in (("Q", 0.0), ("D", 0.0001), ("C", 0.002)):
            where = f"{sector} + {count} [{'0' if action == 'C' else 'db'}]"
            lines.append(f"8,0 1 {index} {at + later:.9f} 7 {action} {what} {where}\n")
    lines.insert(30, "no line of blkparse\n")
    path = folder / name
    path.write_text("".join(lines))
    return path
