"""Fit, ask, save and load a performance model."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor
from synthetic_drive import (
    characteristics,
    grid_workloads,
    lasting,
    latency_ns,
    measurements,
    spread_workloads,
)

from drivelab.drives.measurement import Measurement
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.models.accuracy import measure_accuracy
from drivelab.models.combination import Combination
from drivelab.models.evaluate import MODEL_KEYS, SURFACE_KEYS, ModelKey
from drivelab.models.features import FEATURE_SETS, mean_size, workload_table
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.models.tree_models import fit_boosted
from drivelab.sealed_json import sealed_json, unsealed_json
from drivelab.workloads.characteristics import Characteristics

pytestmark = pytest.mark.usefixtures("models_in_brief")

PROBES = [characteristics(row) for row in spread_workloads(200, 99)]


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    return measurements(grid_workloads(300, 0), noise=0.02)


@pytest.fixture(scope="module")
def model(measured: list[Measurement]) -> PerformanceModel:
    return PerformanceModel.fit(measured, seed=5, provenance={"drive": "synthetic"})


@pytest.fixture(scope="module")
def saved(model: PerformanceModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    model.save(path)
    return path


def test_every_model_is_there(model: PerformanceModel) -> None:
    # Three metrics; nine estimators know the extended features, six the basic ones.
    assert len(MODEL_KEYS) == 3 * (9 + 6)
    assert set(model.predictors) == set(MODEL_KEYS) == set(model.evaluation.cross_validated)


@pytest.mark.parametrize("metric", METRICS)
def test_extended_beats_basic_on_an_asymmetrical_drive(
    model: PerformanceModel, metric: str
) -> None:
    accuracy = model.evaluation.cross_validated
    extended = accuracy[ModelKey(metric, "extended", "boosted")]
    basic = accuracy[ModelKey(metric, "basic", "boosted")]
    # The basic features do not show which direction's requests are large. Over seeds of the
    # workloads the ratio of the errors was 0.60 to 0.82.
    assert extended.mre < 0.9 * basic.mre
    assert extended.r2 > basic.r2
    # The same surface answers for every metric.
    assert model.best[metric] == ModelKey(metric, "extended", model.best["iops"].estimator)


def test_accuracy_off_the_grid() -> None:
    # Noise has a sigma of 2 %. From 1000 workloads the error was 4.4 to 4.9 % over seeds.
    workloads = spread_workloads(2000, 5)
    table = workload_table([characteristics(row) for row in workloads])
    observed = latency_ns(workloads, noise=0.02)
    logarithms, noise = np.log(observed[:1000]), np.zeros(1000)
    fitted = fit_boosted(FEATURE_SETS["extended"], table[:1000], logarithms, noise, 0)
    predicted = np.exp(fitted.predict(table[1000:]))
    assert measure_accuracy(latency_ns(workloads[1000:]), predicted).mre < 0.06


@pytest.mark.parametrize("features", ["basic", "extended"])
def test_stored_ols_and_cart_answer_like_scikit_learn(
    measured: list[Measurement], saved: Path, features: str
) -> None:
    table = workload_table([one.characteristics for one in measured])
    targets = np.log([one.latency_ns_mean / one.characteristics.queue_depth for one in measured])
    chosen = FEATURE_SETS[features]
    # At trained write ratios: between them trees are asked at two and mixed.
    asked = [
        dataclasses.replace(probe, write_ratio=round(4 * probe.write_ratio) / 4) for probe in PROBES
    ]
    probes = workload_table(asked)
    linear = LinearRegression().fit(chosen.project_linear(table), targets)
    tree = DecisionTreeRegressor(min_samples_leaf=2, random_state=5)
    tree.fit(chosen.project(table), targets)
    loaded = PerformanceModel.load(saved)

    def ask(estimator: str) -> np.ndarray:
        return loaded.predict(asked, metric="iops", features=features, estimator=estimator)

    expected = 1e9 / np.exp(linear.predict(chosen.project_linear(probes)))
    assert ask("ols") == pytest.approx(expected, rel=1e-12)
    expected = 1e9 / np.exp(tree.predict(chosen.project(probes)))
    assert ask("cart") == pytest.approx(expected, rel=1e-12)


def test_out_of_fold_predictions_have_not_seen_their_workloads(
    measured: list[Measurement], model: PerformanceModel
) -> None:
    # Fitted by hand without fold 2, CART says the same about fold 2.
    table = workload_table([one.characteristics for one in measured])
    latencies = model.evaluation.observed["latency_ns_mean"]
    targets = np.log(latencies / [one.characteristics.queue_depth for one in measured])
    out = model.evaluation.folds == 2
    tree = DecisionTreeRegressor(min_samples_leaf=2, random_state=5)
    features = FEATURE_SETS["extended"].project(table)
    tree.fit(features[~out], targets[~out])
    stored = model.evaluation.out_of_fold[ModelKey("iops", "extended", "cart")]
    assert stored[out] == pytest.approx(1e9 / np.exp(tree.predict(features[out])), rel=1e-12)


def test_accuracy_is_that_of_the_stored_predictions(model: PerformanceModel) -> None:
    evaluation = model.evaluation
    for key in MODEL_KEYS:
        observed = evaluation.observed[key.metric]
        assert evaluation.cross_validated[key] == measure_accuracy(
            observed, evaluation.out_of_fold[key]
        )
    best = model.best["iops"]
    least = min(
        accuracy.mre for key, accuracy in evaluation.cross_validated.items() if key.metric == "iops"
    )
    # A combination is taken unless another is better by a tenth.
    assert least <= evaluation.cross_validated[best].mre < 1.15 * least


def test_answers_never_contradict_each_other(model: PerformanceModel) -> None:
    for features, estimator in SURFACE_KEYS:
        latency, bandwidth, iops = (
            model.predict(PROBES, metric=metric, features=features, estimator=estimator)
            for metric in METRICS
        )
        depths = np.array([probe.queue_depth for probe in PROBES])
        sizes = mean_size(workload_table(PROBES))
        assert latency * iops == pytest.approx(1e9 * depths, rel=1e-9)
        assert bandwidth == pytest.approx(iops * sizes, rel=1e-9)


def test_a_combination_is_the_weighted_mean_of_its_members(model: PerformanceModel) -> None:
    combined = model.predictors[ModelKey("iops", "extended", "combined")].surface
    assert isinstance(combined, Combination)
    assert sum(combined.weights.values()) == pytest.approx(1)
    assert min(combined.weights.values()) > 0
    expected = sum(
        weight * np.log(model.predict(PROBES, metric="iops", features="extended", estimator=name))
        for name, weight in combined.weights.items()
    )
    answers = model.predict(PROBES, metric="iops", features="extended", estimator="combined")
    assert np.log(answers) == pytest.approx(expected, rel=1e-12)


def test_importance_finds_what_matters(measured: list[Measurement]) -> None:
    # Latency that depends on the queue depth alone.
    depth_only = [
        dataclasses.replace(
            one,
            read=lasting(one.read, 1000 * one.characteristics.queue_depth),
            write=lasting(one.write, 1000 * one.characteristics.queue_depth),
        )
        for one in measured[:150]
    ]
    importance = PerformanceModel.fit(depth_only).evaluation.importance["latency_ns_mean"]
    assert importance[0].characteristic == "queue_depth"
    assert importance[0].mre_increase > 1
    assert all(abs(one.mre_increase) < 0.01 for one in importance[1:])
    assert {one.characteristic for one in importance} == set(measured[0].characteristics.to_json())


def test_effects_show_the_trained_values(model: PerformanceModel) -> None:
    effects = {one.characteristic: one for one in model.evaluation.effects["latency_ns_mean"]}
    assert effects["queue_depth"].values == (1, 4, 16, 64)
    assert effects["queue_depth"].unit == "requests"
    assert effects["write_ratio"].values == (0, 0.25, 0.5, 0.75, 1)
    assert effects["read_stride"].values == (0, 1024, 65536, 131072, 262144)
    for name in ("queue_depth", "write_size", "read_size", "write_random"):
        performance = effects[name].performance
        assert performance[0] < performance[-1], name


def test_outside_training(model: PerformanceModel) -> None:
    inside = Characteristics(write_ratio=0.3, queue_depth=10, write_size=8192)
    assert model.outside_training(inside) == []
    outside = Characteristics(write_ratio=0.3, queue_depth=128, read_size=512, write_size=2**20)
    assert model.outside_training(outside) == [
        "queue_depth is 128; trained on 1 to 64",
        "read_size is 512 B; trained on 1 KiB to 256 KiB",
        "write_size is 1 MiB; trained on 1 KiB to 256 KiB",
    ]
    # What has no effect is not outside.
    assert model.outside_training(dataclasses.replace(outside, write_ratio=0.0))[2:] == []


def test_saved_and_loaded_is_the_same_to_the_bit(
    model: PerformanceModel, saved: Path, tmp_path: Path
) -> None:
    loaded = PerformanceModel.load(saved)
    for key in MODEL_KEYS:
        answers = [
            one.predict(
                PROBES, metric=key.metric, features=key.features, estimator=key.estimator
            ).tobytes()
            for one in (model, loaded)
        ]
        assert answers[0] == answers[1], key
    assert loaded.best == model.best
    assert loaded.provenance == {"drive": "synthetic"}
    loaded.save(tmp_path / "copy.json")
    assert (tmp_path / "copy.json").read_bytes() == saved.read_bytes()


def test_a_batch_answers_like_its_rows(model: PerformanceModel) -> None:
    together = model.predict(PROBES, metric="latency_ns_mean")
    one_by_one = [model.predict([probe], metric="latency_ns_mean")[0] for probe in PROBES]
    assert together.tolist() == one_by_one
    table = np.array([probe.as_tuple() for probe in PROBES])
    assert model.predict(table, metric="latency_ns_mean").tolist() == one_by_one
    # Enough rows for several threads.
    many = model.predict(np.tile(table, (150, 1)), metric="latency_ns_mean")
    assert many.tolist() == one_by_one * 150


def test_a_loaded_model_needs_no_scikit_learn(saved: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from drivelab.models.model import PerformanceModel\n"
        "from drivelab.workloads.characteristics import Characteristics\n"
        f"model = PerformanceModel.load(Path({str(saved)!r}))\n"
        "model.predict([Characteristics()], metric='iops')\n"
        "sys.exit('sklearn' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_measuring_needs_none_of_the_packages_that_fit() -> None:
    # They take 130 MB, beside the states of a simulated drive.
    program = (
        "import sys; import drivelab.models.model_campaign\n"
        "sys.exit(bool({'sklearn', 'scipy', 'lightgbm'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "speed"}, "unknown metric 'speed'; allowed: latency_ns_mean, bandwidth"),
        ({"metric": "iops", "features": "all"}, "unknown features 'all'; allowed: basic, extended"),
        ({"metric": "iops", "estimator": "nn"}, "unknown estimator 'nn'; allowed: ols, cart"),
    ],
)
def test_unknown_names_are_listed(
    model: PerformanceModel, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        model.predict([Characteristics()], **arguments)


def test_too_few_workloads(measured: list[Measurement]) -> None:
    for some in ([], measured[:1] * 10, measured[:4]):
        with pytest.raises(UsageError, match="at least 5 distinct workloads"):
            PerformanceModel.fit(some)
    folds = PerformanceModel.fit(measured[:5]).evaluation.folds
    assert sorted(folds.tolist()) == [0, 1, 2, 3, 4]


def test_constant_performance_is_predicted(measured: list[Measurement]) -> None:
    constant = [
        dataclasses.replace(one, read=lasting(one.read, 5000), write=lasting(one.write, 5000))
        for one in measured[:60]
    ]
    model = PerformanceModel.fit(constant, is_explained=False)
    accuracy = model.evaluation.cross_validated[model.best["latency_ns_mean"]]
    assert math.isnan(accuracy.r2)
    assert accuracy.mre < 1e-12
    assert model.predict(PROBES, metric="latency_ns_mean") == pytest.approx(5000, rel=1e-9)


def test_no_performance_is_refused(measured: list[Measurement]) -> None:
    idle = dataclasses.replace(
        measured[7],
        read=lasting(measured[7].read, 0),
        write=lasting(measured[7].write, 0),
    )
    with pytest.raises(UsageError, match="measurement 7 has a latency_ns_mean of 0"):
        PerformanceModel.fit([*measured[:7], idle, *measured[8:]])


def test_absurd_answers_are_refused(saved: Path, tmp_path: Path) -> None:
    content = unsealed_json(saved.read_bytes())
    for one in content["surfaces"]:
        if one["predictor"]["kind"] == "linear":
            one["predictor"]["intercept"] = 1e6
    path = tmp_path / "absurd.json"
    path.write_bytes(sealed_json(content))
    with pytest.raises(CannotAnswerError, match="no answer for workload 0"):
        PerformanceModel.load(path).predict(PROBES, metric="iops", estimator="ols")


def test_a_model_that_cannot_be_written(model: PerformanceModel, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot write the model"):
        model.save(tmp_path / "missing" / "model.json")
