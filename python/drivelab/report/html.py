"""The page of one run: texts, figures and tables in one file that asks nothing of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.report import (
    effects,
    figures,
    interval_words,
    latency,
    tables,
    words,
    workload_rows,
)
from drivelab.report.accuracy_tables import accuracy_tables, interval_rows
from drivelab.report.cautions import measurement_cautions
from drivelab.report.effect_figures import effect_panels
from drivelab.report.identity import identity
from drivelab.report.model_cautions import model_cautions
from drivelab.report.page import Report, render_page
from drivelab.report.predicted_figures import predicted_observed
from drivelab.report.quantities import (
    ESTIMATOR_LABELS,
    METRICS,
    PROVENANCE,
    latency_text,
    share_text,
    workload_text,
)
from drivelab.report.sweep_section import missing_reason, one_drive
from drivelab.report.sweeps import sweep_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.models.evaluate import ModelKey
    from drivelab.report.inputs import RunData
    from drivelab.report.table import Table


def render(run: RunData) -> Report:
    """Compute every table, draw every figure and write the page.

    The same run always gives the same bytes.
    """
    provenance = PROVENANCE[run.kind]
    computed = compute_tables(run)
    origin = {"drive": run.name, "drive_kind": run.kind}
    saved = {name: table.with_leading(**origin) for name, table in computed.items()}
    swept = one_drive(computed["sweeps"], provenance.adjective, missing_reason(run))
    rows = [workload_rows.texts(run, measurement) for measurement in run.measurements]
    html = render_page(
        "report.html.j2",
        adjective=provenance.adjective,
        provenance=provenance,
        kind=run.kind,
        drive=run.name,
        identity=identity(run.header, run.starts),
        summary=words.summary(run, computed["importance"]),
        cautions=[*measurement_cautions(run, computed["sweeps"]), *model_cautions(run)],
        how=_how(provenance.adjective),
        glossary=words.GLOSSARY,
        sweeps=swept.figures,
        count=len(run.training),
        accuracy=accuracy_tables(run),
        judged=_judged(run),
        mre_bars=figures.accuracy_bars(computed["accuracy"]),
        predicted=_predicted(run, computed, provenance.adjective),
        checked=0 if run.check is None else len(run.check.measurements),
        outside=run.evaluation.check_outside,
        interval_rows=interval_rows(run),
        held=interval_words.held_words(run),
        interval_levels=interval_words.levels(run),
        reserved=run.intervals.workloads,
        promise=interval_words.promise_words(run),
        band=interval_words.band_words(run),
        population=str(run.header["design"].get("population", "")),
        percentile_panels=_percentile_panels(computed, provenance.adjective),
        percentile_rule=latency.RULE,
        typical=_typical(run),
        effect_panels=[(METRICS[metric], _effects(computed, metric)) for metric in run.metrics()],
        importance_panels=figures.importance_bars(computed["importance"]),
        workload_columns=workload_rows.COLUMNS,
        workload_rows=rows[: workload_rows.SHOWN_ROWS],
        total_rows=len(rows),
        cards=_cards(run),
        data={
            "csv": {table.name: table.csv() for table in saved.values()},
            "tips": {
                "predictions": _point_texts(run, run.training),
                "check": _point_texts(run, [] if run.check is None else run.check.measurements),
                **swept.tips,
            },
            "rows": rows,
            "values": [workload_rows.numbers(run, one) for one in run.measurements],
        },
    )
    return Report(html, tuple(saved.values()))


def compute_tables(run: RunData) -> dict[str, Table]:
    """Return the table behind every figure of a run, by name; the empty ones are left out."""
    found = [
        tables.accuracy(run),
        tables.intervals(run),
        tables.predictions(run),
        *([] if run.check is None else [tables.check_predictions(run.check)]),
        latency.percentiles(run),
        effects.effects(run),
        effects.importance(run),
        sweep_table(run.measurements),
        tables.workloads(run),
    ]
    return {table.name: table for table in found if table.rows}


def _percentile_panels(computed: dict[str, Table], adjective: str) -> list[Any]:
    """Draw the percentile curves; none where no workload has enough requests for one."""
    found = computed.get("latency_percentiles")
    return [] if found is None else figures.percentile_curves(found, adjective)


def _how(adjective: str) -> dict[str, str]:
    return {key: text.format(adjective=adjective) for key, text in words.HOW_TO_READ.items()}


def _judged(run: RunData) -> dict[str, tuple[str, str]]:
    """Return the short and the long name of what models were judged on."""
    checked = 0 if run.check is None else len(run.check.measurements)
    return {
        key: (name, text.format(folds=run.folds, checked=f"{checked:,}"))
        for key, (name, text) in words.JUDGED.items()
    }


def _predicted(run: RunData, computed: dict[str, Table], adjective: str) -> list[figures.Panel]:
    """Draw the extended models above the basic ones, each by the estimator that suits it best.

    The last row shows the best models on the check part.
    """
    features = list(dict.fromkeys(key.features for key in run.accuracy))
    order = sorted(features, key=lambda name: name != "extended")
    chosen = [run.best(metric, name) for name in order for metric in run.metrics()]
    best = [run.best(metric) for metric in run.metrics()]
    bands = _bands(run, best)
    panels = predicted_observed(computed["predictions"], chosen, bands, adjective)
    if run.check is not None:
        table = computed["off_grid_predictions"]
        panels += predicted_observed(table, best, bands, adjective, off_grid=True)
    return panels


def _bands(run: RunData, best: Sequence[ModelKey]) -> dict[ModelKey, float]:
    level = interval_words.band_level(run)
    if level is None:
        return {}
    factors = {key: run.intervals.factors.get(key.metric, {}) for key in best}
    return {key: found[level] for key, found in factors.items() if level in found}


def _effects(computed: dict[str, Table], metric: str) -> list[figures.Panel]:
    return effect_panels(computed["effects"], computed["workloads"], metric)


def _typical(run: RunData) -> list[tuple[str, list[tuple[str, str]]]]:
    listed = []
    for direction in ("read", "write"):
        lines = []
        chosen = latency.typical(run.designed, direction)
        for color, (rank, measurement) in zip(figures.LINE_COLORS, chosen, strict=False):
            result = latency.result_of(measurement, direction)
            mean = latency_text(result.latency_ns_mean) if result else ""
            text = workload_text(measurement.characteristics)
            place = f"at {100 * rank:.0f} %: {text} (number {measurement.index}, mean {mean})"
            lines.append((color, place))
        if lines:
            listed.append((f"{direction.title()}s", lines))
    return listed


def _cards(run: RunData) -> list[dict[str, Any]]:
    cards = []
    for metric in run.metrics():
        item = METRICS[metric]
        values = [float(getattr(measurement, metric)) for measurement in run.designed]
        key = run.best(metric)
        cards.append(
            {
                "label": item.label,
                "low": item.text(min(values)),
                "high": item.text(max(values)),
                "mre": share_text(run.accuracy[key].mre),
                "estimator": ESTIMATOR_LABELS[key.estimator],
            }
        )
    return cards


def _point_texts(run: RunData, measurements: Sequence[Measurement]) -> list[str]:
    texts = []
    for measurement in measurements:
        values = (METRICS[name].text(float(getattr(measurement, name))) for name in run.metrics())
        workload = workload_text(measurement.characteristics)
        texts.append(f"{measurement.index}: {workload}\n{', '.join(values)}")
    return texts
