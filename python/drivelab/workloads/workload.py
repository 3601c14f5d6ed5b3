"""All kinds of workloads; each kind is a class of frozen values.

::

    kind              class              is
    characteristics   Characteristics    a vector of characteristics (Huang et al. 2011, equation 4)
    whole_pass        WholePass          a file transferred once, whole (Boito et al. 2015)
    stimuli           Stimuli            access patterns of the performance test specification
    scenario          Scenario           streams side by side, as a file says them
    trace             Trace              recorded requests, in memory or in files
    side_by_side      SideBySide         any of these at once, each in its own part of a drive

A simulated drive accepts every kind: it uses a workload's `streams` and knows no kinds. Other
drives refuse workloads that they cannot run (`Drive.check`). A new kind is a class with `kind`,
`to_json`, `from_json`, `describe`, `footprint_bytes` and `streams`, and its name in `Workload`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, get_args

from drivelab.errors import UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.side_by_side import SideBySide
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.trace import STREAM, Trace
from drivelab.workloads.whole_pass import WholePass

if TYPE_CHECKING:
    from drivelab._core import Stream

Workload = Characteristics | WholePass | Stimuli | Scenario | Trace | SideBySide

KINDS: Final[dict[str, type[Workload]]] = {each.kind: each for each in get_args(Workload)}


def ends_by_itself(workload: Workload, streams: Sequence[Stream]) -> bool:
    """Return whether a workload ends: a pass, a list, a scenario with a length.

    Parameters
    ----------
    workload, streams
        Any workload, and its streams, which the caller makes once because they may be long.
    """
    if isinstance(workload, SideBySide):
        return True
    if isinstance(workload, Scenario):
        return workload.ends
    return all(each.requests is not None for each in streams)


def told_by_stream(workload: Workload, streams: Sequence[Stream]) -> bool:
    """Return whether results are reported for each stream of a workload.

    A single stream without a name is the whole workload. A scenario's stream has a name, and a list
    may trim and flush. Parameters are those of `ends_by_itself`.
    """
    is_listed = any(each.described()["source"] in ("listed", "recorded") for each in streams)
    return len(streams) > 1 or is_listed or isinstance(workload, (Scenario, SideBySide))


def names_of_streams(workload: Workload) -> list[str]:
    """Return the names of a workload's streams in order, without opening files of a trace."""
    if isinstance(workload, Trace):
        return [STREAM]
    if isinstance(workload, SideBySide):
        return workload.stream_names()
    return [stream.described()["name"] for stream in workload.streams()]


def workload_json(workload: Workload) -> dict[str, Any]:
    """Return a workload as JSON: its attributes by name, and its kind."""
    return {"kind": workload.kind, **workload.to_json()}


def workload_of_json(data: object) -> Workload:
    """Read a value that `workload_json` wrote.

    Raises
    ------
    UsageError
        When it is not a workload, or its kind is unknown.
    """
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(f"this is not a workload; its kind is one of {', '.join(KINDS)}")
    values = {name: value for name, value in data.items() if name != "kind"}
    return KINDS[kind].from_json(values)
