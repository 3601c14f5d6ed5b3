"""Your own firmware: built, checked, profiled and predicted; and what it may do wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from drivelab.cli.main import main
from drivelab.errors import UsageError
from drivelab.firmware.own import build_own, own_firmware

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "firmware"
SMALL = ("--geometry", "2x2x1x64x64", "--part", "1")
SCENARIO = """summary = "anywhere on a small drive"
requests = {requests}

[[stream]]
name = "mixed"
queue_depth = 8
write_ratio = {writes}
read_size_bytes = 16_384
write_size_bytes = 8_192
"""
DRIVE = """base = "lee2021-znand"
name = "small"

[geometry]
channels = 2
ways_per_channel = 2
dies_per_way = 1
blocks_per_plane = 64
pages_per_block = 64
user_capacity_bytes = 201_326_592

[collection]
reserve_blocks_per_plane = 4
stop_blocks_per_plane = 6

[buffer]
read_cache_bytes = 0

[firmware]
time = "learned:model.json"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, writes in (("reads", 0.0), ("mixed", 0.4), ("writes", 1.0)):
        Path(f"{name}.toml").write_text(SCENARIO.format(requests=2000, writes=writes))
    return tmp_path


def profile(firmware: Path, out: str, *workloads: str) -> int:
    names = workloads or ("mixed.toml",)
    words = ["firmware", "profile", *names, *SMALL, "--firmware", str(firmware), "--out", out]
    return main(words)


def changed(name: str, before: str, after: str) -> Path:
    text = (EXAMPLES / "hot_cold.c").read_text()
    assert text.count(before) == 1, before
    source = Path(f"{name}.c")
    source.write_text(text.replace(before, after))
    return source


def refusal(capsys: pytest.CaptureFixture[str], code: int, found: int) -> str:
    assert found == code
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


def test_examples_in_c_and_rust_are_profiled_and_do_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert profile(EXAMPLES / "hot_cold.c", "in-c") == 0
    assert main(["firmware", "build", str(EXAMPLES / "hot_cold.rs"), "--out", "built"]) == 0
    assert profile(Path("built"), "in-rust") == 0
    tables = []
    for run in ("in-c", "in-rust"):
        assert main(["runs", "export", run, "--csv", f"{run}.csv"]) == 0
        head, *rows = [line.split(",") for line in Path(f"{run}.csv").read_text().splitlines()]
        kept = [
            place
            for place, name in enumerate(head)
            if name.startswith("counted_") and not name.endswith("wall_ns")
        ]
        tables.append([[row[place] for place in kept] for row in [head, *rows]])
    assert tables[0] == tables[1]
    head, first, _ = tables[0]
    counted = dict(zip(head, map(int, first), strict=True))
    assert counted["counted_own_pages_moved"] == counted["counted_pages_moved"] > 0
    assert counted["counted_own_hot_writes"] > 0
    # One lock around all of it.
    assert counted["counted_lock_acquisitions"] >= counted["counted_own_map_lookups"]


