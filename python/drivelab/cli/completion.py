"""Print a script with which your shell completes commands, options and files.

bash: drivelab completion bash > ~/.local/share/bash-completion/completions/drivelab

zsh: drivelab completion zsh > ~/.zfunc/_drivelab, with fpath+=~/.zfunc before compinit in ~/.zshrc

Start a new shell afterwards.
"""

from __future__ import annotations

import argparse
from typing import Final

_SHELLS: Final = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab completion`."""
    parser.add_argument("shell", choices=_SHELLS, help="your shell")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    from drivelab.cli.whole_parser import every_action, takes_a_path, whole_parser

    parser = whole_parser()
    for action in every_action(parser):
        if takes_a_path(action):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=args.shell))
    return 0
