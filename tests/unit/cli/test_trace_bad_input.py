"""Bad traces: one clear line each, and memory that does not grow with them."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from drivelab.cli import main as cli

# What the libraries take is about 70 MB; a trace may add buffers and tables, never its own size.
MOST_MIB = 250
MEASURED = """
import sys
from drivelab.cli.main import main
code = main(sys.argv[1:])
# What getrusage reports begins with the parent's.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(code, int(peak.split()[1]) // 1024)
"""
GOOD = "".join(f"0,{8 * index},4096,r,{index / 100}\n" for index in range(1000))
ACTIONS = {
    "info": [],
    "characterize": ["--window", "1s"],
    "convert": ["--to", "mqsim", "-o", "out"],
    "cut": ["--requests", "2000000000", "--to-format", "mqsim", "-o", "out"],
}


def bad_files(folder: Path) -> dict[str, tuple[bytes, str]]:
    packed = gzip.compress(GOOD.encode())
    return {
        "empty": (b"", "is empty"),
        "blank": (b"\n\n\n", "looks like none of the trace formats"),
        "nul": (
            GOOD.replace("0,80,", "0,8\0,").encode(),
            "line 11: the line holds a byte of value 0",
        ),
        "only-nul": (b"\0" * 5000, "looks like none of the trace formats"),
        "cut.gz": (packed[: len(packed) // 2], "the compressed file is cut off or damaged"),
        "damaged.gz": (packed[:300] + b"damaged" + packed[307:], "cut off or damaged"),
        "behind.gz": (packed + b"behind", "other bytes follow the gzip data"),
        "text": (b"no trace at all\n" * 50, "name it with --format"),
        "late": ((GOOD + "0,0,512,r,0\n" * 2).encode(), "widen --sort-window"),
        "huge": ((GOOD + f"0,{10**30},512,r,99\n").encode(), "larger than 64 bits"),
        "zero": ((GOOD + "0,0,0,r,99\n").encode(), "a read of 0 bytes"),
        "exabyte": ((GOOD + f"0,0,{10**18},r,99\n").encode(), "check the unit of sizes"),
        "centuries": ((GOOD + f"0,0,512,r,{10**10}\n").encode(), "check the unit of times"),
    }


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("name", bad_files(Path()))
def test_bad_files_are_one_line(capsys, tmp_path, monkeypatch, name: str, action: str) -> None:
    monkeypatch.chdir(tmp_path)
    content, words = bad_files(tmp_path)[name]
    Path(name).write_bytes(content)
    extra = ["--sort-window", "0"] if name == "late" else []
    assert cli.main(["trace", action, name, *ACTIONS[action], *extra]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err
    # Nothing is left of what was begun.
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["nul", "huge", "zero", "exabyte", "centuries"])
def test_bad_lines_are_skipped_and_counted(capsys, tmp_path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(bad_files(tmp_path)[name][0])
    assert cli.main(["trace", "info", str(path), "--on-bad", "skip"]) == 0
    out = capsys.readouterr().out
    assert "1 bad line skipped." in out
    assert "skipped (at line " in out


ODD = {
    "one request": "0,100,512,r,1.5\n",
    "one window": "0,100,512,r,1.5\n0,100,512,w,1.6\n",
    "all ties": "".join(f"0,{8 * index},4096,w,7\n" for index in range(500)),
    "a thousand devices": "".join(f"{index % 1000},0,512,r,{index}\n" for index in range(4000)),
    "far offsets": "".join(f"0,{10**12 + 8 * index},4096,r,{index}\n" for index in range(500)),
    "huge requests": "".join(f"0,0,{4 << 30},r,{index}\n" for index in range(20)),
    "years apart": "".join(f"0,0,512,r,{10**7 * index}\n" for index in range(20)),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_traces_are_characterized(capsys, tmp_path, monkeypatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd").write_text(ODD[name])
    words = ["trace", "characterize", "odd", "--out", "out", "--format", "spc"]
    assert cli.main(words) == 0
    assert capsys.readouterr().out.startswith("odd: ")
    assert (tmp_path / "out" / "report.html").exists()


def measured(folder: Path, *words: str) -> tuple[int, int, str]:
    """Run a command in a process of its own; its code, MiB at most, and its error."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "trace", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    code, mib = done.stdout.split()[-2:]
    return int(code), int(mib), done.stderr


def test_a_bomb_and_a_line_without_end_take_no_memory(tmp_path: Path) -> None:
    zeros = tmp_path / "zeros.gz"
    with gzip.open(zeros, "wb", 1) as file:
        file.write(GOOD.encode())
        for _ in range(400):
            file.write(b"\0" * 1_000_000)
    long_line = tmp_path / "long"
    long_line.write_text(GOOD + "0," + "1" * 100_000_000 + "\n" + GOOD[-100:])
    for name in ("zeros.gz", "long"):
        for extra in ([], ["--on-bad", "skip"]):
            code, mib, err = measured(tmp_path, "info", name, *extra)
            assert code == (0 if extra else 2), err
            assert mib < MOST_MIB
            if not extra:
                assert "line 1001" in err
                assert "--on-bad skip" in err


def test_a_long_trace_of_many_places_takes_no_memory(tmp_path: Path) -> None:
    # A million requests to different blocks of a thousand devices, in 10,000 windows.
    path = tmp_path / "many"
    with path.open("w") as file:
        file.writelines(
            f"{index % 1000},{index * 7919 % 2**31},{512 * (1 + index % 5000)},r,{index / 100}\n"
            for index in range(1_000_000)
        )
    words = ["characterize", "many", "--window", "1s", "--out", "out"]
    code, mib, err = measured(tmp_path, *words)
    assert code == 0, err
    assert mib < MOST_MIB


def test_too_many_windows_name_the_option(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("many").write_text("".join(f"0,0,512,r,{index}\n" for index in range(100_002)))
    assert cli.main(["trace", "characterize", "many", "--window", "1ms"]) == 2
    assert "use a longer --window" in capsys.readouterr().err
    assert cli.main(["trace", "characterize", "many", "--window", "0"]) == 2
    assert "--window is too short" in capsys.readouterr().err
