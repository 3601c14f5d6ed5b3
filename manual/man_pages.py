"""Write the manual pages: ``python -m manual.man_pages`` into what a wheel installs.

``drivelab(1)`` is the tour, the exit codes and what the environment says; it is in the repository.
``drivelab-COMMAND(1)``, from each command's own help, is made for wheels alone (``make wheel``).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from drivelab.cli.main import COMMANDS, EXIT_CODES, GROUPS
from drivelab.cli.whole_parser import command_parser

ROOT: Final = Path(__file__).parents[1]
#: What a wheel installs in addition to the package.
FOLDER: Final = ROOT / "wheel-data" / "data" / "share" / "man" / "man1"
_SHORT: Final = "how fast will this drive be under my workload?"
_ENVIRONMENT: Final = {
    "DRIVELAB_TRACEBACK": "1 shows where in the code an unforeseen error came from.",
    "XDG_CACHE_HOME": "where preconditioned states of simulated drives are kept [~/.cache].",
    "XDG_STATE_HOME": "where measurements of this machine's drives for runs elsewhere are kept "
    "[~/.local/state].",
    "XDG_RUNTIME_DIR": "where served drives have their sockets [/tmp].",
    "TMPDIR": "where temporary files lie [/tmp].",
}
_SPECIAL: Final = re.compile(r"^([.'])", re.MULTILINE)


def tour_page() -> str:
    """Return ``drivelab(1)`` as roff."""
    lines = ['.TH DRIVELAB 1 "" Drivelab "Drivelab"', ".SH NAME", f"drivelab \\- {_SHORT}"]
    lines += [".SH SYNOPSIS", r".B drivelab", r"\fICOMMAND\fR [\fIOPTION\fR]..."]
    lines += [".SH DESCRIPTION", "Drivelab measures a drive, models it, simulates it and predicts"]
    lines += [r"with it. \fBdrivelab\fR \fICOMMAND\fR \fB\-\-help\fR explains a command."]
    lines += [".SH COMMANDS"]
    for title, commands in GROUPS.items():
        lines.append(f'.SS "{title}"')
        for command in commands:
            lines += [".TP", f".B {command.name}", _escaped(f"{command.summary}.")]
            lines += [".br", rf"\fIdrivelab {_escaped(command.example)}\fR"]
    lines += [".SH EXIT STATUS"]
    for code, meaning in EXIT_CODES.items():
        lines += [".TP", f".B {code}", _escaped(meaning)]
    lines += [".SH ENVIRONMENT"]
    for name, meaning in _ENVIRONMENT.items():
        lines += [".TP", f".B {name}", _escaped(meaning)]
    lines += [".SH SEE ALSO", ".BR fio (1)"]
    return "\n".join(lines) + "\n"


def command_page(name: str) -> str:
    """Return ``drivelab-COMMAND(1)`` as roff."""
    from argparse_manpage.manpage import Manpage

    parser = command_parser(name)
    parser.prog = f"drivelab {name}"
    parser.man_short_description = COMMANDS[name].summary  # type: ignore[attr-defined]
    page = Manpage(parser, format="single-commands-section")
    page.manual = "Drivelab"
    # Its name is the page's, and not the section.
    body = str(page).rstrip().partition("\n")[2]
    return f'.TH DRIVELAB\\-{name.upper()} 1 "" Drivelab "Drivelab"\n{body}\n'


def main(*, every_command: bool) -> None:
    """Write the tour's page and each command's page into the folder of a wheel."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "drivelab.1").write_text(tour_page())
    for name in COMMANDS if every_command else ():
        (FOLDER / f"drivelab-{name}.1").write_text(command_page(name))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"))


if __name__ == "__main__":
    main(every_command="--commands" in sys.argv[1:])
