"""fio's --output-format=json as a table: one row per job, options and results as columns.

Options become the eight workload characteristics if possible, results become the columns of
Drivelab's own measurements. A job without a fixed queue depth, or together with other jobs, is no
such workload: it is left out, and the reason is reported.

==================  ==============================================================================
characteristic      from
==================  ==============================================================================
write_ratio         ``rw``, ``rwmixwrite`` or ``rwmixread`` (half, where neither is given)
queue_depth         ``iodepth`` times ``numjobs``; synchronous engines keep one request each
read_size, ...      ``bs``; of ``bsrange`` the middle, of ``bssplit`` the mean
read_random, ...    all or none by ``rw``, ``percentage_random``; ``randread:8`` draws each eighth
read_stride, ...    what follows ``rw=read:``
==================  ==============================================================================
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drivelab.bounded_json import UnreadableJsonError, end_of_json, parse_json
from drivelab.errors import UsageError
from drivelab.models.own.table import OwnTable, file_bytes
from drivelab.workloads.characteristics import FIELDS
from drivelab.workloads.given import shown

#: What of a job is modelled unasked.
USUAL_TARGETS: Final = (
    *("latency_ns_mean", "iops", "bandwidth_bytes_per_second", "latency_ns_p99"),
)
#: Percentiles that become columns.
PERCENTILES: Final = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)

_SETTINGS: Final = ("job", "ioengine")
_PERCENTILE_COLUMNS: Final = tuple(
    f"{of}latency_ns_p{percent:g}" for of in ("", "read_", "write_") for percent in PERCENTILES
)
_COLUMNS: Final = (
    *(*_SETTINGS, *FIELDS, "latency_ns_mean", "iops", "bandwidth_bytes_per_second"),
    *_PERCENTILE_COLUMNS,
)
# fio's default engine on Linux is psync; these return when their request is done.
_SYNCHRONOUS: Final = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}
_OTHER_NAMES: Final = {"readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange"}
# Options that make requests wait for something else than those before them.
_PACED: Final = (
    *("rate", "rate_iops", "rate_process", "thinktime", "latency_target", "read_iolog"),
    *("zonemode", "random_distribution"),
)
_DIRECTIONS: Final = ("read", "write")
_SIZE: Final = re.compile(r"([0-9]{1,15})([kmgt]?)(i?)b?", re.IGNORECASE)
_KINDS: Final = {
    "read": (0.0, False),
    "randread": (0.0, True),
    "write": (1.0, False),
    "randwrite": (1.0, True),
    "rw": (None, False),
    "readwrite": (None, False),
    "randrw": (None, True),
}
_MOST_REMARKS: Final = 10


class _UnreadableJobError(Exception):
    """A job that is not a row: says why."""


@dataclass(frozen=True)
class _Job:
    name: str
    options: Mapping[str, str]
    report: Mapping[str, Any]


def read_fio(paths: Sequence[Path], table: OwnTable) -> None:
    """Put the jobs of fio's results below the rows of a table.

    Raises
    ------
    UsageError
        When a file is none of fio's, or no job can be read.
    """
    remarks: list[str] = []
    rows = 0
    for path in paths:
        columns = table.begin(_COLUMNS)
        places: list[object] = []
        for job in _jobs(path, remarks):
            try:
                row = _row(job)
            except _UnreadableJobError as error:
                remarks.append(f"{path}, job {shown(job.name)}: left out, {error}")
                continue
            for column, name in zip(columns, _COLUMNS, strict=True):
                value = row.get(name, math.nan)
                if isinstance(value, str):
                    column.add(value)
                else:
                    column.add_number(value)
            places.append(shown(job.name))
        table.end(str(path), "job", places)
        rows += len(places)
    if not rows:
        why = remarks[0] if remarks else f"{paths[0]} contains no job"
        raise UsageError(f"no job of fio can be read: {why}")
    table.remarks += remarks[:_MOST_REMARKS]
    if len(remarks) > _MOST_REMARKS:
        table.remarks.append(f"{len(remarks) - _MOST_REMARKS:,} further jobs are left out")
    table.usual_targets = tuple(name for name in USUAL_TARGETS if not table.cells[name].is_empty)


def _jobs(path: Path, remarks: list[str]) -> list[_Job]:
    """Read the jobs of a file, those that ran at the same time left out."""
    report = _report(path)
    jobs, common = report.get("jobs"), report.get("global options", {})
    if not isinstance(jobs, list) or not all(isinstance(one, dict) for one in jobs):
        raise UsageError(
            f"{path} is not a result of fio: it has no list of jobs; write it by fio "
            "--output-format=json"
        )
    together = Counter(_whole(job.get("groupid")) for job in jobs)
    found = []
    for job in jobs:
        own = job.get("job options", {})
        options: dict[str, str] = {
            _OTHER_NAMES.get(name, name): value
            for part in (common, own)
            if isinstance(part, dict)
            for name, value in part.items()
            if isinstance(name, str) and isinstance(value, str)
        }
        name = job.get("jobname")
        one = _Job(name if isinstance(name, str) else "", options, job)
        if together[_whole(job.get("groupid"))] > 1:
            remarks.append(
                f"{path}, job {shown(one.name)}: left out, others ran at the same time; separate "
                "jobs by stonewall, and give the clones of one group_reporting"
            )
        else:
            found.append(one)
    return found


def _report(path: Path) -> dict[str, Any]:
    data = file_bytes(path, "a result of fio")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a result of fio: it is not text") from error
    # fio may say something before its report.
    found = re.search(r"^\s*\{", text, re.MULTILINE)
    if found is None:
        raise UsageError(f"{path} is not a result of fio: it contains no JSON object")
    begin = found.end() - 1
    try:
        report = parse_json(text[begin : end_of_json(text, begin)], same_names=True)
    except UnreadableJsonError as error:
        raise UsageError(f"{path} is not a result of fio: it {error}") from error
    if not isinstance(report, dict):
        raise UsageError(f"{path} is not a result of fio: it contains no JSON object")
    return report


def _row(job: _Job) -> dict[str, float | str]:
    if _whole(job.report.get("error")):
        raise _UnreadableJobError(f"fio met the error {job.report['error']}")
    for name in _PACED:
        if name in job.options:
            raise _UnreadableJobError(f"{name} is set, so its queue is not always full")
    workload = _workload(job.options)
    return {
        "job": job.name,
        "ioengine": job.options.get("ioengine", "psync"),
        **workload,
        **_results(job.report),
    }


def _workload(options: Mapping[str, str]) -> dict[str, float]:
    """Return the characteristics that a job's options say."""
    kind, _, extra = options.get("rw", "read").partition(":")
    if kind not in _KINDS:
        raise _UnreadableJobError(f"rw={kind} is neither reads nor writes")
    write_ratio, is_random = _KINDS[kind]
    if write_ratio is None:
        write_ratio = _share(options, "rwmixwrite", 0.5)
        if "rwmixread" in options:
            write_ratio = 1 - _share(options, "rwmixread", 0.5)
    engine = options.get("ioengine", "psync")
    depth = 1 if engine in _SYNCHRONOUS else _count(options, "iodepth")
    found = {"write_ratio": write_ratio, "queue_depth": float(depth * _count(options, "numjobs"))}
    base = 1000 if options.get("kb_base") == "1000" else 1024
    sizes = _sizes(options, base)
    shares = _of_each(options.get("percentage_random", "100"))
    for direction, size, percent in zip(_DIRECTIONS, sizes, shares, strict=True):
        random = _number(percent, "percentage_random") / 100 if is_random else 0.0
        if is_random and extra:
            # A new place after so many requests; those between follow each other.
            random /= max(1.0, _number(extra, "rw"))
        found[f"{direction}_size"] = size
        found[f"{direction}_random"] = min(1.0, random)
        found[f"{direction}_stride"] = 0.0 if is_random or not extra else _size(extra, base)
    return found


