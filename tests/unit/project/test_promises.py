"""Every promise in docs/real-drives.md names existing tests."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[2]
PAGE = (TESTS.parent / "docs" / "real-drives.md").read_text(encoding="utf-8")


def promises() -> dict[str, list[str]]:
    table = PAGE.partition("## Promises")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (?!promise)([^|]+) \| (`[^|]+) \|$", table, re.MULTILINE)
    return {promise: re.findall(r"`([^`]+)`", tests) for promise, tests in rows}


def test_each_promise_names_tests_that_there_are() -> None:
    found = promises()
    assert len(found) > 10
    for promise, tests in found.items():
        assert tests, promise
        for test in tests:
            file, _, name = test.partition("::")
            tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
            functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert name in functions, f"{test} of: {promise}"


def test_the_page_of_security_leads_to_the_table() -> None:
    security = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
    assert "docs/real-drives.md#promises" in security
    assert "## Promises\n" in PAGE
