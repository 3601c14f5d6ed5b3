"""JSON Schemas of what `--json` prints; tests/unit/cli/test_json.py checks answers with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from manual import json_schemas

from drivelab.cli import main as cli


def test_every_command_has_a_schema_that_is_one(tmp_path: Path) -> None:
    written = json_schemas.write(tmp_path / "schemas")
    assert len(written) == len(json_schemas.documented_keys()) > 40
    for path in written:
        schema = json.loads(path.read_text())
        assert schema["$schema"] == json_schemas.DIALECT
        Draft202012Validator.check_schema(schema)


def test_an_answer_is_allowed_and_a_changed_one_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["analytic", "analytic:x25m-yoo2014", "--op", "read", "--record", "64KiB", "--json"]
    assert cli.main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    keys = json_schemas.documented_keys()["analytic"]
    validator = Draft202012Validator(json_schemas.schema_of("analytic", keys))
    assert validator.is_valid(answer)
    assert not validator.is_valid(answer | {"unheard_of": 1})
    assert not validator.is_valid(answer | {"duration_ns": "long"})
    assert not validator.is_valid([answer])


@pytest.mark.parametrize(
    ("keys", "good", "bad"),
    [
        (["rows[].size_bytes"], {"rows": [{"size_bytes": 1}]}, {"rows": [{"size_bytes": "1"}]}),
        (["rows[].size_bytes"], {"rows": None}, {"rows": {}}),
        (["extra.*"], {"extra": {"anything": 1.5}}, {"extra": 1.5}),
        (["means_ns[]"], {"means_ns": [1.5, None]}, {"means_ns": 1.5}),
        (["name"], {"name": "x"}, {"name": ["x"]}),
        (["identity"], {"identity": {"any": [{}]}}, {"other": 1}),
        # An object and a list, of two command lines.
        (["a.b", "a[]"], {"a": [1]}, {"a": 1}),
    ],
)
def test_keys_become_objects_lists_and_values(keys: list[str], good: object, bad: object) -> None:
    validator = Draft202012Validator(json_schemas.schema_of("anything", keys))
    assert validator.is_valid(good)
    assert not validator.is_valid(bad)


def test_a_key_that_stands_twice_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "## drivelab x\n\n| key | meaning |\n|---|---|\n| `a` | one |\n| `a` | again |\n"
    (tmp_path / "json-x.md").write_text(text)
    monkeypatch.setattr(json_schemas, "DOCS", tmp_path)
    with pytest.raises(ValueError, match="twice"):
        json_schemas.documented_keys()
