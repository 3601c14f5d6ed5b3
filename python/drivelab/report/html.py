"""The page: texts, figures and tables into one file that asks nothing of the network."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import jinja2
from markupsafe import Markup

from drivelab.report import effects, figures, latency, tables, words
from drivelab.report.effect_figures import effect_panels
from drivelab.report.identity import identity
from drivelab.report.quantities import (
    CHARACTERISTICS,
    ESTIMATOR_LABELS,
    METRICS,
    NOTHING,
    PROVENANCE,
    latency_text,
    share_text,
    workload_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.blackbox.evaluate import ModelKey
    from drivelab.drives.measurement import Measurement
    from drivelab.report.inputs import RunData
    from drivelab.report.table import Table

#: More rows than this make a page slow on a phone; the CSV holds all of them.
MAX_TABLE_ROWS: Final = 1000
_NUMBER_AND_UNIT: Final = re.compile(r"(\d) (%|ns|µs|ms|s|MB/s|IOPS|B|[KMGT]iB)(?![\w])")


@dataclass(frozen=True)
class Report:
    """A finished page and the tables behind it."""

    html: str
    tables: tuple[Table, ...]


def render(run: RunData) -> Report:
    """Compute every table, draw every figure and write the page.

    The same run always gives the same bytes.
    """
    kind = words.drive_kind(run)
    provenance = PROVENANCE[kind]
    computed = {
        "accuracy": tables.accuracy(run),
        "predictions": tables.predictions(run),
        "latency_percentiles": latency.percentiles(run),
        "effects": effects.effects(run),
        "importance": effects.importance(run),
        "workloads": tables.workloads(run),
    }
    origin = {"drive": str(run.header["drive"]["name"]), "drive_kind": kind}
    saved = {name: table.with_leading(**origin) for name, table in computed.items()}
    chosen = _shown_models(run)
    page = _environment().get_template("report.html.j2")
    html = page.render(
        adjective=provenance.adjective,
        provenance=provenance,
        kind=kind,
        drive=run.header["drive"]["name"],
        identity=identity(run.header),
        summary=words.summary(run, computed["importance"]),
        warnings=words.warnings(run),
        how=_how(provenance.adjective),
        folds=run.folds,
        groups=run.groups,
        count=len(run.measurements),
        metrics=[METRICS[metric] for metric in run.metrics()],
        accuracy=_accuracy_rows(run),
        mre_bars=figures.accuracy_bars(computed["accuracy"]),
        predicted=figures.predicted_observed(computed["predictions"], chosen, provenance.adjective),
        percentile_panels=figures.percentile_curves(
            computed["latency_percentiles"], provenance.adjective
        ),
        percentile_rule=latency.RULE,
        typical=_typical(run),
        effect_panels=[(METRICS[metric], _effects(computed, metric)) for metric in run.metrics()],
        importance_panels=figures.importance_bars(computed["importance"]),
        workload_rows=_workload_rows(run),
        hidden_rows=max(0, len(run.measurements) - MAX_TABLE_ROWS),
        cards=_cards(run),
        workload_columns=_WORKLOAD_COLUMNS,
        data={
            "csv": {table.name: table.csv() for table in saved.values()},
            "points": _point_texts(run),
            "values": [_sort_values(measurement) for measurement in _listed(run)],
        },
        style=_resource("report.css"),
        script=_resource("report.js"),
    )
    return Report(html, tuple(saved.values()))


def _how(adjective: str) -> dict[str, str]:
    return {key: text.format(adjective=adjective) for key, text in words.HOW_TO_READ.items()}


def _shown_models(run: RunData) -> list[ModelKey]:
    # The extended model above the basic one, both by the estimator that suits it best.
    features = list(dict.fromkeys(key.features for key in run.accuracy))
    order = sorted(features, key=lambda name: name != "extended")
    return [run.best(metric, name) for name in order for metric in run.metrics()]


def _effects(computed: dict[str, Table], metric: str) -> list[figures.Panel]:
    return effect_panels(computed["effects"], computed["workloads"], metric)


def _accuracy_rows(run: RunData) -> list[dict[str, Any]]:
    groups = []
    for metric in run.metrics():
        item = METRICS[metric]
        rows = {key.estimator: dict[str, dict[str, Any]]() for key in run.accuracy}
        for key, score in run.accuracy.items():
            if key.metric == metric:
                rows[key.estimator][key.features] = {
                    "r2": _r2_text(score.r2),
                    "mae": _plain(score.mae * item.factor),
                    "mean": _plain(score.mean * item.factor),
                    "mre": share_text(score.mre),
                    "best": key == run.best(metric),
                }
        groups.append(
            {
                "metric": f"{item.label} ({item.unit})",
                "rows": [
                    (ESTIMATOR_LABELS[name], [cells.get("basic"), cells.get("extended")])
                    for name, cells in rows.items()
                ],
            }
        )
    return groups


def _r2_text(r2: float) -> str:
    # It does not exist where all observations are equal.
    return NOTHING if math.isnan(r2) else f"{r2:.3f}".replace("-", "\N{MINUS SIGN}")


def _plain(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 0.001 else f"{value:.2g}"


def _typical(run: RunData) -> list[tuple[str, list[tuple[str, str]]]]:
    listed = []
    for direction in ("read", "write"):
        lines = []
        chosen = latency.typical(run.measurements, direction)
        for color, (rank, measurement) in zip(figures.LINE_COLORS, chosen, strict=False):
            result = latency.result_of(measurement, direction)
            mean = latency_text(result.latency_ns_mean) if result else ""
            text = workload_text(measurement.characteristics)
            place = f"at {100 * rank:.0f} %: {text} (number {measurement.index}, mean {mean})"
            lines.append((color, place))
        if lines:
            listed.append((f"{direction.title()}s", lines))
    return listed


def _cards(run: RunData) -> list[dict[str, str]]:
    cards = []
    for metric in run.metrics():
        item = METRICS[metric]
        values = [float(getattr(measurement, metric)) for measurement in run.measurements]
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


_WORKLOAD_COLUMNS = (
    "No.",
    *(item.label for item in CHARACTERISTICS.values()),
    *(item.label for item in METRICS.values()),
    "Reads, 99 %",
    "Writes, 99 %",
)


def _listed(run: RunData) -> Sequence[Measurement]:
    return run.measurements[:MAX_TABLE_ROWS]


def _workload_values(measurement: Measurement) -> tuple[list[float | None], list[float]]:
    """Return the characteristics (None without effect) and the metrics, in column order."""
    canonical = measurement.characteristics.canonical()
    metrics = [float(getattr(measurement, metric)) for metric in METRICS]
    return [canonical[name] for name in CHARACTERISTICS], metrics


def _workload_rows(run: RunData) -> list[list[str]]:
    rows = []
    for measurement in _listed(run):
        values, metrics = _workload_values(measurement)
        row = [str(measurement.index)]
        for item, value in zip(CHARACTERISTICS.values(), values, strict=True):
            row.append(NOTHING if value is None else item.text(value))
        row += [item.text(value) for item, value in zip(METRICS.values(), metrics, strict=True)]
        for tail in _tails(measurement):
            row.append(NOTHING if tail is None else latency_text(tail))
        rows.append(row)
    return rows


def _sort_values(measurement: Measurement) -> list[float | None]:
    values, metrics = _workload_values(measurement)
    numbers: list[float | None] = [measurement.index, *values, *metrics, *_tails(measurement)]
    return [None if number is None else float(f"{number:.6g}") for number in numbers]


def _tails(measurement: Measurement) -> list[float | None]:
    return [
        float(result.percentile_ns(99)) if result and latency.supported(result, 99) else None
        for result in (measurement.read, measurement.write)
    ]


def _point_texts(run: RunData) -> list[str]:
    texts = []
    for measurement in run.measurements:
        values = (METRICS[name].text(float(getattr(measurement, name))) for name in run.metrics())
        workload = workload_text(measurement.characteristics)
        texts.append(f"{measurement.index}: {workload}\n{', '.join(values)}")
    return texts


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("drivelab.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kept"] = _kept_together
    # Panels are drawn here and escape their own texts.
    environment.filters["drawing"] = lambda panel: Markup(panel.svg)  # noqa: S704
    return environment


def _kept_together(text: str) -> str:
    """Put a space that does not break between each number and its unit."""
    return _NUMBER_AND_UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)


def _resource(name: str) -> Markup:
    text = (resources.files("drivelab.report") / "templates" / name).read_text("utf-8")
    return Markup(text)  # noqa: S704 - our own file
