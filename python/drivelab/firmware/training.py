"""From a profile to a model that is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import RunError, UsageError
from drivelab.firmware.additive import (
    clock_mhz,
    errors_of_costs,
    fit_costs,
    left_out_costs,
)
from drivelab.firmware.learners import Kriging, Linear
from drivelab.firmware.leave_one_out import LeftOut, check_workloads, leave_one_out
from drivelab.firmware.profile import FirmwareSettings
from drivelab.firmware.profiled import Dataset
from drivelab.firmware.record_predictor import INPUT_KIND, RecordPredictor
from drivelab.firmware.static_count import StaticCount
from drivelab.firmware_model.costs import MOST_OF_ONE, Costs
from drivelab.firmware_model.model import (
    OWN_VICTIM,
    FirmwareModel,
    LeftOutAccuracy,
    TrainedFirmware,
    TrainedTarget,
    own_mapping,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.firmware.profiled import Profiled

#: What predicts records and can be kept as plain numbers.
KEPT_LEARNERS: Final[dict[str, Kriging | Linear]] = {"kriging": Kriging(), "linear": Linear()}
_ENTRY_BYTES: Final = 4
_PAGE_BYTES: Final = 1 << 14
_FIRMWARE: Final = "firmware:"
#: The firmware of the package.
BUILT_IN: Final = "page-map"


def trained_firmware(header: Mapping[str, Any]) -> TrainedFirmware:
    """Say of which firmware a run is, by its header."""
    settings = FirmwareSettings(**header["plan"]["firmware"])
    name = str(header["drive"]["name"]).removeprefix(_FIRMWARE)
    source = (header["drive"].get("identity") or {}).get("source_sha256")
    # How somebody's own firmware maps and collects is its own affair.
    mapping, victim = ("page", "greedy") if source is None else (own_mapping(source), OWN_VICTIM)
    return TrainedFirmware(
        name=name,
        mapping=mapping,
        page_bytes=_PAGE_BYTES,
        map_bytes=settings.capacity_bytes // _PAGE_BYTES * _ENTRY_BYTES,
        victim=victim,
        workers=settings.workers,
        depth=settings.depth,
        geometry=settings.geometry,
        record_requests=settings.record_requests,
    )


def train(
    profiles: Sequence[Profiled], firmware: TrainedFirmware, *, seed: int = 0
) -> FirmwareModel:
    """Train all parts of a model, and compute how far each is off for unseen workloads.

    Parameters
    ----------
    profiles
        Profiles of three workloads or more.
    firmware
        Whose.
    seed
        Key of all random numbers.

    Raises
    ------
    UsageError
        With too few workloads.
    RunError
        If instructions of reads and writes cannot be separated, or a cost is impossible.
    """
    check_workloads(len(profiles))
    if any(each.board is not None for each in profiles):
        raise UsageError(
            "a model is made of an emulated target's records, which say what its cores do: profile "
            "without --board; records of a board can be evaluated"
        )
    parameters = profiles[0].target.parameters
    if any(each.target.parameters != parameters for each in profiles):
        raise UsageError("the workloads were profiled on different targets; profile them on one")
    learned = left_out_costs(profiles)
    static = StaticCount.of(profiles).costs()
    found = fit_costs(profiles)
    for kind, costs in (("learned", found), ("static", static)):
        _check_size(kind, costs)
    data = Dataset.of(profiles)
    records = {
        name: leave_one_out(data, learner, inputs=INPUT_KIND, seed=seed)
        for name, learner in KEPT_LEARNERS.items()
    }
    best = min(records, key=lambda name: records[name].ratio)
    model = KEPT_LEARNERS[best].fit(data.inputs[INPUT_KIND], data.target_ns, seed)
    return FirmwareModel(
        firmware=firmware,
        target=TrainedTarget(
            name=str(parameters["name"]),
            clock_mhz=clock_mhz(parameters),
            cores=int(parameters["cores"]),
            parameters=parameters,
        ),
        learned=found,
        static=static,
        record_model=RecordPredictor.of(model, profiles).to_json(),
        accuracy={
            "learned": _accuracy(learned),
            "static": _accuracy(errors_of_costs(profiles, static)),
            "records": _accuracy(records[best]),
        },
        workloads=tuple(each.label for each in profiles),
        records=sum(len(each) for each in profiles),
    )


def _check_size(kind: str, costs: Costs) -> None:
    """Refuse costs that no preset may have."""
    for name, cost in costs.of.items():
        if max(cost.cycles, cost.memory_ns) > MOST_OF_ONE:
            raise RunError(
                f"{name} would cost a core {cost.cycles:.3g} cycles and {cost.memory_ns:.3g} ns of "
                f"memory ({kind}), and a drive takes at most {MOST_OF_ONE:,.0f}: profile workloads "
                "that do more of it"
            )


def _accuracy(left_out: LeftOut) -> LeftOutAccuracy:
    worst = left_out.worst
    return LeftOutAccuracy(left_out.ratio, worst.workload, worst.ratio, left_out.p99_ratio)
