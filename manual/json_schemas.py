"""Write JSON Schemas of what `--json` prints: ``python -m manual.json_schemas FOLDER``.

::

    docs/json-*.md ──> documented_keys ──> a tree of objects and lists ──> COMMAND.schema.json

The tables of keys are the one source: a test holds what commands print against them, key by key,
and against these schemas. Types follow from names, which end with their unit: what counts or
measures is a number. A value that does not exist is ``null``. Schemas are closed: they are of this
version, and a newer one may print more keys.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).parents[1] / "docs"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
#: Objects that are documented as one value: a drive or a trace describes itself with them.
WHOLE_OBJECTS: Final = ("identity", "trace", "lateness", "trim", "flush", "simulation")
#: Objects with the keys of another one. Their line names it, and the table does not repeat them.
_LIKE_ANOTHER: Final = ("total",)
# Units that a name of a number ends with: docs/json.md.
_NUMBER: Final = re.compile(
    r"(^|_)(ns|bytes|ratio|iops|requests|per_second|seconds|percent|joules|pages|blocks|mib)$"
)
# This one holds words: how many of each kind.
_WORDS: Final = ("cases_of_at_most_20_percent",)
# Lists that the text above a table explains: empty unless something special was asked for.
_EXPLAINED_LISTS: Final = {
    "firmware profile": ("cautions",),
    "reproduce boito2015": ("claims", "orderings"),
    "reproduce yoo2014": ("orderings",),
}
# A number in a name may have a decimal point, as in `0.5_kib_iops`.
_STEP: Final = re.compile(r"\[\]|\d+\.\d\w*|[^.\[\]]+")
_SECTION: Final = re.compile(r"^## drivelab ([\w -]+)\n(.*?)(?=^##? |\Z)", re.S | re.M)
_KEY: Final = re.compile(r"^\| `([^`]+)` \| \S.* \|$", re.M)
_SCALARS: Final = ["string", "number", "boolean", "null"]


def documented_keys() -> dict[str, list[str]]:
    """Give the keys of every command, as its table has them, in their order.

    Raises
    ------
    ValueError
        When a command has two sections, or a section a key twice.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(DOCS.glob("json-*.md")):
        for command, section in _SECTION.findall(path.read_text()):
            keys = _KEY.findall(section)
            if command in found or len(keys) != len(set(keys)):
                raise ValueError(f"{path.name}: {command} or one of its keys stands there twice")
            found[command] = keys
    return found


@dataclass
class _Node:
    """A value: with keys it is an object, with entries a list, with neither one value."""

    keys: dict[str, _Node] = field(default_factory=dict)
    any_key: _Node | None = None
    entries: _Node | None = None

    def at(self, step: str) -> _Node:
        if step == "[]":
            self.entries = self.entries or _Node()
            return self.entries
        if step == "*":
            self.any_key = self.any_key or _Node()
            return self.any_key
        return self.keys.setdefault(step, _Node())

    def schema(self, name: str) -> dict[str, Any]:
        """Give the schema of the value that has this name."""
        if name in (*WHOLE_OBJECTS, *_LIKE_ANOTHER) and not (
            self.keys or self.any_key or self.entries
        ):
            return {}
        kinds: list[dict[str, Any]] = []
        if self.keys or self.any_key:
            inside = {key: node.schema(key) for key, node in self.keys.items()}
            other = False if self.any_key is None else self.any_key.schema("")
            kinds.append({"type": "object", "properties": inside, "additionalProperties": other})
        if self.entries:
            kinds.append({"type": "array", "items": self.entries.schema(name)})
        if not kinds:
            is_number = _NUMBER.search(name) and name not in _WORDS
            return {"type": ["number", "null"] if is_number else _SCALARS}
        # There is no value: `null`, or an empty object or list.
        return (
            kinds[0] | {"type": [kinds[0]["type"], "null"]}
            if len(kinds) == 1
            else {"anyOf": [*kinds, {"type": "null"}]}
        )


def schema_of(command: str, keys: list[str]) -> dict[str, Any]:
    """Give the schema of what a command prints, of the keys that its table has."""
    root = _Node()
    for key in keys:
        node = root
        for step in _STEP.findall(key):
            node = node.at(step)
    described = root.schema("")
    for name in _EXPLAINED_LISTS.get(command, ()):
        described["properties"].setdefault(name, {"type": "array"})
    return {
        "$schema": DIALECT,
        "title": f"drivelab {command} --json",
        "description": f"Of Drivelab {metadata.version('drivelab')}; newer ones may print more.",
        **described,
        "type": "object",
    }


def file_name(command: str) -> str:
    """Name the file of a command's schema."""
    return f"{re.sub(r'[ -]+', '-', command).lower()}.schema.json"


def write(folder: Path) -> list[Path]:
    """Write every schema into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for command, keys in documented_keys().items():
        path = folder / file_name(command)
        path.write_text(json.dumps(schema_of(command, keys), indent=1) + "\n")
        written.append(path)
    return written


if __name__ == "__main__":
    print(f"{len(write(Path(sys.argv[1])))} schemas in {sys.argv[1]}")
