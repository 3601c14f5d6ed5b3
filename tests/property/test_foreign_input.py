"""Invalid input gives a `UsageError`: designs, characteristics and measurements from outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import example, given, settings
from hypothesis import strategies as st

from drivelab import _core
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import UsageError
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.design import parse_design

T = TypeVar("T")

GOOD = Characteristics().to_json()
RESULT = OperationResult(3, 12288, 85_000.0, 80_000, 90_000, {900: 3})
MEASUREMENT = Measurement(0, Characteristics(), 1000, RESULT, None, {"utilisation": 0.5}).to_json()
PLAN = MeasurementPlan().to_json()

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([0, 1, 512, 4096, 65536, 65537, 2**26, 2**63 - 512, 2**64, 1.0, 0.5])
)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=8,
)


def refused(read: Callable[[], T]) -> T | None:
    """Return what was read, or nothing when it was refused in one short line."""
    try:
        return read()
    except UsageError as error:
        text = str(error)
    assert "\n" not in text
    assert 0 < len(text) < 300
    return None


def changed(document: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Give a good document with one value, at any depth, replaced by anything or taken away."""
    paths = list(paths_of(document))

    def change(drawn: tuple[tuple[str, ...], bool, Any]) -> dict[str, Any]:
        path, remove, value = drawn
        copy: dict[str, Any] = json.loads(json.dumps(document))
        place = copy
        for step in path[:-1]:
            place = place[step]
        if remove:
            del place[path[-1]]
        else:
            place[path[-1]] = value
        return copy

    return st.tuples(st.sampled_from(paths), st.booleans(), documents).map(change)


def paths_of(document: dict[str, Any]) -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for name, value in document.items():
        paths.append((name,))
        if isinstance(value, dict):
            paths.extend((name, *rest) for rest in paths_of(value))
    return paths


@settings(deadline=None)
@given(st.text() | st.text().map(lambda text: f"huang2011:{text}"))
@example("huang2011:1\n")
@example("huang2011:\u0661")
@example("huang2011\0")
def test_designs(text: str) -> None:
    design = refused(lambda: parse_design(text))
    if design is not None:
        assert design.name == text
        assert design.distinct > 0


@given(documents | changed(GOOD))
def test_characteristics(data: object) -> None:
    workload = refused(lambda: Characteristics.from_json(data))
    if workload is not None:
        assert Characteristics.from_json(json.loads(json.dumps(workload.to_json()))) == workload
        assert hash(workload.key()) == hash(workload.without_ineffective().key())


@given(documents | changed(MEASUREMENT))
@example(MEASUREMENT | {"stopped_by": "x" * 1000})
def test_measurements(data: object) -> None:
    measurement = refused(lambda: Measurement.from_json(data))
    if measurement is not None:
        assert Measurement.from_json(json.loads(json.dumps(measurement.to_json()))) == measurement
        assert measurement.requests > 0
        assert measurement.percentile_ns(50) >= 0


@given(documents | changed(PLAN))
def test_plans(data: object) -> None:
    plan = refused(lambda: MeasurementPlan.from_json(data))
    if plan is not None:
        assert MeasurementPlan.from_json(json.loads(json.dumps(plan.to_json()))).seed == plan.seed


counts = st.integers(0, 2**17) | st.sampled_from([0, 1, 65536, 65537, 2**32 - 1])
lengths = (
    st.integers(0, 2**18).map(lambda sectors: sectors * 512)
    | st.integers(0, 2**32 - 1)
    | st.sampled_from([0, 512, 2**26, 2**26 + 512])
)
shares = st.floats(-0.5, 1.5) | st.sampled_from([0.0, 1.0, float("nan"), float("inf")])


@given(
    st.tuples(shares, counts, lengths, lengths, shares, shares, lengths, lengths)
    | st.tuples(
        st.floats(0, 1),
        st.integers(1, 64),
        *[st.integers(1, 64).map(lambda sectors: sectors * 512)] * 2,
        *[st.floats(0, 1)] * 2,
        *[st.integers(0, 128).map(lambda sectors: sectors * 512)] * 2,
    ),
    st.integers(0, 2**17).map(lambda sectors: sectors * 512) | st.just(2**40),
)
def test_the_core_and_python_agree_on_what_is_possible(
    values: _core.CharacteristicsTuple, capacity_bytes: int
) -> None:
    workload = Characteristics(*values)
    assert verdict(lambda: workload.validate(capacity_bytes)) == verdict(
        lambda: _core.validate_characteristics(values, capacity_bytes)
    )


def verdict(check: Callable[[], None]) -> str | None:
    """Return the characteristic that is refused."""
    try:
        check()
    except UsageError as error:
        name = str(error).split(" ", 1)[0]
    else:
        return None
    assert name in FIELDS
    return name


names = st.sampled_from([*FIELDS, "read_size_bytes", "write_stride_bytes", "index", "iops", "note"])
cells = st.sampled_from(
    [
        *("", "0", "1", "0.5", "4096", "64KiB", "nan", "-1", "1e3", "1e-3", "4.0", " 512 ", '"'),
        *("\x00", "\u0664", "9" * 30, "inf", "0x10", "1_000", "\ufeff", "½"),
    ]
) | st.text(max_size=6)
whole_rows = st.lists(cells, min_size=len(FIELDS), max_size=len(FIELDS))
tables = st.lists(whole_rows | whole_rows | st.lists(cells, max_size=9), max_size=6)


@given(
    st.permutations(FIELDS) | st.lists(names, min_size=6, max_size=10),
    tables,
    st.sampled_from([",", ",", ",", ";", "\t"]),
    st.binary(max_size=8),
)
def test_any_table_is_a_design_or_one_line(
    tmp_path_factory, head: list[str], rows: list[list[str]], separator: str, tail: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "table.csv"
    lines = [separator.join(row) for row in [head, *rows]]
    path.write_bytes("\n".join(lines).encode() + b"\n" + tail)
    design = refused(lambda: parse_design(str(path)))
    if design is None:
        return
    for workload in design.select(seed=0).workloads:
        workload.validate()


@given(
    st.lists(
        st.builds(
            Characteristics,
            write_ratio=st.sampled_from([0.0, 1.0]) | st.floats(0, 1),
            queue_depth=st.integers(1, 65536),
            read_size=st.integers(1, 2**17).map(lambda sectors: 512 * sectors),
            write_size=st.integers(1, 2**17).map(lambda sectors: 512 * sectors),
            read_random=st.sampled_from([0.0, 1.0]) | st.floats(0, 1),
            write_random=st.sampled_from([0.0, 1.0]) | st.floats(0, 1),
            read_stride=st.integers(0, 2**40).map(lambda sectors: 512 * sectors),
            write_stride=st.integers(0, 2**40).map(lambda sectors: 512 * sectors),
        ),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_workloads_come_back_from_a_table(
    tmp_path_factory, workloads: list[Characteristics], blank: bool
) -> None:
    """Written as they are or with what has no effect left out, they mean the same."""
    path = tmp_path_factory.getbasetemp() / "table.csv"
    rows = [
        ["" if value is None else str(value) for value in workload.canonical().values()]
        if blank
        else [str(value) for value in workload.as_tuple()]
        for workload in workloads
    ]
    path.write_text("\n".join(",".join(row) for row in [FIELDS, *rows]))
    design = parse_design(str(path))
    selection = design.select(seed=0)
    assert sorted(map(repr, (each.key() for each in selection.workloads))) == sorted(
        map(repr, (each.key() for each in workloads))
    )
    assert design.distinct == len({workload.key() for workload in workloads})
