"""What `drivelab reproduce yoo2014` finds."""

from __future__ import annotations

from drivelab.reproduce.papers import reproduce
from validation.document import Section


def yoo2014() -> Section:
    """Reproduce Yoo et al. 2014."""
    section = Section("Yoo et al. 2014", "drivelab reproduce yoo2014")
    found = reproduce("yoo2014")
    section.say(
        f"{len(found.claims) - len(found.failures)} of {len(found.claims)} claims hold: the "
        "paper's inputs stand in the preset, the closed form gives the paper's printed model "
        "figures, and simulator and closed form agree to the nanosecond on every record size of "
        "figures 10 and 11. Each with its tolerance and reason:"
    )
    section.tabulate(
        ("claim", "ours", "published", "unit", "tolerance", "reason"),
        (
            (
                claim.name,
                f"{claim.ours:,.6g}",
                f"{claim.published:,.6g}",
                claim.unit,
                f"{claim.tolerance:.2g}",
                claim.reason,
            )
            for claim in found.claims
        ),
    )
    for text in found.quoted:
        section.say(text)
    for claim in found.failures:
        section.claim(f"Yoo et al. 2014, {claim.name}", holds=False)
    section.claim("Yoo et al. 2014: every claim of `drivelab reproduce`", holds=not found.failures)
    return section
