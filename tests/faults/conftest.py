"""File systems for these tests, made on loop files (root)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

IMAGE_BYTES = 3 * 2**30


@pytest.fixture(scope="session")
def ext4(
    require_tool: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Give the root of an ext4 file system of 3 GiB, which take room only as they are written."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount")
    folder = tmp_path_factory.mktemp("ext4")
    image, point = folder / "image", folder / "root"
    image.touch()
    os.truncate(image, IMAGE_BYTES)
    point.mkdir()
    subprocess.run([require_tool("mkfs.ext4"), "-q", "-F", image], check=True)
    words = [require_tool("mount"), "-o", "loop", image, point]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not permitted here")
    yield point
    subprocess.run([require_tool("umount"), point], check=True)


@pytest.fixture(scope="session")
def overlayfs(ext4: Path, require_tool: Callable[[str], Path]) -> Iterator[Path]:
    """Give the root of an overlay over that file system, as containers have it."""
    layers = {name: ext4 / f"overlay-{name}" for name in ("lower", "upper", "work", "root")}
    for layer in layers.values():
        layer.mkdir()
    options = f"lowerdir={layers['lower']},upperdir={layers['upper']},workdir={layers['work']}"
    words = [require_tool("mount"), "-t", "overlay", "overlay", "-o", options, layers["root"]]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        pytest.skip("overlays are not permitted here")
    yield layers["root"]
    subprocess.run([require_tool("umount"), layers["root"]], check=True)


@pytest.fixture(params=["ext4", "overlayfs"])
def loop_file_system(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give a folder on each of them in turn, which is gone when the test is over."""
    root: Path = request.getfixturevalue(request.param)
    folder = root / f"test-{os.urandom(4).hex()}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
