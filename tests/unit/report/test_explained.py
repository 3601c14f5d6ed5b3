"""Terms are explained once, at their first use, and never inside a name or a command."""

from __future__ import annotations

from drivelab.exhibits.words import MEANINGS, TERM
from drivelab.report.explained import Words, kept_together


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


def test_short_names_with_hyphens_are_not_broken() -> None:
    kept = '<span class="kept">{}</span>'.format
    found = kept_together("sas-15k, sim:bench-64gib")
    assert found == f"{kept('sas-15k')}, {kept('sim:bench-64gib')}"
    # Neither words, nor parts of paths, nor names that are wider than a phone.
    path = "/dev/disk/by-id/nvme-x25m"
    for text in ("cross-validated", "2-D plot", path, "a-drive-with-a-very-long-name-123"):
        assert kept_together(text) == text


def test_each_term_has_one_meaning() -> None:
    assert TERM.groups == len(MEANINGS) == len(set(MEANINGS))
