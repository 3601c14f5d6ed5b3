"""A recorded trace as a workload."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from drivelab.api.path_text import path_text
from drivelab.api.spelled import spelled_in_python
from drivelab.core_panic import panic_errors
from drivelab.errors import UsageError
from drivelab.units import parse_size
from drivelab.workloads.given import END, is_number, is_whole, shown
from drivelab.workloads.recorded import SORT_WINDOW, RecordedFiles, refuse_named
from drivelab.workloads.trace import SPEEDS, Trace

# Least and most, as the core has them.
_WHOLES: Final = {
    "time_unit_ns": (1, 3_600_000_000_000),
    "address_unit": (1, 1 << 30),
    "device_size": (1, END - 1),
    "sort_window": (0, 1 << 20),
}


def trace(
    *files: str | os.PathLike[str],
    speed: float | Literal["max"] = 1.0,
    depth: int | None = None,
    fit: str = "keep",
    format: str | None = None,  # noqa: A002
    devices: Sequence[str] | None = None,
    skip_bad_lines: bool = False,
    device_size: int | str | None = None,
    time_unit_ns: int | None = None,
    address_unit: int | str | None = None,
    sort_window: int = SORT_WINDOW,
    columns: Mapping[str, str] | None = None,
) -> Trace:
    r"""Read a trace once, and return it as a workload for `choose_drive` and `Model.forecast`.

    Parameters
    ----------
    files
        Files in one of the formats of docs/traces.md: plain, gzip or zstd. Several files are merged
        by their times.
    speed
        How many times as fast as recorded; ``"max"`` sends as fast as requests are answered.
    depth
        Most outstanding requests; requests beyond this limit are sent late.
    fit
        Where requests go on the drive: ``"keep"`` as recorded, ``"wrap"`` modulo the drive's size,
        ``"scale"`` moves the touched regions of 1 MiB together.
    format
        Name of the format; recognised from the content by default.
    devices
        Keep requests to these devices only.
    skip_bad_lines
        Whether to count bad lines and skip them; otherwise the first one is an error.
    device_size
        Size of the recorded device: bytes, or text such as ``"1TiB"``. A request that ends beyond
        it is a bad line.
    time_unit_ns, address_unit
        Units of times and addresses, if they differ from those of the format.
    sort_window
        How many later requests may precede a request in the file.
    columns
        For a Parquet file: the meaning of each column, and its name.

    Returns
    -------
    Trace
        A frozen value; `Trace.describe` describes it in a line.

    Raises
    ------
    DrivelabError
        When a file is not a trace, or cannot be sent with these options.

    Examples
    --------
    >>> import drivelab as dl
    >>> from pathlib import Path
    >>> lines = (f"0,{8 * place},4096,r,{place / 100}" for place in range(200))
    >>> _ = Path("example.spc").write_text("\n".join(lines))
    >>> dl.trace("example.spc", speed=2).describe()
    '200 reads of example.spc recorded over 1.99 s, 2 times as fast'
    """
    if not files:
        raise UsageError("name the files of the trace, such as drivelab.trace('web.spc.gz')")
    paths = [path_text(each, "a trace", "web.spc.gz") for each in files]
    refuse_named([Path(each) for each in paths])
    _check_speed(speed)
    sizes = {"device_size": _size(device_size), "address_unit": _size(address_unit)}
    _check_wholes({"time_unit_ns": time_unit_ns, "sort_window": sort_window, **sizes})
    asked = RecordedFiles(
        tuple(paths),
        format=format,
        devices=None if devices is None else _several(devices),
        skip_bad_lines=skip_bad_lines,
        device_bytes=sizes["device_size"],
        time_unit_ns=time_unit_ns,
        sector_bytes=sizes["address_unit"],
        sort_window=sort_window,
        columns=None if columns is None else _pairs(columns),
    )
    with panic_errors(), spelled_in_python():
        return Trace.of_files(asked, speed=None if speed == "max" else speed, depth=depth, fit=fit)


def _check_speed(speed: object) -> None:
    least, most = SPEEDS
    if speed != "max" and not (is_number(speed) and least <= speed <= most):
        raise UsageError(
            f"speed is {shown(speed)}; allowed: {least:g} to {most:g}, or 'max' for as fast as "
            "requests are answered"
        )


def _check_wholes(values: Mapping[str, object]) -> None:
    for name, value in values.items():
        least, most = _WHOLES[name]
        if value is None and name != "sort_window":
            continue
        if not (is_whole(value) and least <= value <= most):
            raise UsageError(
                f"{name} is {shown(value)}; allowed: a whole number, {least} to {most}"
            )


def _several(names: object) -> tuple[str, ...]:
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable):
        raise UsageError(f"devices is {shown(names)}; give a list of names such as ['0', '1']")
    return tuple(names)


def _pairs(columns: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(columns, Mapping):
        raise UsageError(
            f"columns is {shown(columns)}; give what a column contains and its name, such as "
            "{'arrival': 'time'}"
        )
    return tuple(columns.items())


def _size(value: int | str | None) -> int | None:
    return parse_size(value) if isinstance(value, str) else value
