"""Side files of drive files: ours and undamaged, or none; a rewritten one says the same."""

from __future__ import annotations

import json

from drivelab.drives.real.side_file import AsLeft, Side, read_side, side_path
from fuzz.reader import Reader, file_of, scratch


def _check(data: bytes) -> None:
    path = scratch() / "drive.img"
    file_of(side_path(path).name, data)
    side = read_side(path)
    if side is None:
        return
    assert side.size_bytes >= 0
    assert side.state == "filling" or side.left is not None
    assert Side.from_json(json.loads(json.dumps(side.to_json()))) == side


def _seeds() -> list[bytes]:
    filling = Side("filling", keep=True, size_bytes=4096, key=bytes(32), inode=7, generation=None)
    ready = Side(
        "ready",
        keep=False,
        size_bytes=2**30,
        key=bytes(range(32)),
        inode=7,
        generation=3,
        left=AsLeft(changed_ns=10**18, modified_ns=10**18, samples="0a" * 32),
        buffers=((16, 65536), (1, 512)),
        contents=("random", "zero"),
    )
    return [json.dumps(each.to_json(), indent=1).encode() for each in (ready, filling)]


READER = Reader("side_file", ("drivelab.drives.real.side_file",), _check, _seeds)
