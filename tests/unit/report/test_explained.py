"""Terms are explained once, at their first use, and never inside a name or a command."""

from __future__ import annotations

from drivelab.exhibits.words import MEANINGS, TERM
from drivelab.report.explained import Words


def test_a_term_is_explained_once() -> None:
    words = Words(())
    first = words("Mean latency and Queue depth: latency again.")
    assert first.count("<dfn") == 2
    assert 'tabindex="0"' in first
    assert ">Mean latency</dfn>" in first
    assert "latency again" in first
    assert "<dfn" not in words("latency, queue depth")
    assert "<dfn" in words("bandwidth")


def test_names_commands_and_parts_of_words_are_left_alone() -> None:
    words = Words(("sim:random drive & co",))
    assert "<dfn" not in words("sim:random drive & co is fast")
    assert words("`drivelab random`") == "<code>drivelab random</code>"
    assert "<dfn" not in words("randomness, quasi-random")
    assert ">random</dfn>" in words("random places")


def test_what_is_quoted_stays_escaped() -> None:
    text = Words(())("<b>latency</b> & 5 ms")
    assert "<b>" not in text
    assert "&lt;b&gt;" in text
    assert "&amp; 5\N{NO-BREAK SPACE}ms" in text


def test_each_term_has_one_meaning() -> None:
    assert TERM.groups == len(MEANINGS) == len(set(MEANINGS))
