"""One workload of a plan: what it sends, at which pace, how much room it takes, its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from drivelab._core import SECTOR_BYTES
from drivelab.drives.simulated.scenarios import read_scenario, scenario_file
from drivelab.errors import UsageError
from drivelab.place.plan import Bounds, Demand
from drivelab.place.values import number, plain, refuse_unknown, size, text
from drivelab.units import format_size
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.content import CONTENTS
from drivelab.workloads.given import shown
from drivelab.workloads.recorded import RecordedFiles
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.side_by_side import RATES, Part, Placeable
from drivelab.workloads.trace import SPEEDS, Trace

#: Of bounds in a plan: what they are in `Bounds`, and by how much their unit is more than its.
BOUNDS: Final = {
    "latency_ms_mean_at_most": ("latency_ns_mean", 1e6),
    "latency_ms_p99_at_most": ("latency_ns_p99", 1e6),
    "iops_at_least": ("iops", 1.0),
    "mb_per_second_at_least": ("bytes_per_second", 1e6),
}
_MOST: Final = 1e12
_RATE_KEYS: Final = ("rate_iops", "rate_mb_per_second")
_SIZES: Final = ("read_size", "write_size", "read_stride", "write_stride")
_ALWAYS: Final = ("name", "size", *BOUNDS)
_KEYS_OF: Final[dict[str, tuple[str, ...]]] = {
    "scenario": ("scenario",),
    "trace": ("trace", "speed", "depth", "fit", "format", "devices", "content"),
    "characteristics": (*FIELDS, *_RATE_KEYS, "arrivals", "content"),
}


def demand_of(entry: Mapping[str, Any], name: str, where: str, folder: Path) -> Demand:
    """Read a table ``[[workload]]``.

    Parameters
    ----------
    entry
        The table.
    name
        Its name.
    where
        How errors begin.
    folder
        Where files lie that it names.
    """
    kind = next((each for each in ("scenario", "trace") if each in entry), "characteristics")
    refuse_unknown(entry, (*_ALWAYS, *_KEYS_OF[kind]), _of_kind(where, kind, entry))
    how: dict[str, Any] = {}
    workload: Placeable
    if kind == "scenario":
        workload = _scenario(entry, where, folder)
    elif kind == "trace":
        workload = _trace(entry, where, folder)
    else:
        workload = _characteristics(entry, where)
        how = _pace(entry, workload, where)
    if "content" in entry:
        if entry["content"] not in CONTENTS:
            raise UsageError(
                f"{where}: content is {shown(entry['content'])}; allowed: {', '.join(CONTENTS)}"
            )
        how["content"] = entry["content"]
    bounds = Bounds(
        **{
            of: factor * number(entry[key], f"{where}: {key}", 0, _MOST, above=True)
            for key, (of, factor) in BOUNDS.items()
            if key in entry
        }
    )
    room = _room(entry, workload, where)
    try:
        part = Part(name, workload, room, **how)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    return Demand(part, bounds)


def _of_kind(where: str, kind: str, entry: Mapping[str, Any]) -> str:
    """Say what kind of workload has no such key, where it is one of another kind."""
    others = {key for keys in _KEYS_OF.values() for key in keys} - set(_KEYS_OF[kind])
    return (
        f"{where}, which is a {kind}"
        if kind != "characteristics" and others & set(entry)
        else where
    )


def _scenario(entry: Mapping[str, Any], where: str, folder: Path) -> Scenario:
    name = text(entry["scenario"], f"{where}: scenario")
    try:
        if scenario_file(name) is not None and (folder / name).exists():
            name = str(folder / name)
        return read_scenario(name, if_trace="write trace = instead of scenario =")
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    except OSError as error:
        # A name that no file can have.
        reason = error.strerror or str(error)
        raise UsageError(
            f"{where}: there is no scenario {shown(name)}: {reason}; `drivelab scenarios` lists "
            "those of the package"
        ) from error


def _trace(entry: Mapping[str, Any], where: str, folder: Path) -> Trace:
    named = entry["trace"]
    names = named if isinstance(named, list) else [named]
    files = tuple(str(folder / text(each, f"{where}: trace")) for each in names)
    how: dict[str, Any] = {key: plain(entry[key]) for key in ("depth", "fit") if key in entry}
    if "speed" in entry:
        speed = entry["speed"]
        least, most = SPEEDS
        how["speed"] = None if speed == "max" else number(speed, f"{where}: speed", least, most)
    devices = entry.get("devices")
    if devices is not None:
        if not isinstance(devices, list):
            raise UsageError(f'{where}: devices is {shown(devices)}; allowed: a list as ["0", "1"]')
        devices = tuple(text(each, f"{where}: devices") for each in devices)
    known = text(entry["format"], f"{where}: format") if "format" in entry else None
    try:
        source = RecordedFiles(files, known, devices)
        return Trace.of_files(source, **how)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _characteristics(entry: Mapping[str, Any], where: str) -> Characteristics:
    values = {
        key: size(entry[key], f"{where}: {key}") if key in _SIZES else plain(entry[key])
        for key in FIELDS
        if key in entry
    }
    made = Characteristics(**values)
    try:
        made.validate()
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    return made


def _pace(entry: Mapping[str, Any], workload: Characteristics, where: str) -> dict[str, Any]:
    """Read how fast characteristics arrive, where they do not wait for the drive."""
    given = [key for key in (*_RATE_KEYS, "queue_depth") if key in entry]
    if len(given) > 1:
        raise UsageError(
            f"{where}: {given[0]} and {given[1]} both say its pace; leave one of them out"
        )
    if not given:
        raise UsageError(
            f"{where}: its pace is missing; add rate_iops or rate_mb_per_second for requests "
            "that arrive by themselves, or queue_depth for requests that wait for the drive"
        )
    arrivals = entry.get("arrivals", "poisson")
    if arrivals not in ("poisson", "fixed"):
        raise UsageError(f"{where}: arrivals is {shown(arrivals)}; allowed: poisson, fixed")
    (key,) = given
    if key == "queue_depth":
        if "arrivals" in entry:
            raise UsageError(f"{where}: arrivals is for a rate; leave it or queue_depth out")
        return {}
    rate = number(entry[key], f"{where}: {key}", 0, _MOST, above=True)
    if key == "rate_mb_per_second":
        rate = rate * 1e6 / workload.mean_request_bytes
    least, most = RATES
    if not least <= rate <= most:
        raise UsageError(
            f"{where}: {key} makes {rate:.6g} requests a second; allowed: {least:g} to {most:,.0f}"
        )
    return {"rate_iops": rate, "is_poisson": arrivals == "poisson"}


def _room(entry: Mapping[str, Any], workload: Placeable, where: str) -> int:
    """Return the bytes of a drive that it takes: as it says, else its footprint; whole sectors."""
    found = workload.footprint_bytes
    if "size" in entry:
        found = size(entry["size"], f"{where}: size")
    if found is None:
        raise UsageError(
            f'{where}: it has no size; add one, such as size = "40GB": its requests go to a '
            "range of this size"
        )
    if not found:
        raise UsageError(f"{where}: size is 0; allowed: more, such as {format_size(1 << 30)}")
    return -(-found // SECTOR_BYTES) * SECTOR_BYTES
