"""The costs of a campaign on a simulated drive, estimated on a smaller drive of the same build.

Preparing a drive of terabytes takes a minute, and longer for each kind of sustained writing, which
is too long for an estimate. A drive with fewer blocks per plane serves requests in about the same
time, because channels, dies, buffers and times are the same.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.campaign.forecast import Forecast, forecast_by_pilot, forecast_from_plan
from drivelab.drives.presets.source import SUFFIX, PresetSource, read_preset
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import DrivelabError, UsageError
from drivelab.preset_fit.builds import as_large
from drivelab.preset_fit.fitting import base_of
from drivelab.preset_fit.parameters import CAPACITY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import Drive
    from drivelab.workloads.characteristics import Characteristics

#: Memory for the state of the smaller drive.
MOST_STATE_BYTES: Final = 32 << 20
# If blocks are large, this number is too small for collection; then it is multiplied.
_MORE: Final = (1, 2, 4)
_PER_PLANE: Final = "blocks_per_plane"
_LEAST_BLOCKS: Final = 2
_MEMBER: Final = re.compile(r"^member\s*=.*$", re.MULTILINE)


def forecast_on_smaller(
    drive: Drive, workloads: Sequence[Characteristics], plan: MeasurementPlan
) -> Forecast:
    """Estimate the costs of a campaign by a pilot on a drive that is quickly prepared.

    If there is no such drive, return only what the plan itself says.

    Parameters
    ----------
    drive
        A simulated drive or a formula, not prepared.
    workloads
        Workloads of all parts.
    plan
        Length of each measurement.
    """
    if not isinstance(drive, SimulatedDrive) or _is_ready(drive):
        return forecast_by_pilot(drive, workloads, plan)
    try:
        like = smaller_drive(drive)
        for workload in workloads:
            like.check(workload)
        return forecast_by_pilot(like, workloads, plan, capacity_bytes=drive.capacity_bytes)
    except DrivelabError:
        cost = forecast_from_plan(workloads, plan, drive.capacity_bytes)
        return replace(cost, host_seconds=None, settling_bytes=0)


def _is_ready(drive: SimulatedDrive) -> bool:
    """Return whether a drive needs no preparation, or is small."""
    return drive.condition is None or drive.session_bytes <= MOST_STATE_BYTES


def smaller_drive(drive: SimulatedDrive) -> SimulatedDrive:
    """Return a drive with fewer blocks and a state of about `MOST_STATE_BYTES` or a little more.

    Raises
    ------
    UsageError
        When the preset has a value that cannot shrink with the drive.
    """
    reasons = []
    for more in _MORE:
        share = more * MOST_STATE_BYTES / drive.session_bytes
        if share >= 1:
            break
        try:
            source = _smaller_source(drive, share)
            return SimulatedDrive("sim:smaller", source, varies=drive.variability != "off")
        except UsageError as error:
            reasons.append(error)
    raise reasons[-1] if reasons else UsageError(f"{drive.name} is as small as it can be")


def _smaller_source(drive: SimulatedDrive, share: float) -> PresetSource:
    """Return the preset with a share of the blocks; for an array, with such members."""
    member = drive.preset.get("member")
    if member is not None:
        one = _smaller_preset(_member(drive.source, member), share)
        text, found = _MEMBER.subn(f'member = "{one.reference}"', drive.source.toml_text, 1)
        if not found:
            raise UsageError(f"{drive.name} takes its member from another preset")
        texts = {**drive.source.base_texts, **one.base_texts, one.reference: one.toml_text}
        return replace(drive.source, toml_text=text, base_texts=texts)
    return _smaller_preset(drive.source, share)


def _member(source: PresetSource, name: str) -> PresetSource:
    beside = source.base_texts.get(name)
    if beside is None:
        return read_preset(name)
    return PresetSource(f"{name}{SUFFIX}", beside, source.base_texts)


def _smaller_preset(source: PresetSource, share: float) -> PresetSource:
    base = base_of(source)
    capacity_bytes = int(share * base.values[CAPACITY])
    counted = {
        key: max(_LEAST_BLOCKS, round(share * value))
        for key, value in base.values.items()
        if _scales(key, value)
    }
    return base.changed(as_large(base.kind, base.values, capacity_bytes) | counted)


def _scales(key: str, value: Any) -> bool:
    """Return whether a value is a number of reserved blocks per plane."""
    is_count = isinstance(value, int) and value > 0
    return is_count and key.endswith(_PER_PLANE) and key != f"geometry.{_PER_PLANE}"
