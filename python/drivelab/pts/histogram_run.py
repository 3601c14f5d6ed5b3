"""Twenty minutes of one stimulus after a test has settled, for a response-time histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits import Exhibit, Page
from drivelab.pts.journal import Action, Record
from drivelab.pts.response_times import levels_table, response_time_figure, response_times_json
from drivelab.pts.words import span_words, stimulus_words

if TYPE_CHECKING:
    from drivelab.pts.bench import Bench
    from drivelab.workloads.stimulus import Stimulus

MINUTES: Final = 20
_PHASE: Final = "histogram"


def histogram_minutes(bench: Bench, stimulus: Stimulus) -> None:
    """Send the stimulus in minutes."""
    bench.expect(MINUTES)
    for _ in range(MINUTES):
        bench.run(Action("run", _PHASE, stimulus=stimulus, seconds=bench.applied.minutes(1)))
    bench.save_if_due()


def histogram_values(record: Record) -> dict[str, Any]:
    """Return the histogram as in docs/json-pts.md."""
    steps = record.of_phase(_PHASE)
    return {"response_times": response_times_json(steps) if steps else None}


def histogram_page(record: Record, name: str, title: str) -> list[Page]:
    """Show the histogram, if it was measured."""
    steps = record.of_phase(_PHASE)
    if not steps:
        return []
    words = stimulus_words(steps[0].stimulus)
    figure = response_time_figure(
        f"{name}-histogram", f"Response times of {span_words(steps)}: {words}", steps
    )
    exhibits: list[Exhibit] = [] if figure is None else [figure]
    exhibits.append(levels_table(f"{name}-levels", "Confidence levels", [(words, steps)]))
    return [Page(f"{title} - response-time histogram", tuple(exhibits))]
