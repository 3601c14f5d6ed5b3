"""What a performance test came to, as text and as JSON."""

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

#: The verdict on a test of `all` that the drive cannot run.
_IMPOSSIBLE: Final = "impossible"
_WORDS: Final = {
    "steady": "steady",
    "not_steady": "steady state never reached in 25 rounds: the last are the window",
    "bounded": "ended by its bytes or hours before it was steady",
    "untested": "done; this test has no steady state",
    "incomplete": "not complete",
}
#: What is said of a test that never settled, by its verdict.
_UNSTEADY: Final = {
    "not_steady": "the results say so, and their window is the last rounds",
    "bounded": "the bytes or hours that end it came first, and the results say what was left then",
}
_FORMATS: Final[dict[str, Callable[[float], str]]] = {
    "IOPS": format_iops,
    "MB/s": lambda value: format_rate(value * 1e6),
    "ms": lambda value: format_duration_ns(value * 1e6),
    "minutes": lambda value: f"{value:,g} min",
    "ratio": lambda value: f"{100 * value:.1f} %",
}


def tell(outcome: Outcome) -> dict[str, Any]:
    """Write the report; give what ``pts run --json`` prints of a test (docs/json-pts.md)."""
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
    """Give what ``pts run --json`` prints of a test that the drive cannot run."""
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


def text_of(told: dict[str, Any]) -> str:
    """Write the result of `tell` or `left_out` for a terminal."""
    stamp = f" ({told['stamp']})" if told["stamp"] else ""
    lines = [f"{told['test']} on {told['drive']}, {told['edition']}{stamp}"]
    if told["verdict"] == _IMPOSSIBLE:
        return f"{lines[0]}\n  left out  {told['problem']}"
    for section in told["sections"]:
        name = section["name"] or "state"
        lines.append(f"  {name}  {_WORDS[section['verdict']]}{_rounds_text(section['rounds'])}")
    lines += _headline_lines(told["headline"])
    lines += [f"  note  {caution}" for caution in told["cautions"]]
    if told["was_complete"]:
        lines.append(
            f"  note  {told['run']} was complete: nothing was run, and the report was written again"
        )
    lines += [f"  report  {told['report']}", f"  result  {told['result']}"]
    return "\n".join(lines)


def raise_what_went_wrong(told: Sequence[dict[str, Any]]) -> None:
    """Raise `RunError` with every test that did not come to its end, or never settled."""
    several = len({each["drive"] for each in told}) > 1
    wrong = []
    for each in told:
        of = f" on {each['drive']}" if several else ""
        if each["problem"] and each["verdict"] != _IMPOSSIBLE:
            wrong.append(f"{each['test']}{of} did not come to its end: {each['problem']}")
    for verdict, words in _UNSTEADY.items():
        unsteady = [
            f"{each['test']}{' on ' + each['drive'] if several else ''}"
            for each in told
            if each["verdict"] == verdict
        ]
        if unsteady:
            wrong.append(f"steady state was never reached in {', '.join(unsteady)}; {words}")
    if wrong:
        raise RunError("; ".join(wrong))


def _rounds_text(rounds: int) -> str:
    return f", {rounds} round{'s' if rounds > 1 else ''}" if rounds else ""


def _headline_lines(figures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write the figures of a test's ``headline``, one a line, their values below each other."""
    width = max((len(figure["name"]) for figure in figures), default=0)
    return [f"  {figure['name']:<{width}}  {_value(figure)}" for figure in figures]


def _value(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "not reached"
    return _FORMATS[figure["unit"]](figure["value"])
