"""The values of a preset, each with where it comes from.

A value's source is the comment on its line: ``paper``, ``datasheet``, ``recalled``, ``fitted``
or ``assumed``, a colon, and what was read or thought. A preset that starts from another one
says the sources of its own lines; the rest are the other's.
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
#: What is told about a drive by people, and has no source.
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
        ``paper``, ``datasheet``, ``recalled``, ``fitted``, ``assumed``, or whatever word the
        comment begins with; ``None`` where no line says the value or its line says no source.
    source
        The rest of the comment.
    preset
        Whose line says it; ``None`` where it follows from others or is the default.
    """

    key: str
    value: Any
    grade: str | None
    source: str | None
    preset: str | None


def preset_values(source: PresetSource) -> list[PresetValue]:
    """Give every value of a preset but its published figures, in the order of the description.

    Raises
    ------
    UsageError
        When the preset is impossible.
    """
    resolved, _ = source.resolved()
    del resolved["name"], resolved["kind"], resolved["summary"]
    resolved.pop("published", None)
    # Its values stand in its own preset.
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
    """Give the names of the published figures that values of a preset were fitted to.

    Values of an array are those of its member, where that is a preset of the package.
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
    """Give name and text of a preset, of the one it starts from, and so on."""
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
    """Give the comment on the line of every value, by its key with its table.

    Values that are not written as a key on a line of its own, such as those of inline tables,
    are not found.
    """
    found: dict[str, str | None] = {}
    table = ""
    for line in text.splitlines():
        if heading := _TABLE.match(line):
            table = heading["table"] + "."
        elif line.lstrip().startswith("["):
            # A heading with quotes, or the inside of an array: what follows is in no known table.
            table = "?."
        elif value := _VALUE.match(line):
            found[table + value["key"]] = value["comment"]
    return found


def _said(source: PresetSource) -> dict[str, tuple[str, str | None]]:
    """Give by key who says it first, and the comment."""
    said: dict[str, tuple[str, str | None]] = {}
    for name, text in _chain(source):
        found = comments(text)
        # Who says a key is asked of its text as TOML: a comment that was not found is none, never
        # that of the preset below, whose value does not hold.
        for key, _ in _flat(parse_toml(text)):
            said.setdefault(key, (name, found.get(key)))
    return said


def _flat(values: Mapping[str, Any], table: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{table}{key}.")
        else:
            yield table + key, value
