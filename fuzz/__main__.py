"""Fuzz every reader of outside data, following the coverage; exit 1 when one fails.

`python -m fuzz [--seconds N] [--processes N] [--out FILE] [READER...]`, see `fuzz/README.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fuzz import rust
from fuzz.outcome import Coverage, Outcome
from fuzz.reader import load_reader
from fuzz.readers import NAMES

_WORK: Final = rust.ROOT / "target" / "fuzz"
_FUZZ: Final = rust.ROOT / "fuzz"
_OUT: Final = _WORK / "fuzzing.json"
# Of one input. The slowest that is known takes a twentieth of it.
_MOST_SECONDS: Final = 10
_MOST_MEMORY_MIB: Final = 2048
# For what comes before and after: imports, and the first inputs.
_PATIENCE_SECONDS: Final = 120


def main(arguments: list[str]) -> int:
    """Fuzz, print the results, and save them."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("readers", nargs="*", metavar="READER", help="which [all]")
    parser.add_argument("--seconds", type=float, default=300, help="for all together [300]")
    parser.add_argument("--processes", type=int, default=2, help="at the same time [2]")
    parser.add_argument("--out", type=Path, default=_OUT, help=f"[{_OUT.relative_to(rust.ROOT)}]")
    asked = parser.parse_args(arguments)
    languages = dict.fromkeys(NAMES, "python") | dict.fromkeys(rust.sources(), "rust")
    unknown = [name for name in asked.readers if name not in languages]
    if unknown:
        parser.error(f"there is no reader {unknown[0]}; there are {', '.join(languages)}")
    names = asked.readers or list(languages)
    if find_spec("atheris") is None and any(languages[name] == "python" for name in names):
        parser.error("readers in Python need atheris; fuzz/README.md says how to install it")
    share = asked.seconds * min(asked.processes, len(names)) / len(names)
    outcomes = []
    with ThreadPoolExecutor(asked.processes) as pool:
        for outcome in pool.map(lambda name: _fuzzed(name, languages[name], share), names):
            sys.stdout.write(_line(outcome) + "\n")
            sys.stdout.flush()
            outcomes.append(outcome)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    results = {"seconds": asked.seconds, "readers": [asdict(each) for each in outcomes]}
    asked.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 1 if any(each.failure is not None for each in outcomes) else 0


def _fuzzed(name: str, language: str, seconds: float) -> Outcome:
    work = _WORK / name
    shutil.rmtree(work, ignore_errors=True)
    seeds, corpus = work / "seeds", work / "corpus"
    for folder in (seeds, corpus):
        folder.mkdir(parents=True)
    for path in (_FUZZ / "regressions" / name).glob("*"):
        shutil.copy(path, seeds)
    given = {**os.environ, "FUZZ_READER": name, "FUZZ_SEEDS": str(seeds)}
    if language == "rust":
        command = [str(rust.program())]
    else:
        command = [sys.executable, "-m", "fuzz.guided", name]
        given["FUZZ_MODULES"] = " ".join(load_reader(name).modules)
    artifacts = _FUZZ / "artifacts"
    artifacts.mkdir(exist_ok=True)
    command += [
        f"-max_total_time={max(1, round(seconds))}",
        f"-timeout={_MOST_SECONDS}",
        f"-rss_limit_mb={_MOST_MEMORY_MIB}",
        "-print_final_stats=1",
        f"-artifact_prefix={artifacts}/{name}-",
        str(corpus),
        str(seeds),
    ]
    ran = subprocess.run(
        command,
        cwd=rust.ROOT,
        env=given,
        capture_output=True,
        timeout=seconds + _PATIENCE_SECONDS,
        check=False,
    )
    said = (ran.stdout + ran.stderr).decode(errors="replace")
    (work / "log").write_text(said)
    outcome = Outcome(
        name,
        language,
        inputs=_last_number(r"stat::number_of_executed_units:\s*(\d+)", said),
        kept=len(list(corpus.iterdir())),
        seconds=seconds,
    )
    written = re.search(r"Test unit written to (\S+)", said)
    if ran.returncode or written:
        return replace(outcome, failure=written[1] if written else str(work / "log"))
    if language == "rust":
        return replace(outcome, coverage=rust.coverage(name, (corpus, seeds), work / "edges"))
    edges = _last_number(r"\bcov: (\d+)", said)
    return replace(outcome, coverage=_python_lines(name, edges, corpus, seeds))


def _python_lines(name: str, edges: int, *folders: Path) -> Coverage:
    command = [sys.executable, "-m", "fuzz.lines", name, *map(str, folders)]
    ran = subprocess.run(command, cwd=rust.ROOT, capture_output=True, check=True)
    found = json.loads(ran.stdout)
    return Coverage(edges, found["met"], found["lines"])


def _last_number(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def _line(outcome: Outcome) -> str:
    said = f"{outcome.name}: {outcome.inputs:,} inputs, {outcome.kept:,} kept"
    if outcome.failure is not None:
        return f"{said}; FAILED on {outcome.failure}"
    found = outcome.coverage
    if found is None:
        return said
    return f"{said}, {found.edges:,} edges, {found.lines_met} of {found.lines} lines"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
