"""Workload characteristics: limits, identity, JSON."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from inspect import signature
from typing import Any

import pytest

from drivelab import _core
from drivelab.errors import DrivelabError, UnknownNameError, UsageError
from drivelab.workloads.characteristics import FIELDS, Characteristics

DEFAULT = Characteristics()
CAPACITY = 1 << 30


def test_fields_follow_the_core() -> None:
    assert FIELDS == (
        "write_ratio",
        "queue_depth",
        "read_size",
        "write_size",
        "read_random",
        "write_random",
        "read_stride",
        "write_stride",
    )
    assert tuple(DEFAULT.as_tuple()) == (0.0, 1, 4096, 4096, 1.0, 1.0, 0, 0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("write_ratio", 1.5, "write_ratio is 1.5; allowed: a ratio from 0 to 1"),
        ("write_ratio", "half", "write_ratio is 'half'; allowed: a ratio from 0 to 1"),
        ("write_ratio", True, "write_ratio is True; allowed: a ratio from 0 to 1"),
        ("read_random", math.nan, "read_random is NaN; allowed: a ratio from 0 to 1"),
        ("write_random", -0.1, "write_random is -0.1; allowed: a ratio from 0 to 1"),
        ("queue_depth", 0, "queue_depth is 0; allowed: 1 to 65536"),
        ("queue_depth", 1.0, "queue_depth is 1.0; allowed: 1 to 65536"),
        (
            "read_size",
            1000,
            "read_size is 1000 bytes; allowed: a multiple of 512 from 512 to 67108864",
        ),
        (
            "write_size",
            -512,
            "write_size is -512 bytes; allowed: a multiple of 512 from 512 to 67108864",
        ),
        (
            "write_stride",
            513,
            "write_stride is 513 bytes; allowed: 0 (sequential) or a multiple of 512 below 2^63",
        ),
    ],
)
def test_impossible_values_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        replace(DEFAULT, **{name: value}).validate()
    assert str(caught.value) == message


def test_a_name_that_is_none_is_guessed() -> None:
    with pytest.raises(UnknownNameError) as error:
        Characteristics(queue_deph=1)  # type: ignore[call-arg]
    assert str(error.value) == (
        "there is no characteristic 'queue_deph'; did you mean queue_depth? there are "
        f"{', '.join(FIELDS)}"
    )
    assert isinstance(error.value, DrivelabError)
    assert isinstance(error.value, TypeError)
    with pytest.raises(UnknownNameError, match="'colour'; there are write_ratio"):
        replace(DEFAULT, colour="blue")  # type: ignore[call-arg]
    # What notebooks complete and `help` shows.
    assert tuple(signature(Characteristics).parameters) == FIELDS
    assert pickle.loads(pickle.dumps(DEFAULT)) == DEFAULT  # noqa: S301


def test_errors_stay_short() -> None:
    for value in ("x" * 10_000, 10**10_000, [0] * 10_000):
        with pytest.raises(UsageError) as caught:
            replace(DEFAULT, read_size=value).validate()
        assert len(str(caught.value)) < 200


def test_requests_and_strides_fit_the_range() -> None:
    workload = replace(DEFAULT, read_size=8192, read_stride=4096)
    workload.validate(12_288)
    with pytest.raises(UsageError, match="read_stride is 4096 bytes; allowed here: at most 3584"):
        workload.validate(11_776)
    with pytest.raises(UsageError, match="read_size is 8192 bytes; allowed here: at most 4096"):
        workload.validate(4096)


def test_ineffective_characteristics_are_blank() -> None:
    reads = replace(DEFAULT, read_random=0.5, read_stride=1024, write_stride=4096)
    assert reads.canonical() == {
        "write_ratio": 0.0,
        "queue_depth": 1,
        "read_size": 4096,
        "write_size": None,
        "read_random": 0.5,
        "write_random": None,
        "read_stride": 1024,
        "write_stride": None,
    }
    writes = replace(reads, write_ratio=1.0)
    assert writes.canonical() == {
        "write_ratio": 1.0,
        "queue_depth": 1,
        "read_size": None,
        "write_size": 4096,
        "read_random": None,
        "write_random": 1.0,
        "read_stride": None,
        "write_stride": None,
    }


def test_equal_workloads_have_equal_keys() -> None:
    assert replace(DEFAULT, write_size=512).key() == DEFAULT.key()
    assert replace(DEFAULT, read_stride=512).key() == DEFAULT.key()
    assert replace(DEFAULT, write_ratio=-0.0).key() == DEFAULT.key()
    assert replace(DEFAULT, write_ratio=0).key() == DEFAULT.key()
    mixed = replace(DEFAULT, write_ratio=0.5)
    assert mixed.key() != replace(mixed, write_size=512).key()
    assert replace(mixed, write_random=0.0).key() != mixed.key()


def test_without_ineffective_keeps_the_meaning() -> None:
    reads = replace(DEFAULT, read_size=512, read_stride=512, write_size=512, write_random=0.0)
    assert reads.without_ineffective() == replace(DEFAULT, read_size=512)
    assert reads.without_ineffective().key() == reads.key()


def test_json_round_trip() -> None:
    workload = Characteristics(0.25, 16, 1024, 65536, 0.5, 0.0, 0, 131072)
    assert Characteristics.from_json(json.loads(json.dumps(workload.to_json()))) == workload


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], r"found \[\]"),
        (None, "found None"),
        ({}, "the workload lacks write_ratio, queue_depth"),
        (
            {**DEFAULT.to_json(), "depth": 3},
            "'depth' is not a workload characteristic; allowed: wr",
        ),
        ({**DEFAULT.to_json(), "queue_depth": None}, "queue_depth is None"),
    ],
)
def test_foreign_json_is_refused(data: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Characteristics.from_json(data)


def test_the_core_refuses_in_the_same_words() -> None:
    workload = replace(DEFAULT, read_size=1000)
    with pytest.raises(UsageError) as ours:
        workload.validate(CAPACITY)
    with pytest.raises(UsageError) as cores:
        _core.validate_characteristics(workload.as_tuple(), CAPACITY)
    assert str(ours.value) == str(cores.value)
