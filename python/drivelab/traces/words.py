"""A trace in words: a summary, what was found in it, what limits its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits.quantities import (
    count_text,
    latency_text,
    listed,
    share_and_rest,
    share_text,
)
from drivelab.traces.characterization import DIRECTIONS
from drivelab.units import format_duration_ns, format_size

if TYPE_CHECKING:
    from drivelab.traces.characterization import Characterization

#: What was found; these words follow a number.
FINDINGS: Final[Mapping[str, str]] = {
    "malformed": "not of the format, cut off or damaged",
    "long_line": "longer than 64 KiB",
    "too_large": "with impossibly large numbers",
    "zero_size": "reads or writes of 0 bytes",
    "beyond_device": "beyond the end of the device",
    "late": "too late to be sorted in",
    "step_back": "earlier than the previous request in the same file",
    "lone_dispatch": "dispatched without an arrival; treated as arriving then",
    "lone_completion": "completed without a request; left out",
    "no_line_end": "without a line end, the last one; the file may have been cut off",
}
_MANY_SMALL: Final = 0.001


def number_text(value: float) -> str:
    """Return a number with three digits, or all before the decimal point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def time_text(time_ns: float) -> str:
    """Return a length of time that somebody chose: ``60 s``, ``100 ms``."""
    return latency_text(time_ns).replace(".00 ", " ").replace(".0 ", " ").removesuffix(" 0 s")


def in_span(span_ns: float) -> str:
    """Return how long something takes, to follow its name; empty for an instant."""
    return f" in {format_duration_ns(span_ns)}" if span_ns else ""


def size_text(size_bytes: float | None) -> str | None:
    """Return a size, or an empty string."""
    return None if size_bytes is None else format_size(round(size_bytes))


def summary(trace: Characterization) -> str:
    """Return in a sentence or two what a trace asks for."""
    parts = [count_text(trace.requests, "request")]
    if trace.span_ns:
        parts[0] += f" in {latency_text(trace.span_ns)}"
        parts.append(f"{number_text(trace.requests_per_second or 0.0)} a second")
    found = trace.found
    moves = []
    counts = [found[f"{name}_requests"] for name in DIRECTIONS]
    shares = [share_text(count / trace.requests) for count in counts]
    if sum(counts) == trace.requests:
        shares = list(share_and_rest(counts[0] / trace.requests))
    for name, share in zip(DIRECTIONS, shares, strict=True):
        if found[f"{name}_requests"]:
            size = size_text(found[f"{name}_size_bytes"])
            random = share_text(found[f"{name}_random"])
            moves.append(f"{share} {name}s of {size} on average, {random} random")
    text = ", ".join(parts)
    if moves:
        touched = size_text(found["footprint"]["bytes"])
        text += f": {'; '.join(moves)}. Together they touch {touched}"
    return f"{text}."


def finding_lines(checks: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was found while a trace was read, one line each."""
    place = checks["place"]
    for name, finding in checks["findings"].items():
        what = f"{count_text(finding['count'], counted(checks))} {FINDINGS[name]}"
        done = ", skipped" if finding["is_bad"] else ""
        yield f"{what}{done} ({_places(finding, checks['files'], place)})"
    if checks["filtered"]:
        yield f"{count_text(checks['filtered'], 'request')} to other devices left out"


def counted(checks: Mapping[str, Any]) -> str:
    """Return what a trace consists of: lines, rows, events or, in a binary file, records."""
    place: str = checks["place"]
    return "record" if place == "byte" else place


def _places(finding: Mapping[str, Any], files: Sequence[str], place: str) -> str:
    found = finding["places"]
    first = "first " if finding["count"] > len(found) else ""
    if len(files) == 1:
        numbers = ", ".join(f"{position:,}" for _, position in found)
        return f"{first}at {place} {numbers}"
    named = ", ".join(f"{files[file]}, {place} {position:,}" for file, position in found[:2])
    return f"{first}at {named}"


def caution_lines(trace: Characterization) -> Iterator[str]:
    """Yield what casts doubt on the units, or limits the numbers of a trace, one sentence each."""
    for _, text in trace.checks["cautions"]:
        yield f"{text[0].upper()}{text[1:]}."
    skipped = trace.checks["skipped"]
    if skipped:
        yield f"{count_text(skipped, 'bad ' + counted(trace.checks))} skipped."
    responses = trace.checks["responses"]
    if trace.found["depth_is_beyond"]:
        yield (
            "More than a million requests seem to be outstanding at the same time: the "
            "response times have another unit, so there is no queue depth."
        )
    elif responses and not trace.has_depth:
        yield (
            f"Response times are known of {share_text(trace.known_ratio)} of the requests: too few "
            "to say how many are outstanding."
        )
    cut = trace.found["footprint"]["cut_requests"]
    if cut:
        yield (
            f"{count_text(cut, 'request')} above 64 MiB: their first 64 MiB count for footprint "
            "and reuse."
        )


def accuracy(trace: Characterization) -> str:
    """Return how sure footprint and reuse are."""
    rate = trace.found["footprint"]["sampled_ratio"]
    if rate == 1:
        return "Footprint and reuse are exact, in blocks of 4 KiB."
    percent = f"{100 * rate:.2g} %" if rate >= _MANY_SMALL else f"1 in {1 / rate:,.0f}"
    return (
        "Footprint and reuse are those of 65,536 blocks of 4 KiB that represent all "
        f"({percent}), within about 1 % of the footprint."
    )


def devices_text(trace: Characterization) -> str:
    """Return the devices, the busiest first."""
    shown = [trace.devices[one["device"]] for one in trace.found["devices"][:3]]
    more = sum(1 for name in trace.devices if name) - len(shown)
    return listed([*shown, *([f"{more:,} more"] if more > 0 else [])])
