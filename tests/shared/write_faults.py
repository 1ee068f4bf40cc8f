"""A command of Ember, again and again: each time another of its writes fails.

    LD_PRELOAD=write_faults.so python write_faults.py FOLDER FAULT STEP WORD...

FAULT is a name of FAULTS. The command runs in FOLDER/work; temporary files are in
FOLDER/tmp; its cache is FOLDER/cache, in which links lead to what takes long to make.
Prints how many writes there are, and what was wrong, as JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
# What takes long to make, and is made by compilers.
SHARED = ("libraries", "resolve", "runners", "plugin", "hexagon-runtime")
# An error number, and whether a write before it writes a half.
FAULTS = {
    "full": (errno.ENOSPC, False),
    "full after a half": (errno.ENOSPC, True),
    "broken": (errno.EIO, False),
}
Tree = dict[str, bytes]
# `ember plan` says so, and what it knows without it; `ember test`, which case it was.
INCOMPLETE = re.compile(r"^(incomplete|error  .+): cannot write", re.MULTILINE)
SENTENCE = re.compile(rf"^ember \w+: cannot write|{INCOMPLETE.pattern}", re.MULTILINE)
# What differs from run to run: times, keys.
VARIES = {
    ".h": re.compile(rb"(\bid is |\b0x)[0-9a-f]+"),
    ".json": re.compile(rb'("(?:\w*_)?(?:seconds|s)":) [0-9.e-]+'),
    ".xml": re.compile(rb'( time=)"[0-9.]+"'),
    ".pem": re.compile(rb"(-----BEGIN PRIVATE KEY-----\n)[\w+/=\n]+(?=-----END)"),
}


@dataclass(frozen=True)
class Found:
    writes: int
    problems: list[str]


def library(folder: Path) -> Path:
    path = folder / "write_faults.so"
    words = ["cc", "-std=c11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden"]
    subprocess.run([*words, SOURCE, "-o", path, "-ldl"], check=True)
    return path


def faults(
    folder: Path,
    words: Sequence[str],
    fault: str,
    step: int,
    cache: Path,
) -> Found:
    """What is wrong when writes fail below `folder`, whose part `work` is there.

    step -- 1: each of them; 2: each second one ...
    """
    (folder / "cache").mkdir()
    (folder / "tmp").mkdir()
    for name in SHARED:
        (cache / name).mkdir(exist_ok=True)
        (folder / "cache" / name).symlink_to(cache / name)
    environment = os.environ | {
        "LD_PRELOAD": str(library(folder.parent)),
        "EMBER_CACHE": str(folder / "cache"),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, __file__, str(folder), fault, str(step), *words]
    said = subprocess.run(
        command, check=False, env=environment, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    return Found(**json.loads(said.stdout))


# ---- the process with faults -------------------------------------------------------


def tree(folder: Path) -> Tree:
    """Every file below; what differs from run to run counts as 0."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): content(path) for path in files}


def content(path: Path) -> bytes:
    if path.suffix == ".sqlite":
        return stored(path)
    if path.suffix == ".etrecord" and zipfile.is_zipfile(path):
        return archived(path)
    text = path.read_bytes()
    varies = VARIES.get(path.suffix)
    return varies.sub(rb"\1 0", text) if varies else text


