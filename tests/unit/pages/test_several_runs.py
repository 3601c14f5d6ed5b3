"""Several runs on one page: their labels, what they have in common, and what differed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from blank_panels import blank_panels
from made_run import made_run, measurement, run_of

from drivelab.cli import main as cli
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import UsageError
from drivelab.exhibits import number
from drivelab.outputs import OutputFolder
from drivelab.pages.digest import (
    Digest,
    common_workloads,
    differences,
    digest,
    distinctly_labelled,
    refuse_uncomparable,
)
from drivelab.pages.several_runs import (
    build_comparison,
    common_words,
    comparison_report,
    default_folder,
)
from drivelab.report.drawing.line_styles import MOST_LINES
from drivelab.report.page import RenderedPage, render
from drivelab.report.saved import WHAT_IF, refuse_folder
from drivelab.store import RunStore
from drivelab.workloads.characteristics import Characteristics

pytestmark = pytest.mark.usefixtures("models_in_outline")

TIMES = "\N{MULTIPLICATION SIGN}"


def render_of(digests: list[Digest]) -> RenderedPage:
    return render(comparison_report(digests))


def made_digest(
    name: str = "sim:a", kind: str = "simulated", *, slower: float = 1.0, count: int = 30
) -> Digest:
    """Return a run whose every latency is longer than the made run's by a factor."""
    run = made_run(count, name=name, kind=kind, reserved=10, check=10, sweeps=True)
    found = digest(run, Path(f"runs/{name.partition(':')[2] or 'file'}"))
    performance = {
        key: (latency * slower, bandwidth / slower, iops / slower)
        for key, (latency, bandwidth, iops) in found.performance.items()
    }
    return replace(found, performance=performance)


def test_one_run_twice_and_too_many_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"same run; name each once"):
        refuse_uncomparable([tmp_path / "a", tmp_path / "b" / ".." / "a"])
    names = [Path(f"run-{place}") for place in range(MOST_LINES + 1)]
    with pytest.raises(UsageError, match=f"{MOST_LINES + 1} runs; more than {MOST_LINES} lines"):
        refuse_uncomparable(names)
    refuse_uncomparable(names[:-1])


def test_a_drive_that_comes_twice_is_labelled_by_its_run() -> None:
    first, second = made_digest(), replace(made_digest(), run="runs/again")
    labels = [one.label for one in distinctly_labelled([first, second, made_digest("sim:b")])]
    assert labels == ["sim:a, runs/a", "sim:a, runs/again", "sim:b"]
    assert [one.sweeps.label for one in distinctly_labelled([first, second])] == labels[:2]


def test_a_drive_that_comes_twice_is_labelled_by_its_writes() -> None:
    burst = made_digest()
    plan = {**burst.header["plan"], "writes": "sustained"}
    lasting = replace(burst, header={**burst.header, "plan": plan}, run="runs/lasting")
    labelled = distinctly_labelled([lasting, burst])
    assert [one.label for one in labelled] == ["sim:a, sustained writes", "sim:a, burst writes"]
    # Labels say it already.
    assert differences(labelled) == []
    [caution] = differences([lasting, made_digest("sim:b")])
    assert caution.seen == "Writes were sustained on sim:a; burst on sim:b."


def test_common_workloads_are_compared_by_geometric_means() -> None:
    workloads = [Characteristics(queue_depth=depth) for depth in (1, 4, 16)]

    def of(name: str, chosen: list[Characteristics]) -> Digest:
        run = run_of([measurement(*item) for item in enumerate(chosen)])
        return replace(digest(run, Path(name)), label=name)

    table = common_workloads([of("a", workloads), of("b", workloads[1:])])
    first, second = table.records()
    assert (first["drive"], first["workloads"], second["workloads"]) == ("a", 2, 2)
    means = [measurement(0, one).latency_ns_mean for one in workloads[1:]]
    assert number(first["latency_ns_mean"]) == pytest.approx((means[0] * means[1]) ** 0.5)
    assert first["iops"] == second["iops"]
    nothing = common_workloads([of("a", workloads[:1]), of("b", workloads[1:])])
    assert nothing.rows == ()
    assert "no workload in common" in common_words(nothing)


