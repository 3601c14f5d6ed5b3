"""The values of a preset, each with its source.

A value's source is the comment on its line: ``paper``, ``datasheet``, ``recalled``, ``fitted`` or
``assumed``, a colon, and what was read or thought. A preset that starts from another one has the
sources of its own lines; the other values have the base's sources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab._core import preset_names, preset_text
from drivelab.bounded_toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from drivelab.drives.presets.source import PresetSource

_TABLE: Final = re.compile(r"^\s*\[\s*(?P<table>[\w.-]+)\s*\]")
# Values are numbers, words without a number sign, or arrays on one line.
_VALUE: Final = re.compile(r"^\s*(?P<key>[\w.-]+)\s*=\s*[^#]*(?:#\s*(?P<comment>.*?))?\s*$")
_FIGURE: Final = re.compile(r"\bpublished\.([\w-]+)")
_GRADE: Final = re.compile(r"^(?P<grade>[a-z]+): (?P<source>\S.*)$")
#: Descriptions of a drive for people, which have no source.
_WORDS: Final = ("name", "kind", "summary")


@dataclass(frozen=True)
class PresetValue:
    """A value of a resolved preset.

    Attributes
    ----------
    key
        With its table: ``timing.read_cell_ns``.
    value
        A number, a word or a list of numbers.
    grade
        ``paper``, ``datasheet``, ``recalled``, ``fitted``, ``assumed``, or another first word of
        the comment; ``None`` if no line sets the value or its line has no source.
    source
        The rest of the comment.
    preset
        Name of the preset that sets it; ``None`` if it follows from others or is the default.
    """

    key: str
    value: Any
    grade: str | None
    source: str | None
    preset: str | None


def preset_values(source: PresetSource) -> list[PresetValue]:
    """Return every value of a preset except its published figures, in the description's order.

    Raises
    ------
    UsageError
        When the preset is impossible.
    """
    resolved, _ = source.resolved()
    del resolved["name"], resolved["kind"], resolved["summary"]
    resolved.pop("published", None)
    # A member's values are in its own preset.
    resolved.pop("member_preset", None)
    resolved.pop("other_presets", None)
    said = _said(source)
    values = []
    for key, value in _flat(resolved):
        preset, comment = said.get(key, (None, None))
        graded = _GRADE.match(comment or "")
        grade, text = (graded["grade"], graded["source"]) if graded else (None, comment)
        values.append(PresetValue(key, value, grade, text, preset))
    return values


def fitted_figures(text: str) -> set[str]:
    """Return the names of the published figures that values of a preset were fitted to.

    Values of an array are those of its member, if that is a preset of the package.
    """
    graded = (_GRADE.match(comment or "") for comment in comments(text).values())
    figures = {
        figure
        for match in graded
        if match and match["grade"] == "fitted"
        for figure in _FIGURE.findall(match["source"])
    }
    member = parse_toml(text).get("member", [])
    for name in {member} if isinstance(member, str) else set(member):
        if name in preset_names():
            figures |= fitted_figures(preset_text(name))
    return figures


def _chain(source: PresetSource) -> Iterator[tuple[str, str]]:
    """Yield name and text of a preset, of the one it starts from, and so on."""
    name, text = source.reference, source.toml_text
    seen = set[str]()
    while name not in seen:
        seen.add(name)
        yield name, text
        base = parse_toml(text).get("base")
        if not isinstance(base, str):
            return
        name = base
        if base in source.base_texts:
            text = source.base_texts[base]
        elif base in preset_names():
            text = preset_text(base)
        else:
            return


def comments(text: str) -> dict[str, str | None]:
    """Return the comment on the line of every value, by its key with its table.

    Values that are not a key on their own line, such as those of inline tables, are not found.
    """
    found: dict[str, str | None] = {}
    table = ""
    for line in text.splitlines():
        if heading := _TABLE.match(line):
            table = heading["table"] + "."
        elif line.lstrip().startswith("["):
            # A heading with quotes, or the inside of an array: the table of what follows is
            # unknown.
            table = "?."
        elif value := _VALUE.match(line):
            found[table + value["key"]] = value["comment"]
    return found


def _said(source: PresetSource) -> dict[str, tuple[str, str | None]]:
    """Return by key the first preset that sets it, and the comment."""
    said: dict[str, tuple[str, str | None]] = {}
    for name, text in _chain(source):
        found = comments(text)
        # The text is read as TOML to find who sets a key. If its comment was not found, the key has
        # none, never that of the base, whose value is replaced.
        for key, _ in _flat(parse_toml(text)):
            said.setdefault(key, (name, found.get(key)))
    return said


def _flat(values: Mapping[str, Any], table: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{table}{key}.")
        else:
            yield table + key, value
