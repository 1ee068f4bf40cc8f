"""Arm64 under Linux: one program that finds out what its core has.

On each core it runs the kernels that bare metal runs there, so bits and instructions
are the same; and what was planned for it is enough.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from committed import array_of
from committed_cases import path_of

from ember import boards, cases, cli
from ember.boards import Board
from ember.cases import inputs
from ember.firmware import Options, build
from ember.run import run, testing
from ember.toolchain import emulator

HEADERS = Path("/usr/aarch64-linux-gnu/include")
# Float, static, dynamic, int4 and bfloat16 XNNPACK, cortex_m's int8, no delegate.
MODELS = (
    *("xnnpack_mlp", "xnnpack_resnet8_static", "xnnpack_mlp_qd8", "xnnpack_mlp_int4"),
    *("int8_ds_cnn_small_m55", "model_lenet_small", "xnnpack_mlp_bf16"),
)
SHORT = "max,sme512=off,sme1024=off,sme2048=off"
# What qemu-aarch64 is told, and the board that runs the same kernels on bare metal.
TWINS = {
    "max": "qemu-a64-sme",
    SHORT: "qemu-a64-sme-256",
    f"{SHORT},sme256=off": "qemu-a64-sme-128",
    "max,sme=off": "qemu-a64-i8mm",
    "cortex-a76": "qemu-a64",
}
LEAST = "cortex-a53"  # no dot products

pytestmark = [pytest.mark.qemu, pytest.mark.slow]


def core(cpu: str, *more: str) -> Any:
    """The first is tried always, the others by CI."""
    is_first = cpu == next(iter(TWINS))
    return pytest.param(cpu, *more, marks=() if is_first else pytest.mark.broad, id=cpu)


def linux(cpu: str) -> Board:
    board = boards.load("linux-aarch64")
    if not emulator.available(board):
        pytest.skip("qemu-aarch64 is not installed")
    runner = board.runner.model_copy(update={"args": ("-cpu", cpu)})
    return board.model_copy(update={"runner": runner})


def case(name: str) -> cases.Case:
    return cases.read(cases.Found(name, path_of(name)))


def bits(board: Board, name: str) -> tuple[list[bytes], int | None]:
    """The outputs of a case's runs, and the instructions of all of them."""
    results, count = testing.outputs(case(name), board)
    arrays = [array_of(output) for outputs in results for output in outputs]
    return [np.asarray(array).tobytes() for array in arrays], count


@pytest.mark.parametrize("cpu", [core(name) for name in (*TWINS, LEAST)])
def test_models_are_pytorchs_on_every_core(cpu: str) -> None:
    listed = [cases.Found(name, path_of(name)) for name in MODELS]
    results = testing.test(listed, [linux(cpu)], jobs=1)
    assert [(outcome.status, outcome.message) for outcome in results] == [
        ("passed", "")
    ] * len(listed)


@pytest.mark.parametrize(("cpu", "twin"), [core(*pair) for pair in TWINS.items()])
def test_bits_and_instructions_are_those_of_bare_metal(cpu: str, twin: str) -> None:
    counts = emulator.unit(linux(cpu)) is not None  # Debian 13's QEMU does not
    for name in MODELS:
        outputs, count = bits(linux(cpu), name)
        expected, instructions = bits(boards.load(twin), name)
        assert outputs == expected, name
        assert count == (instructions if counts else None), name


def test_a_core_without_dot_products_has_the_same_bits() -> None:
    for name in MODELS:
        assert bits(linux(LEAST), name)[0] == bits(boards.load("qemu-a64"), name)[0]


@pytest.mark.broad
def test_memory_is_enough_on_every_core(tmp_path: Path) -> None:
    path = path_of("xnnpack_resnet8_static")
    built = build(path, "linux-aarch64", out=tmp_path)
    given = inputs.of_case(path)
    assert given is not None
    values = inputs.lay_out(built.methods[0], given.given)
    rows = {row["place"]: row["planned"] for row in built.certificate["rows"]}
    arenas = set()
    for cpu in (*TWINS, LEAST):
        log = run.run(replace(built, board=linux(cpu)), values)
        wrong = {name for name, most in log.used.items() if most > rows.get(name, 0)}
        assert not wrong, cpu
        arenas.add(log.arena)
    assert len(arenas) > 1  # weights are packed as each core likes them


# ---- package -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linux") / "package"
    words = ["package", str(path_of("xnnpack_mlp_qd8")), "--for", "linux"]
    assert cli.main([*words, "--out", str(folder)]) == 0
    return folder


