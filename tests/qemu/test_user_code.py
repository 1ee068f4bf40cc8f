"""Code of a user, as vendors write it: what it is compiled with, and what it says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ember import cli, paths
from ember.firmware import Options, build
from ember.firmware import project as projects

ADD = paths.root() / "tests" / "unit" / "python" / "data" / "add.pte"
CUSTOM = paths.root() / "examples" / "custom_op"
M4 = "mps2-an386"
pytestmark = pytest.mark.qemu

MAIN = """\
#include "ember/model.h"
#include "ember/port.h"
#include "hex.h"
#include <vendor/hal.h>
static ember_program_t program;
static ember_method_t method;
static ember_error_t error;
void handler(void *context) {}
int main(void) {
    float x[4], pi = M_PI;
    for (int i = 0; i < 0b100; i++) x[i] = hex('a' + i) / 16.0f;
    if (ember_model_open(&program, &error) != EMBER_OK) return 1;
    if (ember_model_load(&method, &program, NULL, &error) != EMBER_OK) return 2;
    unsigned char small = 16 * x[1] + hal_speed(pi) + COUNT;
    return small;
}
"""
HEX = """\
#include "hex.h"
#include "../shared/offset.h"
int hex(char c) { int unused; return c - 'a' + OFFSET; }
"""
HAL = """\
#include <math.h>
static int hal_unused(int x) { int unused; return 0; }
static inline int hal_speed(int x) { char narrow = x * SPEED; return narrow; }
"""
PROJECT = """\
app:
  sources: [src]
  include: [hal]
  defines: [SPEED=2]
  flags: -include config.h
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {
        **{"src/main.c": MAIN, "src/hex.c": HEX, "src/hex.h": "int hex(char c);\n"},
        **{"hal/vendor/hal.h": HAL, "shared/offset.h": "#define OFFSET 10\n"},
        **{"config.h": "#define COUNT 20\n", "ember.yaml": PROJECT},
    }
    for name, text in texts.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def ember(*words: str | Path) -> int:
    return cli.main([str(word) for word in words])


def edited(name: str, before: str, after: str) -> None:
    text = Path(name).read_text()
    assert before in text
    Path(name).write_text(text.replace(before, after))


SUM = 11 + 6 + 20  # hex('b'), of SPEED, of config.h