def _sizes(options: Mapping[str, str], base: int) -> list[float]:
    """Return the mean sizes of reads and writes."""
    if "bssplit" in options:
        return [_split_size(one, base) for one in _of_each(options["bssplit"])]
    if "bsrange" in options:
        found = []
        for one in _of_each(options["bsrange"]):
            low, _, high = one.partition("-")
            found.append((_size(low, base) + _size(high or low, base)) / 2)
        return found
    return [_size(one or "4096", base) for one in _of_each(options.get("bs", "4096"))]


def _split_size(text: str, base: int) -> float:
    """Return the mean of sizes with their per cents: ``4k/50:64k/50``."""
    parts = [part.partition("/") for part in text.split(":")]
    sizes = [_size(size, base) for size, _, _ in parts]
    shares = [_number(percent, "bssplit") if percent else None for _, _, percent in parts]
    left = max(0.0, 100 - sum(share for share in shares if share is not None))
    open_parts = max(1, shares.count(None))
    weights = [left / open_parts if share is None else share for share in shares]
    if sum(weights) <= 0:
        raise _UnreadableJobError(f"bssplit={shown(text)} gives no size a share")
    return sum(size * weight for size, weight in zip(sizes, weights, strict=True)) / sum(weights)


def _of_each(text: str) -> list[str]:
    """Return what reads and writes have of an option such as ``4k,8k``; one value is of both."""
    parts = [part.strip() for part in text.split(",")]
    return [parts[0], parts[1] if len(parts) > 1 else parts[0]]


