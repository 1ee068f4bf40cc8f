"""`ember run` of an application and of an ELF: its console, its end, wrong inputs."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import interrupts
import pytest

from ember import cli, paths

TALK = paths.root() / "examples" / "firmware" / "talk.c"
PROGRAM = """
#include <stdio.h>
int main(void) {
    int byte;
    puts("ready");
    fflush(stdout);
    while ((byte = getchar()) != EOF) {
        putchar(byte == 'a' ? 'A' : byte);
        fflush(stdout);
    }
    return 7;
}
"""


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program for the host that somebody else compiled."""
    compiled = tmp_path / "program.elf"
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["cc", "-o", compiled, tmp_path / "program.c"], check=True)
    return compiled


def started(*words: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ember", "run", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        preexec_fn=interrupts.heeded,  # noqa: PLW1509 - one thread
    )


def talk(*words: str | Path, said: str = "") -> tuple[int, str, str]:
    process = started(*words)
    out, error = process.communicate(said, timeout=100)
    return process.returncode, out, error


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert cli.main(["run", *map(str, words)]) in (1, 2)
    said = " ".join(capsys.readouterr().err.split())
    assert "bug in Ember" not in said
    return said


def test_an_application_hears_and_answers(data: Path) -> None:
    words: list[str | Path] = [data / "add.pte", "--app", TALK, "--board", "host"]
    said = "0 0 9\r\n-1 4.5 .25 1\n3\n"  # the last line without an empty one: the end
    answers = "numbers? 2\nnumbers? 1\nnumbers? 0\nnumbers? "
    assert talk(*words, said=said) == (0, answers, "")


def test_an_elf_hears_and_answers(program: Path) -> None:
    result = talk(program, "--board", "host", said="banana\n")
    assert result == (7, "ready\nbAnAnA\n", "")


def test_json_leaves_the_standard_output_alone(program: Path) -> None:
    code, out, error = talk(program, "--board", "host", "--json", "-", said="x")
    facts = json.loads(out)
    assert (code, error) == (7, "ready\nx")
    assert (facts["board"], facts["status"]) == ("host", 7)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(program: Path, number: signal.Signals) -> None:
    process = started(program, "--board", "host")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (130, "ember run: interrupted\n")


def test_a_time_out(program: Path) -> None:
    process = started(program, "--board", "host", "--timeout", "1")
    begun = time.monotonic()
    assert process.wait(60) == 1
    assert time.monotonic() - begun < 30
    assert process.stderr is not None
    assert "was still running after 1 s" in process.stderr.read()


def test_a_killed_program(tmp_path: Path) -> None:
    (tmp_path / "abort.c").write_text("#include <stdlib.h>\nint main(void){abort();}")
    subprocess.run(["cc", "-o", "abort.elf", "abort.c"], check=True)
    code, _, error = talk("abort.elf", "--board", "host")
    assert code == 1
    assert "the program was killed by signal 6" in error


# ---- wrong inputs ------------------------------------------------------------------


def test_no_elf(capsys: pytest.CaptureFixture[str]) -> None:
    Path("text.elf").write_text("nothing")
    said = refused(capsys, "text.elf", "--board", "host")
    assert "text.elf is not a little-endian ELF file" in said
    said = refused(capsys, "none.elf", "--board", "host")
    assert "the firmware none.elf does not exist" in said


def test_an_elf_that_ends_early(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("half.elf").write_bytes(program.read_bytes()[:3000])
    said = refused(capsys, "half.elf", "--board", "host")
    assert "half.elf is a broken ELF file" in said


def test_another_architecture(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, program, "--board", "mps2-an386")
    assert f"{program} is for" in said
    assert "mps2-an386 has a core for 32-bit Arm" in said
    assert "hint: boards for it: host" in said


def test_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    Path("some.c").write_text("int some(void) { return 1; }")
    subprocess.run(["cc", "-c", "-o", "some.elf", "some.c"], check=True)
    said = refused(capsys, "some.elf", "--board", "host")
    assert "some.elf is an object, not a linked program" in said


def test_a_board_without_emulator(
    program: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([program], [data / "add.pte", "--app", TALK]):
        said = refused(capsys, *words, "--board", "nucleo-f446re")
        assert "no emulator runs nucleo-f446re" in said


def test_no_main(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("app.c").write_text(
        "static int main_loop;\nint start(void);\n"
        "int start(void) { return main_loop; }\n"
    )
    said = refused(capsys, data / "add.pte", "--app", "app.c", "--board", "host")
    assert "app.c has no main() hint: it starts in `int main(void)`" in said


def test_no_application(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, data / "add.pte", "--app", "no.c", "--board", "host")
    assert "the application no.c does not exist" in said
    said = refused(capsys, "--app", TALK, "--board", "host")
    assert "no model given" in said


def test_options_that_nothing_reads(
    program: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, program, "--board", "host", "--stack", "4096")
    assert "--stack is for models" in said
    shutil.copy(TALK, "app.c")
    words = ["--app", "app.c", "--board", "host", "--input", "1"]
    said = refused(capsys, data / "add.pte", *words)
    assert "--input is for Ember's main()" in said
    said = refused(capsys, program, "--app", "app.c", "--board", "host")
    assert "program.elf" in said
