"""A session on a simulated drive: each step finds what the previous one left."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab._core import MOST_STREAMS
from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.session import Purge, step_measurement
from drivelab.drives.simulated.asked import refuse_writes_anywhere, step_window
from drivelab.drives.simulated.simulation import operations, stream_results
from drivelab.errors import UsageError
from drivelab.units import format_size
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.workload import ends_by_itself

if TYPE_CHECKING:
    from drivelab._core import Session
    from drivelab.drives.open_drive import OpenDrive
    from drivelab.drives.plan import StoppedBy
    from drivelab.drives.session import StepPlan
    from drivelab.workloads.workload import Workload

#: For random numbers idling is a step; its key is far from those of other steps.
_IDLE_KEY: Final = 1 << 40
#: Entries of `extra` that would lose their meaning as a sum or mean over members.
_KEPT: Final = ("write_amplification_ratio", "variability_factor")


class SimulatedSession(ClosedOnExit):
    """A simulated drive that keeps what was done to it. Made by `SimulatedDrive.session`.

    Parameters
    ----------
    drive
        The drive; its own measurements do not see what is done here.
    preset
        The drive's preset.
    core
        A separate drive in the native core; each step starts where the last one ended.
    """

    kind: Literal["simulated"] = "simulated"
    #: A simulated drive is always a whole device.
    is_whole_device = True

    def __init__(self, drive: OpenDrive, preset: dict[str, Any], core: Session) -> None:
        self._drive = drive
        self._preset = preset
        self.name = drive.name
        self.capacity_bytes = drive.capacity_bytes
        self.block_bytes = drive.block_bytes
        self._session = core

    def identity(self) -> dict[str, Any]:
        """Return what determines how the drive behaves."""
        return self._drive.identity()

    def header(self) -> dict[str, str]:
        """Return what a report says about drive and host, by field in words."""
        preset = self._preset
        flash = preset.get("member_preset", preset)
        kinds = {"ssd": "solid-state drive", "hdd": "hard disk"}
        kind = kinds.get(flash["kind"], flash["kind"])
        media = f"simulated array of {kind}s" if preset is not flash else f"simulated {kind}"
        host = flash.get("host", {})
        return {
            "vendor": "",
            "model": preset["name"],
            "serial": "",
            "firmware": f"configuration {self.identity()['config_hash']}",
            "interface": str(host.get("interface", "")),
            "form factor": "",
            "media": media,
            "host": "simulated time; results do not depend on the machine",
            "operating system": f"{platform.system()} {platform.machine()}",
            "driver": "drivelab",
            "write cache": _write_buffer(flash),
        }

    def purge(self) -> Purge:
        """Erase everything; erase counts stay as in the preset, and a disk keeps its data."""
        self._session.purge()
        return Purge("done", "simulated: every block erased")

    def check(self, work: Workload) -> None:
        """Raise `UsageError` if it goes beyond the drive, or has too many loops."""
        end = work.footprint_bytes
        if end is not None and end > self.capacity_bytes:
            raise UsageError(
                f"the step goes to {end} bytes of {self.name}; allowed: at most "
                f"{self.capacity_bytes}"
            )
        if isinstance(work, Scenario) and work.occupancy is not None:
            raise UsageError(
                "a step continues with what is on the drive; leave [occupancy] out of the scenario"
            )
        if not isinstance(work, Stimuli):
            return
        # Threads of random accesses do not differ, so they are one loop.
        loops = sum(1 if each.is_random else each.threads for each in work.stimuli)
        if loops > MOST_STREAMS:
            raise UsageError(
                f"{loops} streams at the same time, because each thread of sequential accesses is "
                f"one; allowed on simulated drives: at most {MOST_STREAMS}"
            )

    def run(self, work: Workload, plan: StepPlan, step: int) -> Measurement:
        """Send any workload in simulated time; see `DriveSession.run`.

        Between two steps the write buffer drains, so each step finds an idle drive.
        """
        self.check(work)
        streams = work.streams()
        refuse_writes_anywhere(self.name, self._preset, streams)
        plan.check(work, streams)
        reported = self._session.run(
            streams,
            step_window(work, plan),
            place=step,
            total_bytes=plan.total_bytes,
        )
        extra = {name: reported["extra"][name] for name in _KEPT if name in reported["extra"]}
        if "energy_joules" in reported:
            extra["energy_joules"] = reported["energy_joules"]
        is_over = plan.total_bytes is None or ends_by_itself(work, streams)
        ended: StoppedBy = (
            "requests" if is_over and reported["stopped_by"] == "requests" else "seconds"
        )
        return step_measurement(
            step,
            work,
            streams,
            max(1, reported["duration_ns"]),
            stream_results(reported),
            whole=operations(reported),
            plan=plan,
            ended=ended,
            extra=extra,
        )

    def idle(self, seconds: float) -> None:
        """Leave the drive idle; the preset decides what it does then."""
        if seconds > 0:
            self._session.idle(max(1, round(seconds * 1e9)), _IDLE_KEY)

    def save_state(self) -> bytes:
        """Return the state: a few bytes for each page that differs from the initial state."""
        return self._session.save()

    def load_state(self, state: bytes) -> None:
        """Load a state that `save_state` returned for the same drive; else `UsageError`."""
        self._session.load(state)

    def leave(self, *, only_found: bool = False) -> None:
        """Do nothing: no file is made."""

    def close(self) -> None:
        """Nothing to release."""


def _write_buffer(preset: dict[str, Any]) -> str:
    size = preset.get("buffer", {}).get("write_buffer_bytes", 0)
    return f"{format_size(size)} in the controller" if size else "none"