def _size(text: str, base: int) -> float:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise _UnreadableJobError(f"{shown(text)} is not a size")
    # With the base 1024 fio takes k for 1024 and ki for 1000, with 1000 the other way round.
    unit = base if not match[3] else 2024 - base
    return float(int(match[1]) * unit ** " kmgt".index(match[2].lower() or " "))


def _number(text: str, option: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", text.strip()):
        raise _UnreadableJobError(f"{option}={shown(text)} is not a number")
    return float(text)


def _share(options: Mapping[str, str], name: str, usual: float) -> float:
    if name not in options:
        return usual
    share = _number(options[name], name) / 100
    if share > 1:
        raise _UnreadableJobError(f"{name}={options[name]} is more than 100")
    return share


def _count(options: Mapping[str, str], name: str) -> int:
    count = int(_number(options.get(name, "1"), name))
    if count < 1:
        raise _UnreadableJobError(f"{name}={options[name]} is less than 1")
    return count


def _results(report: Mapping[str, Any]) -> dict[str, float]:
    """Return what was measured: means over reads and writes, weighted by their requests."""
    mixed = report.get("mixed")
    parts = (
        {"": mixed}
        if isinstance(mixed, dict)
        else {
            f"{name}_": report[name] for name in _DIRECTIONS if isinstance(report.get(name), dict)
        }
    )
    requests = {name: _positive(part.get("total_ios")) for name, part in parts.items()}
    parts = {name: part for name, part in parts.items() if requests[name] > 0}
    total = sum(requests[name] for name in parts)
    if not parts:
        raise _UnreadableJobError("it completed no request")
    found = {"iops": 0.0, "bandwidth_bytes_per_second": 0.0, "latency_ns_mean": 0.0}
    for name, part in parts.items():
        found["iops"] += _positive(part.get("iops"))
        found["bandwidth_bytes_per_second"] += _positive(part.get("bw_bytes"))
        latency = _latency(part)
        found["latency_ns_mean"] += requests[name] / total * _positive(latency.get("mean"))
        percentiles = _percentiles(part)
        found |= {f"{name}latency_ns_p{percent:g}": one for percent, one in percentiles.items()}
        if len(parts) == 1:
            found |= {f"latency_ns_p{percent:g}": one for percent, one in percentiles.items()}
    # Nothing takes no time: a result of 0 means that fio did not report it.
    return {name: value for name, value in found.items() if value > 0}


def _latency(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the whole latency of requests, or the part that fio reported after submission."""
    for name in ("lat_ns", "clat_ns"):
        found = part.get(name)
        if isinstance(found, dict) and _positive(found.get("mean")) > 0:
            return found
    return {}


def _percentiles(part: Mapping[str, Any]) -> dict[float, float]:
    for name in ("lat_ns", "clat_ns"):
        found = part.get(name)
        percentiles = found.get("percentile") if isinstance(found, dict) else None
        if isinstance(percentiles, dict):
            by_percent = {f"{percent:.6f}": percent for percent in PERCENTILES}
            return {
                by_percent[key]: _positive(value)
                for key, value in percentiles.items()
                if key in by_percent and _positive(value) > 0
            }
    return {}


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _positive(value: object) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < 1e30 else 0.0  # type: ignore[operator, arg-type]
