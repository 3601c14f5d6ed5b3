"""A result that follows from another is answered by its models; one that only looks so is not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made_table import own_rows, own_words, written

from drivelab.cli import main as cli
from drivelab.models.own.columns import Column
from drivelab.models.own.laws import FEWEST_GROUPS, find_law, may_follow
from drivelab.models.own.model import Asked, FittedTable, OwnModel, fit_table
from drivelab.models.own.model_file import load, to_bytes
from drivelab.models.own.reading import read_files
from drivelab.workloads.characteristics import FIELDS, Characteristics

pytestmark = pytest.mark.usefixtures("models_in_outline")


def fitted(tmp_path: Path, rows: list[dict]) -> FittedTable:
    return fit_table(read_files([written(tmp_path / "rows.csv", rows)]), (), Asked())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> OwnModel:
    return fitted(tmp_path_factory.mktemp("own"), own_rows(60)).model


def test_latency_times_throughput_is_the_depth_of_any_setting(model: OwnModel) -> None:
    law = model.targets["iops"].law
    assert law is not None
    assert law.describe() == "depth / latency_us"
    settings = [
        {"depth": str(depth), "block_size_kib": size, "engine": engine}
        for depth in (1, 5, 32)
        for size in ("4", "100")
        for engine in ("libaio", "psync")
    ]
    table = np.vstack([model.settings(one) for one in settings])
    for estimator in model.targets["iops"].predictors:
        latency = model.targets["latency_us"].predict(table, estimator)
        iops = model.targets["iops"].predict(table, estimator)
        # The rows are rounded to so many digits.
        np.testing.assert_allclose(latency * iops / 1e6, table[:, 0], rtol=1e-5)


def test_one_model_is_as_far_off_for_both(model: OwnModel) -> None:
    latency, iops = (model.targets[name] for name in ("latency_us", "iops"))
    assert latency.best == iops.best
    # Relative errors of a number and of its inverse differ by about their square.
    error = latency.cross_validated[latency.best].mre
    assert iops.cross_validated[iops.best].mre == pytest.approx(error, abs=2 * error**2)
    for one in latency.predictors:
        assert iops.half_widths[one] == pytest.approx(latency.half_widths[one], rel=1e-3)


def test_a_tail_has_models_of_its_own_however_alike(model: OwnModel) -> None:
    # In these rows p99_ms is three times the mean.
    assert model.targets["p99_ms"].law is None


def test_nothing_follows_from_a_tail_either(tmp_path: Path) -> None:
    rows = [{"p99_ms": row["p99_ms"], **row} for row in own_rows(60)]
    assert next(iter(rows[0])) == "p99_ms"
    targets = fitted(tmp_path, rows).model.targets
    assert targets["iops"].law is not None
    assert targets["iops"].law.target == "latency_us"
    for name in ("p99_ms", "latency_us"):
        assert targets[name].law is None


@pytest.mark.parametrize("name", ["clat_99", "lat_99th_us", "median_ms", "max_lat", "p99_9_us"])
def test_percentiles_and_extremes_of_any_name_are_left_alone(name: str) -> None:
    assert not may_follow(name)
    assert may_follow("latency_us")
    assert may_follow("read_4k_iops")


def test_few_groups_and_results_that_hardly_vary_make_no_law(tmp_path: Path) -> None:
    few = [dict(row) for row in own_rows(FEWEST_GROUPS - 1)] * 3
    assert fitted(tmp_path, few).model.targets["iops"].law is None
    random = np.random.default_rng(5)
    alike = [
        {"depth": row["depth"], "lat_us": float(lat), "clat_us": float(lat) - 0.5}
        for row, lat in zip(own_rows(60), random.uniform(100, 103, 60), strict=True)
    ]
    assert fitted(tmp_path, alike).model.targets["clat_us"].law is None


def test_a_setting_that_a_result_is_multiplied_by_is_above_0(model: OwnModel) -> None:
    from drivelab.errors import UsageError

    with pytest.raises(UsageError, match="depth is 0; iops follows from it, so give a value above"):
        model.settings({"depth": "0", "block_size_kib": "16", "engine": "psync"})


def test_it_is_read_as_it_was_written(model: OwnModel, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(to_bytes(model))
    again = load(path)
    assert to_bytes(again) == to_bytes(model)
    assert list(again.targets) == ["latency_us", "p99_ms", "iops"]
    assert again.targets["iops"].law == model.targets["iops"].law
    assert again.targets["iops"].best == model.targets["iops"].best
    row = model.settings({"depth": "8", "block_size_kib": "16", "engine": "psync"})
    for estimator in model.targets["iops"].predictors:
        np.testing.assert_array_equal(
            again.targets["iops"].predict(row, estimator),
            model.targets["iops"].predict(row, estimator),
        )


@pytest.mark.parametrize("noise", [0.03, 0.1])
def test_what_holds_only_roughly_is_no_law(tmp_path: Path, noise: float) -> None:
    random = np.random.default_rng(3)
    rows = own_rows(60)
    for row in rows:
        row["iops"] *= float(np.exp(random.normal(0, noise)))
    assert fitted(tmp_path, rows).model.targets["iops"].law is None


def test_of_other_rows_nothing_follows(tmp_path: Path) -> None:
    rows = own_rows(60)
    rows[7]["iops"] = ""
    assert fitted(tmp_path, rows).model.targets["iops"].law is None


def workloads(count: int) -> np.ndarray:
    random = np.random.default_rng(1)
    return np.array(
        [
            Characteristics(
                write_ratio=float(random.uniform(0.1, 0.9)),
                queue_depth=int(random.integers(1, 33)),
                read_size=512 * int(random.integers(1, 100)),
                write_size=512 * int(random.integers(1, 100)),
            ).as_tuple()
            for _ in range(count)
        ],
        dtype=float,
    )


def test_bandwidth_is_found_by_the_mean_size_of_workloads() -> None:
    table = workloads(50)
    columns = [Column.of_numbers(name, table[:, place]) for place, name in enumerate(FIELDS)]
    ratio, depth = table[:, 0], table[:, FIELDS.index("queue_depth")]
    sizes = [table[:, FIELDS.index(name)] for name in ("read_size", "write_size")]
    mean = (1 - ratio) * sizes[0] + ratio * sizes[1]
    latency = np.random.default_rng(2).uniform(1e-4, 1e-2, len(table))
    bandwidth = depth * mean / latency / 1e6
    law = find_law("latency_s", np.log(latency), np.log(bandwidth), columns, table)
    assert law is not None
    assert law.describe() == "queue_depth x mean_size / latency_s"
    assert law.constant == pytest.approx(np.log(1e-6), abs=1e-9)


def equal_sizes(count: int = 30) -> list[dict[str, float | str]]:
    """Give a sweep in which reads and writes have one size, as fio's ``bs=`` makes it."""
    random = np.random.default_rng(4)
    rows: list[dict[str, float | str]] = []
    for number in range(count):
        ratio = min(max(0.1 * (number % 11), 0.05), 0.98)
        depth = int(random.choice([1, 2, 4, 8, 16, 32]))
        size = int(random.choice([4096, 16384, 65536]))
        latency = (50 + size / 400) * (1 + 0.3 * depth) * (1 + ratio)
        row: dict[str, float | str] = dict.fromkeys(FIELDS, "")
        row |= {"write_ratio": ratio, "queue_depth": depth, "read_size": size, "write_size": size}
        row |= {"read_random": 1, "write_random": 1, "latency_us": latency}
        row["iops"] = depth / latency * 1e6
        row["bandwidth_mb_per_second"] = depth / latency * size
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    ("asked", "mean"),
    [
        ({"write_ratio": "0.9", "read_size": "4096", "write_size": "65536"}, 59392),
        ({"write_ratio": "1", "write_size": "16384"}, 16384),
        ({"write_ratio": "0", "read_size": "65536"}, 65536),
    ],
)
def test_bandwidth_follows_the_mean_size_where_reads_and_writes_had_one(
    tmp_path: Path, asked: dict[str, str], mean: int
) -> None:
    model = fitted(tmp_path, equal_sizes()).model
    law = model.targets["bandwidth_mb_per_second"].law
    assert law is not None
    assert law.describe() == "queue_depth x mean_size / latency_us"
    table = model.settings({"queue_depth": "4", "read_random": "1", "write_random": "1", **asked})
    for estimator in model.targets["iops"].predictors:
        iops, bandwidth = (
            float(model.targets[name].predict(table, estimator)[0])
            for name in ("iops", "bandwidth_mb_per_second")
        )
        assert bandwidth * 1e6 == pytest.approx(iops * mean, rel=1e-9)


