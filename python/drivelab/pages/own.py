"""The output folder for models of a user's own measurements: model, page, tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError
from drivelab.exhibits import Card, Cards, First, Page, Report
from drivelab.models.own import exhibits
from drivelab.models.own.model_file import MODEL, to_bytes
from drivelab.models.own.readable import readable_trees
from drivelab.models.predictors import ESTIMATORS
from drivelab.outputs import OutputFolder
from drivelab.report.saved import DATA
from drivelab.report.written import write_report
from drivelab.store import is_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits import Multiples
    from drivelab.models.own.model import FittedTable

_KIND: Final = "model"
_MOST_CARDS: Final = 3


def check_own_folder(path: Path, files: Sequence[Path], *, force: bool) -> OutputFolder:
    """Return the folder to write into; check it before the work begins.

    Raises
    ------
    UsageError
        When it is a run or a file, or holds files that must not be replaced.
    """
    if is_run(path):
        raise UsageError(f"{path} is a run with models of its own; choose another --out")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file; --out is a folder")
    of = f"own measurements in {', '.join(str(one.absolute()) for one in files)}"
    folder = OutputFolder(path, of, force=force)
    kinds = {MODEL: _KIND, "report.html": "report"}
    folder.check({name: kind for name, kind in kinds.items() if (path / name).exists()})
    return folder


def write_own(found: FittedTable, folder: OutputFolder) -> dict[str, Path]:
    """Write model, report and tables; return their paths: ``model``, ``report``, ``predictions``.

    Raises
    ------
    UsageError
        When a file exists that is not an output of these models.
    RunError
        When the disk is full or the folder cannot be written.
    """
    path = folder.write(MODEL, _KIND, to_bytes(found.model))
    written = write_report(own_report(found), folder)
    return {
        "model": path,
        "report": written["report"],
        "predictions": folder.path / DATA / "predictions.csv",
    }


def _title_of(picture: Multiples) -> str:
    """Return the title of a picture, with the first of its targets."""
    return f"Predicted against measured: {picture.figures[0].title}"


def own_report(found: FittedTable) -> Report:
    """Return the report on the models."""
    model = found.model
    targets = ", ".join(model.targets)
    picture, *others = exhibits.predictions_figures(found)
    # Of several targets, only as many as fit on a phone.
    untitled = (replace(picture.figures[0], title=""),)
    shown = replace(picture, figures=untitled, columns=1, title=_title_of(picture))
    rest = replace(picture, name=f"{picture.name}-others", figures=picture.figures[1:])
    pages = [
        Page(
            "How well it predicts",
            (
                *([rest] if rest.figures else []),
                *others,
                *([exhibits.last_rows_table(found)] if found.last else []),
                exhibits.accuracy_table(model),
            ),
            anchor="accuracy",
        ),
        Page("What matters", tuple(exhibits.importance_figures(model)), anchor="importance"),
    ]
    trees = readable_trees(found)
    if trees:
        figures = tuple(tree.figure for tree in trees)
        pages.append(Page("A tree that can be read", figures, anchor="tree", tabs=len(trees) > 1))
    pages.append(Page("What was read", (exhibits.read_facts(found),), anchor="read"))
    return Report(
        f"Models of {targets}",
        first=First(
            f"{exhibits.read_words(found)}.",
            (shown,),
            Cards(
                tuple(
                    Card(
                        f"Error of {name}",
                        exhibits.error_text(target, target.cross_validated[target.best]),
                        said=f"unseen rows, {ESTIMATORS[target.best].label}",
                    )
                    for name, target in list(model.targets.items())[:_MOST_CARDS]
                )
            ),
        ),
        pages=tuple(pages),
        tables=(exhibits.predictions_table(found),),
        texts=tuple((tree.figure.name, tree.text) for tree in trees),
        subject="models of own measurements",
        statement="Measured elsewhere: numbers are taken as they stand in the files.",
    )
