"""Tables of measurements: each value that is read is finite, and has a place in the file."""

from __future__ import annotations

import json

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.own.columns import feature_set, read_column
from drivelab.models.own.reading import read_files
from fuzz.reader import Reader, file_of


def _check(data: bytes) -> None:
    table = read_files([file_of("own.csv", data)])
    assert table.rows > 0
    named = table.named([])
    columns, values = [], []
    for name in named.names:
        assert len(named.cells(name)) == table.rows
        assert table.place(table.rows - 1)
        try:
            column, numbers = read_column(named, name)
        except UsageError as error:
            assert len(str(error).splitlines()) == 1
            continue
        assert not np.isinf(numbers).any()
        columns.append(column)
        values.append(numbers)
    if columns and [one.name for one in columns[:8]][:1] != ["write_ratio"]:
        linear = feature_set(columns).project_linear(np.column_stack(values))
        assert np.isfinite(linear).all()


def _seeds() -> list[bytes]:
    direction = {
        "total_ios": 7,
        "iops": 7.5,
        "bw_bytes": 28672,
        "lat_ns": {"mean": 1e5},
        "clat_ns": {"mean": 9e4, "percentile": {"99.000000": 3e5}},
    }
    options = {"rw": "randrw:2", "bssplit": "4k/50:64k/", "iodepth": "4", "ioengine": "libaio"}
    job = {"jobname": "a", "groupid": 0, "error": 0, "job options": options}
    report = {"global options": {"bs": "4k,8k"}, "jobs": [{**job, "read": direction}]}
    return [
        b"depth,size_kib,engine,p99_ms\n1,4,libaio,0.5\n2,64KiB,psync,\n4,,libaio,1e3\n",
        '\ufeff"a, b",latency_us\r\n1,2\r\n\r\nNaN,-3.5\r\n'.encode(),
        json.dumps(report).encode(),
        b"fio: a warning\n" + json.dumps({"jobs": [{**job, "write": direction}] * 2}).encode(),
    ]


READER = Reader(
    "own_table",
    (
        "drivelab.models.own.cells",
        "drivelab.models.own.csv_table",
        "drivelab.models.own.fio_table",
        "drivelab.models.own.names",
        "drivelab.models.own.table",
    ),
    _check,
    _seeds,
)
