"""What `drivelab reproduce` finds for each paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits import number
from drivelab.reproduce.papers import reproduce
from validation.document import Section

if TYPE_CHECKING:
    from drivelab.exhibits import Cell


def huang2011() -> Section:
    """Reproduce Huang et al. 2011."""
    section = Section("Huang et al. 2011", "drivelab reproduce huang2011")
    found = reproduce("huang2011")
    for table, title in zip(
        found.tables, ("Table II, basic models", "Table III, extended models"), strict=True
    ):
        section.say(
            f"{title}, the paper's Intel X25-M beside the simulated one (in sample; "
            "cross-validated; between the paper's values):"
        )
        section.tabulate(
            ("performance", "R2: paper", "ours", "MAE (mean): paper", "ours", "MRE: paper", "ours"),
            (_accuracy_row(row) for row in table.records()),
        )
    for text in found.quoted:
        section.say(text)
    for claim in found.claims:
        section.say(
            f"{claim.name}: {claim.ours:.3g} {claim.unit}, published {claim.published:g}, within "
            f"{claim.tolerance:g} ({claim.reason})."
        )
    section.tabulate(
        ("what the paper says", "the smaller", "the larger", "unit"),
        (
            (ordering.name, f"{ordering.smaller:,.4g}", f"{ordering.larger:,.4g}", ordering.unit)
            for ordering in found.orderings
        ),
    )
    for failure in found.failures:
        section.claim(f"Huang et al. 2011, {failure.name}", holds=False)
    section.claim(
        "Huang et al. 2011: the extended model beats the basic one in every cell, and what is "
        f"said of the figures and of one drive beside another, {len(found.orderings)} orderings, "
        f"and {len(found.claims)} figure",
        holds=not found.failures,
    )
    return section


def _accuracy_row(row: dict[str, Cell]) -> tuple[str, ...]:
    def of(name: str, digits: str) -> str:
        return format(number(row[name]), digits)

    return (
        f"{row['performance']} ({row['unit']})",
        of("published_r2", ".3f"),
        f"{of('in_sample_r2', '.3f')}; {of('cross_validated_r2', '.3f')}",
        f"{of('published_mae', ',.4g')} ({of('published_mean', ',.4g')})",
        f"{of('in_sample_mae', ',.3g')}; {of('cross_validated_mae', ',.3g')} "
        f"({of('mean', ',.4g')})",
        f"{of('published_mre_percent', '.0f')} %",
        f"{of('in_sample_mre_percent', '.1f')}; {of('cross_validated_mre_percent', '.1f')}; "
        f"{of('off_grid_mre_percent', '.1f')} %",
    )


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
