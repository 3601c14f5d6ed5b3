"""Minutes of recorded traces: learned from their own replay, and forecast without one."""

from __future__ import annotations

import csv
import tempfile
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from drivelab.models.model import PerformanceModel
    from drivelab.models.queueing import Layout

    Floats = NDArray[np.float64]
    # The name of a drive, and the file name of a trace.
    Case = tuple[str, str]

_LEARNED_TITLE: Final = "Minutes of traces, learned from their replay (table VII)"
_FORECAST_TITLE: Final = "Minutes of traces, forecast for drives they never ran on"
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
# Cases in which the model is known not to reach that, and why.
_NOT_BETTER: Final = frozenset({("sim:array-x25m", _DTRS), ("sim:samsung-slc-32gb", _DTRS)})
_WHY_NOT_BETTER: Final = (
    "The last third of DTRS100M writes six times as much as the first two, which do not show how "
    "these drives write."
)

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
# Known misses of the target for faster replays, and of half the error of a model that learned
# elsewhere, and why.
_NOT_FAST: Final = frozenset({("sim:samsung-slc-32gb", _CLOUD)})
_WHY_NOT_FAST: Final = "The reason is not known."
_NOT_HALF: Final = frozenset({("sim:array-x25m", _CLOUD)})
_WHY_NOT_HALF: Final = (
    "The array is like one of its members, on which the other model learned, with the depth that "
    "was measured: that model is off by little itself."
)
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


@dataclass(frozen=True)
class Errors:
    """Errors of a forecast: of the latency, and of requests completed in saturated windows."""

    latency_median: float
    latency_mean: float
    minutes: int
    saturated: int
    throughput: float


class Forecast(NamedTuple):
    """Errors of a forecast, as recorded and faster, and the mean of what was learned elsewhere."""

    usual: Errors
    fast: Errors
    elsewhere: float


def learned_minutes() -> Section:
    """Table VII: learn from minutes of a replay, and predict the later ones."""
    section = Section(_LEARNED_TITLE, traces_folder.command("minutes"))
    paths = traces_folder.found(_TRACES, section)
    if paths is None:
        return section
    return learned_section(
        {
            (drive, name): _learned(replayed(drive, path))
            for drive in _DEVICES
            for name, path in paths.items()
        }
    )


def learned_section(found: Mapping[Case, Mapping[str, float]]) -> Section:
    """Return the section about errors over the last third, by model, of each drive and trace."""
    section = Section(_LEARNED_TITLE, traces_folder.command("minutes"))
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
    section.tabulate(
        (
            "device and trace",
            *("with depth (%)", "without (%)", "as before (%)", "constant (%)"),
            *("throughput as before (%)",),
        ),
        [
            (_name_of(case), *(f"{100 * error:.1f}" for error in errors.values()))
            for case, errors in found.items()
        ],
    )
    missed = {
        case: f"{_name_of(case)}: {100 * errors['with depth']:.1f} % with depth, "
        f"{100 * errors['before']:.1f} % as before: "
        f"{_compared(errors['with depth'] / errors['before'])}"
        for case, errors in found.items()
        if errors["with depth"] > _BETTER * errors["before"]
    }
    less = f"{100 * (1 - _BETTER):.0f} %"
    _tell_missed(
        section,
        f"an error at least {less} below that of the minute before",
        missed,
        _NOT_BETTER,
        _WHY_NOT_BETTER,
    )
    section.claim(
        f"target: the model with depth beats the minute before by at least {less} on all "
        f"{len(found)}{_but('does', missed, found)}",
        holds=not missed,
        target=missed.keys() <= _NOT_BETTER,
    )
    return section


def _name_of(case: Case) -> str:
    return f"{_DEVICES[case[0]]}, {_TRACES[case[1]]}"


def _compared(ratio: float) -> str:
    percent = round(100 * abs(ratio - 1))
    return f"{percent} % {'more' if ratio > 1 else 'less'}"


def _but(verb: str, missed: Collection[Case], found: Collection[Case]) -> str:
    """Return on how many a target for all was reached, if not on all."""
    return f"; it {verb} on {len(found) - len(missed)}" if missed else ""


def _tell_missed(
    section: Section, target: str, missed: Mapping[Case, str], known: Collection[Case], why: str
) -> None:
    """Say by how much cases miss a target, one line each, and why the known ones do."""
    if not missed:
        return
    lines = "\n".join(f"- {line}" for line in missed.values())
    section.say(f"Missed: {target}.\n\n{lines}")
    if any(case in known for case in missed):
        section.say(why)


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
    section = Section(_FORECAST_TITLE, traces_folder.command("forecasts"))
    paths = traces_folder.found(_TRACES, section)
    if paths is None:
        return section
    models = {drive: _modelled(drive) for drive in (*_SERVED, *_REFUSED)}
    found = {
        (drive, name): Forecast(
            _forecast(models[drive], drive, path),
            _forecast(models[drive], drive, path, *_FAST[name]),
            _learned_elsewhere(drive, path),
        )
        for drive in _SERVED
        for name, path in paths.items()
    }
    layouts = {drive: asked_queueing(models[drive]).layout for drive in _SERVED}
    refused: dict[str, str | None] = {}
    for drive in _REFUSED:
        refused[drive] = None
        try:
            asked_queueing(models[drive])
        except CannotAnswerError as error:
            refused[drive] = str(error)
    return forecast_section(found, layouts, refused)


