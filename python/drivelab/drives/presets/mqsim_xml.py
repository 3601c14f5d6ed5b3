"""MQSim's two XML files as elements: limited in depth and number, with their line numbers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from drivelab.errors import UsageError

#: MQSim's files, by their outermost elements.
FILES: Final = {
    "Execution_Parameter_Set": "ssdconfig.xml",
    "MQSim_IO_Scenarios": "workload.xml",
}
MOST_ELEMENTS: Final = 20_000
_DEEPEST: Final = 5
_BEGINNING_BYTES: Final = 4096
_MOST_TEXT: Final = 2000


@dataclass
class Element:
    """An element.

    Attributes
    ----------
    name
        Its name.
    line
        Line where it begins, from 1.
    text
        Its text, without surrounding spaces.
    children
        Its child elements, in order.
    """

    name: str
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)


def read_elements(content: bytes, root: str, file: str) -> Element:
    """Read the outermost element.

    Parameters
    ----------
    content
        The file.
    root
        Name of its outermost element.
    file
        Name of such a file, for errors.

    Raises
    ------
    UsageError
        If it is no such file; the error gives the line.
    """
    path: list[Element] = []
    top: list[Element] = []
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if not path and name != root and name in FILES:
            raise UsageError(f"it is MQSim's {FILES[name]}, not its {file}; name that one")
        if not path and name != root:
            raise UsageError(f"its outermost element is {name!r:.60}, not {root}")
        line = parser.CurrentLineNumber
        if attributes or count > MOST_ELEMENTS or len(path) >= _DEEPEST:
            raise UsageError(f"line {line}: {name!r:.60} is not a setting")
        element = Element(name, line)
        (path[-1].children if path else top).append(element)
        path.append(element)

    def end(_: str) -> None:
        element = path.pop()
        element.text = element.text.strip()

    def text(more: str) -> None:
        if len(path[-1].text) < _MOST_TEXT:
            path[-1].text += more

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    # A document type could declare entities that expand without end or read other files.
    parser.StartDoctypeDeclHandler = _refuse_doctype
    _parse(parser, content, file)
    return top[0]


def file_of(content: bytes) -> str | None:
    """Return which of MQSim's files this is by its outermost element; ``None`` for another."""
    found: list[str] = []

    def start(name: str, _: dict[str, str]) -> None:
        if not found:
            found.append(name)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = _refuse_doctype
    # What is wrong with it is said where it is read.
    with suppress(expat.ExpatError, LookupError, ValueError, UsageError):
        parser.Parse(content[:_BEGINNING_BYTES], False)
    return FILES.get(found[0]) if found else None


def _refuse_doctype(*_: object) -> None:
    raise UsageError("it declares a document type, which no file of MQSim's does")


def _parse(parser: expat.XMLParserType, content: bytes, file: str) -> None:
    if not content.strip():
        raise UsageError(f"it is empty; name MQSim's {file}")
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise UsageError(f"line {error.lineno}: it is not XML: {error}") from error
    except (LookupError, ValueError) as error:
        raise UsageError(f"it is not XML in an encoding that can be read: {error}") from error
