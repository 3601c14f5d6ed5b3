"""JSON and TOML from outside: what is too deep or too large is refused, soon and on one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab.bounded_json import MOST_DEPTH, UnreadableJsonError, end_of_json, parse_json
from drivelab.bounded_toml import UnreadableTomlError, parse_toml
from drivelab.cli import main as cli
from drivelab.drives.real.fio.program import _split

SMALL = Path(__file__).parents[1] / "small_drive.toml"


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_what_python_writes_is_read_as_it_was() -> None:
    value = {
        "text": ['[[{"\\', "é\x00 }}]]"] * 40,
        "numbers": [0, -1, 2**64, 1.5, -1e-300, 1.7976931348623157e308],
        "others": [None, True, False, {}, [], [[[]]]],
    }
    text = json.dumps(value)
    assert parse_json(text) == value
    assert parse_json(text.encode()) == value
    assert end_of_json("x" + text + "]} more", 1) == 1 + len(text)
    assert parse_json(nested(MOST_DEPTH)) == json.loads(nested(MOST_DEPTH))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (nested(MOST_DEPTH + 1), "is nested too deeply, more than 64 levels"),
        ("[" * 1_000_000, "is nested too deeply"),
        ('{"a":' * 100_000, "is nested too deeply"),
        ("[" + "9" * 400 + "]", "a number of more than 100 characters"),
        ("0." + "1" * 5000, "a number of more than 100 characters"),
        ("1e999", "a number too large"),
        ("-1e999", "a number too large"),
        ("[NaN]", "contains NaN, which is not a number"),
        ("-Infinity", "contains -Infinity"),
        ('{"a": {"b": 1, "b": 1}}', "names a value twice in one object"),
        ("[" * 65 + '"' + '\\"[' * 500_000, "nested too deeply"),
        ('"' + '\\"[' * 1_000_000, "is not JSON"),
        (b"\xff", "is not text"),
        (b"\0", "is not JSON"),
        ("", "is empty"),
    ],
)
def test_what_is_beyond_is_refused_soon(text: str | bytes, said: str) -> None:
    with pytest.raises(UnreadableJsonError, match=said) as caught:
        parse_json(text)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 200


def test_a_program_may_say_a_name_twice() -> None:
    assert parse_json('{"a": 1, "a": 2}', same_names=True) == {"a": 2}


@pytest.mark.parametrize(
    "report", ["[" * 100_000, '{"jobs": ' * 100_000, '{"mean": NaN}', '{"N": ' + "9" * 4000 + "}"]
)
def test_fio_that_prints_what_no_fio_prints_printed_no_json(report: str) -> None:
    before, found, after = _split(f"fio: a warning\n{{{report[1:]}\nmore\n")
    assert (before, found, after) == ("fio: a warning\n", {}, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".".join(["a"] * 60_000) + " = 1", "a key of more than 64 parts"),
        ("[" + " . ".join(['"a.\\""', "'b'", "c-d"] * 30) + "]", "a key of more than 64 parts"),
        ("a = " + "[" * 100_000, "is nested too deeply"),
        ("a = " + nested(100), "is nested too deeply, more than 64 levels"),
        ("a = " + "{a = " * 10_000, "is nested too deeply"),
        ("a = " + "9" * 5000, "a number beyond 64 bits"),
        ("a = [0x" + "f" * 10_000 + "]", "a number beyond 64 bits"),
        ("a = 9223372036854775808", "a number beyond 64 bits"),
        ("a = ", "is not TOML"),
        ("a = 1\na = 2", "is not TOML"),
    ],
)
def test_toml_beyond_is_refused(text: str, said: str) -> None:
    with pytest.raises(UnreadableTomlError, match=said) as caught:
        parse_toml(text)
    assert len(str(caught.value).splitlines()) == 1


def test_usual_toml_is_read() -> None:
    text = f"# {'a.' * 40}\n[a.b]\nc = [[1, -2], [{{d = 'x.y'}}]]\ne = 9223372036854775807\n"
    assert parse_toml(text) == {
        "a": {"b": {"c": [[1, -2], [{"d": "x.y"}]], "e": 9223372036854775807}}
    }
    parse_toml(SMALL.read_text())


@pytest.mark.parametrize(
    "more", [".".join(["a"] * 60_000) + " = 1", "a = 0x" + "f" * 10_000, "a = " + "9" * 5000]
)
def test_presets_and_classes_beyond_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: str
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(f"{more}\n{SMALL.read_text()}")
    for words in (
        ["simulate", f"sim:{path}"],
        ["drives", "show", f"sim:{path}"],
        ["pts", "run", "class", "sim:x25m", "--class", str(path), "--out", str(tmp_path / "run")],
    ):
        assert cli.main(words) == 2
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        assert "bug in Drivelab" not in line
