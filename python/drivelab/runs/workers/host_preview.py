"""What a real drive of another machine could be asked for, found without making anything there."""

from __future__ import annotations

import queue
from contextlib import closing
from dataclasses import replace
from typing import Final

from drivelab.drives.real.preview import RealPreview
from drivelab.errors import DrivelabError, RunError
from drivelab.notes import print_note
from drivelab.runs.workers.messages import HELLO, Message, error_of, real_message
from drivelab.runs.workers.place import Place
from drivelab.runs.workers.talk import NOTE, Heard, Talk, Talking

# A sign comes every few seconds from a machine that is there.
_SILENCE_SECONDS: Final = 60.0


def preview_on_host(
    name: str,
    host: Place,
    path: str,
    *,
    size_bytes: int | None,
    keep: bool,
    allow_destructive: str | None,
) -> RealPreview:
    """Have a worker on its machine look at a drive, as `preview_real_drive` does here.

    Parameters
    ----------
    name
        As the user named it: ``node1:/dev/nvme0n1``.
    host
        Its machine.
    path
        The device or file there.
    size_bytes, keep, allow_destructive
        As `drivelab.drives.real.fio.drive.open_real_drive` takes them; `allow_destructive` is a
        path of that machine.

    Raises
    ------
    UsageError
        When the machine lets nobody in, or the drive cannot be measured.
    RunError
        When the machine cannot be reached.
    """
    asked = real_message(
        path, size_bytes=size_bytes, keep=keep, allow_destructive=allow_destructive, look=True
    )
    heard: queue.SimpleQueue[tuple[Talking, Heard]] = queue.SimpleQueue()
    with closing(Talk(host, heard)) as talk:
        while True:
            try:
                _, message = heard.get(timeout=_SILENCE_SECONDS)
            except queue.Empty:
                said = f"{host.name} gave no sign for {_SILENCE_SECONDS:.0f} s"
                raise RunError(said) from None
            if message is None:
                raise talk.why_it_ended()
            if isinstance(message, DrivelabError):
                raise message
            if HELLO in message:
                talk.tell({"open": asked})
            elif "error" in message:
                error = error_of(message)
                raise type(error)(f"{host.name}: {error}")
            elif NOTE in message:
                print_note(f"{host.name}: {message[NOTE]}")
            elif "opened" in message:
                return replace(_described(message), name=name)


def _described(message: Message) -> RealPreview:
    try:
        return RealPreview(**message["opened"])
    except TypeError as error:
        raise RunError(f"a worker describes no drive: {error}") from error
