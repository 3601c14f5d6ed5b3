"""Minutes of recorded traces: learned from their own replay, and forecast without one."""

from __future__ import annotations

import csv
import tempfile
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import drivelab as dl
from drivelab.cli.main import main as command
from drivelab.drives.asked import plan_for
from drivelab.drives.naming import open_drive
from drivelab.errors import CannotAnswerError
from drivelab.models import of_run
from drivelab.models.goal import Goal
from drivelab.models.model_campaign import run_model_campaign
from drivelab.models.trace_forecast import asked_queueing, forecast_trace
from drivelab.traces.characterization import characterize
from drivelab.units import format_size
from drivelab.workloads.design import parse_design
from drivelab.workloads.recorded import RecordedFiles
from drivelab.workloads.trace import Trace
from validation import traces_folder
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from drivelab.models.model import PerformanceModel

    Floats = NDArray[np.float64]

_DTRS: Final = "DTRS100M.trace.zst"
_CLOUD: Final = "cloudPhysicsIO.vscsi.zst"
_TRACES: Final = {_DTRS: "DTRS100M", _CLOUD: "CloudPhysics"}
_DEVICES: Final = {
    "sim:spinpoint-m7": "HDD_S",
    "sim:x25m": "SSD_I",
    "sim:samsung-slc-32gb": "SSD_S",
    "sim:array-x25m": "Array_I",
}
_MINUTE_NS: Final = 60_000_000_000
# Learned from the first two thirds, as Huang et al. 2011 learn from two hours of three.
_LAST: Final = 1 / 3
# A model's error is at most this share of that of the answer "as in the minute before".
_BETTER: Final = 0.8
# Cases in which the model does not: the last third of DTRS100M writes six times as much as the
# first two, and the first two thirds do not show how these drives write.
_NOT_BETTER: Final = frozenset({("sim:array-x25m", _DTRS), ("sim:samsung-slc-32gb", _DTRS)})

