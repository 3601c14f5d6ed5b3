"""A fitted scenario compared with MLPerf Storage's distilled fio job, on a key-value cache trace.

The other tool, `distill_fio.py` of mlcommons/storage (kv_cache_benchmark/utils), turns histograms
of a block trace into a fio job: random offsets, sizes by shares, a depth of 32 or more. It is not
part of Drivelab. Run it between two calls of this script:

    python benches/distilled.py --trace kv.csv --histograms kv.txt
    python distill_fio.py -i kv.txt -o kv.ini
    python benches/distilled.py --trace kv.csv --job kv.ini --drive sim:enterprise-tlc-pcie4

The first call makes a trace in the form that the other tool's `--io-trace-log` writes, replays it
on the drive, and writes the histograms of sizes and depths that its bpftrace script would print.
The last call runs three things on the same drive: the trace, the scenario that is fitted to it, and
the job, as a closed loop over the drive. It prints the median difference over the windows.
"""

from __future__ import annotations

import argparse
import heapq
import io
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.parquet

from drivelab.drives.naming import open_simulated
from drivelab.traces.fitting.check import compared, requests_as_trace, windows_on
from drivelab.traces.fitting.requests import read_requests
from drivelab.traces.fitting.scenario import scenario_text
from drivelab.traces.fitting.tables import fit
from drivelab.workloads.recorded import RecordedFiles
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.traces.fitting.requests import Requests

_WINDOW_NS: Final = 10_000_000_000
_SECONDS: Final = 300
_USERS: Final = 64
_LAYERS: Final = 32
#: Bytes of a layer's keys and values for a block of tokens.
_BLOCK_BYTES: Final = (131_072, 262_144, 524_288)
_UNITS: Final = {"k": 1 << 10, "m": 1 << 20}


def made_trace() -> Iterator[str]:
    """Yield lines of a trace: users come back, their cache is read layer by layer, and grows."""
    rng = np.random.default_rng(1)
    yield "Timestamp,Operation,Object_Size_Bytes,Tier,Key,Phase"
    sizes = rng.choice(_BLOCK_BYTES, _USERS, p=(0.6, 0.3, 0.1))
    blocks = np.ones(_USERS, int)
    events: list[tuple[float, int, str]] = []
    now, order = 0.0, 0
    while now < _SECONDS:
        # Demand rises and falls over two minutes.
        now += rng.exponential(1 / (1.5 + np.sin(now / 20)))
        user = int(_USERS * rng.power(0.5))
        at = now
        for action, layer in _turn(user, blocks):
            at += rng.exponential(60e-6)
            text = f"{action},{sizes[user]},Tier-2,layer{layer}/user{user}/block"
            order += 1
            heapq.heappush(events, (at, order, text))
        blocks[user] = min(blocks[user] + 1, 4)
    while events:
        at, _, text = heapq.heappop(events)
        yield f"{1_740_553_426 + at:.6f},{text},{'Decode' if 'Read' in text else 'Evict'}"


def _turn(user: int, blocks: Any) -> Iterator[tuple[str, str]]:
    """Yield the requests of a user's turn: read all blocks, layer by layer, then write one."""
    for block in range(blocks[user] - 1):
        for layer in range(_LAYERS):
            yield "Read", f"{layer}-{block}"
    for layer in range(_LAYERS):
        yield "Write", f"{layer}-{blocks[user] - 1}"


def histograms(requests: Requests, drive: str) -> Iterator[str]:
    """Yield what the other tool's script prints: sizes in KiB, depths at dispatch."""
    trace = requests_as_trace(requests)
    with open_simulated(drive) as opened:
        replayed = opened.simulate(trace, log_requests=len(requests.action))
    log = pyarrow.parquet.read_table(io.BytesIO(replayed.log)).to_pydict()
    begins = np.array(log["submitted_ns"])
    ends = begins + np.array(log["latency_ns"])
    for action, name in ((0, "read"), (1, "write")):
        mine = requests.action == action
        is_mine = np.array(log["operation"]) == name
        depth = np.arange(is_mine.sum()) + 1
        done = np.searchsorted(np.sort(ends[is_mine]), np.sort(begins[is_mine]), "right")
        yield from _histogram(f"bssplit_{name}_kb", requests.size_bytes[mine] // 1024)
        yield from _histogram(f"qd_{name}", depth - done)


def _histogram(name: str, values: Any) -> Iterator[str]:
    yield f"@{name}:"
    found, counts = np.unique(np.floor(np.log2(np.maximum(values, 1))), return_counts=True)
    for power, count in zip(found.astype(int).tolist(), counts.tolist(), strict=True):
        yield f"[{_bound(power)}, {_bound(power + 1)})  {count} |@|"
    yield ""


def _bound(power: int) -> str:
    return f"{1 << (power - 10)}K" if power >= 10 else str(1 << power)


def job_workload(text: str, range_bytes: int) -> Stimuli:
    """Read a distilled job as what fio would send: a closed loop of random requests."""
    values = dict(re.findall(r"^(\w+)=(.+)$", text, re.MULTILINE))
    reads = int(values["rwmixread"]) / 100
    sizes: dict[int, float] = {}
    for part, share in zip(values["bssplit"].split(","), (reads, 1 - reads), strict=True):
        pairs = [re.fullmatch(r"(\d+)([km])/(\d+)", each) for each in part.split(":")]
        total = sum(int(each[3]) for each in pairs if each)
        for each in pairs:
            if each:
                size = int(each[1]) * _UNITS[each[2]]
                sizes[size] = sizes.get(size, 0.0) + share * int(each[3]) / total
    whole = sum(sizes.values())
    shares = tuple((size, share / whole) for size, share in sorted(sizes.items()) if share > 0)
    depth = int(values["iodepth"])
    return Stimuli((Stimulus(reads, shares, range_bytes, queue_depth=depth),))


def main(words: list[str]) -> int:
    """Write the other tool's input, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trace", type=Path, required=True)
    parser.add_argument("--histograms", type=Path)
    parser.add_argument("--job", type=Path)
    parser.add_argument("--drive", default="sim:enterprise-tlc-pcie4")
    args = parser.parse_args(words)
    if args.histograms:
        args.trace.write_text("\n".join(made_trace()) + "\n")
    requests = read_requests(RecordedFiles((str(args.trace),)))
    if args.histograms:
        args.histograms.write_text("\n".join(histograms(requests, args.drive)))
        return 0
    recorded = windows_on(args.drive, requests_as_trace(requests), _WINDOW_NS)
    seconds = int(requests.arrival_ns[-1]) / 1e9
    with open_simulated(args.drive) as drive:
        capacity = drive.capacity_bytes
    job = job_workload(args.job.read_text(), capacity)
    scenario = Scenario(scenario_text(fit(requests, _WINDOW_NS)))
    print(f"{len(requests.action):,} requests over {seconds:.0f} s on {args.drive}")
    for name, workload, lasting in (("fitted", scenario, None), ("distilled", job, seconds)):
        found = windows_on(args.drive, workload, _WINDOW_NS, seconds=lasting)
        difference = compared(args.drive, recorded, found)
        print(
            f"{name:10} latency {100 * difference.latency_difference:8.1f} %  "
            f"requests/s {100 * difference.throughput_difference:8.1f} %  "
            f"bytes/s {100 * difference.bandwidth_difference:8.1f} %"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
