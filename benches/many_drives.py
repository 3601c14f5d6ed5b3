"""What 12,000 workloads on 1,000 drives take: the network, the journals, the head node.

We do not have 1,000 drives. So this measures what one result costs on its way, on this machine and
with the code that would do it. Then it lets the results of 1,000 drives arrive at a simulated head
node. It prints

- the size of a result as a message and as a row of a journal;
- the head node's time for it: to read it, to hand out the next work, and to save it (simulated
  drives share one journal that survives a kill; each real drive has a journal that survives a loss
  of power). The executor is the real one, with workers that answer immediately;
- the memory of a run that waits for a drive, because each real drive has its own run;
- when everything is done, how busy the head node is, and the maximum number of waiting results.

Everything else in a large campaign is in proportion to the number of drives or of results::

    PYTHONPATH=python .venv/bin/python benches/many_drives.py
    ... --drives 10 --workloads 100     # a try
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import queue
import random
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from drivelab.campaign.header import campaign_header
from drivelab.drives.measurement import Measurement
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.errors import DrivelabError, RunError
from drivelab.runs.workers.messages import HELLO, line_of, message_of, sum_of, this_version
from drivelab.runs.workers.pool import WorkersExecutor
from drivelab.store import RunStore
from drivelab.workloads.design import parse_design
from drivelab.workloads.parts import Parts

PLAN = MeasurementPlan(requests=2000, warmup_requests=200, seed=1)
# A measurement of a real drive: a second of counting, a tenth of warming up, and starting fio.
REAL_SECONDS = 1.1 + 0.3
# A head node with more cores does proportionally more of the work that runs share.
CORES = 16
# Workloads per drive that are simulated; the rest is assumed to continue in the same way.
MOST_PLAYED = 300


class Echo:
    """A worker that has measured everything already."""

    machine = None

    def __init__(self, place: EchoPlace, heard: Any) -> None:
        self._place, self._heard = place, heard
        self._heard.put((self, {HELLO: this_version()}))

    def tell(self, message: dict[str, Any]) -> None:
        if "open" in message:
            self._heard.put((self, {"opened": self._place.sum, "threads": 1}))
        for index, _ in message.get("measure", ()):
            self._heard.put((self, {"measurement": self._place.answers[index]}))

    def why_it_ended(self) -> DrivelabError:
        return RunError("it ended")

    def end(self) -> None:
        """Nothing is held."""

    def wait(self, until: float) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is held."""


@dataclass
class EchoPlace:
    """Where results are there at once, so that only the executor takes time."""

    name: str
    sum: str
    answers: list[dict[str, Any]]
    threads: int | None = 1
    is_elsewhere: bool = False

    def begin(self, heard: queue.SimpleQueue[Any]) -> Echo:
        return Echo(self, heard)


@dataclass
class Costs:
    """The cost of one result, in seconds and bytes."""

    message_bytes: int
    row_bytes: float
    write_seconds: float
    read_seconds: float
    hand_out_seconds: dict[int, float]
    keep_seconds: float
    keep_durably_seconds: float
    #: Until a durable row is on the medium, by the clock: the drive of that run waits, no other.
    medium_seconds: float
    run_bytes: int
    ssh_bytes: int


def seconds_each(
    do: Callable[[], Any], count: int, clock: Callable[[], float] = time.process_time
) -> float:
    """Return what one of `count` things takes of a processor that `do` does; the best of three."""
    best = float("inf")
    for _ in range(3):
        start = clock()
        do()
        best = min(best, clock() - start)
    return best / count


