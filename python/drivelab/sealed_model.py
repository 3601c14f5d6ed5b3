"""Model files: one sealed JSON object with format and version first, and no code to execute.

::

    {"format": ..., "version": ..., ...,
    "sha256": "HEX"}

Each kind of model defines its own words and the command that recreates it. A reader checks every
value, so a file from anywhere gives either a model or a one-line error.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from drivelab.bounded_json import UnreadableJsonError, parse_json
from drivelab.checked_json import MismatchError, Node
from drivelab.errors import DamagedError, RunError, UsageError
from drivelab.named_file import reason_unread
from drivelab.sealed_json import BrokenSealError, NoSealError, sealed_json, unsealed_json
from drivelab.whole_file import write_whole

Model = TypeVar("Model")


@dataclass(frozen=True)
class ModelFile:
    """A kind of model files.

    Attributes
    ----------
    what
        The model in words: ``model of firmware``.
    format, version
        Values that its files begin with.
    version_key
        Key of the version in the file.
    made_by
        The command that writes such files.
    missing
        What to do if there is no file.
    again
        How to recreate a damaged file.
    kept
        What to say if a file cannot be written.
    largest_bytes
        Size limit. No model is larger; a larger file is not read into memory.
    """

    what: str
    format: str
    version: int
    version_key: str
    made_by: str
    missing: str
    again: str
    kept: str
    largest_bytes: int = 1 << 30

    def to_bytes(self, values: Mapping[str, Any], *, indent: int | None = None) -> bytes:
        """Return the bytes of a file; format and version are added.

        Raises
        ------
        ValueError
            When a value cannot be written as JSON.
        """
        head = {"format": self.format, self.version_key: self.version}
        return sealed_json({**head, **values}, indent=indent)

    def write(self, path: Path, text: bytes) -> None:
        """Write a file, which then holds either the old or the whole new text.

        Raises
        ------
        RunError
            When it cannot be written.
        """
        try:
            write_whole(path, text)
        except OSError as error:
            raise RunError(
                f"cannot write the model {path}: {error.strerror or error}; {self.kept}"
            ) from error

    def read(self, path: Path, model: Callable[[Node], Model]) -> Model:
        """Read a model from a file.

        Parameters
        ----------
        path
            The file.
        model
            Makes a model from the values, and refuses impossible ones.

        Raises
        ------
        UsageError
            When the file does not exist, has another version, or holds an impossible value.
        DamagedError
            When the content does not fit the checksum.
        """
        data = self._bytes_of(path)
        try:
            root = Node(self._content(data), "")
            self._check_format(root)
            return model(root)
        except BrokenSealError as error:
            raise DamagedError(
                f"{path} is damaged: it is not what was written, its checksum does not fit; "
                f"{self.again}"
            ) from error
        except MismatchError as error:
            raise UsageError(f"{path} is not a {self.what} that can be read: {error}") from error
        except UnreadableJsonError as error:
            raise UsageError(f"{path} is not a {self.what}: it {error}") from error

    def _bytes_of(self, path: Path) -> bytes:
        try:
            status = path.stat()
            # Reading a pipe or a device may never end.
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"{path} is not a {self.what}: it is not a regular file")
            if status.st_size > self.largest_bytes:
                raise UsageError(f"{path} is too large for a {self.what}")
            return path.read_bytes()
        except FileNotFoundError as error:
            raise UsageError(f"{path} does not exist; {self.missing}") from error
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read the model {path}: {reason_unread(error)}") from error

    def _content(self, data: bytes) -> Any:
        """Read the content; without a checksum it is of another version, damaged, or no model."""
        try:
            return unsealed_json(data)
        except NoSealError as error:
            try:
                root = Node(parse_json(data), "")
            except UnreadableJsonError:
                # Each of our files begins like this, even if it was cut short.
                begin = rb'\{\s*"format": ?"' + re.escape(self.format).encode() + b'"'
                if re.match(begin, data):
                    raise BrokenSealError from error
                raise
            self._check_format(root)
            raise BrokenSealError from error

    def _check_format(self, root: Node) -> None:
        if not isinstance(root.value, dict) or root.value.get("format") != self.format:
            raise MismatchError(
                f"it contains something else; a model is what {self.made_by} writes"
            )
        version = root.of(self.version_key).integer(0, 2**31)
        if version != self.version:
            age, remedy = (
                ("an older", "") if version < self.version else ("a newer", "update it, or ")
            )
            raise MismatchError(
                f"its version {version} is of {age} Drivelab, this one reads {self.version}; "
                f"{remedy}{self.again}"
            )
