"""Shell completion and man pages agree with the commands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from manual import man_pages

from drivelab.cli import main as cli
from drivelab.cli.main import main
from drivelab.cli.whole_parser import command_parser, every_action

ROOT = Path(__file__).parents[3]


def completed(script: Path, *words: str) -> set[str]:
    """Give what bash offers where the last word ends."""
    line = " ".join(f"'{word}'" for word in words)
    code = (
        f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
        '_shtab_drivelab; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["/bin/bash", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_bash_completes_commands_options_and_choices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "drivelab.bash"
    script.write_text(capsys.readouterr().out)
    assert completed(script, "drivelab", "s") == {"simulate", "scenarios", "serve"}
    assert completed(script, "drivelab", "model", "--exec") == {"--executor"}
    assert completed(script, "drivelab", "trace", "c") == {"characterize", "convert", "cut"}
    executors = {"threads", "processes", "ssh", "ray"}
    assert completed(script, "drivelab", "model", "--executor", "") == executors
    monkeypatch.chdir(tmp_path)
    assert completed(script, "drivelab", "simulate", "drive") == {"drivelab.bash"}


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_have_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in cli.COMMANDS)


def test_another_shell_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish"]) == 2
    assert "'fish' is not allowed; it takes bash, zsh, tcsh" in capsys.readouterr().err


def test_the_manual_page_is_of_these_commands() -> None:
    page = (man_pages.FOLDER / "drivelab.1").read_text()
    assert page == man_pages.tour_page(), "python -m manual.man_pages writes it anew"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_a_page_with_its_options(name: str) -> None:
    page = man_pages.command_page(name).replace("\\-", "-")
    assert page.startswith(f".TH DRIVELAB-{name.upper()} 1 ")
    options = [each for one in every_action(command_parser(name)) for each in one.option_strings]
    assert len(options) > 1
    missing = [option for option in options if option not in page and option != "--help"]
    assert missing == []


def test_every_exit_code_is_documented() -> None:
    text = (ROOT / "docs" / "outputs.md").read_text()
    for code in cli.EXIT_CODES:
        assert f"\n| {code} |" in text
