"""Run a workload, a scenario or a recorded trace on a simulated drive, and show all results.

The output has rates, latencies up to 99.999 % and a breakdown of the latency, by stream and
operation. A percentile that too few requests support stays empty. The same drive, workload and
seed give the same numbers on any machine; only the run time differs.
"""

from __future__ import annotations

import argparse
import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import (
    add_characteristics,
    add_json,
    duration,
    seed,
    whole_number,
)
from drivelab.cli.drive_options import (
    add_no_variability,
)
from drivelab.cli.outputs import add_force, answer_to, check_files, write_file
from drivelab.cli.scenario_options import add_scenario, file_of_scenario, workload_of
from drivelab.cli.terminal import in_lines, show
from drivelab.cli.trace_options import add_trace
from drivelab.errors import DrivelabError, UsageError
from drivelab.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from drivelab.drives.presets.firmware_costs import OwnSource
    from drivelab.drives.simulated.simulation import Simulation

_MOST_REQUESTS: Final = 10**10
_DEFAULT_REQUESTS: Final = 1_000_000
# Each takes about 350 bytes of memory while the file is written.
_MOST_LOGGED: Final = 10_000_000
_DEFAULT_LOGGED: Final = 1_000_000
_SUFFIXES: Final = {".csv": "csv", ".parquet": "log", ".state": "save_state"}
_KINDS: Final = {"csv": "time series", "log": "log of requests", "save_state": "saved state"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab simulate`."""
    parser.add_argument(
        "drive",
        metavar="DRIVE",
        nargs="?",
        help="a simulated drive: sim:PRESET or sim:FILE.toml",
    )
    parser.add_argument(
        "--mqsim",
        nargs=2,
        type=Path,
        metavar=("SSDCONFIG.xml", "WORKLOAD.xml"),
        help="take drive and workloads from MQSim's own files (docs/coming-from-mqsim.md)",
    )
    add_characteristics(parser)
    add_scenario(parser)
    add_trace(parser)
    parser.add_argument(
        "--requests",
        type=whole_number(1, _MOST_REQUESTS),
        metavar="N",
        help=f"requests to count [as the scenario says, a whole trace, or {_DEFAULT_REQUESTS}]",
    )
    parser.add_argument(
        "--seconds",
        type=duration,
        metavar="TIME",
        help="simulated time during which requests are counted",
    )
    parser.add_argument(
        "--warmup-requests",
        type=whole_number(0, _MOST_REQUESTS),
        metavar="N",
        help="requests to complete before counting starts [0]",
    )
    parser.add_argument(
        "--interval",
        type=duration,
        metavar="TIME",
        help="also report what completed in each interval of this simulated time",
    )
    parser.add_argument(
        "--csv",
        type=Path,
        metavar="FILE.csv",
        help="with --interval: output file for the time series, as a table",
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE.parquet",
        help="output file for every counted request, up to --log-requests",
    )
    parser.add_argument(
        "--log-requests",
        type=whole_number(1, _MOST_LOGGED),
        metavar="N",
        help=f"with --log: maximum number of requests [{_DEFAULT_LOGGED}]",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers [0]"
    )
    add_no_variability(parser)
    parser.add_argument(
        "--firmware",
        type=Path,
        metavar="FILE",
        help="use your own firmware instead of the built-in one: a library, MINE.so, or its "
        "source, MINE.c or MINE.rs (docs/firmware.md)",
    )
    parser.add_argument(
        "--from-state",
        type=Path,
        metavar="FILE.state",
        help="start from a state that an earlier run saved, instead of the preset's condition",
    )
    parser.add_argument(
        "--save-state",
        type=Path,
        metavar="FILE.state",
        help="save the final state, for --from-state",
    )
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate and print."""
    from drivelab.cli.simulate_progress import SimulateProgress
    from drivelab.drives.naming import open_simulated
    from drivelab.workloads.content import USUAL
    from drivelab.workloads.scenario import Scenario
    from drivelab.workloads.trace import Trace

    if args.mqsim is not None:
        from drivelab.cli import simulate_mqsim

        return simulate_mqsim.simulate(args)
    if args.drive is None:
        raise UsageError("no drive is named; give sim:PRESET, which `drivelab drives` lists")
    _check(args)
    workload = workload_of(args)
    scenario = workload if isinstance(workload, Scenario) else None
    trace = workload if isinstance(workload, Trace) else None
    if args.csv and args.interval is None and (scenario is None or scenario.interval_ns is None):
        raise UsageError("--csv is the time series: give --interval too")
    requests = args.requests
    ends = trace is not None or (scenario is not None and scenario.ends)
    if requests is None and args.seconds is None and not ends:
        requests = _DEFAULT_REQUESTS
    varies = not args.no_variability
    with (
        _firmware(args.firmware) as (library, own),
        open_simulated(args.drive, varies=varies, own_firmware=own) as drive,
        SimulateProgress() as progress,
    ):
        # Only reading it shows whether a drive in another state contains data.
        if scenario is None and (args.from_state is None or trace is not None):
            drive.check(workload)
        simulation = drive.simulate(
            workload,
            content=args.content or USUAL,
            seed=args.seed,
            warmup_requests=args.warmup_requests,
            requests=requests,
            seconds=args.seconds,
            interval_seconds=args.interval,
            firmware=library,
            log_requests=(args.log_requests or _DEFAULT_LOGGED) if args.log else None,
            from_state=args.from_state,
            keeps_state=args.save_state is not None,
            progress=progress,
        )
    from drivelab.cli.simulate_text import asked_of

    values = dict(simulation.values)
    for stream, plan in zip(values["streams"], simulation.asked, strict=True):
        stream.update(asked_of(plan, trace))
    written, failure = _write(args, simulation, values)
    if trace is not None:
        values["trace"] = trace.to_json()
    values["saved_state"] = str(args.save_state) if args.save_state in written else None
    if args.json:
        print(json.dumps(values, indent=2))
    else:
        from drivelab.cli.simulate_text import text
        from drivelab.workloads.trace_notes import trace_notes

        notes = [] if trace is None else trace_notes(trace)
        title = in_lines(scenario.summary if scenario else None)
        said = text(in_lines(values), title=title, notes=in_lines(notes))
        show("\n".join([said, *in_lines(list(written.values()))]))
    if failure is not None:
        raise failure
    return 0


@contextmanager
def _firmware(path: Path | None) -> Iterator[tuple[Path | None, OwnSource | None]]:
    """Return your own firmware's library, and its source if that was named."""
    if path is None:
        yield None, None
        return
    from drivelab.firmware.own_library import simulated_firmware

    with simulated_firmware(path) as found:
        yield found


def _write(
    args: argparse.Namespace, simulation: Simulation, values: Mapping[str, Any]
) -> tuple[dict[Path, str], DrivelabError | None]:
    """Write the files that were asked for; return a line for each, and the first failure.

    The run may have taken hours, so its result is printed before a full disk ends the command.
    """
    outputs: list[tuple[str, str | bytes, str]] = []
    if args.csv:
        outputs.append(("csv", _series_csv(values), f"wrote {args.csv}"))
    if args.log and simulation.log is not None:
        outputs.append(("log", simulation.log, _logged_text(args.log, values)))
    if args.save_state and simulation.state is not None:
        line = _saved_text(args.save_state, simulation)
        outputs.append(("save_state", simulation.state, line))
    written, failure = dict[Path, str](), None
    for name, content, line in outputs:
        path: Path = getattr(args, name)
        try:
            write_file(answer_to(args, _KINDS[name], path), content, force=args.force)
        except DrivelabError as error:
            failure = failure or error
        else:
            written[path] = line
    return written, failure


def _check(args: argparse.Namespace) -> None:
    for name in ("seconds", "interval"):
        if getattr(args, name) == 0:
            raise UsageError(f"--{name} is 0; allowed: more than 0, for example 100ms")
    if args.log_requests is not None and args.log is None:
        raise UsageError("--log-requests is for --log: name a file with --log FILE.parquet")
    if args.firmware is not None:
        for name in ("from_state", "save_state"):
            if getattr(args, name) is not None:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(
                    f"the state of a firmware of one's own cannot be saved or loaded: leave out "
                    f"{option} or --firmware"
                )
    from drivelab.drives.presets.source import preset_file

    wanted = [
        ((suffix,), None if path is None else answer_to(args, _KINDS[name], path))
        for suffix, name in _SUFFIXES.items()
        for path in [getattr(args, name)]
    ]
    _refuse_to_lose_a_state(args)
    traces = args.trace or ()
    inputs = [file_of_scenario(args), args.firmware, preset_file(args.drive), *traces]
    check_files(wanted, force=args.force, inputs=inputs)


def _refuse_to_lose_a_state(args: argparse.Namespace) -> None:
    """Refuse to overwrite the state that the run starts from, even with --force."""
    begin, end = args.from_state, args.save_state
    if begin is None or end is None or args.force or not (begin.exists() and end.exists()):
        return
    if begin.samefile(end):
        raise UsageError(
            f"{end} is the state that the run starts from; name another file for --save-state, or "
            "replace it with --force"
        )


def _logged_text(path: Path, values: Mapping[str, Any]) -> str:
    dropped = values["dropped_requests"]
    rest = f"; {dropped:,} more are not in it" if dropped else ""
    return f"wrote {path} with {values['logged_requests']:,} requests{rest}"


def _saved_text(path: Path, simulation: Simulation) -> str:
    size = format_size(len(simulation.state or b""))
    return f"wrote {path}, {size} that differ from the prepared drive"


def _series_csv(values: Mapping[str, Any]) -> str:
    from drivelab.exhibits import Table

    rows = values["series"]["rows"]
    columns = tuple(rows[0])
    cells = tuple(tuple(row[column] for column in columns) for row in rows)
    return Table(name="series", columns=columns, rows=cells).csv()