def stored(path: Path) -> bytes:
    """What the results of a sweep say."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.row_factory = sqlite3.Row
        tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        named = sorted(table["name"] for table in tables)
        rows = [
            (name, key, row[key])
            for name in named
            for row in base.execute(f"SELECT * FROM {name}")
            for key in row.keys()  # noqa: SIM118 - a row's iterator gives values
            if key not in ("began", "ended", "seconds", "worker")
        ]
    return repr(rows).encode()


def archived(path: Path) -> bytes:
    """What an archive has, all of it readable; PyTorch numbers graphs by chance."""
    with zipfile.ZipFile(path) as archive:
        parts = [(name, len(archive.read(name))) for name in archive.namelist()]
    return repr(parts).encode()


def restore(folder: Path, kept: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(kept, folder, symlinks=True)


class Runner:
    def __init__(self, folder: Path, words: list[str], fault: str) -> None:
        self.folder, self.words = folder, words
        self.error, self.half = FAULTS[fault]
        self.shim = ctypes.CDLL(None)
        self.log = folder.parent / "said.txt"

    def run(self, at: int) -> tuple[int, int, str]:
        """The exit status, the writes, and what was said; write `at` fails."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            self._child(at, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            writes = int(pipe.read() or b"-1")
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return code, writes, self.log.read_text(errors="replace")

    def _child(self, at: int, writer: int) -> None:
        from ember import cli

        code = 70
        try:
            log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.chdir(self.folder / "work")
            where = str(self.folder).encode()
            self.shim.faults_arm(where, at, self.error, self.half)
            code = cli.main(self.words)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(writer, str(self.shim.faults_calls()).encode())
            os._exit(code)


def sentences(said: str) -> str:
    lines = [
        line for line in said.splitlines() if line.startswith(("ember ", "  hint"))
    ]
    return " / ".join(lines) or said[-300:]


def is_whole(name: str, text: bytes) -> bool:
    """Whether a report is one from its start to its end, whatever it says."""
    if name.endswith(".html"):
        return text.startswith(b"<!doctype html>") and text.endswith(b"</html>\n")
    if name.endswith(".md"):
        return text.endswith(b"\n")
    with contextlib.suppress(ValueError):
        json.loads(text)
        return name.endswith(".json")
    return False


def problems_of(
    before: Tree, after: Tree, now: Tree, code: int, said: str
) -> list[str]:
    problems = []
    if "Traceback" in said or code not in (0, 1, 2):
        problems.append(f"ended with {code}: {said[-2000:]}")
    elif code != 0 and not SENTENCE.search(said):
        problems.append(f"ended with {code} and said nothing of it: {sentences(said)}")
    if code == 0 and now != after:
        problems.append("ended with 0, but not all was written")
    names = [
        name
        for name, content in now.items()
        if content not in (before.get(name), after.get(name))
        and not name.endswith(".sqlite")  # transactions that the next run goes on from
        and not (INCOMPLETE.search(said) and is_whole(name, content))
    ]
    if names:
        problems.append(f"left {', '.join(names)}")
    if any(now.get(name) is None for name in before if name in after):
        problems.append("what was there before is gone")
    return problems


def main(folder: Path, fault: str, step: int, words: list[str]) -> Found:
    import ember.cli  # noqa: F401 - once, for all children

    work = folder / "work"
    kept = folder / "kept"
    shutil.copytree(work, kept, symlinks=True)
    before, cached = tree(work), folder / "cache"
    linked = [path for path in cached.iterdir() if path.is_symlink()]
    links = {path.name: path.readlink() for path in linked}
    runner = Runner(folder, words, fault)

    def clean() -> None:
        restore(work, kept)
        shutil.rmtree(folder / "tmp")
        (folder / "tmp").mkdir()
        shutil.rmtree(cached)
        cached.mkdir()
        for name, target in links.items():
            (cached / name).symlink_to(target)

    code, _, said = runner.run(-1)  # makes what is shared
    assert code == 0, said
    clean()
    code, writes, said = runner.run(-1)
    after = tree(work)
    problems = []
    for at in range(0, writes, step):
        clean()
        code, _, said = runner.run(at)
        wrong = problems_of(before, after, tree(work), code, said)
        if any((folder / "tmp").iterdir()):
            wrong.append("left temporary files")
        if code != 0:
            code, _, said = runner.run(-1)
        if code != 0 or tree(work) != after:
            wrong.append(f"the next run ended with {code}: {sentences(said)}")
        problems += [f"write {at}: {text}" for text in wrong]
    return Found(writes, problems)


if __name__ == "__main__":
    place, kind, stride, *command = sys.argv[1:]
    result = main(Path(place), kind, int(stride), command)
    print(json.dumps(asdict(result)))