def said(package: Path, *words: str, program: Path | None = None) -> str:
    """What test.sh says, on a core."""
    environment = {"PATH": "/usr/bin:/bin"}
    if program is not None:
        environment["PROGRAM"] = str(program)
    done = subprocess.run(
        ["sh", str(package / "test.sh"), "qemu-aarch64", *words],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    return done.stdout + done.stderr


@pytest.mark.broad
def test_the_program_of_a_package_gives_its_vectors(package: Path) -> None:
    for cpu in (*TWINS, LEAST):
        assert said(package, "-cpu", cpu) == "passed\n", cpu
    output = package / "test" / "output0.bin"
    kept = output.read_bytes()
    output.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    assert "differ" in said(package, "-cpu", "max")
    output.write_bytes(kept)


@pytest.mark.broad
@pytest.mark.parametrize("how", [("-static",), ("-pie", "-fPIE")])
def test_the_library_of_a_package_needs_a_c_library_alone(
    package: Path, tmp_path: Path, how: tuple[str, ...]
) -> None:
    if not HEADERS.is_dir() or shutil.which("clang-19") is None:
        pytest.skip("libc6-dev-arm64-cross is not installed")
    program = tmp_path / "program"
    words = ["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld-19", *how]
    words += ["-Wall", "-Wextra", "-Werror", "-isystem", str(HEADERS)]
    words += [f"-I{package / 'include'}", str(package / "main.c")]
    words += [str(package / "lib" / "libember_model.a"), "-o", str(program)]
    subprocess.run(words, check=True)
    root = ("-L", "/usr/aarch64-linux-gnu")
    for cpu in ("max", "max,sme=off", LEAST):
        assert said(package, *root, "-cpu", cpu, program=program) == "passed\n", cpu


# A project that uses the package, and one that is the package.
PROJECT = """\
cmake_minimum_required(VERSION 3.16)
project(mine LANGUAGES C)
add_subdirectory(${PACKAGE} package)
add_executable(xnnpack_mlp_qd8 ${PACKAGE}/main.c)
target_link_libraries(xnnpack_mlp_qd8 PRIVATE ember::model)
"""


@pytest.mark.broad
@pytest.mark.parametrize("own_project", [False, True])
def test_cmake_builds_with_a_package(
    package: Path, tmp_path: Path, own_project: bool
) -> None:
    if not HEADERS.is_dir() or shutil.which("clang-19") is None:
        pytest.skip("libc6-dev-arm64-cross is not installed")
    source = package
    if own_project:
        source = tmp_path / "project"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(PROJECT)
    build_folder = tmp_path / "build"
    facts = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_C_COMPILER": "clang-19",
        "CMAKE_C_COMPILER_TARGET": "aarch64-linux-gnu",
        "CMAKE_C_FLAGS": f"-Wall -Wextra -Werror -isystem {HEADERS}",
        "CMAKE_EXE_LINKER_FLAGS": "-fuse-ld=lld-19 -static",
        "PACKAGE": str(package),
    }
    words = [f"-D{name}={value}" for name, value in facts.items()]
    cmake("-S", source, "-B", build_folder, "-G", "Ninja", *words)
    cmake("--build", build_folder)
    program = build_folder / "xnnpack_mlp_qd8"
    for cpu in ("max", LEAST):
        assert said(package, "-cpu", cpu, program=program) == "passed\n", cpu


def cmake(*words: str | Path) -> None:
    done = subprocess.run(
        ["cmake", *words], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ---- faults --------------------------------------------------------------------------

FAULTS = {
    "*(volatile int *)8 = 1;": "access to memory that does not exist or is protected at"
    " address 0x8 in main()",
    '__asm volatile("udf #0");': "undefined instruction in main()",
    "*(volatile char *)((uintptr_t)&here - 100000) = 1;": "stack overflow at address",
}
APP = """\
#include "ember/model.h"
static ember_program_t program;
static ember_method_t method;
int main(void) {
    volatile char here = 0;
    if (ember_model_open(&program, NULL) != EMBER_OK ||
        ember_model_load(&method, &program, NULL, NULL) != EMBER_OK) {
        return here;
    }
    %s
    return 0;
}
"""


@pytest.mark.parametrize("code", FAULTS)
def test_a_fault_is_a_sentence(code: str, tmp_path: Path) -> None:
    app = tmp_path / "app.c"
    app.write_text(APP % code)
    model = path_of("model_lenet_small")
    options = Options(app=app)
    built = build(model, "linux-aarch64", out=tmp_path / "out", options=options)
    fault = emulator.run(linux("max"), built.firmware).fault
    assert fault is not None and FAULTS[code] in fault
