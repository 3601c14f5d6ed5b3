"""MQSim compared with Drivelab on the same two files: flash operations, latencies and speed.

MQSim is built from a copy of the folder that you give. Each case is a pair of ssdconfig.xml and
workload.xml, made from MQSim's own. MQSim reads it, and so does `drivelab simulate --mqsim`.
Both must read and program the same number of flash pages (within 2 %: their random numbers
differ); otherwise the output says that the case differs. Speed is in processor time, for the whole
command and for the loop alone. The loop's time is the difference of a long run and a short one.
Drivelab's long run has more requests than MQSim's, because its loop would end before the time that
it takes can be told from that of its start.

    .venv/bin/python benches/against_mqsim.py SOURCE [--cases WORD] [--repeats N]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

LIMIT_SECONDS = 1200
HOME = "https://github.com/CMU-SAFARI/MQSim"
#: Files of MQSim's source without which nothing can be built or run.
NEEDED = ("Makefile", "src/main.cpp", "ssdconfig.xml", "workload.xml")
#: The flash operations of both may differ by this share.
ALIKE = 0.02
#: Requests of the runs from whose difference the loop's rate follows, as shares of the case's.
LOOP = {"mqsim": (0.2, 1.0), "drivelab": (1.0, 5.0)}

#: 8 channels of 4 chips with 2 dies of 2 planes: 64 GiB, the whole map in memory.
DRIVE = {
    "Ideal_Mapping_Table": "true",
    "Page_Capacity": "4096",
    "Block_No_Per_Plane": "512",
    "Enabled_Preconditioning": "false",
}
#: The same chips, 4 channels of 2: 16 GiB.
SMALL = {**DRIVE, "Flash_Channel_Count": "4", "Chip_No_Per_Channel": "2"}
FLOW = {
    "Initial_Occupancy_Percentage": "70",
    "Working_Set_Percentage": "100",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": "100",
    "Address_Distribution": "RANDOM_UNIFORM",
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": "8",
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": "8",
    "Average_No_of_Reqs_in_Queue": "64",
    "Stop_Time": "0",
}


@dataclass(frozen=True)
class Case:
    """What is simulated: settings that differ from those above, and how many requests."""

    name: str
    requests: int
    drive: dict[str, str]
    flow: dict[str, str] = field(default_factory=dict)
    trace: str | None = None


CASES = (
    Case("reads, depth 64, 64 GiB", 1_000_000, DRIVE),
    Case("reads, depth 64, 16 GiB", 400_000, SMALL),
    Case("reads, depth 1", 100_000, DRIVE, {"Average_No_of_Reqs_in_Queue": "1"}),
    Case("writes, depth 64, 64 GiB", 1_000_000, DRIVE, {"Read_Percentage": "0"}),
    Case(
        "70 % reads, depth 16",
        400_000,
        DRIVE,
        {"Read_Percentage": "70", "Average_No_of_Reqs_in_Queue": "16"},
    ),
    Case(
        "reads at 200 MB/s",
        200_000,
        DRIVE,
        {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "204800000"},
    ),
    Case("wsrch-small, cached map", 0, {}, trace="wsrch-small"),
    Case("tpcc-small, cached map", 0, {}, trace="tpcc-small"),
)


@dataclass(frozen=True)
class Ran:
    """One run: what the flash did, the mean latency, and the command's processor time."""

    reads: int
    programs: int
    requests: int
    mean_us: float
    seconds: float


def changed(text: str, settings: dict[str, str]) -> str:
    """Set settings of an XML file; new ones are put before the first closing tag."""
    for name, value in settings.items():
        line = f"<{name}>{value}</{name}>"
        text, found = re.subn(rf"<{name}>[^<]*</{name}>", line, text)
        if not found:
            text = text.replace("</IO_Flow_Parameter_Set", f"{line}\n</IO_Flow_Parameter_Set", 1)
    return text


