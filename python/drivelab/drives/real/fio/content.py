"""fio's options for the data that it writes, and by which a file of Drivelab's own is known again.

What each content looks like to a drive is defined in ``crates/request/src/content.rs``. Where fio
fills its buffers anew for each request, a file that Drivelab made gets its tag at the end of each
512 bytes: ``buffer_pattern`` is what fio puts beside the random part of a chunk. Where fio keeps
its buffers, their seed says whose they are (`drivelab.drives.real.fio.buffers`).
"""

from __future__ import annotations

from dataclasses import dataclass

# 3 % of 512 bytes, rounded up as fio does it, are the 16 of a tag.
_TAGGED = ("buffer_compress_percentage=3", "buffer_compress_chunk=512")
# Duplicates of fio are of pages it wrote before, not of zeroes alone; either option has it refill.
_DATABASE = ("buffer_compress_percentage=50", "dedupe_percentage=10")


@dataclass(frozen=True)
class Mark:
    """What makes content that fio writes known again.

    Attributes
    ----------
    tag
        Ends each sector that fio fills anew, in hexadecimal digits.
    randseed
        Of the buffers that fio keeps.
    """

    tag: str
    randseed: int


def kept_content(content: str, mark: Mark | None) -> list[str]:
    """Write the options of a job whose buffers fio keeps where it can: of random data.

    From one write to the next 512 bytes then differ in a stamp of offset and time.
    """
    if content == "random":
        return ["scramble_buffers=1"]
    return [*filled_content(content, mark), *(["scramble_buffers=0"] if content == "zero" else [])]


def filled_content(content: str, mark: Mark | None) -> list[str]:
    """Write the options of a job whose buffers fio fills anew for each request."""
    # The pattern comes last: fio then keeps to what was said of filling.
    tag = [] if mark is None else [f"buffer_pattern=0x{mark.tag}"]
    if content == "zero":
        return ["zero_buffers=1"]
    if content == "database":
        return [*_DATABASE, *tag]
    return ["refill_buffers=1"] if mark is None else [*_TAGGED, *tag]


def keeps_buffers(content: str) -> bool:
    """Whether `kept_content` lets fio keep its buffers."""
    return content == "random"