def test_the_summary_ranks_the_drives() -> None:
    digests = [
        made_digest("sim:slow", slower=3.0),
        made_digest("sim:fast"),
        made_digest("/dev/near", "real", slower=1.05),
    ]
    text = common_words(common_workloads(distinctly_labelled(digests)))
    count = len(digests[0].performance)
    assert text.startswith(f"Under the {count} workloads that every drive has run, sim:fast ")
    assert f"/dev/near about as fast and sim:slow 3.0{TIMES} longer." in text


def on_machine(name: str, host: str, **origin: str) -> Digest:
    """Give a real drive's digest, measured on a machine."""
    found = made_digest(name, "real")
    identity = {**found.header["drive"]["identity"], "fio_version": f"3.{len(host)}"}
    drive = {**found.header["drive"], "identity": identity}
    machine = {**found.header.get("origin", {}), "host": host, "processor": "one", **origin}
    return replace(found, header={**found.header, "drive": drive, "origin": machine})


def test_differences_of_machines_are_reported() -> None:
    here = on_machine("a:/dev/x", "node1", system="Linux 6.1")
    assert differences([here, on_machine("b:/dev/x", "node1", system="Linux 6.1")]) == []
    there = on_machine("b:/dev/x", "node22", system="Linux 6.12")
    (found,) = differences([here, there, made_digest("sim:a")])
    assert found.seen == (
        "The drives were measured on machines that differ. host: node1 (a:/dev/x), node22 "
        "(b:/dev/x); system: Linux 6.1 (a:/dev/x), Linux 6.12 (b:/dev/x); fio: 3.5 (a:/dev/x), 3.6 "
        "(b:/dev/x)."
    )


def test_differences_of_runs_are_reported() -> None:
    one, other = made_digest("sim:a"), made_digest("sim:b")
    assert differences([one, other]) == []
    longer = dict(other.header, plan=MeasurementPlan(seed=7, requests=50_000).to_json())
    (found,) = differences([one, replace(other, header=longer)])
    assert found.seen == (
        "Each workload ran after 2,000 requests of warm-up, 20,000 requests (sim:a); after 2,000 "
        "requests of warm-up, 50,000 requests (sim:b)."
    )
    design = dict(other.header["design"], seed=8, name="sobol:300")
    (found,) = differences([one, replace(other, header=dict(other.header, design=design))])
    assert found.seen == (
        "The runs differ in design (sim:a: huang2011:300, sim:b: sobol:300), seed of the "
        "workloads (sim:a: 7, sim:b: 8)."
    )
    # A formula needs no time, so its plan is no difference.
    formula = made_digest("analytic:c", "closed_form")
    assert (
        differences([one, replace(formula, header=dict(formula.header, plan=longer["plan"]))]) == []
    )


def test_the_page_holds_every_drive_and_the_same_bytes_each_time() -> None:
    digests = [
        made_digest("sim:a"),
        made_digest("/dev/b", "real"),
        made_digest("analytic:c", "closed_form"),
    ]
    report = render_of(digests)
    assert render_of(digests).html == report.html
    assert [table.name for table in report.tables] == ["sweeps", "common_workloads", "accuracy"]
    for table in report.tables:
        assert table.columns[:3] == ("drive", "drive_kind", "run")
        assert list(dict.fromkeys(table.column("drive"))) == ["sim:a", "/dev/b", "analytic:c"]
    for text in (
        "The numbers of sim:a were computed by a simulator.",
        "The numbers of /dev/b were measured on a machine",
        "The numbers of analytic:c were calculated",
        "sim:a (simulated)",
        "/dev/b (measured)",
        "analytic:c (calculated)",
    ):
        assert text in report.html
    # Three metrics, each with a row a drive, in both tables.
    assert report.html.count(">boosted linear trees</td>") == 2 * 3 * 3


def test_foreign_names_are_harmless() -> None:
    evil = '</script><script>alert("x")</script>'
    html = render_of([made_digest(evil), made_digest("sim:b")]).html
    assert "<script>alert" not in html
    assert html.count("<script") == 2