def written(case: Case, requests: int, source: Path, folder: Path) -> tuple[Path, Path]:
    """Write both files of a case."""
    config, workload = folder / "ssdconfig.xml", folder / "workload.xml"
    config.write_text(changed((source / "ssdconfig.xml").read_text(), case.drive))
    text = (source / "workload.xml").read_text()
    wanted = "Trace_Based" if case.trace else "Synthetic"
    flows = re.findall(
        rf"<IO_Flow_Parameter_Set_{wanted}>.*?</IO_Flow_Parameter_Set_{wanted}>", text, re.S
    )
    flow = flows[0]
    if case.trace:
        path = source / trace_file(case.trace)
        flow = changed(flow, {"File_Path": str(path), "Percentage_To_Be_Executed": "100"})
    else:
        # MQSim asks for every channel, chip, die and plane by number.
        ids = {
            "Channel_IDs": ",".join(
                map(str, range(int(case.drive.get("Flash_Channel_Count", "8"))))
            ),
            "Chip_IDs": ",".join(map(str, range(int(case.drive.get("Chip_No_Per_Channel", "4"))))),
        }
        count = {"Total_Requests_To_Generate": str(requests)}
        flow = changed(flow, FLOW | ids | count | case.flow)
    workload.write_text(
        '<?xml version="1.0" encoding="us-ascii"?>\n<MQSim_IO_Scenarios>\n<IO_Scenario>\n'
        f"{flow}\n</IO_Scenario>\n</MQSim_IO_Scenarios>\n"
    )
    return config, workload


def trace_file(name: str) -> str:
    """Give the place of a trace in MQSim's source."""
    return f"traces/{name}.trace"


def check_source(source: Path, cases: tuple[Case, ...]) -> None:
    """End with a line that says what is missing in a folder that is not MQSim's source."""
    if not source.is_dir():
        sys.exit(f"{source} is not a folder; name one with MQSim's source, {HOME}")
    needed = (*NEEDED, *(trace_file(case.trace) for case in cases if case.trace))
    missing = [name for name in needed if not (source / name).is_file()]
    if missing:
        sys.exit(
            f"{source} is not MQSim's source: {', '.join(missing)} missing; name a folder with "
            f"all of {HOME}"
        )


def built(source: Path, folder: Path) -> Path:
    """Build MQSim in a copy, or end with a line that says why it cannot be built."""
    make = shutil.which("make")
    if make is None:
        sys.exit("make is not installed, which builds MQSim; on Debian: apt-get install make g++")
    copy = folder / "mqsim"
    ignored = shutil.ignore_patterns("build", "MQSim", ".git")
    shutil.copytree(source, copy, ignore=ignored)
    program = copy / "MQSim"
    # A make that runs this bench would pass on its own options, and number this one's messages.
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if name not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}
    }
    ended = subprocess.run(
        [make, "-j2"],
        cwd=copy,
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        env=surroundings,
    )
    if ended.returncode != 0 or not program.is_file():
        sys.exit(f"MQSim in {source} does not compile: {last_error(ended.stderr)}")
    return program


def last_error(printed: str) -> str:
    """Give the last error of a compiler; without one, its last line, or else make's first."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    # The linker's own error follows those that say why.
    others = [line for line in lines if not line.startswith(("make", "collect2"))]
    errors = [line for line in others if "error: " in line]
    found = [*lines[:1], *others, *errors]
    return found[-1] if found else "make builds no program MQSim"


def processor_seconds() -> float:
    """Give the processor time of all commands so far: others at work do not change it much."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def mqsim(program: Path, config: Path, workload: Path) -> Ran:
    """Run MQSim, and read the file that it writes next to the workload."""
    started = processor_seconds()
    subprocess.run(
        [program, "-i", config, "-w", workload],
        cwd=program.parent,
        input=b"\n",
        check=True,
        capture_output=True,
        timeout=LIMIT_SECONDS,
    )
    seconds = processor_seconds() - started
    written = workload.with_name("workload_scenario_1.xml").read_text()

    def number(name: str, pattern: str) -> float:
        found = re.search(pattern.format(name), written)
        return float(found[1]) if found else 0.0

    def count(kind: str) -> int:
        one = number(f"Issued_Flash_{kind}_CMD", '{}="([0-9]+)"')
        # A command for both planes of a die; there are two.
        both = number(f"Issued_Flash_Multiplane_{kind}_CMD", '{}="([0-9]+)"')
        return int(one + 2 * both)

    return Ran(
        reads=count("Read"),
        programs=count("Program"),
        requests=int(number("Request_Count", "<{}>([0-9]+)<")),
        mean_us=number("Device_Response_Time", "<{}>([0-9.]+)<"),
        seconds=seconds,
    )


