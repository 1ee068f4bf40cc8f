"""Board files of a user, and what is said when they are loaded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ember import boards, paths
from ember.errors import SdkError

CHIPS = sorted(path.stem for path in (paths.boards() / "chips").glob("*.yaml"))
CORES = sorted(path.stem for path in (paths.boards() / "cores").glob("*.yaml"))
H7 = boards.load("nucleo-h743zi2")
FLASH = {"name": "flash", "base": 0x60002000, "size": "2M", "access": "rx"}
FLASH |= {"kind": "flash", "holds": ["vectors", "code", "rodata", "weights"]}
FLASH |= {"flash": {"sectors": "4K", "write": 256}}
DTCM = {"name": "dtcm", "base": 0x20000000, "size": "128K", "access": "rw"}
DTCM |= {"kind": "tcm", "holds": ["stack", "data", "planned", "temp", "method", "io"]}
MEMORIES = [FLASH, DTCM]
WHOLE = {"title": "a board", "memories": MEMORIES, "verified": "nobody"}


def write(folder: Path, stem: str, **keys: Any) -> Path:
    path = folder / f"{stem}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(keys, sort_keys=False))
    return path


def mine(folder: Path, **keys: Any) -> Path:
    return write(folder, "mine", **{"name": "mine", **keys})


def like_h7(folder: Path, **keys: Any) -> Path:
    return mine(folder, like="nucleo-h743zi2", **keys)


def refused(path: Path) -> str:
    with pytest.raises(SdkError) as error:
        boards.read(path)
    return f"{error.value.what}\n{error.value.hint}"


def loader(capsys: pytest.CaptureFixture[str]) -> Callable[[Path], str]:
    """Loads a board, and returns what is said."""

    def load(path: Path) -> str:
        boards.load.cache_clear()
        capsys.readouterr()
        boards.load(str(path))
        return capsys.readouterr().err

    return load
