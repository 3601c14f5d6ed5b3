"""Files of every kind, and rubbish of every kind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from made_table import fio_report, own_rows, written

from drivelab import _core
from drivelab.errors import UsageError
from drivelab.models.own.reading import read_files


def test_csv_columns_and_where_rows_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('\ufeffdepth, engine ,"p99, ms"\r\n\r\n1,libaio,2.5\r\n2,"io, uring",\r\n')
    table = read_files([path])
    assert list(table.cells) == ["depth", "engine", "p99, ms"]
    assert table.cells["engine"].words() == ["libaio", "io, uring"]
    assert table.place(1) == f"{path}, line 4"
    assert table.files == [(str(path), 2)]


def test_names_and_words_are_of_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('"the\n depth ",engine\n1,"io\u2028 uring"\n')
    table = read_files([path])
    assert list(table.cells) == ["the depth", "engine"]
    assert table.cells["engine"].words() == ["io uring"]


def test_files_are_put_below_each_other(tmp_path: Path) -> None:
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("depth,iops\n1,10\n2,20\n")
    other.write_text("iops,engine\n30,psync\n")
    table = read_files([one, other]).named([])
    np.testing.assert_array_equal(table.numbers("iops"), [10, 20, 30])
    np.testing.assert_array_equal(table.numbers("depth"), [1, 2, np.nan])
    assert table.cells("engine").words() == ["", "", "psync"]
    assert table.table.place(2) == f"{other}, line 2"


def test_columns_are_called_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("bs_kib,iodepth,write_percent,iops\n4,1,50,10\n64,2,100,20\n")
    mapping = [("bs_kib", "read_size"), ("bs_kib", "write_size"), ("iodepth", "queue_depth")]
    table = read_files([path]).named(mapping)
    assert list(table.names) == ["read_size", "write_size", "queue_depth", "write_ratio", "iops"]
    np.testing.assert_array_equal(table.numbers("write_size"), [4096, 65536])
    np.testing.assert_array_equal(table.numbers("write_ratio"), [0.5, 1.0])
    with pytest.raises(UsageError, match=r"no column 'bs_kb'; did you mean bs_kib\?"):
        read_files([path]).named([("bs_kb", "x")])
    with pytest.raises(UsageError, match="'bs_kib' and 'iops' are both iops"):
        read_files([path]).named([("bs_kib", "iops")])


def test_a_group_that_is_empty_is_of_one_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("run,iops\na,1\na,2\n,3\n,4\nb,5\n")
    groups = read_files([path]).named([]).groups("run")
    assert groups[0] == groups[1]
    assert len(set(groups.tolist())) == 4


def test_parquet_is_read_by_pyarrow(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    columns = {
        "depth": [1, 2, None],
        "share": [0.5, None, 1.0],
        "engine": pyarrow.array(["a", None, "b"]).dictionary_encode(),
        "list": [[1], [2], [3]],
        "is_direct": [True, False, True],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    table = read_files([path])
    named = table.named([])
    np.testing.assert_array_equal(named.numbers("depth"), [1, 2, np.nan])
    np.testing.assert_array_equal(named.numbers("is_direct"), [1, 0, 1])
    assert named.cells("engine").words() == ["a", "", "b"]
    assert table.remarks == [f"{path}: columns that are not numbers or texts: list"]
    assert table.place(2) == f"{path}, row 3"


def test_parquet_of_a_run_is_read(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "run.parquet"
    cells = [("iops", "real", [1.5, None]), ("drive", "text", ["a", "b"])]
    path.write_bytes(_core.parquet_table(cells, []))
    assert read_files([path]).cells["drive"].words() == ["a", "b"]


def test_without_pyarrow_it_is_said_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="needs pyarrow: `pip install pyarrow`, or save"):
        read_files([path])


def test_a_folder_holds_results_of_fio(tmp_path: Path) -> None:
    for name in ("b", "a"):
        jobs = [{"name": name, "read": (100, 1e5)}]
        (tmp_path / f"{name}.json").write_text(fio_report(jobs))
    (tmp_path / "notes.txt").write_text("nothing")
    table = read_files([tmp_path])
    assert table.cells["job"].words() == ["a", "b"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="contains no fio result"):
        read_files([tmp_path / "empty"])


RUBBISH: list[tuple[str, bytes, str]] = [
    ("a.csv", b"", "contains no measurement"),
    ("a.csv", b"\n\n \n", "contains no measurement"),
    ("a.csv", b"depth,iops\n", "contains no measurement"),
    ("a.csv", b"depth;iops\n1;2\n", "line 1: no commas"),
    ("a.csv", b"depth,iops\n1,2,3\n", "line 2: 3 cells where 2 columns are named"),
    ("a.csv", b"depth,,iops\n1,2,3\n", "line 1: column 2 has no name"),
    ("a.csv", b"iops,iops\n1,2\n", "line 1: two columns are called 'iops'"),
    ("a.csv", b'depth,iops\n1,"2\n', "line 2: unexpected end of data"),
    ("a.csv", b"depth,iops\n\xff,2\n", "line 2: not UTF-8 text"),
    ("a.csv", b"depth,iops\n1," + b"2" * 200_000, "field larger than field limit"),
    ("a.csv", b",".join(b"c%d" % one for one in range(501)) + b"\n", "501 columns; 500"),
    ("a.csv", b"x" * 101 + b",iops\n1,2\n", "column 1 is longer than 100 letters"),
    ("a.parquet", b"PAR1 and nothing else", "not a Parquet file that can be read"),
    ("a.json", b"", "not a result of fio: it contains no JSON object"),
    ("a.json", b"[1, 2]", "not a result of fio: it contains no JSON object"),
    ("a.json", b"{", "not a result of fio: it is not JSON"),
    ("a.json", b"{}", "no list of jobs"),
    ("a.json", b'{"jobs": 3}', "no list of jobs"),
    ("a.json", b'{"jobs": []}', "no job of fio can be read"),
    ("a.json", b'{"jobs": [{}]}', "completed no request"),
    ("a.json", b"\xff\xfe", "not text"),
    ("a.json", b"[" * 100_000, "it contains no JSON object"),
    ("a.json", b'{"jobs":' + b"[" * 100_000, "nested too deeply"),
    ("a.csv", b'{"jobs": [{"read": 5, "write": [], "groupid": "x"}]}', "completed no request"),
]


@pytest.mark.parametrize(("name", "data", "said"), RUBBISH)
def test_rubbish_is_one_clear_line(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    with pytest.raises(UsageError) as refused:
        read_files([path])
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        read_files([tmp_path / "nothing.csv"])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="not a regular file"):
        read_files([pipe])


def test_bytes_drawn_at_random_never_break_a_reader(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    seeds = [
        written(tmp_path / "seed.csv", own_rows(5)).read_bytes(),
        fio_report([{"options": {"rw": "randrw"}, "read": (9, 1e5), "write": (9, 1e5)}]).encode(),
    ]
    path = tmp_path / "drawn"
    refused: list[str] = []
    for number in range(300):
        data = bytearray(seeds[number % 2])
        for _ in range(int(random.integers(1, 6))):
            at = int(random.integers(0, len(data)))
            data[at : at + int(random.integers(0, 3))] = random.bytes(int(random.integers(0, 3)))
        path.write_bytes(bytes(data))
        try:
            named = read_files([path]).named([])
            for name in named.names:
                named.numbers(name)
        except UsageError as error:
            refused.append(str(error))
    assert len(refused) > 50
    assert not [line for line in refused if len(line.splitlines()) != 1]
