"""The page: its texts, harmless foreign text, and that it is written completely or not at all."""

from __future__ import annotations

import base64
import html.parser
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from made_run import evaluated, header, made_run, measurement, run_of

from drivelab.drives.measurement import Measurement
from drivelab.errors import RunError
from drivelab.exhibits import Caution, Exhibit, First, LineFigure, Multiples, Table, Text
from drivelab.exhibits.quantities import mre_text, share_text, within_text, workload_text
from drivelab.models.evaluate import MODEL_KEYS, ModelKey
from drivelab.models.exhibits import summary
from drivelab.models.exhibits.cautions import model_cautions, model_figure_cautions
from drivelab.models.exhibits.run_data import RunData
from drivelab.outputs import OutputFolder
from drivelab.pages.campaign import campaign_report
from drivelab.report.drawing.tables import SHOWN_ROWS
from drivelab.report.page import RenderedPage, render
from drivelab.report.written import write_report
from drivelab.whole_file import write_whole
from drivelab.workloads.characteristics import Characteristics

GOLDEN = Path(__file__).parents[2] / "golden" / "report.txt"
EVIL = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'
LABELS = ("mean latency", "bandwidth", "throughput")
#: Elements without an end tag.
VOID = {"meta", "link", "input", "img", "br", "path", "use"}