def measured_costs(drive: Drive, count: int, seats: list[int]) -> Costs:
    """Measure the cost of a result, over `count` of them."""
    design = parse_design(f"huang2011:{count}")
    workloads = design.select(1, None, drive.block_bytes).workloads[:count]
    work = list(enumerate(workloads))
    measurements = list(drive.measure(work, PLAN))
    answers = [each.to_json() for each in measurements]
    lines = [line_of({"measurement": each}) for each in answers]

    def read() -> None:
        for line in lines:
            Measurement.from_json(message_of(line)["measurement"])

    def write() -> None:
        for each in measurements:
            line_of({"measurement": each.to_json()})

    def hand_out(places: int) -> float:
        held = [EchoPlace(f"{each}", sum_of(drive), answers) for each in range(places)]
        with WorkersExecutor(drive, held) as executor:

            def all_of_it() -> None:
                with closing(executor.measure(work, PLAN)) as given:
                    if sum(1 for _ in given) != count:
                        raise RunError("results are missing")

            # Every worker opens the drive first, which does not count towards a result.
            all_of_it()
            return seconds_each(all_of_it, count)

    # It reads what it is given into measurements, which is counted apart.
    parsing = seconds_each(lambda: [Measurement.from_json(each) for each in answers], count)
    handed = {each: max(hand_out(each) - parsing, 0.0) for each in seats if each <= count}
    header = campaign_header(
        drive,
        workloads,
        PLAN,
        design_name=design.name,
        parts=Parts(count),
        population="",
        left_out=0,
        origin={},
    )
    sizes: list[float] = []

    def keep(durable: bool) -> None:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            path = Path(folder) / "run"
            with RunStore.open_to_append(path, header, durable=durable) as store:
                for each in answers:
                    store.append(each, each["index"])
            sizes.append((path / "run.sqlite").stat().st_size / count)

    return Costs(
        message_bytes=sum(map(len, lines)) // count,
        write_seconds=seconds_each(write, count),
        read_seconds=seconds_each(read, count),
        hand_out_seconds=handed,
        keep_seconds=seconds_each(partial(keep, False), count),
        keep_durably_seconds=seconds_each(partial(keep, True), count),
        medium_seconds=seconds_each(partial(keep, True), count, time.perf_counter),
        row_bytes=sizes[-1],
        run_bytes=waiting_run_bytes(),
        ssh_bytes=ssh_bytes(),
    )


def waiting_run_bytes() -> int:
    """Return the memory of a process forked for a run, with the code for measuring loaded."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        # What a run uses: a journal, threads, messages.
        text = json.dumps(list(range(50_000)))
        threads = [threading.Thread(target=json.loads, args=(text,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        os.write(writing, str(own_bytes("self")).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as found:
        memory = int(found.read())
    os.waitpid(child, 0)
    return memory


def own_bytes(process: str) -> int:
    """Return the memory that a process does not share with others."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


