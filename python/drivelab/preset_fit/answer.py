"""The result of a fit, as JSON for programs and as sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits import Table
from drivelab.exhibits.quantities import listed, share_text

if TYPE_CHECKING:
    from drivelab.preset_fit.choosing import Compared
    from drivelab.preset_fit.fitting import Errors, Fitted, FittedValue

# A real drive has effects that no simulator has; with an error above this it behaves differently.
_FAR: Final = 0.10


def answer_of(fitted: Fitted, preset: str) -> dict[str, Any]:
    """Return all results (docs/json-fit.md).

    Parameters
    ----------
    fitted
        The result of the fit.
    preset
        Path of the preset that was written.
    """
    run, again = fitted.run, fitted.repeated
    repeated = {} if again is None else {"repeated_error": _errors(again)}
    compared = {
        "bases": [_compared_json(one) for one in fitted.bases],
        "builds": [_compared_json(one) for one in fitted.builds],
    }
    return {
        "kind": "fit" if again is None else "twin",
        "run": str(run.path),
        "drive": run.drive,
        "base": fitted.base.reference,
        "preset": preset,
        "workloads": len(run.fitted.workloads),
        "held_out": len(run.held_out.workloads),
        "base_error": _errors(fitted.before),
        "error": _errors(fitted.after),
        **repeated,
        "values": [
            {
                "name": one.parameter.name,
                "keys": list(one.parameter.keys),
                "base": one.base,
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "is_told": one.is_determined,
                "is_at_edge": one.is_at_edge,
            }
            for one in fitted.values
        ],
        # A twin has a single base preset, and its page shows the changes to it.
        **(compared if again is None else {}),
        "simulations": fitted.simulations,
        "headline": headline(fitted),
        "cautions": cautions(fitted),
    }


def _compared_json(one: Compared) -> dict[str, Any]:
    return {"name": one.name, "off_ratio": one.off, "is_kept": one.is_kept}


def _errors(errors: Errors) -> dict[str, float | None]:
    return {"latency_mean_ratio": errors.mean, "latency_p99_ratio": errors.p99}


def headline(fitted: Fitted) -> str:
    """Say how close the fitted drive is, and how close the drive is to itself, if known."""
    again = ""
    if fitted.repeated is not None:
        again = f" Measured a second time, the drive itself differs by {_both(fitted.repeated)}."
    after = fitted.after
    p99 = "" if after.p99 is None else f" and {share_text(after.p99)} in the 99 % latency"
    return (
        f"On {len(fitted.run.held_out.workloads)} workloads that were not used for the fit, the "
        f"{fitted_noun(fitted)} is off by {share_text(after.mean)} in the mean latency{p99}; "
        f"{fitted.base.reference} unchanged is off by {_both(fitted.before)}.{again}"
    )


def fitted_noun(fitted: Fitted) -> str:
    """Return what was fitted: a simulated drive, or a formula."""
    return "closed form" if fitted.is_closed_form else "simulated drive"


def _both(errors: Errors) -> str:
    p99 = "" if errors.p99 is None else f" and {share_text(errors.p99)}"
    return f"{share_text(errors.mean)}{p99}"


def cautions(fitted: Fitted) -> list[str]:
    """Return the doubts about the fit, one or two sentences each."""
    found = []
    # No simulation can be closer to a drive than the drive is to itself.
    if fitted.after.mean > _FAR + (0.0 if fitted.repeated is None else fitted.repeated.mean):
        other = "a preset without `analytic:`" if fitted.is_closed_form else "another --base"
        found.append(
            f"The {fitted_noun(fitted)} does not behave like the drive. The drive may be built "
            f"differently from any preset, or it may vary: try {other}."
        )
    if edge := [one.parameter.name for one in fitted.values if one.is_at_edge]:
        found.append(
            f"At the end of its range, a twentieth or twenty times the base value: {listed(edge)}. "
            "The base preset is far from this drive: try another --base."
        )
    if unknown := [one.parameter.name for one in fitted.values if not one.is_determined]:
        rest = ", with the rest fitted to them" if len(fitted.values) > 1 else ""
        found.append(
            f"These measurements do not determine {listed(unknown)}: very different values fit "
            f"as well{rest}."
        )
    if fitted.unused:
        found.append(fitted.unused)
    if fitted.is_closed_form and any("register" in name for name in unknown):
        found.append(
            "Single requests show only the sum of register and cell. If you know one of them, "
            "write it into the base preset and name it with --hold."
        )
    return found


def chosen_text(fitted: Fitted) -> list[str]:
    """Say which preset was nearest and what was changed in it, one sentence each."""
    found = []
    if fitted.bases:
        found.append(f"Best of {len(fitted.bases)} presets: {fitted.base.reference}.")
    if fitted.builds:
        kept = [one.name for one in fitted.builds if one.is_kept]
        changed = listed(kept) if kept else "none helped enough"
        found.append(f"Of {len(fitted.builds)} changes of how it is built: {changed}.")
    return found


def compared_tables(fitted: Fitted) -> tuple[Table, ...]:
    """Return the presets and the changes that were compared, one row each; empty without any."""
    found = []
    for name, head, every, note in (
        (
            *("bases", "preset", fitted.bases),
            "Error of the latencies on 30 workloads, after a few least-squares steps. The two "
            "nearest presets were fitted further, and the better one was used.",
        ),
        (
            *("builds", "change", fitted.builds),
            "One change at a time, after a few least-squares steps. A change is kept if it "
            "removes a quarter of the remaining error or more.",
        ),
    ):
        rows = tuple(
            (
                one.name,
                "impossible" if one.off is None else f"{math.exp(one.off):.2f} times",
                "kept" if one.is_kept else "",
            )
            for one in every
        )
        if rows:
            found.append(Table(name, (head, "off by", ""), rows, right=True, note=note))
    return tuple(found)


def value_table(fitted: Fitted) -> Table:
    """Return one row per fitted value."""
    rows = tuple(
        (
            one.parameter.name,
            amount_text(one.base),
            amount_text(one.value),
            interval_text(one),
        )
        for one in fitted.values
    )
    return Table(
        "values",
        ("value", "base preset", "fitted", "95 % interval"),
        rows,
        right=True,
        note="Intervals are by profile likelihood: for every value inside, the other values can be "
        f"fitted so that the {fitted_noun(fitted)} is as close to the measurements as chance "
        "allows.",
    )


def amount_text(value: int | list[int]) -> str:
    """Write a value; of several values that keep their ratio, the first."""
    return f"{value[0]:,} ..." if isinstance(value, list) else f"{value:,}"


def interval_text(value: FittedValue) -> str:
    """Write the interval of a value, or that the measurements do not determine it."""
    if value.low is None and value.high is None:
        return "not determined"
    if value.high is None:
        return f"not determined; {amount_text(value.low or 0)} or more"
    if value.low is None:
        return f"not determined; {amount_text(value.high)} or less"
    between = f"{amount_text(value.low)} to {amount_text(value.high)}"
    return between if value.is_determined else f"not determined; {between}"
