"""Preset files: every value has a graded source, and reading one follows its bases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from graded_values import lines_without_source

from drivelab._core import preset_names, preset_text, resolve_preset
from drivelab.drives.presets.source import read_preset
from drivelab.errors import UsageError

ROOT = Path(__file__).parents[4]
GRADES = ("paper", "datasheet", "recalled", "fitted", "assumed")
# Names and words for people have no source.
UNGRADED = ("base", "name", "kind", "summary")


def ungraded_lines(text: str) -> list[str]:
    return lines_without_source(text, GRADES, UNGRADED)


def test_package_holds_every_file_below_presets() -> None:
    files = {path.stem: path for path in (ROOT / "presets").rglob("*.toml")}
    assert sorted(files) == preset_names()
    for name, path in files.items():
        assert preset_text(name) == path.read_text()


@pytest.mark.parametrize("name", preset_names())
def test_every_value_of_a_preset_has_a_graded_source(name: str) -> None:
    assert ungraded_lines(preset_text(name)) == []


@pytest.mark.parametrize(
    "line",
    [
        "channels = 10",
        "channels = 10  # paper",
        "channels = 10  # guessed: table 2 of the paper",
        "channels = 10  # table 2: paper",
    ],
)
def test_value_without_graded_source_is_found(line: str) -> None:
    assert ungraded_lines(line) == [line]


def test_published_figures_state_their_condition_and_tolerance() -> None:
    configuration, _ = read_preset("x25m").resolved()
    figures = configuration["published"]
    values = {
        name: next(figure[key] for key in VALUE_KEYS if key in figure)
        for name, figure in figures.items()
    }
    assert values == {
        "random_read": 35_000,
        "random_write": 6_600,
        "read_latency": 85_000,
        "sequential_read": 250_000_000,
        "sequential_write": 70_000_000,
        "write_latency": 115_000,
    }
    assert {figure["tolerance_ratio"] for figure in figures.values()} == {0.1}
    assert all(len(figure["condition"]) > 20 for figure in figures.values())
    assert figures["random_write"]["range_bytes"] == 8 * 2**30


VALUE_KEYS = ("latency_ns", "throughput_iops", "bandwidth_bytes_per_second")


def test_hash_is_the_same_in_every_build() -> None:
    # FNV-1a over the resolved JSON without names, published figures and closed-form settings.
    configuration, configuration_hash = read_preset("x25m-yoo2014").resolved()
    configuration.update(name="", summary="")
    del configuration["closed_form"], configuration["published"]
    value = 0xCBF29CE484222325
    for byte in json.dumps(configuration, separators=(",", ":")).encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    assert configuration_hash == f"{value:016x}"


def test_a_file_in_the_same_folder_comes_before_the_package(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('base = "x25m"\nname = "mine"\n')
    assert read_preset(str(mine)).resolved()[0]["condition"] == "preconditioned"
    (tmp_path / "x25m.toml").write_text('base = "x25m-fob"\nname = "x25m"\n')
    source = read_preset(str(mine))
    assert list(source.base_texts) == ["x25m"]
    assert source.resolved()[0]["condition"] == "fresh"


def test_own_file_may_extend_the_preset_of_its_name(tmp_path: Path) -> None:
    own = tmp_path / "x25m.toml"
    own.write_text('base = "x25m"\nname = "x25m"\n[timing]\nread_cell_ns = 7\n')
    assert read_preset(str(own)).resolved()[0]["timing"]["read_cell_ns"] == 7


def test_circle_of_files_is_refused(tmp_path: Path) -> None:
    for name, base in [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a"), ("e", "e")]:
        (tmp_path / f"{name}.toml").write_text(f'base = "{base}"\nname = "{name}"\n')
    for asked, circle in [
        ("d", "b.toml -> c.toml -> b.toml"),
        ("a", "b.toml -> c.toml -> b.toml"),
        # The file that is asked for is one of the circle.
        ("b", "c.toml -> b.toml -> c.toml"),
        ("e", "e.toml -> e.toml"),
    ]:
        with pytest.raises(UsageError, match=f"{asked}.toml: .* circle: {circle}; remove one of"):
            read_preset(str(tmp_path / f"{asked}.toml")).resolved()


def test_arrays_that_name_each_other_are_refused(tmp_path: Path) -> None:
    stripes = "members = 2\nstripe_bytes = 512\nvariability.sigma = 0.0\n"
    for name, member in [("a", "b"), ("b", "c"), ("c", "b"), ("d", "d")]:
        said = f'name = "{name}"\nkind = "raid0"\nsummary = "s"\nmember = "{member}"\n'
        (tmp_path / f"{name}.toml").write_text(said + stripes)
    for name, member in [("a", "b"), ("b", "c"), ("d", "d")]:
        said = f'preset {name}, line 4: member = "{member}" is not possible; .* not another array'
        with pytest.raises(UsageError, match=said):
            read_preset(str(tmp_path / f"{name}.toml")).resolved()


def test_another_kind_than_that_of_the_base_is_reported_at_its_own_line(tmp_path: Path) -> None:
    own, middle = tmp_path / "own.toml", tmp_path / "middle.toml"
    said = 'kind = {} is not possible; allowed: "{}", the kind of its base "{}"$'
    for base, kind, right in [
        ("x25m", '"hdd"', "ssd"),
        ("x25m", '"raid0"', "ssd"),
        ("x25m", '"sdd"', "ssd"),
        ("x25m", "3", "ssd"),
        ("st3300657ss", '"ssd"', "hdd"),
        ("array-x25m", '"ssd"', "raid0"),
    ]:
        own.write_text(f'base = "{base}"\nname = "own"\n\nkind = {kind}\n')
        with pytest.raises(UsageError, match=f"own, line 4: {said.format(kind, right, base)}"):
            read_preset(str(own)).resolved()
    # Whose line it is, where several start from each other, and what lies between says no kind.
    middle.write_text('base = "x25m-fob"\nname = "middle"\n')
    own.write_text('base = "middle"\nkind = "hdd"\nname = "own"\n')
    result = said.format('"hdd"', "ssd", "middle")
    with pytest.raises(UsageError, match=f"own, line 2: {result}"):
        read_preset(str(own)).resolved()
    middle.write_text('base = "x25m-fob"\nname = "middle"\nkind = "hdd"\n')
    with pytest.raises(UsageError, match='preset middle, line 3: kind = "hdd"'):
        read_preset(str(own)).resolved()
    own.write_text('base = "x25m"\nkind = "ssd"\nname = "own"\n')
    assert read_preset(str(own)).resolved()[0]["kind"] == "ssd"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("base = 'x25m'\nname = 'm'\n[geometry]\nchanels = 3", "line 4: unknown key geometry.ch"),
        ("base = 'x25m'\nname = 'm'\n[geometry]\nchannels = 0", "allowed: an integer from 1 to"),
        ("base = 'x25n'\nname = 'm'", 'base = "x25n" is not a known preset; known: apex'),
        ("base = '../x'\nname = 'm'", 'base = "../x" is not a known preset'),
        ("this is = not = toml", "not valid TOML"),
        ("", "name is missing"),
    ],
)
def test_wrong_preset_is_a_usage_error(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_preset(str(path)).resolved()
    assert said in str(caught.value)


def test_what_is_no_preset_file_is_a_usage_error(tmp_path: Path) -> None:
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    huge = tmp_path / "huge.toml"
    huge.write_bytes(b"#" * (1 << 20) + b"\n")
    for path, said in [
        (tmp_path / "none.toml", "there is no file"),
        (folder, "folder.toml is a folder, not a preset; name a file"),
        (binary, "not UTF-8"),
        (huge, "larger than a preset"),
    ]:
        with pytest.raises(UsageError, match=said):
            read_preset(str(path))
    with pytest.raises(
        UsageError, match="no preset 'x26m'; did you mean x25m\\? the presets are apex, "
    ):
        read_preset("x26m")


def test_resolving_is_the_same_for_a_file_and_its_preset(tmp_path: Path) -> None:
    path = tmp_path / "copy.toml"
    path.write_text(preset_text("x25m-yoo2014"))
    assert read_preset(str(path)).resolved() == read_preset("x25m-yoo2014").resolved()
    assert resolve_preset(path.read_text(), {}) == resolve_preset(preset_text("x25m-yoo2014"), {})
