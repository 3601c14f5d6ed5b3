"""Targets, groups, estimators and intervals of tables, and tables without information."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_table import csv_of, own_rows, written

from drivelab.errors import UsageError
from drivelab.models.intervals import LEVELS, grouped_half_width, half_width
from drivelab.models.kriging import MOST_ROWS
from drivelab.models.own.columns import Column, feature_set
from drivelab.models.own.fitting import OWN_ESTIMATORS, FittedTarget, usable_estimators
from drivelab.models.own.model import Asked, FittedTable, fit_table
from drivelab.models.own.reading import read_files
from drivelab.models.work import WORK_INPUTS

pytestmark = pytest.mark.usefixtures("models_in_outline")


def fitted(
    tmp_path: Path, rows: list[dict[str, Any]] | str, *mapping: tuple[str, str], **asked: Any
) -> FittedTable:
    path = tmp_path / "rows.csv"
    path.write_text(rows if isinstance(rows, str) else csv_of(rows))
    return fit_table(read_files([path]), mapping, Asked(**asked))


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> FittedTable:
    path = written(tmp_path_factory.mktemp("own") / "rows.csv", own_rows(80))
    return fit_table(read_files([path]), (), Asked())


def test_each_result_is_a_target_and_a_tail_is_one_like_the_mean(usual: FittedTable) -> None:
    model = usual.model
    assert list(model.targets) == ["latency_us", "p99_ms", "iops"]
    assert [column.name for column in model.columns] == ["depth", "block_size_kib", "engine"]
    for target in model.targets.values():
        assert set(target.cross_validated) == set(OWN_ESTIMATORS)
        # The rows have 2 % of noise; no model knows what it was.
        assert target.cross_validated[target.best].mre < 0.05
        assert target.importance[-1].increase > 0.05


def test_a_table_answers_near_what_was_measured(usual: FittedTable) -> None:
    model = usual.model
    row = model.settings({"depth": "8", "block_size_kib": "64KiB", "engine": "psync"})
    # As `own_rows` makes it.
    expected = (80 + 64 * 2) * 1.5 * 8**0.3
    assert model.targets["latency_us"].predict(row)[0] == pytest.approx(expected, rel=0.05)


def test_intervals_hold_what_they_say_of_rows_that_were_not_there(usual: FittedTable) -> None:
    others = own_rows(400, seed=9)
    model = usual.model
    target = model.targets["latency_us"]
    names = [column.name for column in model.columns]
    table = np.vstack([model.settings({name: str(one[name]) for name in names}) for one in others])
    observed = np.array([one["latency_us"] for one in others])
    ends = target.interval(target.predict(table), 0.9)
    held = np.mean((ends[:, 0] <= observed) & (observed <= ends[:, 1]))
    assert 0.82 <= held <= 0.99


def test_targets_not_above_0_are_fitted_as_they_are(tmp_path: Path) -> None:
    rows = [{"depth": one["depth"], "gain": 3 * one["depth"] - 40} for one in own_rows(40)]
    found = fitted(tmp_path, rows, targets=("gain",)).fitted["gain"]
    assert not found.model.logarithm
    assert math.isnan(found.model.cross_validated["ols"].mre)
    assert found.model.cross_validated["ols"].mae < 60
    ends = found.model.interval(np.array([5.0]), 0.8)
    assert ends[0, 0] <= 5 <= ends[0, 1]


def _folds_of(found: FittedTarget, key: list[Any]) -> None:
    """Fail where rows of one key were answered by fits that knew others of it."""
    by_key: dict[Any, set[float]] = {}
    for place, said in zip(found.kept, found.out_of_fold["cart"], strict=True):
        by_key.setdefault(key[place], set()).add(said)
    for said in by_key.values():
        assert len(said) == 1


def test_repeats_of_a_setting_are_never_on_both_sides(tmp_path: Path) -> None:
    # What is learned by heart in one fold would be known in the other.
    random = np.random.default_rng(3)
    rows = [
        {"setting": setting, "x": setting * 7919 % 101, "latency_us": 1 + random.random() * 9}
        for setting in range(12)
        for _ in range(4)
    ]
    equal = fitted(tmp_path, rows, features=("x",)).fitted["latency_us"]
    named = fitted(tmp_path, rows, features=("x",), group="setting").fitted["latency_us"]
    assert equal.model.groups == named.model.groups == 12
    for found in (equal, named):
        _folds_of(found, [row["setting"] for row in rows])


def test_a_group_of_what_no_model_sees_keeps_its_rows_together(tmp_path: Path) -> None:
    rows = [{**one, "drive": f"drive {place % 6}"} for place, one in enumerate(own_rows(48))]
    found = fitted(tmp_path, rows, targets=("latency_us",), features=("depth",), group="drive")
    assert found.model.targets["latency_us"].groups == 6
    assert "drive" not in [column.name for column in found.model.columns]


def test_groups_of_one_are_rows_by_themselves(tmp_path: Path) -> None:
    rows = [{**one, "run": place} for place, one in enumerate(own_rows(30))]
    found = fitted(tmp_path, rows, targets=("iops",), group="run")
    assert found.model.targets["iops"].groups == 30


def test_missing_numbers_and_words(tmp_path: Path) -> None:
    rows = own_rows(60)
    for place in range(0, 60, 7):
        rows[place]["depth"] = "nan"
        rows[place + 1]["engine"] = ""
        rows[place + 2]["iops"] = ""
    found = fitted(tmp_path, rows, targets=("latency_us", "iops"))
    assert found.model.targets["iops"].left_out == 9
    assert "iops: 9 rows have no value and are left out" in found.remarks
    assert found.model.targets["latency_us"].rows == 60
    depth, _, engine = found.model.columns
    assert depth.may_miss
    assert engine.categories == ("(none)", "libaio", "psync")
    assert "depth_missing" in found.model.features.linear_inputs
    row = found.model.settings({"block_size_kib": "64"})
    assert np.isfinite(found.model.targets["latency_us"].predict(row)).all()


def test_a_column_that_only_some_files_have_is_named(tmp_path: Path) -> None:
    rows = own_rows(40)
    one = written(tmp_path / "one.csv", rows[:20])
    unseen = [{**row, "note": "a"} for row in rows[20:]]
    more = written(
        tmp_path / "more.csv", [{"fill": 7 * place, **row} for place, row in enumerate(unseen)]
    )

    def remarks(*files: Path) -> list[str]:
        asked = Asked(features=("depth", "fill")) if more in files else Asked()
        found = fit_table(read_files(files), (), asked)
        return [remark for remark in found.remarks if "only some files" in remark]

    assert remarks(one, one) == []
    assert remarks(more, more) == []
    # What no model sees is not named.
    assert remarks(one, more) == [
        f"only some files have fill ({one} lacks fill): rows of the other files have no value "
        "there; if a file has another name for a column, rename it there"
    ]


def test_a_constant_target_is_answered_and_said(tmp_path: Path) -> None:
    rows = [{**one, "iops": 250} for one in own_rows(30)]
    found = fitted(tmp_path, rows, targets=("iops",), features=("depth", "engine"))
    target = found.model.targets["iops"]
    row = found.model.settings({"depth": "3", "engine": "psync"})
    for estimator in OWN_ESTIMATORS:
        assert target.predict(row, estimator)[0] == pytest.approx(250)
    assert target.interval(target.predict(row), 0.9)[0] == pytest.approx([250, 250])
    assert math.isnan(target.cross_validated[target.best].r2)
    assert "iops is 250 in every row" in " ".join(found.remarks)


def test_duplicate_rows_are_one_group(tmp_path: Path) -> None:
    rows = own_rows(12)
    found = fitted(tmp_path, rows * 5, targets=("latency_us",))
    settings = {(one["depth"], one["block_size_kib"], one["engine"]) for one in rows}
    assert found.model.targets["latency_us"].groups == len(settings)


def test_constant_and_empty_columns(tmp_path: Path) -> None:
    rows = [{"empty": "", "same": 4, **one} for one in own_rows(30)]
    found = fitted(tmp_path, rows, targets=("latency_us",))
    assert [column.name for column in found.model.columns] == [
        *("same", "depth", "block_size_kib", "engine"),
    ]
    assert "column 'empty' is empty in every row: left out" in found.remarks
    assert found.model.outside(
        found.model.settings(
            {"same": "5", "depth": "8", "block_size_kib": "16", "engine": "psync"}
        )[0]
    ) == ["same is 5, the rows have 4 to 4"]


HEAD = "depth,latency_us\n"
FIVE = "".join(f"{one},{one + 1}\n" for one in range(5))


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        (HEAD + "1,2\n", {}, "a model needs 5 groups of rows at least"),
        (HEAD + "1,2\n" * 20, {}, "there is 1"),
        (HEAD + "1,\n2,\n3,nan\n4,\n5,NA\n", {}, "'latency_us' is empty in every row"),
        (HEAD + FIVE + "7,fast\n", {}, "line 7: latency_us is 'fast'"),
        (HEAD + FIVE + "inf,7\n", {}, "line 7: depth is 'inf'"),
        (HEAD + FIVE, {"targets": ("p99",)}, "there is no column 'p99'; the columns are depth"),
        (HEAD + FIVE, {"features": ("dept",)}, "did you mean depth?"),
        (HEAD + FIVE, {"features": ("latency_us",)}, "a target and a feature"),
        (HEAD + FIVE, {"group": "run"}, "there is no column 'run'"),
        (HEAD + FIVE, {"group": "depth"}, "no column is left that models could see"),
        ("latency_us,iops\n1,2\n3,4\n", {}, "no column is left that models could see"),
        ("depth,size\n1,2\n", {}, "no column's name says that it is a result"),
        ("depth,latency_us\n,1\n,2\n,3\n,4\n,5\n", {}, "no column is left"),
        (
            "name,latency_us\n" + "".join(f"n{one}a,{one + 1}\n" for one in range(60)),
            {"features": ("name",)},
            "contains 60 different words; 50 are the most",
        ),
        (
            ",".join(f"p{one}_ms" for one in range(10, 20)) + "\n" + ",".join("1" * 10) + "\n",
            {},
            "10 columns look like results; name those to model with --target",
        ),
    ],
)
def test_what_nothing_can_be_learned_of_is_one_line(
    tmp_path: Path, text: str, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        fitted(tmp_path, text, **asked)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_five_rows_are_enough(tmp_path: Path) -> None:
    found = fitted(tmp_path, HEAD + FIVE)
    assert found.model.targets["latency_us"].rows == 5
    # Too few for intervals at 90 %, which need nine.
    assert list(found.model.targets["latency_us"].half_widths["ols"]) == [0.8]


def test_unasked_targets_with_few_values_are_left_out(tmp_path: Path) -> None:
    rows = [
        {**one, "p50_ms": place if 0 < place < 3 else ""} for place, one in enumerate(own_rows(20))
    ]
    found = fitted(tmp_path, rows)
    assert "p50_ms" not in found.model.targets
    assert "p50_ms is not modelled: 2 groups of rows have a value" in found.remarks


def test_many_rows_are_refused_for_kriging_and_answered_by_trees() -> None:
    usable, left_out = usable_estimators(10**6, 3)
    assert usable == ("ols", "cart", "boosted")
    assert "boosted trees take any number" in left_out["kriging"]
    usable, left_out = usable_estimators(MOST_ROWS, 3)
    assert set(usable) == set(OWN_ESTIMATORS)
    assert "kriging" in usable_estimators(MOST_ROWS + 1, 3)[1]
    assert "guide" in usable_estimators(100, 41)[1]


def test_beyond_its_rows_a_table_has_no_kriging(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lines = [f"{one},{3 + one * 2 + random.random():.6f}" for one in range(MOST_ROWS + 10)]
    found = fitted(tmp_path, "x,latency_us\n" + "\n".join(lines))
    target = found.model.targets["latency_us"]
    assert "kriging" not in target.predictors
    assert any(remark.startswith("kriging takes at most 5,000 rows") for remark in found.remarks)
    row = found.model.settings({"x": "2500.5"})
    assert target.predict(row)[0] == pytest.approx(5004.5, rel=0.02)


def test_rows_of_one_group_count_once_in_intervals() -> None:
    random = np.random.default_rng(2)
    scores = random.random(40)
    alone = np.arange(40)
    for level in LEVELS:
        assert grouped_half_width(scores, alone, level) == half_width(np.sort(scores), level)
    # Each row twice is the same, though there are twice as many.
    again = np.repeat(scores, 2), np.repeat(alone, 2)
    for level in LEVELS:
        assert grouped_half_width(*again, level) == half_width(np.sort(scores), level)
    # One group of a thousand easy rows is one of 40.
    easy = np.concatenate([scores, np.zeros(1000)]), np.concatenate([alone, np.full(1000, 40)])
    assert grouped_half_width(*easy, 0.9) == np.sort(scores)[math.ceil(42 * 0.9) - 2]
    assert grouped_half_width(scores[:8], alone[:8], 0.9) is None


def test_columns_and_their_inputs() -> None:
    wide = Column.of_numbers("size", np.array([4096.0, 65536.0, np.nan]))
    narrow = Column.of_numbers("depth", np.array([1.0, 20.0]))
    words = Column("engine", "words", ("a", "b", "c"))
    features = feature_set([wide, narrow, words])
    assert features.features == ("size", "depth", *("engine=a", "engine=b", "engine=c"))
    assert features.linear_inputs[1] == "size_missing"
    wide = Column.of_numbers("size", np.array([4096.0, 2.0**20]))
    features = feature_set([wide, narrow, Column("engine", "words", ("a", "b"))])
    assert features.features == ("size_log2", "depth", "engine=b")
    found = features.project(np.array([[2.0**20, 2, 1], [np.nan, 2, 0], [0, 2, 0]]))
    np.testing.assert_array_equal(found, [[20, 2, 1], [np.nan, 2, 0], [2, 2, 0]])


WORKLOADS = (
    "write_ratio,queue_depth,read_size_kib,write_size,read_random,write_random,read_stride,"
    "write_stride,latency_us\n"
)


def test_workload_characteristics_are_seen_as_workloads(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    lines = []
    for _ in range(40):
        depth, kib = random.choice([1, 2, 4, 8]), random.choice([4, 8, 16])
        # What has no effect may be anything.
        lines.append(f"0,{depth},{kib},{random.choice(['', '9000'])},1,,,7,{depth * (50 + kib)}")
    found = fitted(tmp_path, WORKLOADS + "\n".join(lines))
    assert found.model.features.name == "extended"
    target = found.model.targets["latency_us"]
    assert target.groups <= 12
    row = found.model.settings({"queue_depth": "8", "read_size": "16KiB"})
    assert target.predict(row)[0] == pytest.approx(528, rel=0.05)
    with pytest.raises(UsageError, match="line 3: write_ratio is 30; allowed: 0 to 1"):
        fitted(tmp_path, WORKLOADS + "0,1,4,,1,,,,5\n30,1,4,4096,1,1,0,0,5\n" + "\n".join(lines))


def test_a_column_in_addition_to_workloads(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    lines = ["hot," + WORKLOADS.strip()]
    for _ in range(40):
        depth, hot = random.choice([1, 2, 4, 8]), random.choice([0, 1])
        lines.append(f"{hot},0,{depth},4,,1,,,,{depth * (50 + 30 * hot)}")
    names = tuple(WORKLOADS.strip().split(",")[:-1])
    names = (*(name.removesuffix("_kib") for name in names), "hot")
    found = fitted(tmp_path, "\n".join(lines), features=names)
    assert found.model.features.features[-1] == "hot"
    assert len(found.model.features.linear_inputs) == WORK_INPUTS + 1
    row = found.model.settings({"queue_depth": "4", "hot": "1"})
    assert found.model.targets["latency_us"].predict(row)[0] == pytest.approx(320, rel=0.1)
    with pytest.raises(UsageError, match="hot is missing"):
        found.model.settings({"queue_depth": "4"})


def test_settings_that_cannot_be_asked(usual: FittedTable) -> None:
    known = {"depth": "8", "block_size_kib": "16", "engine": "psync"}
    for changed, said in [
        ({"dept": "8"}, "did you mean depth?"),
        ({"engine": "sync"}, "did you mean psync?"),
        ({"engine": ""}, "engine is missing; it is one of libaio, psync"),
        ({"depth": "deep"}, "depth is 'deep'; give a number"),
        ({"depth": ""}, "depth is missing"),
        ({"depth": "1e400"}, "numbers are 0, or"),
    ]:
        with pytest.raises(UsageError) as refused:
            usual.model.settings(known | changed)
        assert said in str(refused.value)
    beyond = usual.model.settings(known | {"depth": "40"})
    assert usual.model.outside(beyond[0]) == ["depth is 40, the rows have 1 to 32"]
    assert usual.model.outside(usual.model.settings(known | {"depth": "33"})[0]) == []
