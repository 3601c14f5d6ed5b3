"""Hidden drives found again from what was measured of them, and figures from others of them."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Final

from validation.document import Section
from validation.hidden_drives import BASES, FITTED, HELD_OUT, NEAR, Found, every_drive
from validation.published_halves import Predicted, every_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of latencies that were not fitted to: what a user who plans with a fitted drive can live with, and
# for tails twice as much. The drive itself is up to 2 and 7 % off when it is measured again.
_MEAN: Final = 0.05
_P99: Final = 0.10


def hidden_drives() -> Section:
    """Hide the values of ten presets, fit them, and predict published figures from others."""
    return section_of(every_drive(), every_figure())


def section_of(drives: Sequence[Found], figures: Sequence[Predicted]) -> Section:
    """Show the results."""
    section = Section("Simulated drives fitted to hidden ones", "python -m validation fitted")
    section.say(
        f"In {len(BASES)} presets every value that `drivelab fit` fits was multiplied by a random "
        f"factor between 0.55 and 1.8. The fit starts from the unchanged preset and uses {FITTED} "
        f"workloads of the hidden drive; {HELD_OUT} others judge it. *Determined*: values that, "
        "according to the fit, the measurements determine. *Sharp*: those of them whose interval "
        "ends within a tenth on either side. *Itself*: the hidden drive, measured again with other "
        "random numbers. Results are saved in target/fitted until the code or a preset changes."
    )
    rows = [_row(one) for one in drives]
    section.tabulate(
        (
            *("hidden drive", "determined", "of these within a tenth", "in the interval"),
            *("sharp, and within a tenth", "preset: mean", "fitted: mean", "itself: mean"),
            *("fitted: 99 %", "itself: 99 %", "processor time"),
        ),
        rows,
    )
    _values(section, drives)
    missed = [one for one in drives if one.mean > _MEAN]
    section.claim(
        f"mean latencies that were held out are within {100 * _MEAN:.0f} % on every hidden drive"
        + _by(missed, "mean"),
        holds=not missed,
        target=True,
    )
    missed = [one for one in drives if one.p99 > _P99]
    section.claim(
        f"99 % latencies that were held out are within {100 * _P99:.0f} % on every hidden drive"
        + _by(missed, "p99"),
        holds=not missed,
        target=True,
    )
    _figures(section, figures)
    return section


def _row(one: Found) -> tuple[str, ...]:
    determined = one.determined
    sharp = [value for value in determined if value.is_sharp]
    return (
        one.base + (" (built otherwise)" if one.built else ""),
        f"{len(determined)} of {len(one.values)}",
        f"{sum(value.is_near for value in determined)} of {len(determined)}",
        f"{sum(value.is_held for value in determined)} of {len(determined)}",
        f"{sum(value.is_near for value in sharp)} of {len(sharp)}",
        f"{100 * one.before:.0f} %",
        f"{100 * one.mean:.1f} %",
        f"{100 * one.repeated_mean:.1f} %",
        f"{100 * one.p99:.1f} %",
        f"{100 * one.repeated_p99:.1f} %",
        f"{one.seconds:.0f} s",
    )


def _values(section: Section, drives: Sequence[Found]) -> None:
    determined = [(one.base, value) for one in drives for value in one.determined]
    near = sum(value.is_near for _, value in determined)
    missed = [(base, value) for base, value in determined if not value.is_near]
    if missed:
        listed = "; ".join(
            f"{base} {value.name} {100 * value.off:+.0f} %"
            f"{'' if value.is_held else ', not in its interval'}"
            for base, value in missed
        )
        section.say(f"Determined, but off by more than a tenth: {listed}.")
    section.claim(
        "every value that the measurements determine, according to the fit, is within "
        f"{100 * NEAR:.0f} % of the hidden one: {near} of {len(determined)} are",
        holds=near == len(determined),
        target=True,
    )
    section.say(
        "A value is determined if its upper end is less than four times its lower end, so its "
        "interval may be wider than a tenth. A sharp value is known within a tenth, according to "
        "its interval."
    )
    sharp = [value for _, value in determined if value.is_sharp]
    near = sum(value.is_near for value in sharp)
    section.claim(
        f"every sharp value is within {100 * NEAR:.0f} % of the hidden one: {near} of "
        f"{len(sharp)} are",
        holds=near == len(sharp),
    )
    held = sum(value.is_held for _, value in determined)
    section.claim(
        f"95 % intervals contain 90 % or more of the determined hidden values: {held} of "
        f"{len(determined)}",
        holds=held >= 0.9 * len(determined),
        target=True,
    )


def _by(missed: Sequence[Found], name: str) -> str:
    if not missed:
        return ""
    each = ", ".join(f"{one.base} {100 * getattr(one, name):.1f} %" for one in missed)
    return f"; missed on {len(missed)}: {each}"


def _figures(section: Section, figures: Sequence[Predicted]) -> None:
    section.say(
        "This is for single drives with two or more published figures, which are divided at random "
        "into two halves. First, everything that a preset took from published figures is "
        "forgotten: these values begin at the middle of those of similar presets. Presets are "
        "left out if they took something that cannot be forgotten, such as the size of a page. "
        "Then every value that no paper or data sheet states is fitted to one half, and predicts "
        "the other half. This is a hard test with so few figures: a half with only reads says "
        "nothing about writes, and one with only bandwidths nothing about single requests. The "
        "fit ends if its next step would be an impossible drive."
    )
    section.tabulate(
        ("figure", "fitted to", "off before", "off"),
        [
            (
                f"{one.preset}: {one.name}",
                ", ".join(one.fitted_to),
                f"{100 * one.before:+.0f} %",
                f"{100 * one.after:+.0f} %",
            )
            for one in figures
        ],
    )
    moved = [one for one in figures if one.before != one.after]
    before, after = (
        median(abs(getattr(one, name)) for one in moved) for name in ("before", "after")
    )
    closer = sum(abs(one.after) < abs(one.before) for one in moved)
    section.say(f"{len(figures) - len(moved)} figures are the same before and after.")
    section.claim(
        f"a fit to one half brings the other half closer: of the {len(moved)} figures that it "
        f"changes {closer} are closer, and half are off by {100 * after:.0f} % or less, before by "
        f"{100 * before:.0f} %",
        holds=after < before and closer > len(moved) / 2,
        target=True,
    )
