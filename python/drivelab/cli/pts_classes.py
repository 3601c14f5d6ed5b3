"""List the classes of workloads, or print one to copy and edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.cli.named_texts import add_named, list_or_print

if TYPE_CHECKING:
    import argparse

    from drivelab.pts.workload_class import WorkloadClass


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab pts classes`."""
    add_named(parser)


def carry_out(args: argparse.Namespace) -> int:
    """List or print.

    Raises
    ------
    UsageError
        If there is no such class, or a file does not contain one.
    """
    from drivelab.pts.class_file import class_names, class_text, load_class

    classes = [load_class(name) for name in ([args.name] if args.name else class_names())]
    list_or_print(
        args,
        "classes",
        [(each.name, each.summary) for each in classes],
        described=lambda: [_described(each) for each in classes],
        text_of=class_text,
        uses=[
            "drivelab pts classes NAME > mine.toml   to edit one",
            "drivelab pts run class DRIVE --class mine.toml",
        ],
    )
    return 0


def _described(of: WorkloadClass) -> dict[str, Any]:
    weights = [
        {"block_bytes": size, "read_ratio": read_ratio, "weight": weight}
        for size, read_ratio, weight in of.weights
    ]
    return {**of.to_json(), "weights": weights}