def test_few_groups_confirm_what_follows_by_definition(tmp_path: Path) -> None:
    found = fitted(tmp_path, equal_sizes(5))
    targets = found.model.targets
    laws = [targets[name].law for name in ("iops", "bandwidth_mb_per_second")]
    assert [law and law.describe() for law in laws] == [
        "queue_depth / latency_us",
        "queue_depth x mean_size / latency_us",
    ]
    assert not any("modelled apart" in remark for remark in found.remarks)


def test_few_groups_in_which_a_definition_does_not_hold_are_reported(tmp_path: Path) -> None:
    rows = equal_sizes(6)
    # An open loop: the queue is not always full, so the latency says nothing of the rate.
    for number, row in enumerate(rows):
        row["latency_us"] = 100 + 37 * number
    found = fitted(tmp_path, rows)
    laws = {name: one.law and one.law.describe() for name, one in found.model.targets.items()}
    assert laws == {
        "latency_us": None,
        "iops": None,
        "bandwidth_mb_per_second": "iops x mean_size",
    }
    assert (
        "fewer than 10 groups: results are modelled apart and may contradict each other "
        "(latency_us, iops)"
    ) in found.remarks


def test_few_groups_of_other_tables_are_reported(tmp_path: Path) -> None:
    def said(groups: int) -> bool:
        found = fitted(tmp_path, [dict(row) for row in own_rows(60)[:groups]])
        return any("modelled apart" in remark for remark in found.remarks)

    assert said(FEWEST_GROUPS - 1)
    assert not said(40)


