"""Coughlin et al. 2010 on the package's presets, and the rule that says when they settled."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.pts.steady_state import PTS, WHITE_PAPER, SteadyStateRule, judge_window
from drivelab.reproduce.papers import reproduce
from validation.document import Section
from validation.reproduced import claim_all_but, tabulate_orderings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.reproduce.claims import Reproduction

#: What is known not to hold; the reproduction says why of each.
_SHORTFALLS: Final = (
    "figure 1, mlc-d: lost by write saturation",
    "figure 3: random data's highest IOPS over those of its smallest block",
    "figure 3: random data's rise from its smallest block to 4 KiB, below database's",
)
_WINDOWS: Final = 10_000
# So small that some windows lie exactly on a bound.
_AROUND: Final = 200
# Of the least-squares line by two ways, in binary fractions.
_TOLERANCE: Final = 1e-9


def coughlin2010() -> Section:
    """Reproduce Coughlin et al. 2010."""
    return section_of(reproduce("snia2010"))


def section_of(found: Reproduction) -> Section:
    """Write down a reproduction of Coughlin et al. 2010."""
    section = Section("Coughlin et al. 2010", "drivelab reproduce snia2010")
    held = len(found.statements) - len(found.failures)
    section.say(
        f"{held} of {len(found.statements)} statements hold. No value of the eighteen drives was "
        "fitted to them. Write saturation of all drives and their cells with 35 % writes take "
        "about 20 minutes of processor time, with one process per core."
    )
    section.tabulate(
        ("claim", "ours", "published", "unit", "tolerance", "reason"),
        (
            (each.name, f"{each.ours:,.4g}", each.published, each.unit, each.tolerance, each.reason)
            for each in found.claims
        ),
    )
    tabulate_orderings(section, found, "what the paper says")
    claim_all_but(
        section,
        found,
        _SHORTFALLS,
        paper="Coughlin et al. 2010",
        statement=f"everything that the paper says, except the {len(_SHORTFALLS)} shortfalls "
        "listed above",
    )
    return section


def steady_state_rule() -> Section:
    """Judge many windows as the performance tests do, and by whole numbers."""
    section = Section("The steady state of performance tests", ".venv/bin/python -m validation pts")
    section.say(
        f"{_WINDOWS:,} windows of whole numbers around {_AROUND} for each rule, judged by "
        "`drivelab.pts.steady_state` and again without a fraction. "
        "The least-squares slope is the sum over all pairs of rounds of their difference times "
        "their distance, over the sum of squared distances; with S the sum of the values, D the "
        "largest less the smallest and P that numerator, the specification's rule is 25 D <= S "
        "and 4 |P| <= S, that of Coughlin et al. 2010 is 200 D <= S and 24 |P| <= 11 S."
    )
    rows = []
    bounds = ((PTS, (25, 1), (4, 1)), (WHITE_PAPER, (200, 1), (24, 11)))
    for rule, data, slope in bounds:
        wrong = steady = exact = 0
        line = 0.0
        for values in _drawn(rule):
            total, spread = sum(values), max(values) - min(values)
            pairs = sum(
                (later[1] - earlier[1]) * (later[0] - earlier[0])
                for earlier, later in combinations(enumerate(values), 2)
            )
            scatters, drifts = (
                data[0] * spread - data[1] * total,
                (slope[0] * abs(pairs) - slope[1] * total),
            )
            window = judge_window(values, rule)
            wrong += window.is_steady != (scatters <= 0 and drifts <= 0)
            steady += window.is_steady
            exact += max(scatters, drifts) == 0
            fit = np.polyfit(range(1, len(values) + 1), values, 1)
            line = max(line, abs(float(fit[0]) - window.slope) / _AROUND)
        rows.append((rule.name, f"{_WINDOWS:,}", steady, exact, wrong, f"{line:.0e}"))
        section.claim(
            f"steady state, {rule.name}: judged alike in all windows, {exact} of them exactly on "
            f"the bound; the line within {_TOLERANCE:g} of NumPy's",
            holds=wrong == 0 and exact > 0 and line <= _TOLERANCE,
        )
    section.tabulate(
        ("rule", "windows", "steady", "on the bound", "judged otherwise", "slope's difference"),
        rows,
    )
    return section


def _drawn(rule: SteadyStateRule) -> list[Sequence[int]]:
    random = np.random.default_rng(0)
    rounds = np.arange(rule.window_rounds) - (rule.window_rounds - 1) / 2
    reach = _AROUND * float(rule.data_excursion)
    drift = random.uniform(-1.0, 1.0, (_WINDOWS, 1)) * reach / rule.window_rounds
    scatter = random.uniform(-0.6, 0.6, (_WINDOWS, rule.window_rounds)) * reach
    share = random.uniform(0.0, 1.2, (_WINDOWS, 1))
    values = np.rint(_AROUND + drift * rounds + share * scatter).astype(int)
    return [tuple(int(value) for value in window) for window in values]