def drivelab(config: Path, workload: Path) -> Ran:
    """Run Drivelab on the same files."""
    words = ["simulate", "--mqsim", str(config), str(workload), "--json"]
    program = "import sys; from drivelab.cli.main import main; sys.exit(main(sys.argv[1:]))"
    started = processor_seconds()
    ended = subprocess.run(
        [sys.executable, "-c", program, *words],
        check=True,
        capture_output=True,
        timeout=LIMIT_SECONDS,
    )
    seconds = processor_seconds() - started
    (scenario,) = json.loads(ended.stdout)["scenarios"]
    simulated = scenario["simulation"]
    operations = [
        one
        for stream in simulated["streams"]
        for one in stream["operations"].values()
        if one["requests"]
    ]
    requests = sum(one["requests"] for one in operations)
    total_ns = sum(one["requests"] * one["latency_ns_mean"] for one in operations)
    flash = simulated["flash"]
    others = ("collection_page_programs", "wear_page_programs", "map_page_programs")
    return Ran(
        reads=flash["page_reads"],
        programs=flash["host_page_programs"] + sum(flash[name] for name in others),
        requests=requests,
        mean_us=total_ns / requests / 1e3,
        seconds=seconds,
    )


def asked_runs(case: Case) -> list[tuple[float, str]]:
    """Give the share of the requests and the simulator of each run; a trace is run whole."""
    parts = {part for loop in LOOP.values() for part in loop}
    runs = [(part, name) for part in sorted(parts) for name, loop in LOOP.items() if part in loop]
    return [run for run in runs if run[0] == 1.0] if case.trace else runs


def loop_rate(long: Ran | None, short: Ran | None) -> float | None:
    """Requests a second, without the time that every command takes once."""
    if long is None or short is None or long.seconds <= short.seconds:
        return None
    return (long.requests - short.requests) / (long.seconds - short.seconds)


def compared(program: Path, source: Path, cases: tuple[Case, ...], repeats: int) -> Iterator[str]:
    """Run every case on both, in turn; give a line of the table for each."""
    for case in cases:
        runs: dict[tuple[str, float], Ran] = {}
        for _, (part, name) in product(range(repeats), asked_runs(case)):
            with tempfile.TemporaryDirectory() as where:
                files = written(case, int(case.requests * part), source, Path(where))
                ran = mqsim(program, *files) if name == "mqsim" else drivelab(*files)
            best = runs.get((name, part))
            if best is None or ran.seconds < best.seconds:
                runs[name, part] = ran
        theirs, ours = runs["mqsim", 1.0], runs["drivelab", 1.0]
        rates = [
            loop_rate(runs.get((name, long)), runs.get((name, short)))
            for name, (short, long) in LOOP.items()
        ]
        alike = all(
            abs(a - b) <= ALIKE * max(a, b, 1)
            for a, b in ((theirs.reads, ours.reads), (theirs.programs, ours.programs))
        )
        operations = (
            "alike"
            if alike
            else (
                f"differ: {theirs.reads:,} reads and {theirs.programs:,} programs, "
                f"{ours.reads:,} and {ours.programs:,}"
            )
        )
        loop = "-"
        if rates[0] and rates[1]:
            loop = f"{rates[1] / 1e6:.2f} / {rates[0] / 1e6:.3f} = {rates[1] / rates[0]:.1f}"
        whole = theirs.seconds / ours.seconds
        yield (
            f"| {case.name} | {theirs.mean_us:,.0f} | {ours.mean_us:,.1f} | "
            f"{100 * (ours.mean_us / theirs.mean_us - 1):+.1f} % | {operations} | {loop} "
            f"| {whole:.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="compare MQSim with Drivelab")
    parser.add_argument("source", type=Path, help="a folder with MQSim's source")
    parser.add_argument("--cases", default="", help="only those whose names hold this")
    parser.add_argument("--repeats", type=int, default=1, help="the fastest of so many runs counts")
    args = parser.parse_args()
    cases = tuple(case for case in CASES if args.cases in case.name)
    if not cases:
        names = "; ".join(case.name for case in CASES)
        sys.exit(f"no case's name holds {args.cases!r}; the cases are: {names}")
    if args.repeats < 1:
        sys.exit(f"--repeats is {args.repeats}; allowed: at least 1")
    check_source(args.source, cases)
    with tempfile.TemporaryDirectory() as where:
        program = built(args.source.resolve(), Path(where))
        heads = ("case", "MQSim, mean us", "Drivelab", "", "flash operations")
        print("|", " | ".join((*heads, "loop, M requests/s", "whole command")), "|")
        print("|---|---|---|---|---|---|---|")
        for line in compared(program, args.source.resolve(), cases, args.repeats):
            print(line, flush=True)


if __name__ == "__main__":
    main()
