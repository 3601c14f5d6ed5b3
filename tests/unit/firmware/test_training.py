"""Models of firmware: costs that were put into records are found, saved and read."""

from __future__ import annotations

import numpy as np
import pytest
from made_firmware_model import FIRMWARE
from made_firmware_records import CYCLES, MEMORY_NS, made_profiled

from drivelab.errors import RunError, UsageError
from drivelab.firmware.additive import core_ns, fit_costs, left_out_costs, predicted_core_ns
from drivelab.firmware.counted_work import counted_work
from drivelab.firmware.learners import LEARNERS, Kriging
from drivelab.firmware.prediction import predict, refuse_other_firmware
from drivelab.firmware.profiled import Dataset, Observed, Profiled
from drivelab.firmware.record_logs import RecordLog
from drivelab.firmware.record_predictor import RecordPredictor, read_record_predictor
from drivelab.firmware.training import train
from drivelab.firmware_model.costs import COUNTS
from drivelab.firmware_model.model_file import read_firmware_model, write_firmware_model

WORKLOADS = {"R": (0.0, 0.0), "A": (0.3, 0.0), "B": (0.6, 2.0), "W": (1.0, 3.0), "V": (0.9, 4.5)}


@pytest.fixture(scope="module")
def profiles() -> list[Profiled]:
    return [
        made_profiled(label, ratio, moved=moved, seed=place)
        for place, (label, (ratio, moved)) in enumerate(WORKLOADS.items())
    ]


def test_counts_are_those_of_the_record() -> None:
    each = made_profiled("X", 0.4, records=1, moved=2.0)
    found = dict(zip(COUNTS, counted_work(each.counted)[0], strict=True))
    writes, moved = (each.counted.column(name)[0] for name in ("writes", "pages_moved"))
    assert found == {
        "command": 1000,
        "read_page": pytest.approx(1000 - writes),
        "written_page": pytest.approx(writes),
        "copied_kib": 16_000,
        "flash_read": 1000 - writes,
        "flash_program": writes,
        "page_moved": moved,
        "flash_erase": 0,
    }


def test_an_additive_truth_is_found(profiles: list[Profiled]) -> None:
    costs = fit_costs(profiles)
    # Counts that always go together share a cost; what they add up to is the truth.
    moved = costs.of["page_moved"]
    assert moved.cycles == pytest.approx(CYCLES["moved"], rel=1e-6)
    assert moved.memory_ns == pytest.approx(MEMORY_NS["moved"], rel=1e-6)
    for way, flash, name in (
        ("read_page", "flash_read", "read"),
        ("written_page", "flash_program", "written"),
    ):
        page = {"command": 1, way: 1, flash: 1, "copied_kib": 16}
        assert costs.core_ns(page, 1000) == pytest.approx(CYCLES[name] + MEMORY_NS[name], rel=1e-6)
    assert all(cost.cycles >= 0 and cost.memory_ns >= 0 for cost in costs.of.values())
    unseen = made_profiled("X", 0.5, moved=5.0, seed=99)
    predicted = predicted_core_ns(costs, unseen.counted, 1000)
    np.testing.assert_allclose(predicted, core_ns(unseen.target), rtol=1e-6)


def test_what_is_left_out_has_no_say_in_the_costs_that_predict_it(
    profiles: list[Profiled],
) -> None:
    """One workload's cores work three times as long; by costs of the others it is off by 2/3."""
    assert left_out_costs(profiles).worst.ratio < 1e-6
    for odd in profiles:
        values = odd.target.values * 3
        slow = Profiled(
            odd.label,
            odd.counted,
            odd.host,
            RecordLog(odd.target.columns, values, odd.target.parameters),
        )
        changed = [slow if each is odd else each for each in profiles]
        errors = {each.workload: each for each in left_out_costs(changed).errors}
        assert tuple(errors) == tuple(WORKLOADS)
        assert errors[odd.label].ratio == pytest.approx(2 / 3, rel=1e-6)
        assert errors[odd.label].predicted_ns == pytest.approx(core_ns(odd.target).mean(), rel=1e-6)
        # The others' costs were fitted to it, too.
        assert max(each.ratio for each in errors.values() if each.workload != odd.label) > 0.02


def test_a_cost_below_zero_is_never_found(profiles: list[Profiled]) -> None:
    # The more is copied, the less it takes: the only cost for copies is 0.
    names = [column.name for column in profiles[0].counted.columns]
    changed = []
    for each in profiles:
        values = each.counted.values.copy()
        values[:, names.index("copied_bytes")] = 2e7 - 16_384 * each.counted.column("writes")
        counted = RecordLog(each.counted.columns, values, {})
        changed.append(Profiled(each.label, counted, each.host, each.target))
    costs = fit_costs(changed)
    assert min(cost.cycles for cost in costs.of.values()) >= 0
    assert min(cost.memory_ns for cost in costs.of.values()) >= 0


