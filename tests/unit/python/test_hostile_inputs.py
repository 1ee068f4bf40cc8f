"""Every command with what it does not expect: one sentence, no traceback, no wait.

Exit statuses are those of cli.py; what a command may do with it is not tested here.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ember import cli

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[2])}

# Where a command takes a file; the rest is right.
MODELS = [
    ["inspect", "FILE"],
    ["select", "FILE"],
    ["plan", "FILE", "--board", "mps2-an386"],
    ["build", "FILE", "--board", "host", "--out", "o"],
    ["run", "FILE", "--board", "host"],
    ["profile", "FILE", "--board", "host"],
    ["pack", "FILE", "--board", "host", "-o", "o"],
    ["package", "FILE", "--board", "mps2-an386", "-o", "o"],
    ["new", "o", "--model", "FILE"],
    ["test", "FILE", "--board", "host"],
    ["flash", "FILE", "--board", "mps2-an386", "--dry-run"],
]
OTHERS = [
    ["plan", "MODEL", "--board", "mps2-an386", "--project", "FILE"],
    ["select", "MODEL", "--project", "FILE"],
    ["select", "MODEL", "--ops-yaml", "FILE"],
    ["select", "MODEL", "--kernels", "FILE"],
    ["boards", "FILE.yaml"],
    ["build", "MODEL", "--board", "host", "--out", "o", "--budget", "FILE"],
    ["build", "MODEL", "--board", "host", "--out", "o", "--data", "FILE"],
    ["run", "MODEL", "--board", "host", "--input", "FILE.npy"],
    ["bindings", "--selected", "FILE", "--board", "host", "-o", "o"],
    ["compare", "FILE", "FILE"],
    ["test", "FILE.bpte", "--board", "host"],
]


def _nothing(_: Path) -> None:
    """It does not exist."""


def _empty(path: Path) -> None:
    path.touch()


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 40)


def _deep(path: Path) -> None:
    path.write_text("[" * 50_000)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _text(path: Path) -> None:
    path.write_text("a: 1\nb: [2020-99-99]\n")


KINDS: list[Callable[[Path], None]] = [
    *(_nothing, _empty, _folder, _pipe, _loop, _dangling, _noise, _deep, _device),
    _text,
]


@pytest.mark.parametrize("words", [*MODELS, *OTHERS], ids=" ".join)
def test_files(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data: Path,
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for make in KINDS:
        if make is _empty and {"--project", "--budget"} & set(words):
            continue  # it says nothing, which is allowed
        name = make.__name__
        given = [
            word.replace("FILE", name).replace("MODEL", str(data / "add.pte"))
            for word in words
        ]
        for path in {word for word in given if word.startswith(name)}:
            make(tmp_path / path)
        status = cli.main(given)
        told = capsys.readouterr()
        said = told.err or told.out  # of a case of `ember test`
        assert status in (1, 2), (given, status)
        assert said.startswith((f"ember {words[0]}: ", "error  host ")), said
        assert "bug in Ember" not in said, said
    left = {path.name for path in tmp_path.glob("o/*")}
    assert not left, left


@pytest.mark.parametrize(
    "words",
    [
        ["build", "MODEL", "--board", "host", "--stack", "99999999999999999999"],
        ["build", "MODEL", "--board", "mps2-an386", "--stack", str(2**62)],
        ["build", "MODEL", "--board", "\ud800"],
        ["build", "MODEL", "--board", "../x"],
        ["build", "MODEL", "--board", ""],
        ["build", "MODEL", "--board", "host", "--out", "MODEL"],
        ["build", "MODEL", "--board", "host", "--method", "\ud800"],
        ["build", "MODEL", "--board", "host", "--app", "/dev/zero"],
        ["build", "MODEL", "--board", "host", "--app", "."],
        ["build", "MODEL", "--board", "host", "--json", "."],
        ["run", "MODEL", "--board", "host", "--input", "[" * 9999],
        ["run", "MODEL", "--board", "host", "--input", "9" * 9999],
        ["run", "MODEL", "--board", "host", "--timeout", "nan"],
        ["run", "MODEL", "--board", "host", "--input", "1e999", "--input", "1"],
        ["test", "/dev", "--board", "host", "-k", "nothing"],
        ["test", "CASE", "--board", "host", "-k", "(" * 9999],
        ["test", "CASE", "--board", "host", "-k", "not " * 9999],
        ["test", "CASE", "--board", "host", "--poison", "9" * 9999],
        ["test", "CASE", "--board", "host", "--port", "socket://[::1"],
        ["test", "CASE", "--board", "host", "--port", "socket://x:99999"],
        ["test", "CASE", "--board", "host", "--port", "spy://"],
        ["test", "CASE", "--board", "host", "--port", "."],
        ["test", "CASE", "--board", "host", "--junit", "."],
        ["inspect", "MODEL", "--json", "a\0b"],
        ["inspect", "a\0b"],
        ["select", "--ops", "\ud800"],
        ["new", "MODEL"],
        ["new", "MODEL/x"],
        ["new", "o", "--template", "x"],
        ["package", "MODEL", "--board", "mps2-an386", "-o", "MODEL"],
        ["pack", "MODEL", "--board", "host", "-o", "/proc/x"],
        ["platformio", "/proc/x"],
        ["platformio", "MODEL"],
        ["cmake-dir", "x"],
        ["compare", ".", "."],
        ["flash", "MODEL", "--board", "host", "--dry-run"],
        ["nothing"],
        ["\ud800"],
        ["-"],
    ],
    ids=lambda words: ascii(" ".join(words))[:60],
)
def test_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data: Path,
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.pte").write_bytes((data / "add.pte").read_bytes())
    (tmp_path / "case.bpte").write_bytes((data / "bundle.bpte").read_bytes())
    given = [
        w.replace("MODEL", "model.pte").replace("CASE", "case.bpte") for w in words
    ]
    status = cli.main(given)
    said = capsys.readouterr().err
    assert status in (1, 2), said
    assert "bug in Ember" not in said, said
    # On a machine where nothing is compiled yet, progress is told before the error.
    assert any(line.startswith("ember") for line in said.splitlines()), said


# ---- surroundings --------------------------------------------------------------------


def ember(
    words: list[str], cwd: Path, **more: object
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ember", *words]
    done: subprocess.CompletedProcess[str] = subprocess.run(  # type: ignore[call-overload]
        command,
        cwd=cwd,
        text=True,
        timeout=100,
        check=False,
        errors="surrogateescape",
        **{"env": ENVIRONMENT, "capture_output": True, **more},
    )
    return done


@pytest.mark.slow
def test_a_folder_that_is_gone(tmp_path: Path, data: Path) -> None:
    script = f"rmdir {tmp_path}/x; exec {sys.executable} -m ember"
    (tmp_path / "x").mkdir()
    words = f"plan {data / 'add.pte'} --board host"
    done = ember([], tmp_path / "x", capture_output=True) and subprocess.run(
        ["sh", "-c", f"{script} {words}"],
        cwd=tmp_path / "x",
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "bug" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_streams_that_are_closed_or_full(tmp_path: Path, data: Path) -> None:
    model = data / "add.pte"
    ember_ = f"{sys.executable} -m ember"
    for script, status in (
        (f"{ember_} inspect {model} >&-", 0),
        (f"{ember_} inspect {model} >&- 2>&- <&-", 0),
        (f"{ember_} inspect {model} > /dev/full", 1),
        (f"{ember_} inspect {model} --json - > /dev/full", 1),
        (f"{ember_} inspect {model} --json - | head -c 1", 0),
    ):
        done = subprocess.run(
            ["sh", "-c", script],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, (script, done.stderr)
        assert "bug" not in done.stderr
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"COLUMNS": "20"},
        {"COLUMNS": "1", "TERM": "dumb", "NO_COLOR": "1"},
        {"HOME": "/nowhere"},
        {"HOME": None, "XDG_CACHE_HOME": None},
        {"TERM": None, "LANG": None},
        {"TMPDIR": "/nowhere"},
    ],
    ids=str,
)
def test_environments(
    tmp_path: Path, data: Path, change: dict[str, str | None]
) -> None:
    environment = {**ENVIRONMENT, **change}
    env = {key: value for key, value in environment.items() if value is not None}
    lines = (["inspect", str(data / "add.pte")], ["boards"], ["--help"])
    text = f"from ember import cli\nprint([cli.main(words) for words in {lines}])"
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "[0, 0, 0]"


@pytest.mark.slow
def test_names_that_are_no_text(tmp_path: Path, data: Path) -> None:
    """Latin-1, quotes, dollars, newlines: in names of models, folders and reports."""
    name = os.fsdecode(b"m\xe4 \xff o'd$e\"l\n")
    (tmp_path / f"{name}.pte").write_bytes((data / "add.pte").read_bytes())
    (tmp_path / f"{name}.bpte").write_bytes((data / "bundle.bpte").read_bytes())
    for words in (
        ["inspect", f"{name}.pte", "--json", f"{name}.json"],
        ["inspect", f"{name}.pte", "--json", "-"],
        ["plan", f"{name}.pte", "--board", "mps2-an386", "--html", f"{name}.html"],
        ["select", f"{name}.pte", "-o", f"{name}.yaml"],
        ["test", f"{name}.bpte", "--board", "host", "--junit", f"{name}.xml"],
        ["build", f"{name}.pte", "--board", "mps2-an386", "--out", f"o{name}"],
        ["run", f"{name}.pte", "--board", "host"],
        ["package", f"{name}.pte", "--board", "mps2-an386", "-o", f"p{name}"],
        ["new", f"n{name}", "--model", f"{name}.pte"],
    ):
        done = ember(words, tmp_path)
        assert done.returncode == 0, (words, done.stderr)
        for word in words[3:]:
            if name in word:
                assert (tmp_path / word).exists(), words


@pytest.mark.slow
def test_too_few_files_may_be_open(tmp_path: Path, data: Path) -> None:
    done = ember(
        ["plan", str(data / "add.pte"), "--board", "mps2-an386"],
        tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9)),
    )
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write all")
def test_permissions(tmp_path: Path, data: Path) -> None:
    (tmp_path / "model.pte").write_bytes((data / "add.pte").read_bytes())
    (tmp_path / "model.pte").chmod(0)
    tmp_path.chmod(0o500)
    for words in (
        ["inspect", "model.pte"],
        ["build", str(data / "add.pte"), "--board", "host"],
        ["inspect", str(data / "add.pte"), "--json", "a.json"],
        ["new", "o"],
    ):
        done = ember(words, tmp_path)
        assert done.returncode == 1
        assert "ermission" in done.stderr
        assert "bug" not in done.stderr


@pytest.mark.slow
def test_a_firmware_that_is_damaged(tmp_path: Path, data: Path) -> None:
    """Any bytes of it: what is to be flashed, or one sentence."""
    from ember.errors import SdkError
    from ember.firmware import build
    from ember.toolchain import elf, image

    whole = build(data / "add.pte", "mps2-an386", out=tmp_path / "o").firmware
    right = whole.read_bytes()
    chance = random.Random(3)
    path = tmp_path / "firmware.elf"
    refused = 0
    for _ in range(200):
        damaged = bytearray(right)
        for _ in range(chance.choice([1, 3, 20])):
            at = chance.choice(
                [chance.randrange(180), chance.randrange(len(damaged) - 4)]
            )
            damaged[at : at + 4] = chance.choice([b"\xff" * 4, bytes(4), b"\1\2\3\4"])
        end = chance.choice(
            [len(damaged), len(damaged), chance.randrange(len(damaged))]
        )
        path.write_bytes(b"\x7fELF" + damaged[4:end])
        try:
            elf.read(path)
            image.segments(path)
        except SdkError:
            refused += 1
    assert 20 < refused < 200