@pytest.mark.parametrize(
    ("board", "prepared"),  # GCC, and clang
    [("host", False), *((b, p) for b in (M4, "mps3-an547") for p in (False, True))],
)
def test_code_of_vendors_builds_and_runs(
    board: str, prepared: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["run", ADD, "--board", board, *(["--prepared"] if prepared else ())]
    assert ember(*words) == SUM
    assert "warning" not in capfd.readouterr().err


def test_every_file_that_is_read_counts(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", ADD, "--board", "host")
    assert ember(*words) == SUM
    edited("shared/offset.h", "10", "11")  # included by a path
    assert ember(*words) == SUM + 1
    edited("hal/vendor/hal.h", "x * SPEED", "x * SPEED + 1")  # below a folder
    assert ember(*words) == SUM + 2
    edited("config.h", "20", "21")  # named by a flag
    assert ember(*words) == SUM + 3
    edited("ember.yaml", "SPEED=2", "SPEED=3")
    assert ember(*words) == SUM + 6
    edited("ember.yaml", "[SPEED=3]", "{SPEED: 4}")
    assert ember(*words) == SUM + 9


def test_warnings_are_those_that_the_user_asks_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    edited("ember.yaml", "config.h", "config.h -Wall -Wextra")
    assert ember("build", ADD, "--board", M4) == 0
    said = capsys.readouterr().err
    assert "hex.c:3:" in said
    assert "unused variable 'unused'" in said
    assert "main.c:8:" in said
    assert "hal.h" not in said  # a header of the system
    assert said.count("unused parameter 'context'") == 1  # though compiled again
    edited("ember.yaml", "-Wextra", "-Werror")
    assert ember("build", ADD, "--board", M4) == 1
    said = capsys.readouterr().err
    assert "src/hex.c" in said
    assert "[-Werror=unused-variable]" in said


def test_the_command_line_names_files_and_folders() -> None:
    shutil.move("src/hex.c", "shared/hex.c")
    edited("shared/hex.c", "../shared/", "")
    edited("shared/hex.c", "hex.h", "../src/hex.h")
    words = ("run", ADD, "--board", "host")
    assert ember(*words, "--app", "src/main.c", "--app", "shared/hex.c") == SUM
    assert ember(*words, "--app", "shared", "--app", "src/../src") == SUM
    again = ("--app", "src/main.c", "--app", "src/../src/main.c")  # linked once
    assert ember(*words, "--app", "shared", *again) == SUM


def test_the_stack_is_bounded_across_files(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("build", ADD, "--board", M4)
    assert ember(*words, "--json", "report.json") == 0
    stack = json.loads(Path("report.json").read_text())["certificate"]["stack"]
    more = "volatile char b[3000]; b[0] = c; return b[0] + c"
    edited("src/hex.c", "return c", more)
    assert ember(*words, "--json", "report.json") == 0
    deeper = json.loads(Path("report.json").read_text())["certificate"]["stack"]
    assert "hex" in [step["function"] for step in deeper["path"]]
    assert 3000 < deeper["calls"] != stack["calls"]
    capsys.readouterr()
    assert ember(*words, "--app", "src/main.c") == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "calls 'hex', which is not defined" in said
    assert "add the file that defines it: --app takes several" in said


def test_what_the_firmware_is_made_of() -> None:
    words = ("build", ADD, "--board", M4, "--sbom", "bom.json", "--json", "report.json")
    assert ember(*words) == 0
    libraries = json.loads(Path("report.json").read_text())["footprint"]["libraries"]
    assert libraries["application"]["code"] > 0
    assert "own kernels" not in libraries
    bill = Path("bom.json").read_text()
    for name in ("main.c", "hex.c", "hex.h", "hal.h", "offset.h"):
        assert f'{name}"' in bill, name


def test_commands_that_have_a_main_of_ember(
    capsys: pytest.CaptureFixture[str],
) -> None:
    board = ("--board", M4)
    assert ember("run", ADD, *board, "--budget", "1000000") == 0
    assert "instructions" in capsys.readouterr().out
    assert ember("profile", ADD, *board) == 0
    assert ember("test", CUSTOM, *board, "--kernels", CUSTOM / "kernels") == 0
    assert ember("package", ADD, *board, "--for", "sources", "-o", "packed") == 0
    assert not list(Path("packed").rglob("hex.c"))
    assert ember("build", ADD, *board, "--out", "made") == 0
    assert ember("run", "made/5-firmware/firmware.elf", *board) == SUM
    assert ember("plan", ADD, *board) == 0
    capsys.readouterr()
    for option in (["--cycles"], ["--budget", "9"], ["--input", "x.npy"]):
        assert ember("run", ADD, *board, "--app", "src", *option) == 2
        said = capsys.readouterr().err
        assert f"{option[0]} is for Ember's main(), which --app replaces" in said


def test_kernels_of_a_user_have_warnings_of_theirs() -> None:
    shutil.copytree(CUSTOM / "kernels", "kernels")
    text = Path("kernels/mul3.c").read_text()
    loose = "static int loose(float x) { int unused; char c = x; return c; }\n"
    Path("kernels/mul3.c").write_text(f"{text}{loose}")
    words = ("--board", "host", "--kernels", "kernels")
    assert ember("test", CUSTOM, *words) == 0


def test_assembly_and_a_path_of_an_application() -> None:
    Path("src/start.s").write_text(
        "  .global speed\n  .thumb_func\nspeed:\n  mov r0, #7\n  bx lr\n"
    )
    Path("src/more.S").write_text("#define R r0\n  .global two\ntwo:\n  mov R, #2\n")
    edited("src/main.c", "return small", "extern int speed(void); return speed()")
    for board in (M4, "mps3-an547"):
        assert ember("run", ADD, "--board", board, "--stack", "4096") == 7
    options = Options(app=Path("main.c").absolute())
    shutil.copy(paths.root() / "examples" / "firmware" / "once.c", "main.c")
    assert build(ADD, "host", options=options).firmware.is_file()


# ---- what must fail ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("app", "said"),
    [
        ("none.c", "app.sources: the application"),
        ("hal", "has no C sources"),
        ("src/hex.h", "src/hex.h is not a source: .c, .S, .s"),
        ("3", "app.sources: it must be a list of strings"),
        ("[]", "app: it must have `sources`"),
        ("{include: [hal]}", "app: it must have `sources`"),
        ("{source: src}", "app: unknown key source: did you mean sources?"),
        ("{sources: src, include: [config.h]}", "config.h is not a folder"),
        (
            "{sources: src, defines: [2x]}",
            "app.defines: '2x' is not NAME or NAME=VALUE",
        ),
        ("{sources: src, defines: 3}", "app.defines: it must be a list of strings"),
        ("{sources: src, include: no}", "app.include: it must be a list of strings"),
        ("{sources: src, flags: {a: b}}", "app.flags: it must be a list of strings"),
    ],
)
def test_a_wrong_project(
    app: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("ember.yaml").write_text(f"app: {app}\n")
    assert ember("build", ADD, "--board", "host") == 1
    assert said in " ".join(capsys.readouterr().err.split())
    assert not Path("build").exists()


def test_problems_of_an_application_come_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("ember.yaml").write_text("app: {sources: no.c, include: [nowhere], flag: x}\n")
    assert ember("build", ADD, "--board", "host") == 1
    assert "ember.yaml is wrong: 3 problems" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("app", "said"),
    [
        (["none.c"], "the application none.c does not exist"),
        (["hal"], "the application hal has no C sources"),
        (["config.h"], "the application config.h is not a source"),
        (["src/hex.c"], "src/hex.c has no main()"),
        (["src", "copy.c"], "multiple definition of `main'"),
    ],
)
def test_wrong_files_of_the_command_line(
    app: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy("src/main.c", "copy.c")
    edited("copy.c", '"hex.h"', '"src/hex.h"')
    words = [word for name in app for word in ("--app", name)]
    assert ember("build", ADD, "--board", "host", *words) == 1
    error = capsys.readouterr().err
    assert said in error
    assert "bug in Ember" not in error


def test_a_project_without_an_application_is_as_before() -> None:
    Path("ember.yaml").write_text("models: [x.pte]\n")
    assert projects.load().app is None
    app = projects.load().app_or([Path("src/main.c")])
    assert app is not None
    assert (app.include, app.defines, app.flags) == ((), (), ())