def test_a_definition_holds_for_sizes_that_never_changed(tmp_path: Path) -> None:
    rows = equal_sizes(20)
    for row in rows:
        row |= {"read_size": 4096, "write_size": 4096}
        row["bandwidth_mb_per_second"] = float(row["iops"]) * 4096 / 1e6
    law = fitted(tmp_path, rows).model.targets["bandwidth_mb_per_second"].law
    assert law is not None
    assert law.describe() == "queue_depth x mean_size / latency_us"


def test_a_law_of_one_direction_that_an_older_version_stored_is_fitted_again(
    tmp_path: Path,
) -> None:
    from drivelab.errors import UsageError
    from drivelab.sealed_json import sealed_json

    plain = json.loads(to_bytes(fitted(tmp_path, equal_sizes(12)).model))
    del plain["sha256"]
    plain["targets"][2]["law"]["powers"][1]["column"] = "read_size"
    path = tmp_path / "model.json"
    path.write_bytes(sealed_json(plain))
    with pytest.raises(UsageError, match="reads and writes differ; fit the model again: drivelab"):
        load(path)


def test_a_few_rows_may_break_a_law_and_more_may_not() -> None:
    table = np.linspace(1, 64, 100).reshape(-1, 1)
    columns = [Column.of_numbers("depth", table[:, 0])]
    latency = np.random.default_rng(4).uniform(-1, 1, 100)
    iops = np.log(table[:, 0]) - latency
    for broken, holds in ((0, True), (5, True), (6, False)):
        said = iops.copy()
        said[:broken] += 0.5
        assert (find_law("latency", latency, said, columns, table) is not None) is holds


def test_a_law_is_printed_and_is_in_json(tmp_path: Path, capsys) -> None:
    rows = written(tmp_path / "rows.csv", own_rows(40))
    assert cli.main(own_words(rows, tmp_path / "text")) == 0
    assert "(iops follows from latency_us as depth / latency_us in these rows" in (
        capsys.readouterr().out
    )
    assert cli.main(own_words(rows, tmp_path / "json", "--json")) == 0
    targets = {one["name"]: one for one in json.loads(capsys.readouterr().out)["targets"]}
    assert targets["iops"]["follows_from"] == "latency_us"
    assert targets["iops"]["formula"] == "depth / latency_us"
    assert targets["latency_us"]["follows_from"] is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"target": "iops"}, "target"),
        ({"sign": 0}, "sign"),
        ({"sign": 2}, "sign"),
        ({"powers": [{"column": "engine", "power": 1}]}, "column"),
        ({"powers": [{"column": "depth", "power": 0}]}, "power"),
        ({"constant": "1"}, "constant"),
        ({"powers": [{"column": "depth", "power": 1}] * 2}, "powers"),
    ],
)
def test_a_law_that_cannot_be_is_refused(
    model: OwnModel, tmp_path: Path, change: dict, said: str
) -> None:
    from drivelab.errors import UsageError
    from drivelab.sealed_json import sealed_json

    plain = json.loads(to_bytes(model))
    del plain["sha256"]
    plain["targets"][2]["law"] |= change
    path = tmp_path / "model.json"
    path.write_bytes(sealed_json(plain))
    with pytest.raises(UsageError, match=f"that can be read: .*{said}"):
        load(path)
