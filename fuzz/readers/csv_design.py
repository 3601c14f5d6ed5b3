"""Designs as CSV: reading the whole file and reading it by blocks give the same workloads."""

from __future__ import annotations

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.features import characteristics_of, workload_table
from drivelab.workloads.characteristics import FIELDS
from drivelab.workloads.csv_design import csv_design
from drivelab.workloads.csv_table import WorkloadCsv, open_csv
from fuzz.reader import Reader, file_of


def _check(data: bytes) -> None:
    path = file_of("design.csv", data)
    refused: UsageError | None = None
    try:
        listed = csv_design(str(path)).listed
        for workload in listed:
            workload.validate()
    except UsageError as error:
        refused = error
    try:
        with open_csv(path) as file:
            source = WorkloadCsv(file, "design.csv")
            tables = [source.table(block) for block in source.blocks()]
        table = np.concatenate(tables) if tables else np.empty((0, len(FIELDS)))
        by_blocks = [characteristics_of(row) for row in table]
        for workload in by_blocks:
            workload.validate()
    except UsageError:
        assert refused is not None or _may_differ(data)
        raise
    if refused is not None:
        raise refused
    np.testing.assert_array_equal(workload_table(by_blocks), workload_table(listed))


def _may_differ(data: bytes) -> bool:
    """Return whether only reading by blocks may refuse: there a line ends where it ends.

    Nor is any space around a number taken away there but that of ASCII.
    """
    text = data.decode("utf-8-sig")
    spaces = any(each.isspace() and each not in " \t\r\n\f" for each in text)
    return spaces or '"' in text or "\r" in text.replace("\r\n", "\n")


def _seeds() -> list[bytes]:
    names = ",".join(FIELDS)
    return [
        f"{names}\n0.5,16,4096,65536,1,0.25,0,512\n0,1,4KiB,,0.5,,0,\n".encode(),
        f'\ufeff{names}\r\n1,4.0,,1MiB,,1,,\r\n\r\n"0.5",16,512,512,1e0,.5,0,0\r\n'.encode(),
        b"write_size_bytes,queue_depth,write_ratio,read_size,read_random,write_random,"
        b"read_stride_bytes,write_stride\n8192,2,1,,,0,,4096\n",
        b"drive,drive_kind,index,write_ratio,queue_depth,read_size_bytes,write_size_bytes,"
        b"read_random,write_random,read_stride_bytes,write_stride_bytes,iops\n"
        b"sim:x25m,simulated,0,0.5,8,512,1024,1,1,0,0,8000.5\n",
    ]


READER = Reader(
    "csv_design",
    ("drivelab.workloads.csv_design", "drivelab.workloads.csv_table"),
    _check,
    _seeds,
)