_SERVED: Final = (
    *("sim:x25m", "sim:array-x25m", "sim:samsung-slc-32gb"),
    *("sim:enterprise-tlc-pcie4", "sim:consumer-qlc"),
)
_REFUSED: Final = ("sim:spinpoint-m7",)
_MEASUREMENTS, _CHECK = 300, 1000
# Limits for the medians over minutes of forecasts: latency, and requests of saturated minutes.
_LATENCY, _THROUGHPUT = 0.15, 0.10
# So fast that most drives here fall behind, in windows of a second or two of the replay.
_FAST: Final = {_DTRS: (1000.0, 30 * _MINUTE_NS), _CLOUD: (300.0, 10 * _MINUTE_NS)}
# An array like one of its members, whose minutes are learned with the depth that was measured: that
# is already off by 5 % alone, and the forecast is not below half of it.
_NOT_HALF: Final = frozenset({("sim:array-x25m", _CLOUD)})
# Fewer saturated windows say nothing.
_FEWEST_SATURATED: Final = 5
_NAMES: Final = (
    *("write_ratio", "queue_depth", "read_size_bytes", "write_size_bytes", "read_random"),
    *("write_random", "read_stride_bytes", "write_stride_bytes"),
)
_USUAL: Final = (0.0, 1.0, 4096.0, 4096.0, 1.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Minutes:
    """A replay's results, a row per minute: characteristics, latency in ns, requests, bytes."""

    table: Floats
    latency: Floats
    requests: Floats
    bytes: Floats


def learned_minutes() -> Section:
    """Table VII: learn from minutes of a replay, and predict the later ones."""
    title = "Minutes of traces, learned from their replay (table VII)"
    section = Section(title, traces_folder.command("minutes"))
    paths = traces_folder.found(_TRACES, section)
    if paths is None:
        return section
    section.say(
        "Traces replayed on simulated drives, `drivelab simulate DRIVE --trace FILE --fit scale "
        "--log`, then `drivelab trace characterize` by minute and `drivelab model --from "
        "windows.csv --test-last 33%`. The models learn from characteristics and performance of "
        "the first two thirds, and predict the last third. The table has mean relative errors of "
        "the latency. Queue depth is measured during the replay, as in Huang et al. 2011, so it "
        "gives away part of the answer; without it every minute is described as one request at a "
        "time. Throughput is the mean number of outstanding requests divided by the latency "
        "(Little's law), so its error is that of the latency. The last column is the error of the "
        "throughput of the minute before. The traces are not those of the paper."
    )
    rows, missed = [], set()
    for drive, device in _DEVICES.items():
        for name, path in paths.items():
            minutes = replayed(drive, path)
            errors = _learned(minutes)
            if errors["with depth"] > _BETTER * errors["before"]:
                missed.add((drive, name))
            rows.append(
                (f"{device}, {_TRACES[name]}", *(f"{100 * e:.1f}" for e in errors.values()))
            )
    section.tabulate(
        (
            "device and trace",
            *("with depth (%)", "without (%)", "as before (%)", "constant (%)"),
            *("throughput as before (%)",),
        ),
        rows,
    )
    section.claim(
        f"the model beats the minute before by a fifth on {len(rows) - len(_NOT_BETTER)} of "
        f"{len(rows)}",
        holds=missed <= _NOT_BETTER,
    )
    return section


def _learned(minutes: Minutes) -> dict[str, float]:
    """Give the errors over the last third, by model."""
    errors = {}
    alone = minutes.table.copy()
    alone[:, 1] = 1.0
    last: dict[str, Any] = {}
    for label, table in (("with depth", minutes.table), ("without", alone)):
        columns = {name: table[:, place].tolist() for place, name in enumerate(_NAMES)}
        columns["latency_ns"] = minutes.latency.tolist()
        model = dl.fit_table(columns, targets=["latency_ns"], last_share=_LAST)
        last = model.last["latency_ns"]
        best = next(one["estimator"] for one in model.accuracy if one["best"])
        (found,) = (one for one in last["accuracy"] if one["estimator"] == best)
        errors[label] = found["mre_ratio"]
    errors["before"] = last["row_before"]["mre_ratio"]
    errors["constant"] = last["constant"]["mre_ratio"]
    first = len(minutes.requests) - last["constant"]["rows"]
    later = minutes.requests[first:]
    errors["requests"] = float(np.mean(np.abs(minutes.requests[first - 1 : -1] / later - 1)))
    return errors


def replayed(drive: str, path: Path) -> Minutes:
    """Replay a trace on a simulated drive, and describe it by minute."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        _quiet("simulate", drive, "--trace", str(path), "--fit", "scale", "--log", str(log))
        files = RecordedFiles((str(log),))
        found = characterize(files, window_ns=_MINUTE_NS).windows
    kept = found["responses"] > 0
    table = np.column_stack(
        [
            np.nan_to_num(found[name][kept], nan=usual)
            for name, usual in zip(_NAMES, _USUAL, strict=True)
        ]
    )
    moved = found["read_bytes"] + found["write_bytes"]
    return Minutes(table, found["response_ns_mean"][kept], found["responses"][kept], moved[kept])


def forecast_minutes() -> Section:
    """Forecast minutes of traces from models of synthetic workloads; compare with the replay."""
    title = "Minutes of traces, forecast for drives they never ran on"
    section = Section(title, traces_folder.command("forecasts"))
    paths = traces_folder.found(_TRACES, section)
    if paths is None:
        return section
    section.say(
        f"`drivelab model DRIVE --writes burst` measures {_MEASUREMENTS} synthetic workloads; "
        "`drivelab predict RUN --trace FILE --fit scale` forecasts each minute. It is compared "
        "with the replay on the same simulated drive, `drivelab simulate DRIVE --trace FILE --fit "
        "scale --interval 60s`. Errors are of a minute's mean latency, median / mean over minutes. "
        "*Faster*: DTRS100M at 1000 times its speed by half hours, CloudPhysics at 300 times by "
        "ten minutes. That is a second or two of the replay, so drives fall behind. The error of "
        "completed requests is the median over saturated windows. *Learned elsewhere*: a model of "
        "another drive's replay, as in the section above, predicts this one."
    )
    models = {drive: _modelled(drive) for drive in (*_SERVED, *_REFUSED)}
    _tell_served(section, models, paths)
    for drive in _REFUSED:
        try:
            asked_queueing(models[drive])
            refused = False
        except CannotAnswerError as error:
            refused = True
            section.say(f"`{drive}`: {error}.")
        section.claim(f"{drive}: a trace is refused, not answered wrongly", holds=refused)
    return section


def _tell_served(
    section: Section, models: Mapping[str, PerformanceModel], paths: Mapping[str, Path]
) -> None:
    rows, missed = [], set()
    for drive in _SERVED:
        for name, path in paths.items():
            one = _forecast(models[drive], drive, path)
            fast = _forecast(models[drive], drive, path, *_FAST[name])
            elsewhere = _learned_elsewhere(drive, path)
            rows.append(
                (
                    f"{drive}, {_TRACES[name]}",
                    f"{100 * one.latency_median:.1f} / {100 * one.latency_mean:.1f}",
                    f"{100 * fast.latency_median:.1f} / {100 * fast.latency_mean:.1f}",
                    f"{fast.saturated} of {fast.minutes}",
                    f"{100 * fast.throughput:.1f}" if fast.saturated else "none",
                    f"{100 * elsewhere:.1f}",
                )
            )
            section.claim(
                f"{drive}, {_TRACES[name]}: latency within {100 * _LATENCY:.0f} % at the median",
                holds=one.latency_median <= _LATENCY,
            )
            if fast.saturated >= _FEWEST_SATURATED:
                section.claim(
                    f"{drive}, {_TRACES[name]}: throughput of saturated windows within "
                    f"{100 * _THROUGHPUT:.0f} % at the median",
                    holds=fast.throughput <= _THROUGHPUT,
                )
            if one.latency_mean > elsewhere / 2:
                missed.add((drive, name))
    section.tabulate(
        (
            "drive and trace",
            *("latency (%)", "latency, faster (%)", "saturated windows"),
            *("requests completed there (%)", "learned elsewhere (%)"),
        ),
        rows,
    )
    for drive in _SERVED:
        layout = asked_queueing(models[drive]).layout
        if layout.log_blocks:
            section.say(
                f"`{drive}`, which maps whole blocks, is modelled as {layout.units} units with "
                f"pages of {format_size(layout.page_bytes)}. Each has {layout.log_blocks} log "
                f"blocks of {layout.block_pages} pages, as the probes show."
            )
    section.claim(
        f"at most half the mean error of a model that learned elsewhere on "
        f"{len(rows) - len(_NOT_HALF)} of {len(rows)}",
        holds=missed <= _NOT_HALF,
    )


@dataclass(frozen=True)
class _Errors:
    latency_median: float
    latency_mean: float
    minutes: int
    saturated: int
    throughput: float


def _forecast(
    model: PerformanceModel,
    drive: str,
    path: Path,
    speed: float = 1.0,
    window_ns: int = _MINUTE_NS,
) -> _Errors:
    files = RecordedFiles((str(path),))
    windows = characterize(files, window_ns=window_ns).windows
    trace = Trace.of_files(files, fit="scale", speed=speed)
    forecast = forecast_trace(model, trace, windows, window_ns)
    interval = window_ns / 1e9 / speed
    requests, latency = _course(drive, path, speed, interval, forecast.begin_ns)
    both = (requests > 0) & (forecast.completed > 0)
    off = np.abs(forecast.latency_ns[both] / latency[both] - 1)
    behind = forecast.saturated & both
    done = np.abs(forecast.completed[behind] / requests[behind] - 1)
    return _Errors(
        float(np.median(off)),
        float(off.mean()),
        int(both.sum()),
        int(behind.sum()),
        float(np.median(done)) if done.size else float("nan"),
    )


def _course(
    drive: str, path: Path, speed: float, interval: float, begin_ns: Floats
) -> tuple[Floats, Floats]:
    """Replay a trace; give requests and mean latency of the intervals that begin then."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder) / "course.csv"
        words = ["--trace", str(path), "--fit", "scale", "--speed", f"{speed:g}x"]
        words += ["--interval", f"{interval:g}s", "--csv", str(course)]
        _quiet("simulate", drive, *words)
        with course.open() as file:
            rows = list(csv.DictReader(file))
    sums: dict[int, list[float]] = {}
    for row in rows:
        one = sums.setdefault(int(row["start_ns"]), [0.0, 0.0])
        one[0] += int(row["requests"])
        one[1] += int(row["requests"]) * float(row["latency_ns_mean"] or 0)
    found = np.array([sums.get(round(begin), [0.0, 0.0]) for begin in begin_ns])
    return found[:, 0], found[:, 1] / np.maximum(found[:, 0], 1)


def _learned_elsewhere(drive: str, path: Path) -> float:
    """Learn a trace's minutes on one drive, and predict those of another."""
    other = "sim:array-x25m" if drive == "sim:x25m" else "sim:x25m"
    there, here = replayed(other, path), replayed(drive, path)
    columns = {name: there.table[:, place].tolist() for place, name in enumerate(_NAMES)}
    columns["latency_ns"] = there.latency.tolist()
    model = dl.fit_table(columns, targets=["latency_ns"], last_share=_LAST)
    asked = {name: here.table[:, place].tolist() for place, name in enumerate(_NAMES)}
    said = np.asarray(model.predict(asked)["latency_ns"])
    return float(np.mean(np.abs(said / here.latency - 1)))


def _modelled(drive: str) -> PerformanceModel:
    with tempfile.TemporaryDirectory() as folder, open_drive(drive) as opened:
        store = run_model_campaign(
            drive,
            lambda: nullcontext(opened),
            plan_for(drive, seed=0, asked={"writes": "burst"}),
            Path(folder) / "run",
            design=parse_design("adaptive"),
            goal=Goal(_MEASUREMENTS),
            check=_CHECK,
            sweeps=True,
            progress=False,
        )
        with store:
            return of_run.fit(store)[0]


def _quiet(*words: str) -> None:
    """Run a command of Drivelab; what it prints is not shown."""
    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = command(list(words))
    if code:
        raise RuntimeError(f"drivelab {' '.join(words)}: {said.getvalue()}")