def ssh_bytes() -> int:
    """Return the memory of one connection here: ssh, kept open by a silent proxy."""
    silent = ["ssh", "-o", "ProxyCommand=sleep 5", "-o", "BatchMode=yes", "nowhere", "true"]
    try:
        with subprocess.Popen(silent, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as ssh:
            time.sleep(1)
            found = own_bytes(str(ssh.pid))
            ssh.kill()
    except OSError:
        return 0
    return found


@dataclass
class Arrived:
    """What became of all results at the head node."""

    seconds: float
    busy_ratio: float
    most_waiting: int
    late_ratio: float


def arrive(drives: int, workloads: int, *, each: float, cost: float, ahead: int) -> Arrived:
    """Let the results of all drives arrive at a head node that takes `cost` seconds for each.

    A drive measures for `each` seconds, a tenth more or less. It has `ahead` workloads to do, the
    one under way among them, and gets another one when the head node has taken a result.
    """
    drawn = random.Random(1)  # noqa: S311
    ready = [(each * drawn.uniform(0.0, 1.1), drive) for drive in range(drives)]
    heapq.heapify(ready)
    left = [workloads] * drives
    # When the head node took the last results of each drive.
    taken = [deque([0.0] * ahead, maxlen=ahead) for _ in range(drives)]
    waiting: deque[float] = deque()
    free_at, busy, most = 0.0, 0.0, 0
    while ready:
        now, drive = heapq.heappop(ready)
        while waiting and waiting[0] <= now:
            waiting.popleft()
        free_at = max(now, free_at) + cost
        busy += cost
        waiting.append(free_at)
        most = max(most, len(waiting))
        taken[drive].append(free_at)
        left[drive] -= 1
        if left[drive]:
            # The next one was handed out when the head node took the result `ahead` before it.
            begins = max(now, taken[drive][0])
            heapq.heappush(ready, (begins + each * drawn.uniform(0.9, 1.1), drive))
    return Arrived(free_at, busy / free_at, most, free_at / (workloads * each) - 1)


def shown(costs: Costs) -> list[str]:
    """Return a table of the costs of one result."""
    rows = [
        ("as a message", f"{costs.message_bytes:,} bytes"),
        ("as a row of a journal", f"{costs.row_bytes:,.0f} bytes"),
        ("a worker writes it", microseconds(costs.write_seconds)),
        ("the head node reads it", microseconds(costs.read_seconds)),
        *(
            (f"it is taken, and the next is handed out; {seats:,} workers", microseconds(seconds))
            for seats, seconds in costs.hand_out_seconds.items()
        ),
        ("it is kept, of a simulated drive", microseconds(costs.keep_seconds)),
        ("it is kept, of a real drive", microseconds(costs.keep_durably_seconds)),
        ("until it is on the medium, by the clock", microseconds(costs.medium_seconds)),
    ]
    return ["| one result | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows)]


def microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:,.0f} µs"


def planned(costs: Costs, drives: int, workloads: int) -> list[str]:
    """Return a table of the costs of a whole campaign."""
    total = drives * workloads
    memory = drives * (costs.run_bytes + costs.ssh_bytes)
    journal = workloads * costs.row_bytes
    lines = [
        f"| {workloads:,} workloads on {drives:,} drives | |",
        "|---|---|",
        f"| results | {total:,} |",
        f"| messages to the head node | {total * costs.message_bytes / 1e9:,.1f} GB |",
        f"| journals | {drives * journal / 1e9:,.1f} GB, {journal / 1e6:,.1f} MB each |",
        f"| memory of a run for each drive, with its ssh | {memory / 1e9:,.1f} GB |",
        "",
        "| head node | done after | network | busy | results that wait, at most | later by |",
        "|---|---|---|---|---|---|",
    ]
    one = costs.read_seconds + costs.hand_out_seconds[1] + costs.keep_durably_seconds
    shared = costs.read_seconds + costs.hand_out_seconds[max(costs.hand_out_seconds)]
    cases = [
        # A run for each drive: its processes share the cores.
        (f"real drives, {cores} cores", REAL_SECONDS + costs.medium_seconds, one / cores, 1)
        for cores in (2, CORES)
    ]
    for name, each in (("of a second", 1.0), ("of 0.1 s", 0.1)):
        # One run, whose executor is one thread.
        label = f"one simulated drive, {drives:,} workers, measurements {name}"
        cases.append((label, each, shared + costs.keep_seconds, 3))
    for name, each, cost, ahead in cases:
        played = min(workloads, MOST_PLAYED)
        found = arrive(drives, played, each=each, cost=cost, ahead=ahead)
        seconds = found.seconds * workloads / played
        rate = total * costs.message_bytes / seconds / 1e6
        lines.append(
            f"| {name} | {seconds / 3600:,.1f} h | {rate:,.1f} MB/s | "
            f"{100 * found.busy_ratio:.0f} % | {found.most_waiting:,} | "
            f"{100 * found.late_ratio:.0f} % |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--drives", type=int, default=1000)
    parser.add_argument("--workloads", type=int, default=12_000)
    parser.add_argument("--measured", type=int, default=1000, help="results to measure costs with")
    args = parser.parse_args()
    small = Path(__file__).parents[1] / "tests" / "small_drive.toml"
    with open_drive(f"sim:{small}") as drive:
        costs = measured_costs(drive, args.measured, [1, 100, 1000])
    print("\n".join([*shown(costs), "", *planned(costs, args.drives, args.workloads)]))


if __name__ == "__main__":
    main()