def test_kriging_by_plain_numbers_is_scikit_learns(
    profiles: list[Profiled], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor

    kept: list[GaussianProcessRegressor] = []
    fit = GaussianProcessRegressor.fit

    def keeping(self: GaussianProcessRegressor, *given: object) -> object:
        kept.append(self)
        return fit(self, *given)

    monkeypatch.setattr(GaussianProcessRegressor, "fit", keeping)
    data = Dataset.of(profiles)
    inputs = data.inputs["events"]
    model = Kriging().fit(inputs, data.target_ns, 0)
    asked = 1.01 * inputs[::3]
    scaled = model.scale.inputs(asked)
    expected = model.scale.times(kept[0].predict(scaled))
    np.testing.assert_allclose(model(asked), expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["linear", "kriging"])
def test_what_predicts_records_is_read_as_it_was(profiles: list[Profiled], name: str) -> None:
    data = Dataset.of(profiles)
    model = LEARNERS[name]().fit(data.inputs["events"], data.target_ns, 0)
    kept = RecordPredictor.of(model, profiles)  # type: ignore[arg-type]
    read = read_record_predictor(kept.to_json(), "model.json")
    np.testing.assert_array_equal(read.times(profiles[2]), kept.times(profiles[2]))


def test_a_model_predicts_workloads_that_it_has_not_seen(
    profiles: list[Profiled], tmp_path: object
) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "model.json"
    write_firmware_model(path, train(profiles, FIRMWARE))
    model = read_firmware_model(path)
    assert model.workloads == tuple(WORKLOADS)
    assert model.records == 100
    assert model.accuracy["learned"].error_ratio < 1e-6
    # Of all that is left out, instructions alone know the most.
    assert model.accuracy["static"].error_ratio > 0.1
    unseen = made_profiled("X", 0.5, records=600, moved=2.5, seed=99)
    both = predict(model, "m", [unseen, Observed("Y", unseen.counted, unseen.host)])
    known, alone = both.workloads
    assert known.error is not None
    assert known.error.ratio < 0.02
    assert known.record_percentiles_ns[99] == pytest.approx(
        np.quantile(unseen.target.column("time_ns"), 0.99), rel=0.05
    )
    assert alone.error is None
    assert alone.request_ns == known.request_ns
    # Half of the time that cores work goes by: two of them work.
    assert alone.busy_cores == pytest.approx(2.0, rel=0.02)
    assert both.cautions == ()


def test_what_is_unlike_everything_seen_is_reported(profiles: list[Profiled]) -> None:
    far = profiles[3]
    host = RecordLog(far.host.columns, 3 * far.host.values, far.host.parameters)
    found = predict(train(profiles, FIRMWARE), "m", [Observed("far", far.counted, host)])
    assert found.workloads[0].outside_ratio == 1
    assert found.cautions == (
        "far is unlike what the model was trained on: 100 % of its records are outside the "
        "range of its training, so its times may be far off.",
    )


def test_what_does_not_fit_is_refused(profiles: list[Profiled]) -> None:
    model = train(profiles, FIRMWARE)
    other = profiles[0]
    host = RecordLog(other.host.columns, other.host.values, {"name": "another"})
    with pytest.raises(UsageError, match="events of R are of another host"):
        predict(model, "m", [Observed("R", other.counted, host)])
    with pytest.raises(UsageError, match=r"^m is not a model of firmware .*one of linear, kriging"):
        read_record_predictor({**model.record_model, "kind": "network"}, "m")
    with pytest.raises(UsageError, match=r"record_model\.inputs is not what this Drivelab sees"):
        read_record_predictor({**model.record_model, "inputs": []}, "m")
    with pytest.raises(UsageError, match="3 are needed, and there are 2"):
        train(profiles[:2], FIRMWARE)
    slower = RecordLog(other.target.columns, other.target.values, {"frequency_hz": 1})
    with pytest.raises(UsageError, match="profiled on different targets"):
        train([*profiles[1:], Profiled("R", other.counted, other.host, slower)], FIRMWARE)


def test_costs_that_no_drive_may_have_are_reported(profiles: list[Profiled]) -> None:
    huge = [
        Profiled(
            each.label,
            each.counted,
            each.host,
            RecordLog(each.target.columns, each.target.values * 1e6, each.target.parameters),
        )
        for each in profiles
    ]
    with pytest.raises(RunError, match=r"would cost a core .* a drive takes at most 1,000,000"):
        train(huge, FIRMWARE)


def test_another_firmware_is_refused_with_what_to_do() -> None:
    from dataclasses import replace

    refuse_other_firmware(FIRMWARE, FIRMWARE, "run")
    for change, said in (
        ({"geometry": "2x2x1x64x64"}, "geometry 2x2x1x64x64.*profile with --geometry 4x4x2x5120"),
        ({"workers": 2}, "workers 2, and the model knows 4: profile with --cores 4"),
        ({"depth": 1}, "profile with --queue-depth 64"),
        ({"name": "mine"}, "name mine, and the model knows page-map: profile the firmware of"),
    ):
        with pytest.raises(UsageError, match=said):
            refuse_other_firmware(FIRMWARE, replace(FIRMWARE, **change), "run")
