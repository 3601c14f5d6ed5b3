"""The side file ``PATH.drivelab.json``: what Drivelab knows about a file that it made.

It contains the key of the file's content and the state in which the file was left. It proves
nothing: `drivelab.drives.real.ownership` decides whether a file is still the one that was made.

::

    filling ──► ready ──► writing ──► ready
    being       as left:  a workload  as left again
    made        times,    may have
                samples   changed it

Every change is a new file under an unguessable name that replaces the old one. So a kill leaves
either the old or the new one, and links at that name are not followed.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import shlex
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

from drivelab.bounded_json import UnreadableJsonError, parse_json
from drivelab.drives.real.fio.job import MAX_BUFFER_BYTES
from drivelab.workloads.content import CONTENTS

SUFFIX: Final = ".drivelab.json"
_LAYOUT: Final = 2
_KEY_BYTES: Final = 32
_LEAST_FILE_BYTES: Final = 2**20
_FILE_BLOCK_BYTES: Final = 4096
# No entry covers another, and each is a power of two or near the most memory: fewer than a hundred.
_MOST_BUFFERS: Final = 100
_MOST_DEPTH: Final = 1024
# It has some hundred bytes, and one line for each of a few dozen buffer sizes.
_MOST_BYTES: Final = 65_536
# ioctl FS_IOC_GETVERSION: an inode that is reused for another file gets a new one.
_GET_GENERATION: Final = 0x80087601

State = Literal["filling", "ready", "writing"]


@dataclass(frozen=True)
class AsLeft:
    """The state of a file when Drivelab last had it.

    Attributes
    ----------
    changed_ns, modified_ns
        The file system's times of its last change and of its content's last change, ns.
    samples
        Digest of some sectors, in hexadecimal digits.
    """

    changed_ns: int
    modified_ns: int
    samples: str


@dataclass(frozen=True)
class Side:
    """The contents of a side file.

    Attributes
    ----------
    state
        See the diagram above.
    keep
        Whether the user wants to keep the file.
    size_bytes
        The size with which it was made.
    key
        Key of its content, 32 bytes.
    inode, generation
        Identity of the file; see `file_key`.
    left
        How it was left; ``None`` while it is filled.
    buffers
        Queue depth and request size of the largest buffers that fio kept, in bytes.
    contents
        Kinds of content that workloads have written.
    owner
        User number of the side file's owner; -1 if it was not read from a file.
    """

    state: State
    keep: bool
    size_bytes: int
    key: bytes
    inode: int
    generation: int | None
    left: AsLeft | None = None
    buffers: tuple[tuple[int, int], ...] = ()
    contents: tuple[str, ...] = ()
    owner: int = field(default=-1, compare=False)

    @classmethod
    def of_new(cls, descriptor: int, size_bytes: int, *, keep: bool) -> Self:
        """Return the side file of a new file, with its own key."""
        key = secrets.token_bytes(_KEY_BYTES)
        inode, generation = os.fstat(descriptor).st_ino, generation_of(descriptor)
        return cls("filling", keep, size_bytes, key, inode, generation)

    def to_json(self) -> dict[str, Any]:
        """Return the contents of the file."""
        left = self.left
        return {
            "made_by": "drivelab",
            "layout": _LAYOUT,
            "state": self.state,
            "keep": self.keep,
            "size_bytes": self.size_bytes,
            "key": self.key.hex(),
            "file": {"inode": self.inode, "generation": self.generation},
            "left": None
            if left is None
            else {
                "changed_ns": left.changed_ns,
                "modified_ns": left.modified_ns,
                "samples": left.samples,
            },
            "buffers": [list(pair) for pair in self.buffers],
            "contents": list(self.contents),
        }

    @classmethod
    def from_json(cls, data: Any) -> Self | None:
        """Read what `to_json` wrote; ``None`` for anything else."""
        with contextlib.suppress(KeyError, TypeError, ValueError):
            left = data["left"]
            side = cls(
                state=data["state"],
                keep=data["keep"],
                size_bytes=data["size_bytes"],
                key=bytes.fromhex(data["key"]),
                inode=data["file"]["inode"],
                generation=data["file"]["generation"],
                left=None if left is None else AsLeft(**left),
                buffers=tuple((depth, size) for depth, size in data["buffers"]),
                contents=tuple(data["contents"]),
            )
            if data["made_by"] == "drivelab" and data["layout"] == _LAYOUT and side._is_sound():
                return side
        return None

    def writing(self, content: str, buffers: tuple[int, int] | None) -> Self:
        """Note that a workload with this content, in these fio buffers, may change the file."""
        contents = tuple(sorted({*self.contents, content}))
        pairs = self.buffers
        if buffers is not None and not any(_covers(pair, buffers) for pair in pairs):
            # In powers of two, so that a campaign changes it only a few times.
            wider = (_power_of_two(buffers[0]), _power_of_two(buffers[1]))
            if wider[0] * wider[1] > MAX_BUFFER_BYTES:
                wider = buffers
            pairs = (*(pair for pair in pairs if not _covers(wider, pair)), wider)
        return replace(self, state="writing", contents=contents, buffers=pairs)

    def unsettled(self) -> Self:
        """Note that all of the file must be read before it is recognised again."""
        nothing = AsLeft(0, 0, "")
        return replace(self, state="writing", left=self.left or nothing)

    def _is_sound(self) -> bool:
        numbers = [self.size_bytes, self.inode, *(part for pair in self.buffers for part in pair)]
        left = self.left
        if left is not None:
            numbers += [abs(left.changed_ns), abs(left.modified_ns)]
        return (
            self.state in get_args(State)
            and (left is not None) == (self.state != "filling")
            and isinstance(self.keep, bool)
            and all(type(number) is int and 0 <= number < 2**63 for number in numbers)
            and self.size_bytes >= _LEAST_FILE_BYTES
            and self.size_bytes % _FILE_BLOCK_BYTES == 0
            and len(self.buffers) <= _MOST_BUFFERS
            and all(map(_is_buffer, self.buffers))
            and (self.generation is None or type(self.generation) is int)
            and (left is None or isinstance(left.samples, str))
            and len(self.key) == _KEY_BYTES
            and set(self.contents) <= set(CONTENTS)
        )


def _is_buffer(pair: tuple[int, int]) -> bool:
    depth, size = pair
    whole = size % 512 == 0
    return 1 <= depth <= _MOST_DEPTH and whole and 0 < depth * size <= MAX_BUFFER_BYTES


def _covers(wide: tuple[int, int], narrow: tuple[int, int]) -> bool:
    return wide[0] >= narrow[0] and wide[1] >= narrow[1]


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def side_path(path: Path) -> Path:
    """Return the path of the side file of `path`."""
    return path.with_name(path.name + SUFFIX)


def removing(path: Path) -> str:
    """Return the shell command that removes a file that was made and its side file."""
    return shlex.join(["rm", str(path), str(side_path(path))])


def hidden_name(name: str, key: bytes, purpose: str) -> str:
    """Return a temporary name next to `name` that nobody can guess without the key."""
    drawn = hashlib.blake2b(purpose.encode(), digest_size=8, key=key).hexdigest()
    return f".{name}.{drawn}"


def read_side(path: Path, folder: int | None = None) -> Side | None:
    """Read the side file of `path`; `None` if there is none that this version wrote.

    Parameters
    ----------
    path
        The file that it belongs to.
    folder
        The descriptor of its folder, if that is open.
    """
    name = side_path(path)
    try:
        descriptor = os.open(
            name if folder is None else name.name,
            os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC,
            dir_fd=folder,
        )
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        text = os.read(descriptor, _MOST_BYTES + 1)
        side = Side.from_json(parse_json(text)) if len(text) <= _MOST_BYTES else None
        return None if side is None else replace(side, owner=status.st_uid)
    except (OSError, UnreadableJsonError):
        return None
    finally:
        os.close(descriptor)


def write_side(path: Path, folder: int, side: Side, *, first: bool = False) -> None:
    """Write the side file of `path`, whole or not at all.

    Parameters
    ----------
    path, folder
        The file that it belongs to, and the descriptor of its folder.
    side
        The new contents.
    first
        Whether none exists yet: an existing file would be somebody else's.

    Raises
    ------
    FileExistsError
        If it is the first one and something has the name.
    OSError
        If it cannot be written; an older one stays.
    """
    name = side_path(path).name
    # Nobody knows the key, so nobody else can take the name; what a kill left there is ours.
    draft = hidden_name(name, side.key, "draft")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=folder)
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(draft, how, 0o600, dir_fd=folder)
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123
            stream.write(json.dumps(side.to_json(), indent=1).encode() + b"\n")
            stream.flush()
            if not first:
                os.fsync(stream.fileno())
        if first:
            _claim(draft, name, folder)
        else:
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise


def _claim(draft: str, name: str, folder: int) -> None:
    """Give a draft an unused name."""
    try:
        os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # Without hard links: first reserve the name, then write the contents.
        how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(name, how, 0o600, dir_fd=folder))
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(draft, dir_fd=folder)


def remove_side(path: Path, folder: int) -> None:
    """Remove the side file of `path`, if there is one."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(side_path(path).name, dir_fd=folder)


def file_key(descriptor: int) -> dict[str, int | None]:
    """Distinguish a file from others by its inode and the inode's generation.

    A file that is overwritten in place keeps both.
    """
    return {"inode": os.fstat(descriptor).st_ino, "generation": generation_of(descriptor)}


def generation_of(descriptor: int) -> int | None:
    """Return how often an inode was reused; ``None`` if the file system does not report it."""
    generation = array.array("l", [0])
    try:
        fcntl.ioctl(descriptor, _GET_GENERATION, generation)
    except OSError:
        return None
    return generation[0] & 0xFFFFFFFF
