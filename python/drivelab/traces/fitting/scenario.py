"""A fit as a scenario in TOML, each value with its source."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.traces.fitting.regions import Region
    from drivelab.traces.fitting.tables import Fitted, Gap, Kind, Pairs, Train, Window

#: The default name of its stream.
NAME: Final = "fitted"
_PAIRS: Final = ("kinds_after", "gaps_before", "gaps_after", "kinds", "gaps", "regions", "trains")
_ABOUT: Final = """\
# A scenario that was fitted to a recorded trace: docs/scenarios.md says what the keys mean.
#
# It contains kinds of requests, classes of gaps and of trains, regions, and how many of each a
# window has. Sizes, distances and times between requests are values of the trace, addresses are
# rounded to whole MiB. Most requests of a short trace can be rebuilt from them. After the last
# window it starts again with the first, so it can run for any time.
"""


def scenario_text(fitted: Fitted, name: str = NAME) -> str:
    """Return a fit as a scenario whose stream has this name."""
    source = f"trace: fitted to {fitted.requests:,} requests"
    lasting = sum(window.duration_ns for window in fitted.windows)
    lines = [
        _ABOUT,
        f'summary = "fitted to a trace of {fitted.requests:,} requests over '
        f'{format_duration_ns(fitted.span_ns)}"',
        f"duration_ns = {_digits(lasting)}  # {source}",
        f"interval_ns = {_digits(fitted.window_ns)}  # assumed: the windows that it was fitted by",
        "",
        "[[stream]]",
        f"name = {json.dumps(name, ensure_ascii=False)}",
    ]
    tables: list[tuple[str, Kind | Gap | Region | Train | Window]] = [
        *(("kind", each) for each in fitted.kinds),
        *(("gap", each) for each in fitted.gaps),
        *(("region", each) for each in fitted.regions),
        *(("train", each) for each in fitted.trains),
        *(("window", each) for each in fitted.windows),
    ]
    for table, each in tables:
        lines += ["", f"[[stream.{table}]]"]
        lines += [f"{line}  # {source}" for line in _values(each)]
    return "\n".join(lines) + "\n"


def _values(table: Kind | Gap | Region | Train | Window) -> Iterator[str]:
    for each in fields(table):
        value = getattr(table, each.name)
        if value == ():
            continue
        if each.name in _PAIRS:
            value = _flat(value)
        if isinstance(value, tuple):
            yield f"{each.name} = [{', '.join(map(_digits, value))}]"
        elif isinstance(value, bool):
            yield f"{each.name} = {str(value).lower()}"
        elif isinstance(value, int):
            yield f"{each.name} = {_digits(value)}"
        else:
            yield f'{each.name} = "{value}"'


def _flat(pairs: Pairs) -> tuple[int, ...]:
    return tuple(number for pair in pairs for number in pair)


def _digits(number: int) -> str:
    return f"{number:_}"
