"""A simulated drive step after step: what one step leaves, the next one finds."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab._core import MOST_STREAMS
from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.session import Purge, step_measurement
from drivelab.drives.simulated.asked import step_window
from drivelab.drives.simulated.simulation import operations, streams_told
from drivelab.errors import UsageError
from drivelab.units import format_size
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.workload import ends_by_itself

if TYPE_CHECKING:
    from drivelab._core import Session
    from drivelab.drives.open_drive import OpenDrive
    from drivelab.drives.plan import StoppedBy
    from drivelab.drives.session import StepPlan
    from drivelab.workloads.workload import Workload

#: Idling is a step like any other to the random numbers: its key is far from those of steps.
_IDLE_KEY: Final = 1 << 40
#: Of `extra`, what a sum over members or a mean over nothing would make of no worth.
_TOLD: Final = ("write_amplification_ratio", "variability_factor")


class SimulatedSession(ClosedOnExit):
    """A simulated drive that keeps what was done to it. Made by `SimulatedDrive.session`.

    Parameters
    ----------
    drive
        Which; its own measurements do not see what is done here.
    preset
        What the drive is made of.
    core
        A drive of its own in the native core; each step starts where the last one ended.
    """

    kind: Literal["simulated"] = "simulated"
    #: Everything of a simulated drive is its own.
    is_whole_device = True

    def __init__(self, drive: OpenDrive, preset: dict[str, Any], core: Session) -> None:
        self._drive = drive
        self._preset = preset
        self.name = drive.name
        self.capacity_bytes = drive.capacity_bytes
        self.block_bytes = drive.block_bytes
        self._session = core

    def identity(self) -> dict[str, Any]:
        """Return what decides how the drive behaves."""
        return self._drive.identity()

    def header(self) -> dict[str, str]:
        """Give what a report says of drive and host, by field in words."""
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
        """Erase everything; erase counts stay as the preset says, and a disk keeps what it has."""
        self._session.purge()
        return Purge("done", "simulated: every block erased")

    def check(self, work: Workload) -> None:
        """Raise `UsageError` when it goes beyond the drive, or loops are too many."""
        end = work.footprint_bytes
        if end is not None and end > self.capacity_bytes:
            raise UsageError(
                f"what is asked for goes to {end} bytes of {self.name}; allowed: at most "
                f"{self.capacity_bytes}"
            )
        if not isinstance(work, Stimuli):
            return
        # Threads of random accesses do not differ, so they are one loop.
        loops = sum(1 if each.is_random else each.threads for each in work.stimuli)
        if loops > MOST_STREAMS:
            raise UsageError(
                f"{loops} streams at the same time, each thread of accesses in order being one; "
                f"allowed on simulated drives: at most {MOST_STREAMS}"
            )

    def run(self, work: Workload, plan: StepPlan, step: int) -> Measurement:
        """Send any workload in simulated time; see `DriveSession.run`.

        Between two steps the write buffer drains: what a step finds is an idle drive.
        """
        self.check(work)
        streams = work.streams()
        plan.check(work, streams)
        told = self._session.run(
            streams,
            step_window(work, plan),
            place=step,
            total_bytes=plan.total_bytes,
        )
        extra = {name: told["extra"][name] for name in _TOLD if name in told["extra"]}
        if "energy_joules" in told:
            extra["energy_joules"] = told["energy_joules"]
        is_over = plan.total_bytes is None or ends_by_itself(work, streams)
        ended: StoppedBy = "requests" if is_over and told["stopped_by"] == "requests" else "seconds"
        return step_measurement(
            step,
            work,
            streams,
            max(1, told["duration_ns"]),
            streams_told(told),
            whole=operations(told),
            plan=plan,
            ended=ended,
            extra=extra,
        )

    def idle(self, seconds: float) -> None:
        """Leave the drive alone; what it does then is its preset's."""
        if seconds > 0:
            self._session.idle(max(1, round(seconds * 1e9)), _IDLE_KEY)

    def save_state(self) -> bytes:
        """Return the state: a few bytes for each page that differs from where it began."""
        return self._session.save()

    def load_state(self, state: bytes) -> None:
        """Take up what `save_state` gave on the same drive; `UsageError` for anything else."""
        self._session.load(state)

    def leave(self, *, only_found: bool = False) -> None:
        """Nothing is made."""

    def close(self) -> None:
        """Nothing to release."""


def _write_buffer(preset: dict[str, Any]) -> str:
    size = preset.get("buffer", {}).get("write_buffer_bytes", 0)
    return f"{format_size(size)} in the controller" if size else "none"
