"""Files that name machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab.errors import UsageError
from drivelab.runs.workers.cluster import read_cluster


def test_machines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    (tmp_path / "config").write_text("")
    file.write_text(
        'ssh_config = "config"\n[[host]]\nname = "lab@node1"\nthreads = 4\n'
        '[[host]]\nname = "node2:2222"\ndrivelab = "/opt/drive lab"\n'
    )
    first, second = read_cluster(file)
    assert (first.name, first.threads, first.place.user) == ("lab@node1", 4, "lab")
    assert (second.name, second.threads) == ("node2:2222", None)
    command = second.command()
    assert command[command.index("-F") + 1] == str(tmp_path / "config")
    assert "'/opt/drive lab' worker --stdio" in command[-1].replace("'\"'\"'", "'")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it names no machine: write [[host]]"),
        ("host = 5", "it names no machine"),
        ("[[host]]\nthreads = 2", "a [[host]] has no name"),
        ('[[host]]\nname = "a b"', "'a b' names no machine: write USER@HOST"),
        ('[[host]]\nname = "a"\nthreads = 0', "threads of a is 0; allowed: 1 to 1024"),
        ('[[host]]\nname = "a"\nthreds = 1', "no key 'threds'; did you mean threads?"),
        ('[[host]]\nname = "a"\n[[host]]\nname = "a"', "a is named twice"),
        ('[[host]]\nname = "a"\ndrivelab = ""', "it is the path of the command there"),
        ('ssh_config = "none"\n[[host]]\nname = "a"', "there is no such file"),
        ('hosts = 1\n[[host]]\nname = "a"', "no key 'hosts'"),
        ("[[host]", "is not TOML"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        read_cluster(file)
    assert said in str(error.value)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml"):
        read_cluster(tmp_path / "none.toml")
