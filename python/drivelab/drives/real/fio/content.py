"""fio's options for the data that it writes, and for marking Drivelab's own files.

``crates/request/src/content.rs`` defines what each content looks like to a drive. If fio refills
its buffers for each request, a file that Drivelab made gets its tag at the end of each 512 bytes:
``buffer_pattern`` is what fio writes next to the random part of a chunk. If fio keeps its buffers,
their seed identifies the file (`drivelab.drives.real.fio.buffers`).
"""

from __future__ import annotations

from dataclasses import dataclass

# 3 % of 512 bytes, rounded up as fio does, are the 16 bytes of a tag.
_TAGGED = ("buffer_compress_percentage=3", "buffer_compress_chunk=512")
# fio's duplicates repeat pages that it wrote before, not only zeroes; either option makes it
# refill.
_DATABASE = ("buffer_compress_percentage=50", "dedupe_percentage=10")


@dataclass(frozen=True)
class Mark:
    """The mark by which content that fio writes is recognised.

    Attributes
    ----------
    tag
        Ends each sector that fio refills, in hexadecimal digits.
    randseed
        Seed of the buffers that fio keeps.
    """

    tag: str
    randseed: int


def kept_content(content: str, mark: Mark | None) -> list[str]:
    """Return the options of a job whose buffers fio keeps if it can, which is for random data.

    Each 512 bytes then differ from one write to the next in a stamp of offset and time.
    """
    if content == "random":
        return ["scramble_buffers=1"]
    return [*filled_content(content, mark), *(["scramble_buffers=0"] if content == "zero" else [])]


def filled_content(content: str, mark: Mark | None) -> list[str]:
    """Return the options of a job whose buffers fio refills for each request."""
    # The pattern comes last, so that fio keeps to the fill options before it.
    tag = [] if mark is None else [f"buffer_pattern=0x{mark.tag}"]
    if content == "zero":
        return ["zero_buffers=1"]
    if content == "database":
        return [*_DATABASE, *tag]
    return ["refill_buffers=1"] if mark is None else [*_TAGGED, *tag]


def keeps_buffers(content: str) -> bool:
    """Return whether `kept_content` lets fio keep its buffers."""
    return content == "random"
