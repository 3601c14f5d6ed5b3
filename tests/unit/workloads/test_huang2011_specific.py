"""The eight workload-specific models of Huang et al. 2011: the workloads of each."""

from __future__ import annotations

from functools import cache

import pytest

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.huang2011_specific import SPECIFIC_MODELS, SpecificModel

KIB = 1024
BY_NAME = {model.name: model for model in SPECIFIC_MODELS}
# 7 queue depths of 9 sizes; 1 sequential pattern, 10 degrees of randomness, 9 strides.
EACH = 7 * 9
DISTINCT = {
    "rd_only": EACH * 20,
    "wr_only": EACH * 20,
    "rand_only": 2 * EACH * 10,
    "seq_only": 2 * EACH,
    "rand_rd": EACH * 10,
    "rand_wr": EACH * 10,
    "seq_read": EACH,
    "seq_wr": EACH,
}


def test_the_models_are_those_of_table_4() -> None:
    assert list(BY_NAME) == list(DISTINCT)
    assert {name: model.design().distinct for name, model in BY_NAME.items()} == DISTINCT


@cache
def everything(model: SpecificModel) -> list[Characteristics]:
    return model.design().select(0).workloads


def values(model: SpecificModel, name: str) -> set[object]:
    return {each.canonical()[name] for each in everything(model)}


@pytest.mark.parametrize("model", SPECIFIC_MODELS, ids=lambda model: model.name)
def test_every_workload_only_reads_or_only_writes_with_the_papers_values(
    model: SpecificModel,
) -> None:
    assert values(model, "write_ratio") == set(model.write_ratios)
    assert values(model, "queue_depth") == {1, 2, 4, 8, 16, 32, 64}
    for direction, ratio in (("read", 0.0), ("write", 1.0)):
        sizes = values(model, f"{direction}_size") - {None}
        doubled = {KIB * 2**power for power in range(9)}
        assert sizes == (doubled if ratio in model.write_ratios else set())


def test_patterns_are_never_mixed() -> None:
    tenths = {tenth / 10 for tenth in range(1, 11)}
    assert values(BY_NAME["rand_rd"], "read_random") == tenths
    assert values(BY_NAME["rand_rd"], "read_stride") == {0, None}
    assert values(BY_NAME["seq_wr"], "write_random") == {0.0}
    assert values(BY_NAME["seq_wr"], "write_stride") == {0}
    assert values(BY_NAME["wr_only"], "write_random") == {0.0, *tenths}
    # No stride where everything is random.
    strides = {0, None, *(KIB * 2**power for power in range(9))}
    assert values(BY_NAME["wr_only"], "write_stride") == strides
    for workload in everything(BY_NAME["rd_only"]):
        assert not (workload.read_random and workload.read_stride)
        assert workload == workload.without_ineffective()


def test_a_sample_is_no_larger_than_the_model() -> None:
    sampled = BY_NAME["rand_only"].design(100)
    assert len(sampled.select(0).workloads) == 100
    assert sampled.name == "rand_only:100"
    assert BY_NAME["seq_read"].design(100).name == "seq_read"
    assert len(everything(BY_NAME["seq_read"])) == EACH
