"""The commands of Drivelab that the documentation shows, page by page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Notes on a release keep the words that were right then.
_HISTORY = {"docs/changelog-0.1.0.md", "docs/changelog-0.2.0.md"}
_FENCED = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.S | re.M)
_OF_A_SHELL = {"", "sh", "bash", "console"}
_INDENTED = re.compile(r"((?:^ {4}.+\n)+)", re.M)
_COMMAND = re.compile(r"^\s*(?:\$ )?(?:sudo )?(?:\.venv/bin/)?drivelab (?=[a-z-])")
_IN_PROSE = re.compile(r"(?<!`)`(?:sudo )?(?:\.venv/bin/)?drivelab ([^`]+)`(?!`)")
# Where the words of a command end for its shell.
_SHELL = {"&", ">", "|", "||", "&&", ";", ">>", "2", "<"}


def pages() -> dict[str, str]:
    """Give the text of every page, by its path from the root."""
    found = [
        *(ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "benches" / "README.md"),
        *(ROOT / ".github" / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))),
        *sorted((ROOT / "examples").rglob("*.md")),
    ]
    named = {str(path.relative_to(ROOT)): path for path in found}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in named.items()
        if name not in _HISTORY
    }


def blocks(page: str) -> list[str]:
    """Give the blocks of a page that show commands, without what they print."""
    found = [match[3] for match in _FENCED.finditer(page) if match[2] in _OF_A_SHELL]
    found += _INDENTED.findall(_FENCED.sub("", page))
    return [block for block in found if any(_COMMAND.match(line) for line in block.splitlines())]


def whole_lines(block: str) -> list[str]:
    """Give the lines of a block; one that ends in a backslash goes on in the next."""
    return block.replace("\\\n", " ").splitlines()


def commands(page: str) -> Iterator[str]:
    """Give every command of the blocks of a page: what comes after ``drivelab``."""
    for block in blocks(page):
        for line in whole_lines(block):
            found = _COMMAND.match(line)
            if found:
                yield " ".join(line[found.end() :].split())


def in_prose(page: str) -> Iterator[str]:
    """Give every command between backquotes in the text of a page."""
    for found in _IN_PROSE.findall(_FENCED.sub("", page)):
        yield " ".join(found.replace("\\|", "|").split())


def words_of(command: str) -> list[str]:
    """Give the words of a command as a shell does, without redirections and comments."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found = []
    for word in lexer:
        if word in _SHELL:
            break
        found.append(word)
    return found


def runnable(line: str) -> str:
    """Give a line as a shell can run it: without prompt, ``sudo`` and where the command lies."""
    found = _COMMAND.match(line)
    return f"drivelab {line[found.end() :]}" if found else line