def test_a_profile_is_evaluated_and_predicted_as_any(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = EXAMPLES / "hot_cold.c"
    assert profile(source, "run", "reads.toml", "mixed.toml", "writes.toml") == 0
    assert main(["firmware", "evaluate", "run", "--models", "linear"]) == 0
    assert main(["firmware", "train", "run", "--out", "model.json"]) == 0
    model = json.loads(Path("model.json").read_text())
    assert model["firmware"]["victim"] == "own"
    assert model["firmware"]["mapping"].startswith("own ")
    words = ["firmware", "predict", "model.json", "mixed.toml", "--part", "1"]
    capsys.readouterr()
    error = refusal(capsys, 2, main(words))
    assert "the model is of the firmware hot_cold, not of page-map: name its source" in error
    assert main([*words, "--firmware", str(source)]) == 0
    # A simulated drive that runs it takes its time from the model.
    Path("drive.toml").write_text(DRIVE)
    capsys.readouterr()
    asked = ["--read-size", "16k", "--read-random", "1", "--queue-depth", "1", "--requests", "200"]
    words_of_drive = ["simulate", "sim:drive.toml", *asked, "--firmware", str(source)]
    assert main([*words_of_drive, "--json"]) == 0
    (stream,) = json.loads(capsys.readouterr().out)["streams"]
    waited = stream["operations"]["read"]["latency_parts"]["firmware"]["latency_ns_mean"]
    cost = model["cost"]
    expected = {"command": 1, "read_page": 1, "copied_kib": 16, "flash_read": 1}
    assert waited == pytest.approx(
        sum(
            count * (cost[name]["cycles"] / 1.2 + cost[name]["memory_ns"])
            for name, count in expected.items()
        ),
        abs=1,
    )
    # A run goes on with the firmware that it began with.
    other = changed("hot_cold", "logical_pages / 2", "logical_pages / 3")
    assert "drive" in refusal(capsys, 2, profile(other, "run", "reads.toml", "mixed.toml"))
    error = refusal(capsys, 2, main([*words, "--firmware", str(other)]))
    assert "the source of hot_cold is not the one that the model was trained with" in error


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            ".page = page,\n        .logical = logical",
            ".page = page ^ 1,\n        .logical = logical",
            "breaks the firmware contract: the page does not hold that logical page",
        ),
        ("        f->counts[MOVES]++;\n", "", "tells 0 as pages_moved, and has emitted"),
        ("    f->erases[victim]++;\n", "", "tells 0 as erases of block "),
        (
            "    f->counts[LOOKUPS]++;\n    uint32_t page = f->map[logical];",
            "    *(volatile int *)0 = 1;\n    uint32_t page = f->map[logical];",
            "your firmware was ended by SIGSEGV, a wrong address: a debugger shows where (gdb",
        ),
        ("layout->reserve_blocks < 1", "layout->reserve_blocks < 100", "refuses to work on"),
    ],
)
def test_what_breaks_the_contract_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, said: str
) -> None:
    error = refusal(capsys, 1, profile(changed("broken", before, after), "run"))
    assert "the firmware broken failed under mixed.toml: " in error
    assert said in error


def test_every_end_of_a_program_has_a_line(folder: Path) -> None:
    sources = {
        "whole": EXAMPLES / "hot_cold.c",
        "endless": changed(
            "endless",
            "    f->counts[LOOKUPS]++;\n    uint32_t page = f->map[logical];",
            "    volatile char much[1 << 26]; much[0] = much[(1 << 26) - 1] = 1;\n"
            "    f->counts[LOOKUPS]++;\n    uint32_t page = f->map[logical];",
        ),
    }
    pages = np.zeros(2000, dtype=[("first", "<u8"), ("sectors", "<u4"), ("kind", "<u4")])
    pages["sectors"] = 32
    Path("list").write_bytes(pages.tobytes())
    ended = {}
    for name, source in sources.items():
        assert main(["firmware", "build", str(source), "--out", name]) == 0
    for name, way in (("whole", []), ("endless", []), ("endless", ["--threads"])):
        program = f"{name}/drivelab-firmware-x86_64"
        words = [program, "--requests", "list", "--geometry", "2x2x1x64x64", "--records", "-", *way]
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as run:
            assert run.stdout is not None
            run.stdout.close()
            assert run.stderr is not None
            ended[name, *way] = run.stderr.read(), run.wait()
    # Nobody reads its records; its stack is too small for it.
    message = "drivelab-firmware: standard output: Broken pipe (os error 32)\n"
    assert ended.pop(("whole",)) == (message, 2)
    # A worker's thread has a stack of its own.
    message = "drivelab-firmware: your firmware was ended by SIGSEGV, a wrong address"
    for said, code in ended.values():
        assert said.startswith(message)
        assert (said.count("\n"), code) == (1, -signal.SIGSEGV)


def test_what_does_not_compile_is_reported_in_the_compilers_words(folder: Path) -> None:
    for source, text, said in (
        ("a.c", "int x = ;\n", "a.c does not compile for x86_64: a.c:1:9: error: expected"),
        ("b.rs", "fn f() { 1 }\n", r"b.rs does not compile for x86_64: error.*b.rs:1:"),
        (
            "c.c",
            '#include "drivelab_firmware.h"\nuint32_t drivelab_firmware_version(void){return 3;}',
            "c.c has no function drivelab_firmware_create: define it as drivelab_firmware.h says",
        ),
    ):
        Path(source).write_text(text)
        with pytest.raises(UsageError, match=said):
            build_own(Path(source), folder)


