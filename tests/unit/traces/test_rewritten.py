"""Traces in other formats, and parts of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_trace import msr_file, spc_file

from drivelab.errors import UsageError
from drivelab.traces.characterization import characterize
from drivelab.traces.rewritten import Cut, rewrite
from drivelab.workloads.recorded import RecordedFiles


@pytest.mark.parametrize("name", ["spc", "mqsim", "fio-iolog", "parquet"])
def test_a_trace_is_the_same_in_every_format(tmp_path: Path, name: str) -> None:
    source = RecordedFiles((str(spc_file(tmp_path)),))
    path = tmp_path / f"again.{name}"
    done = rewrite(source, path, format_name=name)
    assert (done.read, done.kept, done.left_out) == (600, 600, 0)
    assert done.written["requests"] == 600
    one, other = characterize(source), characterize(RecordedFiles((str(path),), format=name))
    assert other.characteristics == one.characteristics
    assert (other.span_ns, other.found["footprint"]) == (one.span_ns, one.found["footprint"])


def test_a_span_of_time_is_cut_and_begins_at_0(tmp_path: Path) -> None:
    source = RecordedFiles((str(spc_file(tmp_path)),))
    path = tmp_path / "part.parquet"
    cut = Cut(from_ns=10 * 10**9, to_ns=20 * 10**9)
    done = rewrite(source, path, format_name="parquet", cut=cut)
    # One each quarter of a second, the end left out.
    assert (done.kept, done.begin_ns) == (40, 10 * 10**9)
    assert done.span_ns == 39 * 250_000_000
    part = characterize(RecordedFiles((str(path),)))
    assert (part.requests, part.span_ns, part.checks["origin_ns"]) == (40, done.span_ns, 0)


def test_the_first_writes_are_cut(tmp_path: Path) -> None:
    source = RecordedFiles((str(spc_file(tmp_path)),))
    path = tmp_path / "part.spc"
    cut = Cut(most_requests=30, operations=("write",))
    assert rewrite(source, path, format_name="spc", cut=cut).kept == 30
    part = characterize(RecordedFiles((str(path),)))
    assert (part.found["write_requests"], part.requests) == (30, 30)


def test_response_times_stay_where_the_format_holds_them(tmp_path: Path) -> None:
    source = RecordedFiles((str(msr_file(tmp_path)),))
    kept, lost = tmp_path / "kept.parquet", tmp_path / "lost.spc"
    rewrite(source, kept, format_name="parquet", cut=Cut(most_requests=100))
    assert characterize(RecordedFiles((str(kept),))).times("read", "response") is not None
    done = rewrite(source, lost, format_name="spc")
    assert done.written["responses_dropped"] == 300


def test_what_a_format_cannot_hold_is_refused_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "odd"
    path.write_text("fio version 3 iolog\n1 f add\n2 f open\n3 f write 100 512\n4 f read 512 512\n")
    source, out = RecordedFiles((str(path),)), tmp_path / "out.spc"
    with pytest.raises(UsageError, match="spc cannot hold"):
        rewrite(source, out, format_name="spc")
    done = rewrite(source, out, format_name="spc", may_drop=True)
    assert (done.kept, done.left_out, done.written["requests"]) == (2, 1, 1)


def test_nothing_kept_is_refused(tmp_path: Path) -> None:
    source, out = RecordedFiles((str(spc_file(tmp_path)),)), tmp_path / "out.spc"
    with pytest.raises(UsageError, match=r"no request of small.spc is left: it has 600 requests"):
        rewrite(source, out, format_name="spc", cut=Cut(from_ns=10**15))
    with pytest.raises(UsageError, match="has no device '9'"):
        rewrite(RecordedFiles(source.paths, devices=("1", "9")), out, format_name="spc")