def test_the_default_folder_is_named_after_the_runs() -> None:
    paths = [Path("runs/sim-x25m"), Path("/data/run of b/")]
    assert default_folder(paths) == Path("runs/compare-sim-x25m-run-of-b")
    assert len(str(default_folder([Path("x" * 90), Path("y" * 90)]))) <= 105


@pytest.fixture
def blank() -> Iterator[None]:
    """Leave panels empty in a test that looks at no figure."""
    with pytest.MonkeyPatch.context() as patch:
        blank_panels(patch.setattr)
        yield


@pytest.mark.usefixtures("blank")
def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    digests = [made_digest("sim:a"), made_digest("sim:b")]
    out = tmp_path / "deep" / "comparison"
    page = build_comparison(digests, OutputFolder(out, "a test"))
    assert page == out / "report.html"
    assert sorted(path.name for path in (out / "data").glob("*.csv")) == [
        "accuracy.csv",
        "common_workloads.csv",
        "sweeps.csv",
    ]
    # Its own page is replaced.
    assert build_comparison(digests, OutputFolder(out, "a test")) == page
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds thesis\.txt, which no report made"):
        refuse_folder(OutputFolder(out, "a test"))
    with pytest.raises(UsageError, match="is a file"):
        refuse_folder(OutputFolder(out / "thesis.txt", "a test"))


SIM = ["model", "sim:x25m", "--design", "huang2011:12", "--requests", "50", "--check", "0"]
SIM += ["--writes", "burst"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Measure one small run, and a copy that lost its models."""
    folder = tmp_path_factory.mktemp("runs")
    first, second = folder / "first", folder / "second"
    with pytest.MonkeyPatch.context() as patch:
        blank_panels(patch.setattr)
        assert cli.main([*SIM, "--no-sweeps", "--out", str(first)]) == 0
    shutil.copytree(first, second)
    (second / "model.json").unlink()
    return [first, second]


def contents(path: Path) -> dict[str, bytes]:
    return {
        str(one.relative_to(path)): one.read_bytes() for one in path.rglob("*") if one.is_file()
    }


@pytest.mark.usefixtures("blank")
def test_report_of_two_runs_compares_and_changes_neither(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    before = [contents(path) for path in runs]
    assert cli.main(["report", *map(str, runs)]) == 0
    printed = capsys.readouterr()
    assert "report   runs/compare-first-second/report.html" in printed.out
    assert "fitting the models of" in printed.err
    assert [contents(path) for path in runs] == before
    page = Path("runs/compare-first-second/report.html").read_text()
    assert f"sim:x25m, {runs[0]}" in page
    assert "Drivelab comparison" in page
    assert cli.main(["report", *map(str, runs), "--json", "--out", "other"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["report"] == "other/report.html"
    assert [one["run"] for one in answer["runs"]] == [str(path) for path in runs]
    assert (tmp_path / "other" / "report.html").is_file()


@pytest.mark.usefixtures("blank")
def test_one_report_goes_where_it_is_asked_to(runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "here"
    assert cli.main(["report", str(runs[0]), "--out", str(out)]) == 0
    # A page to change the drive on is there in a package that has its simulator.
    assert {path.name for path in out.iterdir()} - {WHAT_IF} == {"data", "report.html"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["first", "first"], "are the same run"),
        (["first", "nothing"], "does not exist"),
        (["first", "second", "--out", "first"], "is a run, and has its own report"),
        (["first", "--out", "second"], "is a run, and has its own report"),
        (["first", "second", "--out", "taken"], "holds notes, which no report made"),
    ],
)
def test_bad_comparisons_end_in_one_line(
    runs: list[Path],
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    monkeypatch.chdir(runs[0].parent)
    (runs[0].parent / "taken").mkdir(exist_ok=True)
    (runs[0].parent / "taken" / "notes").touch()
    assert cli.main(["report", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err.splitlines()[-1]
    assert "Traceback" not in printed.err


@pytest.mark.usefixtures("blank")
def test_a_damaged_run_is_reported(runs: list[Path], tmp_path: Path, capsys: Any) -> None:
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    with RunStore.open_to_append(damaged, {"drive": {}}):
        pass
    assert cli.main(["report", str(runs[0]), str(damaged), "--out", str(tmp_path / "out")]) != 0
    assert "Traceback" not in capsys.readouterr().err