@pytest.mark.parametrize(
    ("name", "include"), [("mine.c", '#include "policy.h"\n'), ("mine.rs", "")]
)
def test_what_a_source_includes_is_part_of_it(folder: Path, name: str, include: str) -> None:
    """A run goes on with the same firmware alone, whichever of its files changed."""
    source, beside = folder / name, folder / ("policy.h" if include else "policy.rs")
    text = (EXAMPLES / f"hot_cold{source.suffix}").read_text()
    # At the end: what stands at the head of a file of Rust belongs to all of it.
    source.write_text(include + text if include else text + "\nmod policy;\n")
    beside.write_text("// one\n")
    first = build_own(source, folder).source_sha256
    assert build_own(source, folder).source_sha256 == first
    beside.write_text("// other\n")
    assert build_own(source, folder).source_sha256 != first


def test_what_is_no_firmware_is_refused(folder: Path) -> None:
    Path("mine.py").write_text("")
    Path("empty").mkdir()
    for path, said in (
        ("none.c", "there is no firmware none.c"),
        ("mine.py", r"name a source that ends in .c or .rs, or a folder that `drivelab firmware"),
        ("empty", "empty contains no firmware: name a source, or a folder"),
    ):
        with pytest.raises(UsageError, match=said):
            own_firmware(Path(path), folder)


def test_a_missing_compiler_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = folder / "bin"
    tools.mkdir()
    for name in ("cc", "gcc", "as", "ld"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))
    source = EXAMPLES / "hot_cold.c"
    with pytest.raises(
        UsageError, match=r"no C compiler for aarch64 \(aarch64-linux-gnu-gcc\): apt"
    ):
        build_own(source, folder)
    with pytest.raises(UsageError, match=r"there is no rustc: get it from https://rustup.rs"):
        build_own(source.with_suffix(".rs"), folder)
    with pytest.raises(UsageError, match=r"nothing to link .* for x86_64: run `make firmware`"):
        build_own(source, folder, folder)


def test_a_program_without_marks_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["firmware", "build", str(EXAMPLES / "page_map.c"), "--out", "built"]) == 0
    Path("mute.c").write_text("int main(void) { return 0; }\n")
    for processor, compiler in (("x86_64", "cc"), ("aarch64", "aarch64-linux-gnu-gcc")):
        out = f"built/drivelab-firmware-{processor}"
        subprocess.run([compiler, "-static", "mute.c", "-o", out], check=True)
    capsys.readouterr()
    assert "has no function drivelab_mark" in refusal(capsys, 1, profile(Path("built"), "run"))


def test_programs_take_no_other_folder_s_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("dear")
    words = ["firmware", "build", str(EXAMPLES / "page_map.c"), "--out", "mine"]
    assert "mine contains no firmware" in refusal(capsys, 2, main(words))
    assert [each.name for each in Path("mine").iterdir()] == ["letter.txt"]


def test_a_build_that_fails_leaves_what_was_there(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("wrong.c").write_text("int x = ;\n")
    before = sorted(folder.iterdir())
    words = ["firmware", "build", "wrong.c", "--out", "deep/mine"]
    assert "wrong.c does not compile" in refusal(capsys, 2, main(words))
    assert sorted(folder.iterdir()) == before
    words[2:] = [str(EXAMPLES / "page_map.c"), "--out", "deep/mine"]
    assert main(words) == 0
    whole = {each.name: each.read_bytes() for each in Path("deep/mine").iterdir()}
    assert Path("deep/mine").stat().st_mode & 0o777 == 0o777 & ~_umask()
    # The second processor's compiler is missing: the first's program is not taken over alone.
    tools = folder / "bin"
    tools.mkdir()
    for name in ("cc", "as", "ld"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tools))
    capsys.readouterr()
    words[2] = str(EXAMPLES / "hot_cold.c")
    assert "no C compiler for aarch64" in refusal(capsys, 2, main(words))
    assert {each.name: each.read_bytes() for each in Path("deep/mine").iterdir()} == whole
    assert [each.name for each in Path("deep").iterdir()] == ["mine"]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
