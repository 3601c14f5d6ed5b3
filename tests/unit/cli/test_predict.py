"""`drivelab predict`: one workload, its intervals, its reasons and its warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from synthetic_drive import measurements, spread_workloads

from drivelab.cli import main as cli
from drivelab.cli.predict_text import significant
from drivelab.exhibits.quantities import share_text
from drivelab.models.intervals import LEVELS
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

PARTS = Parts(training=60, calibration=15, check=20)
PROVENANCE = {
    "drive": {"name": "sim:made", "kind": "simulated"},
    "design": {"name": "sobol:75", "population": "everything between"},
}
INSIDE = [
    *("--write-ratio", "0.5", "--queue-depth", "8", "--read-random", "0.5"),
    *("--write-random", "0.5", "--read-stride", "64KiB", "--write-stride", "64KiB"),
]


@pytest.fixture(scope="module")
def model() -> PerformanceModel:
    measured = measurements(spread_workloads(PARTS.total, 3), noise=0.02)
    return PerformanceModel.fit(measured, parts=PARTS, provenance=PROVENANCE)


@pytest.fixture(scope="module")
def path(model: PerformanceModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    model.save(path)
    return path


def ask(path: Path, capsys, *words: str) -> dict[str, Any]:
    assert cli.main(["predict", str(path), *words, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def printed(path: Path, capsys, *words: str) -> str:
    assert cli.main(["predict", str(path), *words]) == 0
    return str(capsys.readouterr().out)


def test_every_level_is_in_the_json(model: PerformanceModel, path: Path, capsys) -> None:
    answer = ask(path, capsys, *INSIDE)
    workload = Characteristics(
        write_ratio=0.5,
        queue_depth=8,
        read_random=0.5,
        write_random=0.5,
        read_stride=65536,
        write_stride=65536,
    )
    assert (answer["design"], answer["population"]) == ("sobol:75", "everything between")
    for metric in METRICS:
        rows = answer["intervals"][metric]
        assert [row["level_ratio"] for row in rows] == list(LEVELS)
        for row in rows[:2]:
            ends = model.interval([workload], metric=metric, level=row["level_ratio"])[0]
            assert (row["low"], row["high"]) == tuple(ends)
            assert row["low"] < answer[metric] < row["high"]
            held = model.evaluation.check_coverage
            assert held is not None
            assert row["off_grid_held_ratio"] == held[metric][row["level_ratio"]]
        # Fifteen reserved workloads are too few for 95 %.
        assert (rows[2]["low"], rows[2]["high"]) == (None, None)


def test_the_text_has_the_level_that_was_asked_for(path: Path, capsys) -> None:
    answer = ask(path, capsys, *INSIDE)
    default = printed(path, capsys, *INSIDE)
    assert printed(path, capsys, *INSIDE, "--level", "90") == default
    assert "interval      holds 90 % of workloads drawn at random as sobol:75 draws" in default
    low = answer["intervals"]["iops"][1]["low"]
    assert f"90 %: {significant(low, 3)} to " in default
    narrower = printed(path, capsys, *INSIDE, "--level", "80")
    assert f"80 %: {significant(answer['intervals']['iops'][0]['low'], 3)} to " in narrower
    none = printed(path, capsys, *INSIDE, "--level", "95")
    assert "no interval   95 % needs 19 workloads reserved for calibration" in none
    assert "95 %:" not in none


def test_auto_says_why(model: PerformanceModel, path: Path, capsys) -> None:
    answer = ask(path, capsys, *INSIDE)
    scores = model.evaluation.cross_validated
    for metric, used in answer["used"].items():
        errors = {
            (one["features"], one["estimator"]): one["mre_ratio"]
            for one in answer["candidates"]
            if one["metric"] == metric
        }
        assert errors == {
            (key.features, key.estimator): score.mre
            for key, score in scores.items()
            if key.metric == metric
        }
        assert used["mre_ratio"] == errors[used["features"], used["estimator"]]
        # One surface answers for every metric: its mean error is the smallest, or a combination's
        # and not larger by more than a tenth.
        assert (used["features"], used["estimator"]) == model.best[metric].surface
        assert used["mre_ratio"] < 1.15 * min(errors.values())
        combined = used["estimator"] == "combined"
        assert used["chosen"] == (
            "no other has a cross-validated error smaller by a tenth"
            if combined
            else "the smallest cross-validated error"
        )
    said = printed(path, capsys, *INSIDE)
    why = " ".join(said[said.index("why") :].split())
    assert used["chosen"] in why
    # Of each metric: the error of the model that answered, and of the best other.
    for metric, used in answer["used"].items():
        other = min(
            (
                one
                for one in answer["candidates"]
                if one["metric"] == metric
                and (one["features"], one["estimator"]) != (used["features"], used["estimator"])
            ),
            key=lambda one: one["mre_ratio"],
        )
        place = "better" if other["mre_ratio"] < used["mre_ratio"] else "next"
        assert (
            f"({place}: {other['features']} {other['estimator']} "
            f"{share_text(other['mre_ratio'])})" in why
        )


def test_one_model_for_every_metric_is_one_sentence(path: Path, capsys) -> None:
    said = printed(path, capsys, *INSIDE, "--features", "basic", "--estimator", "cart")
    why = " ".join(said[said.index("why") :].split())
    assert why.startswith("why basic cart, as asked: mean latency ")
    assert why.count("as asked") == 1
    assert [why.count(label) for label in ("mean latency", "bandwidth", "throughput")] == [1, 1, 1]
    assert why.count("(better: ") == 3


def test_the_model_that_was_asked_for_answers(model: PerformanceModel, path: Path, capsys) -> None:
    words = [*INSIDE, "--features", "basic", "--estimator", "cart"]
    answer = ask(path, capsys, *words)
    for metric in METRICS:
        used = answer["used"][metric]
        assert (used["features"], used["estimator"], used["chosen"]) == (
            "basic",
            "cart",
            "as asked",
        )
        # Coverage off the grid is known of the best models only.
        assert answer["intervals"][metric][0]["off_grid_held_ratio"] is None
    assert "basic cart" in printed(path, capsys, *words)
    answer = ask(path, capsys, *INSIDE, "--estimator", "ols")
    assert answer["used"]["iops"]["estimator"] == "ols"
    assert answer["used"]["iops"]["chosen"].endswith("of ols models, as asked")
    expected = model.predict([Characteristics(**_plain(answer))], metric="iops", estimator="ols")
    assert answer["iops"] == expected[0]


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    return {name.removesuffix("_bytes"): value for name, value in answer["workload"].items()}


def test_outside_there_is_no_interval_but_what_is_nearest(
    model: PerformanceModel, path: Path, capsys
) -> None:
    words = [*INSIDE, "--queue-depth", "900"]
    answer = ask(path, capsys, *words)
    assert len(answer["outside_training"]) == 1
    for rows in answer["intervals"].values():
        assert all((row["low"], row["high"]) == (None, None) for row in rows)
    near = answer["nearest"]
    assert len(near) == 3
    assert [one["distance"] for one in near] == sorted(one["distance"] for one in near)
    assert near[0]["iops"] in model.evaluation.observed["iops"]
    text = printed(path, capsys, *words)
    assert "careful       outside what was measured: queue_depth is 900; trained on 1 to" in text
    assert "error unknown" in text
    assert "off by" not in text
    assert "90 %:" not in text
    assert "interval" not in text
    nearest = text[text.index("nearest") : text.index("why")].splitlines()
    assert len(nearest) == 4
    assert nearest[1].split()[0] == f"{near[0]['distance']:.2f}"
    assert "IOPS" in nearest[1]
    assert "nearest" not in printed(path, capsys, *INSIDE)


def test_without_reserved_workloads_it_says_so(tmp_path: Path, capsys) -> None:
    model = PerformanceModel.fit(measurements(spread_workloads(40, 1)))
    model.save(tmp_path / "plain.json")
    text = printed(tmp_path / "plain.json", capsys, *INSIDE)
    assert "no interval   90 % needs 9 workloads" in text
    assert "off the grid" not in text
    answer = ask(tmp_path / "plain.json", capsys, *INSIDE)
    assert (answer["drive"], answer["design"], answer["population"]) == (None, None, None)
    assert answer["used"]["iops"]["off_grid_mre_ratio"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--level", "99"], "is not allowed; it takes "),
        (
            ["--estimator", "neural"],
            "unknown estimator 'neural'; allowed: ols, cart, guide, boosted",
        ),
        (["--features", "all"], "is not allowed; it takes "),
        (["--out", "x.csv"], "--out is for the answers to --file"),
        (["--file", "in.csv", "--queue-depth", "4"], "--queue-depth and --file"),
        (["--file", "in.csv", "--json"], "--json is for one workload"),
    ],
)
def test_mistakes_are_one_line(path: Path, capsys, words: list[str], said: str) -> None:
    assert cli.main(["predict", str(path), *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (12_345.6, 3, "12,300"),
        (999.6, 3, "1,000"),
        (99.96, 3, "100"),
        (53.149, 3, "53.1"),
        (0.012349, 3, "0.0123"),
        (0.09996, 3, "0.100"),
        (12_345.6, 4, "12,350"),
        (0.0, 3, "0"),
    ],
)
def test_a_prediction_has_the_digits_that_its_error_leaves(
    value: float, digits: int, text: str
) -> None:
    assert significant(value, digits) == text
