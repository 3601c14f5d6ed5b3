"""The section of hidden drives counts the values that were found, and names the others."""

from __future__ import annotations

from validation.fitted import section_of
from validation.hidden_drives import Found, Value
from validation.published_halves import Predicted, presets_with_several


def drive(base: str, values: tuple[Value, ...], mean: float) -> Found:
    return Found(base, values, 0.3, mean, 0.02, 0.01, 0.02, 0, 30.0)


def test_a_missed_value_is_named_with_its_error() -> None:
    good = Value("a", 100, 104, 98, 110, is_told=True)
    far = Value("b", 100, 130, 120, 140, is_told=True)
    undetermined = Value("c", 100, 300, None, None, is_told=False)
    figures = [Predicted("x25m", "read", ("write",), 0.5, -0.1)]
    section = section_of(
        [drive("one", (good, far, undetermined), 0.01), drive("two", (good,), 0.06)], figures
    )
    text = section.markdown()
    assert "| one | 2 of 3 | 1 of 2 | 1 of 2 | 1 of 2 | 30 % | 1.0 % |" in text
    assert "one b +30 %, not in its interval." in text
    assert "2 of 3 are" in text
    assert "missed on 1: two 6.0 %" in text
    assert "| x25m: read | write | +50 % | -10 % |" in text
    assert [claim.holds for claim in section.claims] == [False, False, False, False, True, True]
    # Sharp values were no aim before anything was measured.
    assert [claim.target for claim in section.claims] == [True, False, True, True, True, True]


def test_halves_are_of_single_drives_with_several_figures() -> None:
    names = presets_with_several()
    assert {"x25m", "low-latency"} <= set(names)
    # An array; a single figure; a preset whose times are all of the paper.
    assert not {"array-x25m", "spinpoint-m7", "x25m-yoo2014"} & set(names)
