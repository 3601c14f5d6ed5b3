"""The closed form is fitted to latencies by request size, and hidden values are found again."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import PresetSource, read_preset
from drivelab.errors import UsageError
from drivelab.preset_fit.answer import cautions
from drivelab.preset_fit.closed_form import RHO, answers, fit_closed_form
from drivelab.preset_fit.fitting import Fitted, base_of
from drivelab.preset_fit.observed import Observed, Run
from drivelab.preset_fit.record_curves import record_ns
from drivelab.workloads.characteristics import Characteristics

BASE = base_of(read_preset("x25m-yoo2014"))
PAGE = 4096
PLAN = MeasurementPlan(requests=1)
#: Record sizes of Yoo et al. 2014, section 4.2.
SIZES = [PAGE << power for power in range(8)]
HIDDEN: dict[str, Any] = {
    "geometry.channels": 8,
    "geometry.blocks_per_plane": 2560,
    "timing.read_dispatch_ns": 25_000,
    "timing.read_cell_ns": 60_000,
    "timing.write_dispatch_ns": 50_000,
    "timing.program_cell_ns": 1_500_000,
    RHO: 16,
}
REGISTERS = ["timing.read_register_ns", "timing.write_register_ns"]


def drive_of(values: dict[str, Any]) -> AnalyticDrive:
    source = BASE.changed(values)
    return AnalyticDrive(PresetSource("hidden", source.toml_text, source.base_texts))


def workloads(*directions: str, sizes: list[int] = SIZES) -> list[Characteristics]:
    return [
        Characteristics(
            write_ratio=float(direction == "write"),
            **{f"{direction}_size": size, f"{direction}_random": 0.0},
        )
        for direction in directions
        for size in sizes
    ]


def measured(
    values: dict[str, Any], asked: list[Characteristics], noise: float = 0.0, seed: int = 1
) -> Run:
    """Measure a hidden drive, with random errors of the logarithms; every fourth is held out."""
    drive = drive_of(values)
    observed = Observed.of(list(drive.measure(list(enumerate(asked)), PLAN)))
    random = np.random.default_rng(seed)
    changed = observed.behaviour.mean + noise * random.standard_normal(len(asked))
    observed = replace(observed, behaviour=replace(observed.behaviour, mean=changed))
    held_out = list(range(3, len(asked), 4))
    own = [place for place in range(len(asked)) if place not in held_out]
    return Run("hidden", Path("run"), PLAN, observed.at(own), observed.at(held_out))


def values_of(fitted: Fitted) -> dict[str, Any]:
    return {one.parameter.name: one for one in fitted.values}


@pytest.mark.parametrize("rho", [1, 3, 20, 500])
def test_the_equations_are_those_of_the_core(rho: int) -> None:
    """`drivelab._core.ClosedForm` implements equations 1 to 7 in whole nanoseconds."""
    geometry = {"geometry.channels": -(-rho // 5), "geometry.ways_per_channel": min(rho, 5)}
    if rho < 5:
        geometry |= {"geometry.blocks_per_plane": 100_000, "timing.write_register_ns": 33_000}
    drive = drive_of({**geometry, RHO: rho})
    pages = np.array([1, 2, 3, 4, 19, 20, 21, 40, 41, 999, 1000, 1001], dtype=float)
    register = geometry.get("timing.write_register_ns", 82_000)
    found = record_ns(pages, rho, 33_000, 33_000 + register + 940_000)
    exact = [drive.closed_form.record("write", int(count) * PAGE)["record_ns"] for count in pages]
    assert found.tolist() == exact


def test_exact_latencies_give_the_hidden_values() -> None:
    fitted = fit_closed_form(measured(HIDDEN, workloads("read", "write")), BASE, fixed=REGISTERS)
    found = values_of(fitted)
    assert list(found) == [name for name in found if name not in REGISTERS]
    for name in (name for name in HIDDEN if not name.startswith("geometry.")):
        assert found[name].value == HIDDEN[name], name
        assert found[name].is_determined
        assert found[name].low <= HIDDEN[name] <= found[name].high
    # Capacity and rho say which geometry.
    assert fitted.base.built == {name: HIDDEN[name] for name in HIDDEN if "geometry." in name}
    assert (fitted.after.mean, fitted.after.p99) == (0.0, 0.0)
    assert fitted.before.mean > 0.2


@pytest.mark.long
def test_intervals_hold_the_hidden_values_as_often_as_they_say() -> None:
    """Of 48 intervals at 95 %, 41 at least hold: chance alone gives fewer once in 400 times."""
    names = [name for name in HIDDEN if name.startswith("timing.")]
    inside = 0
    for seed in range(12):
        run = measured(HIDDEN, workloads("read", "write"), noise=0.01, seed=seed)
        found = values_of(fit_closed_form(run, BASE, fixed=REGISTERS))
        inside += sum(found[name].low <= HIDDEN[name] <= found[name].high for name in names)
        assert found[RHO].low <= 16 <= found[RHO].high
        assert found[RHO].value == 16
    assert inside >= 41


def test_register_and_cell_show_only_their_sum() -> None:
    run = measured(HIDDEN, workloads("read", "write"), noise=0.005)
    found = values_of(fit_closed_form(run, BASE))
    for register, cell in (
        ("timing.read_register_ns", "timing.read_cell_ns"),
        ("timing.write_register_ns", "timing.program_cell_ns"),
    ):
        hidden = BASE.values[register] + HIDDEN[cell]
        assert found[register].value + found[cell].value == pytest.approx(hidden, rel=0.03)
        assert not found[register].is_determined
        assert found[register].low is None
        assert found[register].high <= found[cell].high
        assert found[cell].high == pytest.approx(hidden, rel=0.05)


def test_channels_do_not_show_so_neither_interval_depends_on_them() -> None:
    """Twenty channels of one chip have the same latencies as ten of two, and a slower register."""
    hidden = {
        "geometry.channels": 20,
        "geometry.ways_per_channel": 1,
        "timing.write_register_ns": 500_000,
        "timing.program_cell_ns": 522_000,
    }
    asked = workloads("write")
    drives = [measured(values, asked) for values in (hidden, {})]
    assert drives[0].fitted.behaviour.mean.tolist() == drives[1].fitted.behaviour.mean.tolist()
    found = values_of(fit_closed_form(drives[0], BASE))
    for name in ("timing.write_register_ns", "timing.program_cell_ns"):
        assert (found[name].low or 0) <= hidden[name] <= found[name].high
    assert not found["timing.write_register_ns"].is_determined


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("pages", [[1, 2, 3, 4, 5], [1, 2, 4, 8, 16, 32, 64]])
def test_a_value_lies_in_its_interval(noise: float, pages: list[int]) -> None:
    asked = workloads("read", sizes=[PAGE * count for count in pages])
    for seed in range(4):
        for one in fit_closed_form(measured(HIDDEN, asked, noise, seed), BASE).values:
            assert (one.low or 0) <= one.value <= (one.high or math.inf), one


def test_latencies_that_do_not_depend_on_the_size_show_no_dispatch() -> None:
    run = measured({}, workloads("read"))
    flat = replace(run.fitted, behaviour=replace(run.fitted.behaviour, mean=np.full(6, 13.8)))
    found = values_of(fit_closed_form(replace(run, fitted=flat), BASE))
    assert found["timing.read_dispatch_ns"].low is None
    assert found["timing.read_dispatch_ns"].high < 1_000
    total = sum(found[name].value for name in list(found)[:3])
    assert total == pytest.approx(np.exp(13.8), rel=1e-3)


def test_a_kind_with_two_sizes_is_left_out_and_named() -> None:
    asked = workloads("read") + workloads("write", sizes=SIZES[:2])
    fitted = fit_closed_form(measured(HIDDEN, asked), BASE)
    assert all("write" not in name and "program" not in name for name in values_of(fitted))
    assert {one.write_ratio for one in fitted.run.held_out.workloads} == {0.0}
    assert fitted.unused.startswith("2 writes were not used: a fit needs at least 3 sizes")
    assert fitted.unused in cautions(fitted)


def test_the_base_preset_may_have_no_register(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    path.write_text('name = "none"\nbase = "x25m-yoo2014"\n[timing]\nwrite_register_ns = 0\n')
    found = values_of(
        fit_closed_form(measured({}, workloads("write")), base_of(read_preset(str(path))))
    )
    assert found["timing.write_register_ns"].base == 0


def test_a_disk_has_no_closed_form() -> None:
    run = measured({}, workloads("write"))
    for kind in ({"kind": "hdd"}, {"has_arm": True}):
        with pytest.raises(UsageError, match="is a disk, and x25m-yoo2014 is an SSD"):
            fit_closed_form(replace(run, **kind), BASE)


def test_a_base_that_cannot_answer_says_why(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text('name = "slow"\nbase = "x25m-yoo2014"\n[timing]\nwrite_register_ns = 400000\n')
    accepts = answers(base_of(read_preset(str(path))))
    assert accepts(workloads("read")[0])
    with pytest.raises(UsageError, match=r"is below the register transfer .* in the base preset"):
        accepts(workloads("write")[0])


def test_one_direction_is_enough_and_long_requests_are_too() -> None:
    sizes = [PAGE * count for count in (1, 2, 5, 9, 16, 17, 40, 700, 1500, 3000)]
    run = measured(HIDDEN, workloads("write", sizes=sizes), noise=0.002)
    found = values_of(fit_closed_form(run, BASE, fixed=REGISTERS[1:]))
    assert set(found) == {"timing.write_dispatch_ns", "timing.program_cell_ns", RHO}
    assert found[RHO].value == 16
    assert found["timing.program_cell_ns"].value == pytest.approx(1_500_000, rel=0.02)


def test_short_requests_show_no_more_than_that_rho_is_larger() -> None:
    run = measured(HIDDEN, workloads("read", sizes=SIZES[:4]), noise=0.001)
    found = values_of(fit_closed_form(run, BASE))
    assert found[RHO].high is None
    assert not found[RHO].is_determined
    assert found[RHO].value == 20
    # rho of the base preset is kept, and with it the geometry.
    assert fit_closed_form(run, BASE).base.built == {}


def test_two_sizes_are_too_few() -> None:
    asked = workloads("read", sizes=SIZES[:2]) * 3 + workloads("write", sizes=SIZES[:2]) * 2
    with pytest.raises(UsageError, match="run has fewer than 3 request sizes of reads"):
        fit_closed_form(measured(HIDDEN, asked), BASE)


def test_held_values_that_do_not_fit_are_refused() -> None:
    held = ["timing.write_dispatch_ns", "timing.write_register_ns", "timing.program_cell_ns"]
    cells = {"timing.program_cell_ns": 100_000, "timing.write_register_ns": 20_000}
    run = measured(cells, workloads("write"))
    with pytest.raises(UsageError, match="which is held: fit it too"):
        fit_closed_form(run, BASE, fixed=["timing.program_cell_ns", *held[:1]])
    with pytest.raises(UsageError, match="nothing that can be fitted here"):
        # No read was measured.
        fit_closed_form(run, BASE, only=["timing.read_cell_ns"])


def test_only_what_the_equations_answer_is_used() -> None:
    accepts = answers(BASE)
    assert accepts(workloads("read")[0])
    assert accepts(replace(workloads("write")[3], write_random=1.0))
    for other in (
        replace(workloads("read")[0], queue_depth=2),
        replace(workloads("read")[0], read_size=2048),
        replace(workloads("read")[0], write_ratio=0.5),
    ):
        assert not accepts(other)
    with pytest.raises(UsageError, match="such as analytic:x25m-yoo2014, or fit a simulated"):
        answers(base_of(read_preset("x25m")))
