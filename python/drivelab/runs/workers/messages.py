"""What is said between a run and the workers that measure for it: a JSON object a line.

::

    the run                                   a worker
                                         <──  hello     its version
    open       a drive, a plan           ──>
                                         <──  opened    what it opened, as a sum
    measure    indices and workloads     ──>
                                         <──  answer    a measurement, or why there is none
                                              ...       one for each, in any order
    end of input                         ──>            ends, whatever it does

Each says `alive` every few seconds, whatever else it does: who is silent for long is gone. A drive
is described by texts, so that no file of it is needed where a worker is. What is wrong
with a drive or a workload for good is an `error`, after which a worker says nothing more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import PresetSource
from drivelab.drives.protocol import Drive
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import (
    CannotAnswerError,
    DamagedError,
    DrivelabError,
    PanicError,
    RunError,
    UsageError,
)

#: A sign of life, and how often each side gives one.
ALIVE: Final = "alive"
SIGN_SECONDS: Final = 5.0
#: The word under which a worker says its version, and by which its first line is known.
HELLO: Final = "drivelab_worker"
_ERRORS: Final = (UsageError, CannotAnswerError, RunError, DamagedError, PanicError)

Message = dict[str, Any]


def line_of(message: Message) -> bytes:
    """Return a message as it is sent."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def message_of(line: bytes) -> Message:
    """Read a line; `RunError` where it is no message."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{_shortened(line)} is no message of a worker") from error
    if not isinstance(message, dict):
        raise RunError(f"{_shortened(line)} is no message of a worker")
    return message


def this_version() -> str:
    """Return which Drivelab this is."""
    return version("drivelab")


def drive_message(drive: Drive) -> Message:
    """Describe a drive so that it can be opened elsewhere.

    Raises
    ------
    UsageError
        When it is one thing in one place: a real drive.
    """
    if isinstance(drive, SimulatedDrive):
        source, varies = drive.source, drive.variability != "off"
    elif isinstance(drive, AnalyticDrive):
        source, varies = drive.source, True
    else:
        raise UsageError(
            f"{drive.name} is a {drive.kind} drive, which only this process can measure: leave out "
            "--executor"
        )
    return {
        "kind": drive.kind,
        "name": drive.name,
        "reference": source.reference,
        "preset": source.toml_text,
        "beside": source.base_texts,
        "varies": varies,
    }


def drive_of(message: Message) -> SimulatedDrive | AnalyticDrive:
    """Open the drive that `drive_message` described."""
    try:
        source = PresetSource(message["reference"], message["preset"], dict(message["beside"]))
        if message["kind"] == "closed_form":
            return AnalyticDrive(source)
        return SimulatedDrive(message["name"], source, varies=message["varies"])
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"this describes no drive: {error!r}") from error


def sum_of(drive: Drive) -> str:
    """Return what two drives have in common that measure alike."""
    return str(drive.identity()["config_hash"])


@dataclass(frozen=True)
class Opening:
    """The drive and the plan that a worker begins with.

    Attributes
    ----------
    drive
        As `drive_message` describes it.
    plan
        How long each measurement is, and the seed.
    """

    drive: Message
    plan: MeasurementPlan

    def to_json(self) -> Message:
        """Return the message."""
        plan = {**self.plan.to_json(), "is_usual": self.plan.is_usual}
        return {"open": self.drive, "plan": plan, "threads": self.plan.workers}

    @classmethod
    def of_json(cls, message: Message) -> Opening:
        """Read what `to_json` wrote; `RunError` for anything else."""
        try:
            plan = dict(message["plan"])
            is_usual = plan.pop("is_usual")
            held = MeasurementPlan.from_json(plan)
            values = {**vars(held), "workers": message["threads"], "is_usual": bool(is_usual)}
            return cls(message["open"], MeasurementPlan(**values))
        except (KeyError, TypeError, UsageError) as error:
            raise RunError(f"this opens no drive: {error}") from error


def error_message(error: DrivelabError) -> Message:
    """Return what a worker says of an error, as the nearest kind that everybody knows."""
    name = next(each.__name__ for each in type(error).__mro__ if each in {*_ERRORS, DrivelabError})
    return {"error": name, "text": str(error)}


def error_of(message: Message) -> DrivelabError:
    """Give the error that a worker told."""
    kinds = {each.__name__: each for each in _ERRORS}
    return kinds.get(str(message.get("error")), RunError)(str(message.get("text", "no reason")))


def _shortened(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return repr(text if len(text) <= 80 else f"{text[:80]}...")
