"""A trace on a modelled drive from Python: the same as the command's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import drivelab as dl
from drivelab.cli import main as cli

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"


@pytest.fixture(scope="module")
def folder(
    models_in_outline: None, without_drawings: None, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("forecast")
    lines = (f"0,{64 * (place % 99)},4096,{'rw'[place % 2]},{place / 100}" for place in range(600))
    (folder / "a.spc").write_text("\n".join(lines) + "\n")
    (folder / "far.spc").write_text("0,0,4096,r,5\n0,100000000,4096,r,6\n")
    (folder / "ties.spc").write_text("0,0,4096,r,5\n" * 3)
    words = ["model", SMALL, "--design", "sobol:40", "--check", "0", "--no-sweeps"]
    # What is compared are two ways to ask one model, however well it knows the drive.
    words += ["--writes", "burst", "--requests", "200", "--out", str(folder / "run")]
    assert cli.main(words) == 0
    return folder


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_it_is_what_the_command_finds(capsys) -> None:
    found = dl.Model.load("run").forecast(dl.trace("a.spc", speed=2), window_seconds=1)
    capsys.readouterr()
    words = ["predict", "run", "--trace", "a.spc", "--speed", "2x", "--window", "1s", "--json"]
    assert cli.main(words) == 0
    result = json.loads(capsys.readouterr().out)
    answer = found.to_json()
    assert answer == {key: result[key] for key in answer} | {"model": None}
    assert found.latency_ns_mean == result["latency_ns_mean"]
    assert (found.saturated_windows, found.late_ratio, found.drive) == (0, 0.0, SMALL)
    frame = found.to_pandas()
    assert len(frame) == result["window_count"]
    assert frame["requests"].sum() == 600
    assert repr(found).startswith(f"<Forecast of a.spc on {SMALL}: ")
    assert "on which it never ran" in found._repr_html_()
    assert found.report("found") == Path("found/report.html")
    assert json.loads(Path("found/result.json").read_text())["requests"] == 600


def test_what_cannot_be_asked_is_refused_in_a_line() -> None:
    model = dl.Model.load("run")
    for trace, how, says in (
        ("a.spc", {}, "give drivelab.trace"),
        (dl.trace("ties.spc"), {}, "have the same time"),
        (dl.trace("a.spc", speed="max", depth=4), {}, "give the trace a speed"),
        (dl.trace("far.spc"), {}, "fit it to the drive with fit wrap or fit scale, or choose"),
        (dl.trace("a.spc"), {"window_seconds": 1e-9}, "use a longer window_seconds"),
        (dl.trace("a.spc"), {"window_seconds": 0}, "window_seconds is 0; allowed"),
    ):
        with pytest.raises(dl.DrivelabError) as refused:
            model.forecast(trace, **how)
        assert says in str(refused.value)
        assert "\n" not in str(refused.value)