def forecast_section(
    found: Mapping[Case, Forecast],
    layouts: Mapping[str, Layout],
    refused: Mapping[str, str | None],
) -> Section:
    """Return the section about forecasts.

    Parameters
    ----------
    found
        Errors of each drive and trace.
    layouts
        Structure of the drives, as modelled.
    refused
        For drives that must be refused: the error, or None if they were not.
    """
    section = Section(_FORECAST_TITLE, traces_folder.command("forecasts"))
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
    _tabulate_forecasts(section, found)
    for drive, layout in layouts.items():
        if layout.log_blocks:
            section.say(
                f"`{drive}`, which maps whole blocks, is modelled as {layout.units} units with "
                f"pages of {format_size(layout.page_bytes)}. Each has {layout.log_blocks} log "
                f"blocks of {layout.block_pages} pages, as the probes show."
            )
    _claim_latency(section, found)
    _claim_half(section, found)
    for drive, error in refused.items():
        if error is not None:
            section.say(f"`{drive}`: {error}.")
        section.claim(f"{drive}: a trace is refused, not answered wrongly", holds=error is not None)
    return section


def _tabulate_forecasts(section: Section, found: Mapping[Case, Forecast]) -> None:
    section.tabulate(
        (
            "drive and trace",
            *("latency (%)", "latency, faster (%)", "saturated windows"),
            *("requests completed there (%)", "learned elsewhere (%)"),
        ),
        [
            (
                f"{drive}, {_TRACES[name]}",
                f"{100 * usual.latency_median:.1f} / {100 * usual.latency_mean:.1f}",
                f"{100 * fast.latency_median:.1f} / {100 * fast.latency_mean:.1f}",
                f"{fast.saturated} of {fast.minutes}",
                f"{100 * fast.throughput:.1f}" if fast.saturated else "none",
                f"{100 * elsewhere:.1f}",
            )
            for (drive, name), (usual, fast, elsewhere) in found.items()
        ],
    )


def _claim_latency(section: Section, found: Mapping[Case, Forecast]) -> None:
    """Compare the medians of each drive and trace, as recorded and faster, with their limits."""
    missed = {}
    for (drive, name), (usual, fast, _) in found.items():
        case = f"{drive}, {_TRACES[name]}"
        for what, median, known in (
            ("latency", usual.latency_median, frozenset()),
            ("latency of the faster replay", fast.latency_median, _NOT_FAST),
        ):
            holds = median <= _LATENCY
            by = "" if holds else f"; it is off by {100 * median:.1f} %"
            section.claim(
                f"{case}: {what} within {100 * _LATENCY:.0f} % at the median{by}",
                holds=holds,
                target=(drive, name) in known,
            )
        if fast.latency_median > _LATENCY:
            missed[drive, name] = f"{case}: {100 * fast.latency_median:.1f} %"
        if fast.saturated >= _FEWEST_SATURATED:
            section.claim(
                f"{case}: throughput of saturated windows within {100 * _THROUGHPUT:.0f} % at the "
                "median",
                holds=fast.throughput <= _THROUGHPUT,
            )
    target = f"latency of the faster replay within {100 * _LATENCY:.0f} % at the median"
    _tell_missed(section, target, missed, _NOT_FAST, _WHY_NOT_FAST)


def _claim_half(section: Section, found: Mapping[Case, Forecast]) -> None:
    """Compare the means with those of models that learned elsewhere."""
    missed = {
        case: f"{case[0]}, {_TRACES[case[1]]}: {100 * usual.latency_mean:.1f} %, learned elsewhere "
        f"{100 * elsewhere:.1f} %: {100 * usual.latency_mean / elsewhere:.0f} % of it"
        for case, (usual, _, elsewhere) in found.items()
        if usual.latency_mean > elsewhere / 2
    }
    target = "a mean error of at most half of that of a model that learned elsewhere"
    _tell_missed(section, target, missed, _NOT_HALF, _WHY_NOT_HALF)
    section.claim(
        f"target: the mean error is at most half of that of a model that learned elsewhere on all "
        f"{len(found)}{_but('is', missed, found)}",
        holds=not missed,
        target=missed.keys() <= _NOT_HALF,
    )


def _forecast(
    model: PerformanceModel,
    drive: str,
    path: Path,
    speed: float = 1.0,
    window_ns: int = _MINUTE_NS,
) -> Errors:
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
    return Errors(
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