class Reader(html.parser.HTMLParser):
    """Collects the page's texts, as lines, and what a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.references: list[str] = []
        self.identifiers: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.row: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action", "data"):
                self.references.append(value or "")
            if name == "id":
                self.identifiers.append(value or "")
            if name == "aria-label" and tag == "svg":
                self.lines.append(f"[drawing] {value}")
        if tag in ("h1", "h2", "h3"):
            self.lines.append("")
        if tag == "dfn":
            self.lines.append(f"[{dict(attrs)['data-meaning']}]")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag
        if tag == "tr":
            self.lines.append(" | ".join(self.row))
            self.row = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        hidden = {"script", "style", "svg", "pre", "button", "i"} & set(self.open)
        text = " ".join(data.split())
        if text and not hidden and "tr" in self.open:
            self.row.append(text)
        elif text and not hidden:
            mark = {"h1": "# ", "h2": "## ", "h3": "### ", "li": "- "}.get(self.open[-1], "")
            self.lines.append(mark + text)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def embedded(page: str) -> dict[str, object]:
    found = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(zlib.decompress(base64.b64decode(found[1])))


def page_of(run: RunData) -> RenderedPage:
    return render(campaign_report(run))


def whole_run() -> RunData:
    """Return a run with every part, so that the page has every section."""
    return made_run(40, reserved=20, check=10, sweeps=True)


@pytest.fixture(scope="module")
def report() -> RenderedPage:
    return page_of(whole_run())


@pytest.fixture(scope="module")
def page(report: RenderedPage) -> str:
    return report.html


def test_the_text_of_the_page(page: str, regenerate_golden: bool) -> None:
    text = "\n".join(read(page).lines).strip() + "\n"
    if regenerate_golden:
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


def test_the_page_asks_nothing_of_the_network(page: str) -> None:
    references = read(page).references
    assert "data:," in references
    assert [one for one in references if not one.startswith(("#", "data:,"))] == []
    assert "url(http" not in page
    assert "@import" not in page


def test_identifiers_are_unique(page: str) -> None:
    identifiers = read(page).identifiers
    assert len(identifiers) > 100
    assert len(set(identifiers)) == len(identifiers)


def test_the_same_run_gives_the_same_bytes(page: str) -> None:
    assert page_of(whole_run()).html == page


def test_foreign_text_is_harmless_and_three_hundred_workloads_stay_small() -> None:
    run = made_run(300, name=EVIL, kind="real")
    described = header(EVIL, "real")
    described["drive"]["identity"] = {EVIL: EVIL, "serial": [EVIL, 3]}
    report = page_of(replace(run, header=described))
    reader = read(report.html)
    assert "img" not in reader.tags
    assert reader.tags.count("script") == 2
    assert EVIL in "".join(reader.lines)
    assert str(embedded(report.html)["csv"]["workloads"]).count("alert") == 2 * 300  # type: ignore[index]
    assert len(report.html.encode()) < 1_500_000


def rows_shown(page: str) -> int:
    """Count rows of values; a heading without text is an empty cell too."""
    return len(re.findall("<tr><td>(?!</td>)", page))


def test_three_thousand_workloads_stay_below_two_megabytes() -> None:
    run = made_run(1600, reserved=400, check=1000, sweeps=True, continuous=True)
    page = page_of(run).html
    assert len(page.encode()) < 2_000_000
    assert rows_shown(page) == SHOWN_ROWS


def test_the_embedded_tables_are_the_saved_ones(report: RenderedPage) -> None:
    page = report.html
    assert embedded(page)["csv"] == {table.name: table.csv() for table in report.tables}
    buttons = set(re.findall(r'data-csv="([^"]*)"', page))
    assert buttons == {table.name for table in report.tables}


@pytest.mark.parametrize(
    ("kind", "word", "banner"),
    [
        ("simulated", "simulated", "Simulated drive"),
        ("closed_form", "calculated", "Formula"),
        ("real", "measured", "Real drive"),
    ],
)
def test_the_page_says_where_its_numbers_come_from(kind: str, word: str, banner: str) -> None:
    report = page_of(made_run(12, kind=kind))
    text = "\n".join(read(report.html).lines)
    assert banner in text
    assert f"Predicted against {word}" in text
    if kind != "real":
        assert "None was measured on a real drive." in text
        assert not re.search(r"\bmeasured\b(?! on a real drive)", text)
    for table in report.tables:
        assert table.columns[:2] == ("drive", "drive_kind")
        assert table.rows[0][:2] == ("sim:made", kind)


def exhibits_of(run: RunData) -> dict[str, dict[str, Exhibit]]:
    return {
        page.anchor: {
            getattr(one, "name", str(place)): one for place, one in enumerate(page.exhibits)
        }
        for page in campaign_report(run).pages
    }


def first_of(run: RunData) -> First:
    first = campaign_report(run).first
    assert first is not None
    return first


def test_pictures_and_three_numbers_come_first_and_hashes_last() -> None:
    report = campaign_report(whole_run())
    first = first_of(whole_run())
    assert [one.name for one in first.figures] == ["latency-throughput", "sizes-by-pattern"]
    assert first.numbers is not None
    assert len(first.numbers.cards) == 3
    assert first.sure.startswith("How sure: on 10 more workloads")
    assert [page.anchor for page in report.pages][-2:] == ["workloads", "identity"]
    html = page_of(whole_run()).html
    assert html.index('id="summary"') < html.index('id="sweeps"')


def test_without_curves_another_picture_comes_first() -> None:
    run = made_run(12)
    (dots,) = first_of(run).figures
    assert isinstance(dots, LineFigure)
    assert dots.name == "every-workload"
    assert sum(len(line.x) for line in dots.lines) == len(run.measurements)
    by_label = {line.label: line for line in dots.lines}
    reads = [one for one in run.measurements if one.characteristics.write_ratio == 0]
    assert by_label["reads only"].x == tuple(one.iops for one in reads)
    # Few of the sweeps' points are no curve, and a sentence says so.
    (said,) = campaign_report(run).pages[0].exhibits
    assert isinstance(said, Text)
    assert said.paragraphs[0].startswith("Not drawn, because the run was made without sweeps: ")


def test_a_caution_stands_at_the_exhibit_that_it_limits() -> None:
    run = made_run(40, requests=900, sweeps=True)
    percentiles = exhibits_of(run)["percentiles"]["percentiles"]
    assert isinstance(percentiles, Multiples)
    assert [one.name for one in percentiles.cautions] == ["Short"]
    assert "Short" not in [caution.name for caution in first_of(run).cautions]
    assert not any(page.cautions for page in campaign_report(run).pages)
    table = exhibits_of(run)["workloads"]["workload-table"]
    assert isinstance(table, Table)
    assert table.cautions == ()


def test_a_caution_of_an_exhibit_that_is_not_there_limits_everything() -> None:
    # Too few requests for any percentile.
    run = made_run(40, requests=8)
    assert "percentiles" not in exhibits_of(run)["percentiles"]
    assert "Short" in [caution.name for caution in first_of(run).cautions]


def test_a_long_run_lists_the_first_workloads_and_holds_all() -> None:
    run = made_run(SHOWN_ROWS + 5)
    report = page_of(run)
    text = " ".join(read(report.html).lines)
    assert f"Shown are {SHOWN_ROWS} of {SHOWN_ROWS + 5}." in text
    assert rows_shown(report.html) == SHOWN_ROWS
    rows, values = embedded(report.html)["sorted"]["workload-table"]  # type: ignore[index]
    assert len(rows) == len(values) == SHOWN_ROWS + 5
    assert [row[0] for row in rows] == [str(place) for place in range(SHOWN_ROWS + 5)]
    assert "Shown are" not in " ".join(read(page_of(made_run(8)).html).lines)


def predicting(
    measurements: Sequence[Measurement], last: float = 1.0
) -> dict[ModelKey, list[float]]:
    """Return predictions that are exact but for a factor on the last one."""
    factors = [1.0] * (len(measurements) - 1) + [last]
    return {
        key: [
            float(getattr(one, key.metric)) * factor
            for one, factor in zip(measurements, factors, strict=True)
        ]
        for key in MODEL_KEYS
    }


def test_the_summary_names_range_and_accuracy() -> None:
    run = made_run(300)
    best = run.accuracy[run.best("latency_ns_mean")]
    tried = summary.what_it_is(run)
    assert tried.startswith("74.5 GiB, burst writes, simulated under 300 workloads (")
    cards = summary.first_numbers(run).cards
    assert [card.name for card in cards] == ["Mean latency", "Bandwidth", "Throughput"]
    assert share_text(best.mre) in cards[0].said
    assert summary.basic_against_extended(run).endswith("knowing more helps here.")
    assert "each of the 300 workloads was predicted by models that were" in summary.how_sure(run)
    with_check = summary.how_sure(made_run(60, check=20))
    assert with_check.startswith("How sure: on 20 more workloads, spread over the whole ranges")


def test_the_summary_names_only_what_differs() -> None:
    same = [
        measurement(place, Characteristics(read_size=512 * (1 + place % 2))) for place in range(120)
    ]
    run = run_of(same)
    assert summary.what_it_is(run).endswith("under 120 workloads (2 distinct).")
    assert summary.what_differs(run) == "The workloads differ in request size."


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0.0 %"), (0.0004, "<0.1 %"), (0.0994, "9.9 %"), (0.0996, "10 %"), (12.345, "1,234 %")],
)
def test_a_share_in_percent(share: float, text: str) -> None:
    assert share_text(share) == text


@pytest.mark.parametrize(
    ("error", "text"),
    [(0.0994, "9.9 %"), (10, "1,000 %"), (10.1, "above 1,000 %"), (2.2e23, "above 1,000 %")],
)
def test_an_error_that_means_nothing_is_not_written_exactly(error: float, text: str) -> None:
    assert mre_text(error) == text


@pytest.mark.parametrize("share", [0, 0.00001, 0.0004, 0.001])
def test_nothing_is_known_to_within_nothing(share: float) -> None:
    assert within_text(share) == "within 0.1 %"
    assert within_text(0.0123) == "within 1.2 %"


def test_warnings_for_wrong_predictions_and_what_was_not_varied() -> None:
    same = [measurement(place, Characteristics()) for place in range(120)]
    run = run_of(same, evaluation=evaluated(same, predicting(same, 3.0)))
    found = " ".join(f"{one.name}: {one.seen}" for one in every_model_caution(run))
    off = [
        f"1 in {label} (the worst, 3.0\N{MULTIPLICATION SIGN}, is number 119)" for label in LABELS
    ]
    assert "Far off: Of 120 workloads, these are predicted wrong by more than a factor of " in found
    assert f"{off[0]}, {off[1]} and {off[2]}." in found
    assert "Few workloads: The models know only 1 distinct" in found
    assert "queue depth (1)" in found
    assert "write size (never in effect)" in found


def every_model_caution(run: RunData) -> list[Caution]:
    return [*model_cautions(run), *chain.from_iterable(model_figure_cautions(run).values())]


@pytest.mark.parametrize(("factor", "seen"), [(1.99, False), (2.01, True)])
def test_far_off_counts_from_a_factor_of_two(factor: float, seen: bool) -> None:
    run = made_run(100)
    for one in (factor, 1 / factor):
        made = evaluated(run.fitted, predicting(run.fitted, one))
        names = [caution.name for caution in every_model_caution(replace(run, evaluation=made))]
        assert ("Far off" in names) == seen


def test_good_models_give_no_warning() -> None:
    run = made_run(300)
    exact = evaluated(run.measurements, predicting(run.measurements))
    assert every_model_caution(replace(run, evaluation=exact)) == []


@pytest.mark.parametrize(
    ("workload", "text"),
    [
        (Characteristics(), "4 KiB random reads, queue depth 1"),
        (
            Characteristics(write_ratio=1, write_random=0, write_size=512, queue_depth=4),
            "512 B sequential writes, queue depth 4",
        ),
        (
            Characteristics(write_ratio=0.25, read_random=0.5, read_stride=65536, write_size=1536),
            "25 % writes: 4 KiB 50 % random, else strided (64 KiB gaps) reads, "
            "1.5 KiB random writes, queue depth 1",
        ),
    ],
)
def test_a_workload_in_words(workload: Characteristics, text: str) -> None:
    assert workload_text(workload) == text


def test_the_report_is_written_whole_and_readable(report: RenderedPage, tmp_path: Path) -> None:
    written = write_report(campaign_report(whole_run()), OutputFolder(tmp_path, "a test"))["report"]
    assert written == tmp_path / "report.html"
    has_what_if = (tmp_path / "what-if.html").is_file()
    whole = render(campaign_report(whole_run()), has_what_if=has_what_if)
    assert written.read_text("utf-8") == whole.html
    assert written.stat().st_mode & 0o044
    names = sorted(path.name for path in (tmp_path / "data").glob("*.csv"))
    assert names == sorted(f"{table.name}.csv" for table in report.tables)
    for table in report.tables:
        saved = (tmp_path / "data" / f"{table.name}.csv").read_bytes()
        assert saved == table.csv().encode()


def test_a_full_disk_leaves_the_older_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "report.html"
    page.write_text("older")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(
        RunError, match="No space left on device; what was measured is kept: make room"
    ) as caught:
        write_report(campaign_report(whole_run()), OutputFolder(tmp_path, "a test"))
    assert "\n" not in str(caught.value)
    assert page.read_text() == "older"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("taken", ["report.html", "data"])
def test_what_is_in_the_way_is_named(tmp_path: Path, taken: str) -> None:
    if taken == "data":
        (tmp_path / taken).touch()
    else:
        (tmp_path / taken).mkdir()
    with pytest.raises(RunError, match=f"cannot write {tmp_path / taken}: "):
        write_report(campaign_report(whole_run()), OutputFolder(tmp_path, "a test"))


def test_an_interrupt_leaves_no_half_written_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "page.html", "text")
    assert list(tmp_path.iterdir()) == []
