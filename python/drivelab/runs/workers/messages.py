"""The messages between a run and the workers that measure for it: one JSON object per line.

::

    the run                                   a worker
                                         <──  hello     its version
    open       a drive                   ──>            of a real one, or only look at it
                                         <──  opened    what it opened
    plan       how long, and the seed    ──>
    measure    indices and workloads     ──>
                                         <──  answer    a measurement, or why there is none
                                              ...       one for each, in any order
    open       another drive             ──>            as before, once everything is answered
    close      of a real drive           ──>            removes a file that was made, and ends
    end of input                         ──>            ends, whatever it does

Each says `alive` every few seconds, whatever else it does: who is silent for long is gone. A drive
is described by texts, so that no file of it is needed where a worker is; a real one is named by its
path there. What is wrong with a drive or a workload for good is an `error`, after which a worker
says nothing more.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.naming import open_real, preview_real_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import PresetSource
from drivelab.drives.protocol import Drive
from drivelab.drives.simulated.alike import DrivesAlike, Family
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import (
    CannotAnswerError,
    DamagedError,
    DrivelabError,
    PanicError,
    RunError,
    UsageError,
)

if TYPE_CHECKING:
    from drivelab.drives.real.fio.drive import FioDrive
    from drivelab.drives.real.preview import RealPreview

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
    """Read a line; `RunError` where it is not a message."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{_shortened(line)} is not a message of a worker") from error
    if not isinstance(message, dict):
        raise RunError(f"{_shortened(line)} is not a message of a worker")
    return message


def this_version() -> str:
    """Return which Drivelab this is."""
    return version("drivelab")


def drive_message(drive: Drive, family: Family | None = None) -> Message:
    """Describe a drive so that it can be opened elsewhere.

    Parameters
    ----------
    drive
        A simulated one or a formula.
    family
        Where a simulated drive belongs that is opened after others; see `DrivesAlike`.

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
        "family": family,
    }


def real_message(
    path: str,
    *,
    size_bytes: int | None,
    keep: bool,
    allow_destructive: str | None,
    look: bool = False,
) -> Message:
    """Name a real drive of the worker's machine, and what may be done to it there.

    Parameters
    ----------
    path
        The device or file.
    size_bytes, keep, allow_destructive
        As `drivelab.drives.real.fio.drive.open_real_drive` takes them, which decides there.
    look
        Only look at it: nothing is made, written or locked.
    """
    return {
        "kind": "real",
        "look": look,
        "path": path,
        "size": size_bytes,
        "keep": keep,
        "allow_destructive": allow_destructive,
    }


def drive_of(message: Message, alike: DrivesAlike) -> SimulatedDrive | AnalyticDrive | FioDrive:
    """Open the drive that `drive_message` or `real_message` described.

    Parameters
    ----------
    message
        The description.
    alike
        Opens those that belong to a family.
    """
    try:
        if message["kind"] == "real":
            return open_real(
                str(message["path"]),
                size_bytes=message["size"],
                keep=bool(message["keep"]),
                allow_destructive=message["allow_destructive"],
            )
        source = PresetSource(message["reference"], message["preset"], dict(message["beside"]))
        if message["kind"] == "closed_form":
            return AnalyticDrive(source)
        name, varies, family = (message[key] for key in ("name", "varies", "family"))
        if family is None:
            return SimulatedDrive(name, source, varies=varies)
        group, own = family
        return alike.open(name, source, family=(group, own), varies=varies)
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"this describes no drive: {error!r}") from error


def preview_of(message: Message) -> RealPreview:
    """Look at the real drive that `real_message` described."""
    try:
        return preview_real_drive(
            str(message["path"]),
            size_bytes=message["size"],
            keep=bool(message["keep"]),
            allow_destructive=message["allow_destructive"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"this describes no drive: {error!r}") from error


def sum_of(drive: Drive) -> str:
    """Return what two drives have in common that measure alike."""
    return str(drive.identity()["config_hash"])


def plan_message(plan: MeasurementPlan, keep: str | None = None) -> Message:
    """Return the message with a plan.

    Parameters
    ----------
    plan
        How long each measurement is, the seed, and how many threads measure.
    keep
        Name of the journal in which a worker keeps what it measures on a real drive.
    """
    return {
        "plan": {**plan.to_json(), "is_usual": plan.is_usual},
        "threads": plan.workers,
        "keep": keep,
    }


def plan_of(message: Message) -> MeasurementPlan:
    """Read the plan of `plan_message`; `RunError` for anything else."""
    try:
        plan = dict(message["plan"])
        is_usual = plan.pop("is_usual")
        held = MeasurementPlan.from_json(plan)
        values = {**vars(held), "workers": message["threads"], "is_usual": bool(is_usual)}
        return MeasurementPlan(**values)
    except (KeyError, TypeError, ValueError, UsageError) as error:
        raise RunError(f"this is not a plan: {error}") from error


def error_message(error: DrivelabError) -> Message:
    """Return what a worker says of an error, as the nearest kind that everybody knows."""
    name = next(each.__name__ for each in type(error).__mro__ if each in {*_ERRORS, DrivelabError})
    return {"error": name, "text": str(error)}


def error_of(message: Message) -> DrivelabError:
    """Return the error that a worker reported."""
    kinds = {each.__name__: each for each in _ERRORS}
    return kinds.get(str(message.get("error")), RunError)(str(message.get("text", "no reason")))


def _shortened(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return repr(text if len(text) <= 80 else f"{text[:80]}...")
