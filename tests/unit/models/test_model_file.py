"""Files that are not a model, or a damaged one: one clear line, never anything else."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz.seed_model import MODEL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_drive import grid_workloads, measurements

from drivelab.cli import main as cli
from drivelab.errors import DamagedError, UsageError
from drivelab.models.model import PerformanceModel
from drivelab.sealed_json import SUM, seal, sealed_json
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts

pytestmark = pytest.mark.usefixtures("models_in_outline")


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("model") / "model.json"
    measured = measurements(grid_workloads(50, 0))
    PerformanceModel.fit(measured, parts=Parts(30, 10, 10)).save(path)
    loaded: dict[str, Any] = json.loads(path.read_text())
    del loaded[SUM]
    # One boosted model is enough, and both make each example slow.
    surfaces = {(one["features"], one["estimator"]): one for one in loaded["surfaces"]}
    surfaces["basic", "boosted"]["predictor"] = surfaces["basic", "cart"]["predictor"]
    return loaded


def load(path: Path, data: object) -> PerformanceModel:
    path.write_bytes(seal(json.dumps(data).encode()))
    return PerformanceModel.load(path)


def test_the_file_says_what_it_is(content: dict[str, Any]) -> None:
    assert list(content)[:2] == ["format", "format_version"]
    assert content["format"] == "drivelab performance model"
    assert content["format_version"] == 7
    assert content["features"]["basic"]["trees"][0] == "write_ratio"
    assert set(content["rows"]["workloads"]["queue_depth"]) == {1, 4, 16, 64}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is not a Drivelab model: it is empty"),
        (b"not json", "not JSON"),
        (b"\xff\xfe\x00", "not text"),
        (b"[]", "is not a Drivelab model that can be read: it contains something else"),
        (
            b'{"format": "gpx"}',
            "is not a Drivelab model that can be read: it contains something else",
        ),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"format": NaN}', "contains NaN"),
        (b'{"format": ' + b"9" * 5000 + b"}", "a number of more than 100 characters"),
        (b'{"format": 1e999}', "a number too large"),
        (b'{"format": 1, "format": 2}', "names a value twice"),
    ],
)
def test_rubbish_is_named(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "rubbish.json"
    path.write_bytes(text)
    with pytest.raises(UsageError, match=message) as caught:
        PerformanceModel.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist; a model is a run's folder"):
        PerformanceModel.load(tmp_path / "missing.json")
    with pytest.raises(UsageError, match="it is not a regular file"):
        PerformanceModel.load(tmp_path)


def test_a_truncated_model_is_refused(tmp_path: Path, content: dict[str, Any]) -> None:
    data = sealed_json(content)
    path = tmp_path / "short.json"
    for length in (60, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(DamagedError, match="its checksum does not fit; fit the model again"):
            PerformanceModel.load(path)


def test_a_model_from_before_checksums_says_how_to_make_it_again(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps({**content, "format_version": 2}))
    with pytest.raises(UsageError, match=r"of an older Drivelab.*drivelab report RUN"):
        PerformanceModel.load(path)


def test_a_model_written_again_by_another_program_is_damaged(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(sealed_json(content))
    PerformanceModel.load(path)
    path.write_text(json.dumps(json.loads(path.read_text())))
    with pytest.raises(DamagedError, match="its checksum does not fit"):
        PerformanceModel.load(path)


def test_no_changed_bit_of_a_model_is_believed(tmp_path: Path) -> None:
    data = MODEL.read_bytes()
    path = tmp_path / "model.json"
    path.write_bytes(data)
    PerformanceModel.load(path)
    # All of the first and last bytes, where format, version and sum stand; others at random.
    ends = [place for place in range(8 * len(data)) if not 800 < place < 8 * len(data) - 800]
    others = random.Random(0).sample(range(8 * len(data)), 1500)
    for place in (*ends, *others):
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(DamagedError) as caught:
            PerformanceModel.load(path)
        assert "\n" not in str(caught.value)


def test_a_changed_intercept_answers_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.json"
    text = MODEL.read_text()
    name = '"intercept":'
    place = text.index(name) + len(name)
    digit = next(at for at in range(place, place + 9) if text[at] in "12345678")
    path.write_text(f"{text[:digit]}{int(text[digit]) + 1}{text[digit + 1 :]}")
    words = ["--write-ratio", "0.5", "--estimator", "ols"]
    assert cli.main(["predict", str(MODEL), *words]) == 0
    capsys.readouterr()
    assert cli.main(["predict", str(path), *words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "is damaged" in captured.err


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (1, "its version 1 is of an older Drivelab, this one reads 7; fit the model again"),
        (8, "its version 8 is of a newer Drivelab, this one reads 7; update it, or fit"),
    ],
)
def test_another_version_says_what_to_do(
    tmp_path: Path, content: dict[str, Any], version: int, message: str
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load(tmp_path / "other.json", {**content, "format_version": version})
    assert "drivelab report RUN" in str(caught.value)
    assert "\n" not in str(caught.value)


DAMAGES: list[tuple[str, list[str | int], object]] = [
    ("format_version is not a whole number", ["format_version"], "1"),
    ("features.basic is not what", ["features", "basic", "trees", 0], "colour"),
    ("lacks the model latency_ns_mean basic ols", ["models", 0, "estimator"], "nn"),
    ("lacks the surface basic ols", ["surfaces", 0, "estimator"], "nn"),
    ("weights above 0, 1 together", ["surfaces", -1, "predictor", "weights"], {"guide": 0.5}),
    ("weights above 0, 1 together", ["surfaces", -1, "predictor", "weights"], {"ols": 1.0}),
    (
        "predictor.kind is not one of linear, trees, bottleneck",
        ["surfaces", 0, "predictor", "kind"],
        "pickle",
    ),
    ("coefficients is not a list of 4", ["surfaces", 0, "predictor", "coefficients"], [1.0]),
    ("intercept is not a number", ["surfaces", 0, "predictor", "intercept"], None),
    ("a number of more than 100 characters", ["surfaces", 0, "predictor", "intercept"], 10**400),
    ("arrays: .*tree ensemble", ["surfaces", 1, "predictor", "arrays", "left", 0], 0),
    ("arrays: ", ["surfaces", 1, "predictor", "arrays", "threshold", 0], "x"),
    ("arrays: ", ["surfaces", 1, "predictor", "arrays", "right", 0], -1),
    ("arrays: ", ["surfaces", 1, "predictor", "arrays", "missing_left"], None),
    ("columns is not 4", ["surfaces", 1, "predictor", "arrays", "columns"], 5),
    ("single_precision is not true", ["surfaces", 1, "predictor", "single_precision"], 1),
    ("limits is not the smaller first", ["surfaces", 1, "predictor", "limits"], [2.0, 1.0]),
    ("out_of_fold is not a list of 40", ["models", 2, "out_of_fold"], [1.0]),
    ("mre_ratio is not a number", ["models", 2, "in_sample", "mre_ratio"], [0]),
    ("iops is not a list of numbers above 0", ["rows", "observed", "iops", 0], -1.0),
    ("fold\\[0\\] is not a whole number from 0 to 9", ["rows", "fold", 0], 10),
    ("fold is not a list of 40", ["rows", "fold"], [0]),
    ("workloads is not an object with .write_ratio.", ["rows", "workloads"], {"x": []}),
    ("queue_depth is not a list of 40", ["rows", "workloads", "queue_depth"], [1]),
    ("row 0: queue_depth is 0", ["rows", "workloads", "queue_depth", 0], 0),
    ("queue_depth is 70000", ["rows", "workloads", "queue_depth", 0], 70000),
    ("interval_scores is not a list of ascending", ["models", 0, "interval_scores"], [2, 1]),
    ("interval_scores is not a list of ascending", ["models", 0, "interval_scores"], [-1]),
    ("check is not there exactly where", ["models", 3, "check"], None),
    ("outside is not a whole number", ["check", "outside"], -1),
    ("level is not one of 0.8, 0.9, 0.95", ["check", "coverage", "iops", 0, "level"], 0.5),
    ("ratio is not a number from 0 to 1", ["check", "coverage", "iops", 0, "ratio"], 1.5),
    ("characteristic is not one of", ["importance", "iops", 0, "characteristic"], "colour"),
    ("unit is not one of", ["effects", "iops", 0, "unit"], "parsec"),
    ("performance is not a list of", ["effects", "iops", 0, "performance"], [1.0]),
    ("provenance is not an object", ["provenance"], []),
    ("seed is not a whole number", ["seed"], -1),
]


@pytest.mark.parametrize(("message", "place", "value"), DAMAGES)
def test_damage_is_located(
    tmp_path: Path,
    content: dict[str, Any],
    message: str,
    place: list[str | int],
    value: object,
) -> None:
    damaged = copy.deepcopy(content)
    target: Any = damaged
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    with pytest.raises(UsageError, match=message):
        load(tmp_path / "damaged.json", damaged)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
fuzzed = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def places(data: object) -> Iterator[tuple[Any, Any]]:
    """Give every container with each of its keys, few of each long list."""
    if isinstance(data, dict):
        keys: list[Any] = list(data)
    elif isinstance(data, list):
        keys = list(range(len(data)))[:3]
    else:
        return
    for key in keys:
        yield data, key
        yield from places(data[key])


def refusal_unless_it_answers(path: Path) -> str:
    probes = [Characteristics(), Characteristics(write_ratio=0.5, write_random=0.0)]
    try:
        model = PerformanceModel.load(path)
        for key in model.predictors:
            answers = model.predict(
                probes, metric=key.metric, features=key.features, estimator=key.estimator
            )
            assert (answers > 0).all()
        model.outside_training(probes[1])
    except UsageError as error:
        return str(error)
    return ""


@fuzzed
@given(data=anything)
def test_any_json_is_refused(tmp_path: Path, data: object) -> None:
    with pytest.raises(UsageError):
        load(tmp_path / "any.json", data)


@fuzzed
@given(data=st.binary(max_size=200))
def test_any_bytes_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.json"
    path.write_bytes(data)
    with pytest.raises(UsageError):
        PerformanceModel.load(path)


@fuzzed
@given(data=st.data())
def test_any_change_is_refused_or_answers(
    tmp_path: Path, content: dict[str, Any], data: st.DataObject
) -> None:
    damaged = copy.deepcopy(content)
    container, key = data.draw(st.sampled_from(list(places(damaged))))
    if data.draw(st.booleans()):
        container[key] = data.draw(anything)
    else:
        del container[key]
    path = tmp_path / "changed.json"
    path.write_bytes(seal(json.dumps(damaged).encode()))
    assert "\n" not in refusal_unless_it_answers(path)
