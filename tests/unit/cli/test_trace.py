"""`drivelab trace`: what is printed, what is written, what is refused."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import threading
from pathlib import Path

import pytest
from made_trace import msr_file, spc_file
from printing_browser import put_printing_browser

from drivelab._core import trace_formats
from drivelab.cli import main as cli
from drivelab.cli.trace_output import FORMATS


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["trace", *words]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["trace", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_info_is_a_screen(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    text = said(capsys, "info", "small.spc")
    assert text.startswith("small.spc: 600 requests, format spc\n")
    assert "span      102 s, 5.88 requests a second" in text
    assert text.lower().count("queue depth") == 1
    assert "Queue depth not known: the trace has no response times." in text
    assert "Footprint 1.6 MiB" in text
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 120


def test_info_as_json(capsys, tmp_path: Path) -> None:
    msr_file(tmp_path)
    values = json.loads(said(capsys, "info", "small.msr.gz", "--json"))
    assert (values["format"], values["requests"], values["responses"]) == ("msr", 300, 300)
    assert values["characteristics"]["write_ratio"] == pytest.approx(1 / 3)
    assert values["operations"]["write"] == {"requests": 100, "bytes": 409_600}


def test_characterize_says_everything(capsys, tmp_path: Path) -> None:
    msr_file(tmp_path)
    text = said(capsys, "characterize", "small.msr.gz", "--window", "100ms")
    for words in (
        "How requests follow each other",
        "The sizes asked for most",
        "How long requests took",
        "Devices, the busiest first",
        "3 windows of 100 ms hold requests",
    ):
        assert words in text


def test_characterize_writes_a_report_and_tables(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    words = ["characterize", "small.spc", "--window", "10s", "--out", "out"]
    answer = json.loads(said(capsys, *words, "--json"))
    assert answer["written"] == {
        "report": "out/report.html",
        "pdf": None,
        "tables": "out/data",
        "result": "out/result.json",
        "windows_csv": "out/windows.csv",
        "windows_parquet": "out/windows.parquet",
    }
    out = tmp_path / "out"
    assert "Where requests go over time" in (out / "report.html").read_text()
    rows = list(csv.DictReader((out / "windows.csv").read_text().splitlines()))
    assert len(rows) == answer["window_count"] == len(answer["windows"]["begin_ns"]) == 11
    assert sum(int(row["read_requests"]) for row in rows) == 400
    assert (out / "data" / "addresses.csv").exists()
    page = (out / "report.html").read_bytes()
    # The same command writes it again.
    said(capsys, *words)
    assert (out / "report.html").read_bytes() == page
    other = ["characterize", "small.spc", "--window", "5s", "--out", "out"]
    assert "out/" in refused(capsys, *other)
    said(capsys, *other, "--force")
    (out / "windows.csv").write_text("mine\n")
    assert "windows.csv was changed" in refused(capsys, *other)


def test_a_folder_with_something_else_is_refused(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("mine")
    err = refused(capsys, "characterize", "small.spc", "--out", "mine")
    assert "holds notes, which no report made" in err
    assert "--pdf prints the report" in refused(capsys, "characterize", "small.spc", "--pdf")


def test_a_pdf_is_printed(capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_printing_browser(tmp_path, monkeypatch)
    spc_file(tmp_path)
    assert "report.pdf" in said(capsys, "characterize", "small.spc", "--out", "out", "--pdf")
    assert (tmp_path / "out" / "report.pdf").read_bytes().startswith(b"%PDF-")


def test_convert_there_and_back(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    text = said(capsys, "convert", "small.spc", "--to", "mqsim", "-o", "small.trace.gz")
    assert text == "wrote small.trace.gz (mqsim): 600 requests in 102 s\n"
    assert (tmp_path / "small.trace.gz").read_bytes().startswith(b"\x1f\x8b")
    said(capsys, "convert", "small.trace.gz", "--to", "spc", "-o", "again.spc")
    one, other = (said(capsys, "info", name) for name in ("small.spc", "again.spc"))
    assert one.partition("\n")[2] == other.partition("\n")[2]


def test_convert_says_what_is_lost(capsys, tmp_path: Path) -> None:
    msr_file(tmp_path)
    text = said(capsys, "convert", "small.msr.gz", "--to", "spc", "-o", "small.spc")
    assert "300 response times dropped" in text
    assert "2 devices given a number, because the format has no names" in text
    odd = tmp_path / "odd"
    odd.write_text("fio version 3 iolog\n1 f add\n2 f open\n3 f write 100 512\n4 f read 512 512\n")
    words = ["convert", "odd", "--to", "spc", "-o", "odd.spc"]
    err = refused(capsys, *words)
    assert "spc cannot hold" in err
    assert "--drop" in err
    assert not (tmp_path / "odd.spc").exists()
    values = json.loads(said(capsys, *words, "--drop", "--json"))
    assert (values["requests_written"], values["left_out"]["write"]) == (1, 1)


def test_files_are_never_replaced_unasked(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    (tmp_path / "mine").write_text("mine")
    words = ["convert", "small.spc", "--to", "mqsim", "-o"]
    assert "nothing shows that Drivelab wrote it" in refused(capsys, *words, "mine")
    assert (tmp_path / "mine").read_text() == "mine"
    assert "is read by this command" in refused(capsys, *words, "small.spc", "--force")
    said(capsys, *words, "mine", "--force")
    said(capsys, *words, "mine")
    assert "is a folder" in refused(capsys, *words, ".")
    assert "there is no folder" in refused(capsys, *words, "none/out")
    shutil.copy("small.spc", "copy.spc")
    assert "parquet is compressed inside" in refused(
        capsys, "convert", "small.spc", "--to", "parquet", "-o", "out.gz"
    )
    for words in (["convert", "--to", "spc"], ["cut", "--reads", "--to-format", "spc"]):
        err = refused(capsys, *words, "small.spc", "-o", "out.parquet")
        assert "would have the format spc" in err


def test_cut_a_span_a_device_and_a_direction(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    words = ["cut", "small.spc", "--from", "10s", "--to", "1min", "-o", "part.spc", "--json"]
    values = json.loads(said(capsys, *words))
    assert (values["requests_written"], values["output_format"]) == (200, "spc")
    values = json.loads(
        said(capsys, "cut", "small.spc", "--device", "1", "-o", "one.spc.zst", "--json")
    )
    assert values["requests_written"] == 200
    assert "0 reads" in said(capsys, "info", "one.spc.zst")
    text = said(capsys, "cut", "small.spc", "--writes", "--requests", "7", "-o", "seven.spc")
    assert text.startswith("wrote seven.spc (spc): 7 requests")
    assert "--to is not after --from" in refused(
        capsys, "cut", "small.spc", "--from", "9s", "--to", "9s", "-o", "x"
    )
    assert "nothing to cut" in refused(capsys, "cut", "small.spc", "-o", "x")


def test_formats_that_are_not_written_are_cut_as_another(capsys, tmp_path: Path) -> None:
    msr_file(tmp_path)
    words = ["cut", "small.msr.gz", "--reads", "-o", "reads.spc"]
    assert "choose --to-format spc, fio-iolog, mqsim or parquet" in refused(capsys, *words)
    assert "(spc): 200 requests" in said(capsys, *words, "--to-format", "spc")
    values = json.loads(
        said(capsys, "cut", "small.msr.gz", "--reads", "-o", "reads.parquet", "--json")
    )
    assert values["output_format"] == "parquet"
    assert values["responses_dropped"] == 0


def test_units_columns_and_several_files(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    spc_file(tmp_path, name="second.spc")
    values = json.loads(said(capsys, "info", "small.spc", "second.spc", "--json"))
    assert (values["requests"], values["ties"]) == (1200, 600)
    values = json.loads(
        said(capsys, "info", "small.spc", "--time-unit", "ms", "--address-unit", "4KiB", "--json")
    )
    assert values["span_ns"] == 101_990_000
    assert values["end_bytes"] == (2048 + 8 * 199) * 4096 + 4096
    said(capsys, "convert", "small.spc", "--to", "parquet", "-o", "p.parquet")
    columns = [f"--column={name}" for name in ("arrival=arrival_ns", "offset=size_bytes")]
    values = json.loads(said(capsys, "info", "p.parquet", *columns, "--json"))
    assert values["device_count"] == 1
    err = refused(capsys, "info", "p.parquet", "--column", "when=arrival_ns")
    assert "write MEANING=COLUMN" in err
    assert "is named twice" in refused(capsys, "info", "small.spc", "./small.spc")
    assert "is a folder" in refused(capsys, "info", ".")
    for unit in ("0s", "2h"):
        assert "write 1ns to 1h" in refused(capsys, "info", "small.spc", "--time-unit", unit)


def test_an_option_that_would_do_nothing_is_refused(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    msr_file(tmp_path)
    err = refused(capsys, "info", "small.msr.gz", "--address-unit", "4KiB")
    assert "format msr, whose unit of addresses is known" in err
    err = refused(capsys, "info", "small.spc", "--column", "arrival=when")
    assert "only Parquet has columns to map" in err
    twice = ["--column", "arrival=one", "--column", "arrival=other"]
    assert "--column names arrival twice" in refused(capsys, "info", "small.spc", *twice)


def test_errors_of_the_core_name_the_options(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    assert "--address-unit is 0" in refused(capsys, "info", "small.spc", "--address-unit", "0")
    assert "--device-size is 0" in refused(capsys, "info", "small.spc", "--device-size", "0")
    said(capsys, "convert", "small.spc", "--to", "parquet", "-o", "p.parquet")
    err = refused(capsys, "info", "p.parquet", "--column", "arrival=when")
    assert "with --column MEANING=COLUMN" in err


def test_a_queue_depth_is_said_once(capsys, tmp_path: Path) -> None:
    msr_file(tmp_path)
    text = said(capsys, "info", "small.msr.gz")
    assert text.lower().count("queue depth") == 1
    # 300 requests are outstanding for 2 ms each, and any of them for 301 ms.
    assert "Queue depth 1.99: the mean number of requests outstanding" in text


def test_a_report_never_replaces_its_trace(capsys, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    path = spc_file(tmp_path / "out", name="windows.csv")
    content = path.read_bytes()
    words = ["characterize", "out/windows.csv", "--out", "out", "--force"]
    assert "out/windows.csv is read by this command" in refused(capsys, *words)
    assert path.read_bytes() == content


def test_a_pipe_is_cut(capsys, tmp_path: Path) -> None:
    content = spc_file(tmp_path).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
    writer.start()
    try:
        text = said(capsys, "cut", "pipe", "--requests", "600", "-o", "part.spc")
    finally:
        writer.join(timeout=10)
    assert text == "wrote part.spc (spc): 600 requests in 102 s\n"


@pytest.mark.parametrize(
    "words",
    [
        ["measure", "./none.bin", "--size", "64MiB", "--trace", "pipe"],
        ["measure", "sim:bench-64gib", "--speed", "max", "--trace", "pipe"],
        ["simulate", "sim:bench-64gib", "--trace", "small.spc", "pipe"],
        ["choose", "--drives", "sim:x25m,sim:bench-64gib", "--trace", "pipe"],
        ["trace", "fit", "pipe", "-o", "out.toml", "--check", "sim:bench-64gib"],
    ],
)
def test_a_pipe_cannot_be_read_twice(capsys, tmp_path: Path, words: list[str]) -> None:
    spc_file(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    # It has no writer: opening it would wait forever.
    assert cli.main(words) == 2
    err = capsys.readouterr().err
    assert err.startswith("drivelab: pipe is a pipe, which can be read only once, and this command")
    assert err.endswith("reads a trace twice: save it to a file\n")
    assert {each.name for each in tmp_path.iterdir()} == {"pipe", "small.spc"}


def test_a_dash_is_neither_standard_input_nor_standard_output(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    assert "from standard input, name /dev/stdin" in refused(capsys, "info", "-")
    for words in (["convert", "--to", "mqsim"], ["cut", "--reads"], ["fit"]):
        err = refused(capsys, *words, "small.spc", "-o", "-")
        assert "-o - would be standard output, and a file is written here" in err
    (tmp_path / "small.spc").rename(tmp_path / "-")
    assert said(capsys, "info", "-").startswith("-: 600 requests")


def test_the_time_of_the_first_request_is_said(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path, ["0,0,4096,r,7.25", "0,8,4096,w,8.5", "0,16,4096,r,9"], "late.spc")
    to = "times count from the first request, at {} s of the trace"
    assert to.format("7.25") in said(capsys, "convert", "late.spc", "--to", "spc", "-o", "a.spc")
    assert to.format("8.5") in said(capsys, "cut", "late.spc", "--writes", "-o", "b.spc")
    assert "times count" not in said(capsys, "convert", "a.spc", "--to", "mqsim", "-o", "c")
    cut = ["cut", "a.spc", "--from", "1.5s", "-o", "d.spc", "--json"]
    assert json.loads(said(capsys, *cut))["begin_ns"] == 1_750_000_000


def test_one_request_takes_no_time(capsys, tmp_path: Path) -> None:
    spc_file(tmp_path)
    text = said(capsys, "cut", "small.spc", "--requests", "1", "-o", "one.spc")
    assert text == "wrote one.spc (spc): 1 request\n"
    err = refused(capsys, "cut", "one.spc", "--writes", "-o", "none.spc")
    assert "it has 1 request; choose" in err
    # One block of one: no share of a hundredth.
    assert "hottest" not in said(capsys, "characterize", "one.spc")


def test_names_do_not_act_on_a_terminal(capsys, tmp_path: Path) -> None:
    lines = [f"{index},web\x1b[31m,0,Read,0,4096,9\n" for index in range(10**9, 10**9 + 5)]
    (tmp_path / "odd\x1b").write_text("".join(lines))
    for action in ("info", "characterize"):
        text = said(capsys, action, "odd\x1b", "--format", "msr")
        assert "\x1b" not in text
        assert "web\\x1b[31m:0" in text
    values = json.loads(said(capsys, "characterize", "odd\x1b", "--format", "msr", "--json"))
    assert values["devices"][0]["name"] == "web\x1b[31m:0"


def test_the_formats_that_are_offered_are_those_of_the_core() -> None:
    written = {each["name"] for each in trace_formats() if each["is_written"]}
    assert set(FORMATS) == written


def test_the_log_of_a_simulated_run_is_a_trace(capsys) -> None:
    drive = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
    words = ["--write-ratio", "0.3", "--queue-depth", "4", "--requests", "2000"]
    assert cli.main(["simulate", drive, *words, "--log", "log.parquet", "--json"]) == 0
    simulated = json.loads(capsys.readouterr().out)
    assert cli.main(["trace", "characterize", "log.parquet", "--window", "10ms", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    (stream,) = simulated["streams"]
    for name in ("read", "write"):
        was = stream["operations"][name]
        assert result["operations"][name]["requests"] == was["requests"]
        assert result[name]["response"]["mean_ns"] == pytest.approx(was["latency_ns_mean"])
    # A closed loop of four, but for those that were outstanding at its ends.
    assert result["characteristics"]["queue_depth"] == pytest.approx(4, rel=0.01)


def test_two_are_more_than_one_and_shares_are_a_whole(capsys, tmp_path: Path) -> None:
    log = ["fio version 3 iolog", "0 a add", "0 a open"]
    log += [f"{at} a {'read' if at < 112 else 'write'} {4096 * at} 4096" for at in range(1, 201)]
    Path("a.log").write_text("\n".join([*log, "300 a sync 0 0", "301 a datasync 0 0"]) + "\n")
    assert "89 writes of 356 KiB, 2 flushes" in said(capsys, "info", "a.log")
    text = said(capsys, "convert", "a.log", "--to", "spc", "-o", "a.spc", "--drop")
    assert "left out: 2 flushes that spc cannot represent" in text
    text = said(capsys, "info", "a.spc")
    assert re.search(r"share of requests +55\.5 % +44\.5 %\n", text)
