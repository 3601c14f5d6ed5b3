"""What a simulated drive did for each namespace, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from drivelab.cli.courses import LABEL
from drivelab.cli.trace_text import in_width
from drivelab.units import format_duration_ns, format_size

_COLUMNS: Final = 80


def namespace_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Return for each namespace its size, its requests and the pages programmed of its data.

    Parameters
    ----------
    result
        The object ``namespaces`` in the output of ``drivelab simulate --json``.
    """
    for each in result["each"]:
        label = "namespace"
        head = f"{each['name']}, {format_size(each['size_bytes'])}"
        for text in (head, _requests(each), _programs(each)):
            yield from in_width(label, text, label_width=LABEL, columns=_COLUMNS)
            label = ""


def _requests(each: Mapping[str, Any]) -> str:
    parts = [
        f"{operation}s {done['bandwidth_bytes_per_second'] / 1e6:,.1f} MB/s, mean "
        f"{format_duration_ns(done['latency_ns_mean'])}"
        for operation, done in each["operations"].items()
        if operation in {"read", "write"}
    ]
    return "; ".join(parts) if parts else "no reads and no writes"


def _programs(each: Mapping[str, Any]) -> str:
    host, media = each["host_pages"], each["media_pages"]
    if not media:
        return "nothing programmed of its data"
    share = f"{each['media_share_ratio'] * 100:.1f} % of all"
    if not host:
        return f"{media:,} pages moved, none written by its host; {share}"
    ratio = each["write_amplification_ratio"]
    return f"{host:,} host pages, {media:,} programmed, {ratio:.3f} for each; {share}"
