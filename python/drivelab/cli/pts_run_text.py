"""The result of a performance test, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.pts_report import folder_of_run, write_report
from drivelab.errors import RunError
from drivelab.units import format_duration_ns, format_iops, format_rate

if TYPE_CHECKING:
    from drivelab.pts.run import Outcome
    from drivelab.pts.settings import Settings
    from drivelab.pts.test import PtsTest

#: The verdict on one of all tests that the drive cannot run.
_IMPOSSIBLE: Final = "impossible"
_WORDS: Final = {
    "steady": "steady",
    "not_steady": "steady state never reached in 25 rounds: the last are the window",
    "bounded": "stopped by its limit of bytes or hours before it was steady",
    "untested": "done; this test has no steady state",
    "incomplete": "not complete",
}
#: The words for a test that never settled, by its verdict.
_UNSTEADY: Final = {
    "not_steady": "the results say so, and their window is the last rounds",
    "bounded": "the limit of bytes or hours came first, and the results show the state then",
}
_FORMATS: Final[dict[str, Callable[[float], str]]] = {
    "IOPS": format_iops,
    "MB/s": lambda value: format_rate(value * 1e6),
    "ms": lambda value: format_duration_ns(value * 1e6),
    "minutes": lambda value: f"{value:,g} min",
    "ratio": lambda value: f"{100 * value:.1f} %",
}


def tell(outcome: Outcome) -> dict[str, Any]:
    """Write the report; return what ``pts run --json`` prints for a test (docs/json-pts.md)."""
    from drivelab.pts.headline import headline

    result = outcome.result
    written = write_report(outcome.path, folder_of_run(outcome.path))
    return {
        "run": str(outcome.path),
        "test": result["test"],
        "edition": result["edition"],
        "drive": result["drive"]["name"],
        "kind": result["drive"]["kind"],
        "stamp": result["stamp"],
        "verdict": result["verdict"],
        "sections": [
            {key: section[key] for key in ("name", "verdict", "rounds")}
            for section in result["sections"]
        ],
        "headline": [asdict(figure) for figure in headline(result)],
        "cautions": result["cautions"],
        "was_complete": outcome.was_complete,
        "problem": None if outcome.problem is None else str(outcome.problem),
        "report": written["report"],
        "tables": written["tables"],
        "result": written["result"],
    }


def left_out(drive: str, test: PtsTest, settings: Settings, reason: str) -> dict[str, Any]:
    """Return what ``pts run --json`` prints for a test that the drive cannot run."""
    from drivelab.drives.naming import kind_of

    return {
        "run": None,
        "test": test.name,
        "edition": settings.edition,
        "drive": drive,
        "kind": kind_of(drive),
        "stamp": settings.stamp,
        "verdict": _IMPOSSIBLE,
        "sections": [],
        "headline": [],
        "cautions": [],
        "was_complete": False,
        "problem": reason,
        "report": None,
        "tables": None,
        "result": None,
    }


def text_of(result: dict[str, Any]) -> str:
    """Return the result of `tell` or `left_out` as text."""
    stamp = f" ({result['stamp']})" if result["stamp"] else ""
    lines = [f"{result['test']} on {result['drive']}, {result['edition']}{stamp}"]
    if result["verdict"] == _IMPOSSIBLE:
        return f"{lines[0]}\n  left out  {result['problem']}"
    for section in result["sections"]:
        name = section["name"] or "state"
        lines.append(f"  {name}  {_WORDS[section['verdict']]}{_rounds_text(section['rounds'])}")
    lines += _headline_lines(result["headline"])
    lines += [f"  note  {caution}" for caution in result["cautions"]]
    if result["was_complete"]:
        lines.append(
            f"  note  {result['run']} was complete: nothing was run, and the report was written "
            "again"
        )
    lines += [f"  report  {result['report']}", f"  result  {result['result']}"]
    return "\n".join(lines)


def raise_what_went_wrong(results: Sequence[dict[str, Any]]) -> None:
    """Raise `RunError` with every test that did not finish or never settled."""
    several = len({each["drive"] for each in results}) > 1
    wrong = []
    for each in results:
        of = f" on {each['drive']}" if several else ""
        if each["problem"] and each["verdict"] != _IMPOSSIBLE:
            wrong.append(f"{each['test']}{of} did not finish: {each['problem']}")
    for verdict, words in _UNSTEADY.items():
        unsteady = [
            f"{each['test']}{' on ' + each['drive'] if several else ''}"
            for each in results
            if each["verdict"] == verdict
        ]
        if unsteady:
            wrong.append(f"steady state was never reached in {', '.join(unsteady)}; {words}")
    if wrong:
        raise RunError("; ".join(wrong))


def _rounds_text(rounds: int) -> str:
    return f", {rounds} round{'s' if rounds > 1 else ''}" if rounds else ""


def _headline_lines(figures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the figures of a test's ``headline``, one per line, with aligned values."""
    width = max((len(figure["name"]) for figure in figures), default=0)
    return [f"  {figure['name']:<{width}}  {_value(figure)}" for figure in figures]


def _value(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "not reached"
    return _FORMATS[figure["unit"]](figure["value"])
