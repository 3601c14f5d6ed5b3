"""What a drive did for each of its namespaces, as text and as JSON, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli.main import main
from drivelab.cli.simulate_namespaces import namespace_lines

EXAMPLES = Path(__file__).parents[3] / "examples"
DRIVE = f"sim:{EXAMPLES / 'namespaces.toml'}"
SCENARIO = str(EXAMPLES / "noisy-namespace.toml")
EACH = {
    "name": "logs",
    "size_bytes": 1 << 30,
    "streams": ["writes"],
    "operations": {"write": {"bandwidth_bytes_per_second": 1.5e6, "latency_ns_mean": 20_000.0}},
    "host_pages": 1_000,
    "media_pages": 1_500,
    "write_amplification_ratio": 1.5,
    "media_share_ratio": 0.25,
}


def test_each_namespace_has_its_requests_and_what_was_programmed_of_its_data() -> None:
    assert list(namespace_lines({"each": [EACH]})) == [
        "namespace logs, 1 GiB",
        "          writes 1.5 MB/s, mean 20.0 us",
        "          1,000 host pages, 1,500 programmed, 1.500 for each; 25.0 % of all",
    ]


def test_a_namespace_that_nobody_writes_may_still_be_moved() -> None:
    idle = {
        **EACH,
        "operations": {},
        "host_pages": 0,
        "media_pages": 7,
        "write_amplification_ratio": None,
    }
    lines = list(namespace_lines({"each": [idle, {**idle, "media_pages": 0}]}))
    assert lines[1] == "          no reads and no writes"
    assert lines[2] == "          7 pages moved, none written by its host; 25.0 % of all"
    assert lines[5] == "          nothing programmed of its data"


def test_lines_stay_within_a_screen() -> None:
    large = {**EACH, "host_pages": 10**12, "media_pages": 10**13, "name": "tenant " * 9}
    assert max(map(len, namespace_lines({"each": [large]}))) <= 80


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["simulate", DRIVE, *words, "--json"]) == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out)
    return values


def test_namespaces_of_a_run_add_up_to_the_drive(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--scenario", SCENARIO, "--requests", "3000", "--warmup-requests", "0")
    values = told(capsys, *asked)
    namespaces, flash = values["namespaces"]["each"], values["flash"]
    assert [each["name"] for each in namespaces] == ["database", "scratch"]
    assert sum(each["host_pages"] for each in namespaces) == flash["host_page_programs"]
    moved = flash["collection_page_programs"] + flash["wear_page_programs"]
    media = sum(each["media_pages"] for each in namespaces)
    assert media == flash["host_page_programs"] + moved
    assert sum(each["media_share_ratio"] for each in namespaces) == pytest.approx(1.0)
    # One stream each: the same numbers.
    by_name = {stream["namespace"]: stream["operations"] for stream in values["streams"]}
    for each in namespaces:
        stream = by_name[each["name"]]
        for operation, done in each["operations"].items():
            assert done == {key: stream[operation][key] for key in done}
    assert main(["simulate", DRIVE, *asked]) == 0
    text = capsys.readouterr().out
    assert "namespace database, 768 MiB" in text
    assert "in namespace scratch" in text


def test_a_neighbour_in_another_namespace_is_felt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path(SCENARIO).read_text(encoding="utf-8")
    alone = tmp_path / "alone.toml"
    alone.write_text(text[: text.rindex("[[stream]]")], encoding="utf-8")
    asked = ("--requests", "4000", "--warmup-requests", "20000")

    def mean_ns(scenario: str) -> float:
        values = told(capsys, "--scenario", scenario, *asked)
        found: float = values["streams"][0]["operations"]["read"]["latency_ns_mean"]
        return found

    assert mean_ns(SCENARIO) > 2 * mean_ns(str(alone))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('namespace = "archive"', 'allowed: "database", "scratch"'),
        (
            'namespace = "scratch"\nrange_bytes = 268_435_968',
            'at offset 0 does not lie in namespace "scratch" of 268435456 bytes',
        ),
    ],
)
def test_a_stream_that_does_not_fit_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        f'requests = 10\n[[stream]]\nname = "a"\nqueue_depth = 1\n{line}\n', encoding="utf-8"
    )
    assert main(["simulate", DRIVE, "--scenario", str(scenario)]) == 2
    problem = capsys.readouterr().err
    assert said in problem
    assert problem.count("\n") == 1


def test_zeroes_and_trims_of_several_ranges_are_operations_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "s.toml"
    common = "queue_depth = 1\nwrite_ratio = 1.0\n"
    scenario.write_text(
        f'requests = 100\n[[stream]]\nname = "zeroes"\n{common}writes_as = "write_zeroes"\n'
        f'[[stream]]\nname = "trims"\n{common}writes_as = "trim"\nranges_per_trim = 8\n'
        "writes_per_flush = 4\n",
        encoding="utf-8",
    )
    zeroes, trims = told(capsys, "--scenario", str(scenario))["streams"]
    assert list(zeroes["operations"]) == ["write_zeroes"]
    assert list(trims["operations"]) == ["trim", "flush"]
    assert trims["ranges_per_trim"] == 8
    trim = trims["operations"]["trim"]
    assert trim["bytes"] == 8 * 4096 * trim["requests"]
    # Neither moves data.
    assert (zeroes["bytes"], trims["bytes"], trims["bandwidth_bytes_per_second"]) == (0, 0, 0.0)
    assert main(["simulate", DRIVE, "--scenario", str(scenario)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "writes sent as writes of zeroes" in text
    assert "writes sent as trims of 8 ranges each" in text
