"""examples/cmake: configured, built and run. An installed package: test_wheel.py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ember import paths, program

ROOT = paths.root()
MODEL = ROOT / "examples" / "models" / "digits" / "digits.pte"
CUSTOM = ROOT / "examples" / "custom_op"
pytestmark = [pytest.mark.qemu, pytest.mark.slow]


def run(*words: object, cwd: Path, **variables: object) -> str:
    environment = {key: str(value) for key, value in variables.items()}
    done = subprocess.run(
        list(map(str, words)),
        check=False,
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy, far from the checkout."""
    return Path(shutil.copytree(ROOT / "examples" / "cmake", tmp_path / "project"))


def configure(project: Path, package: Path, preset: str, *words: object) -> str:
    given = [
        f"-DMODEL={MODEL}",
        f"-DCUSTOM={CUSTOM}",
        f"-DEMBER_PYTHON={sys.executable}",
    ]
    command = ("cmake", "--preset", preset, *given, *words)
    return run(*command, cwd=project, ember_DIR=package)


def build_and_test(project: Path, package: Path, preset: str) -> None:
    run("cmake", "--build", "--preset", preset, cwd=project, ember_DIR=package)
    said = run("ctest", "--preset", preset, cwd=project, ember_DIR=package)
    assert "100% tests passed, 0 tests failed out of 3" in said


def test_a_subdirectory(project: Path) -> None:
    configure(project, ROOT / "cmake", "mps2-an386", f"-DEMBER_SOURCE={ROOT}")
    build_and_test(project, ROOT / "cmake", "mps2-an386")
    symbols = run("arm-none-eabi-nm", "build/mps2-an386/reader", cwd=project)
    kernels = set(re.findall(r"ember_kernel_(\w+)", symbols))
    assert {"mul3", "add", "to_copy"} <= kernels
    assert not any(name.startswith(("mul_", "conv", "sub")) for name in kernels)


def test_a_changed_model_is_built_again(project: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.pte"
    shutil.copy(MODEL, model)
    configure(project, ROOT / "cmake", "host", f"-DMODEL={model}")
    build_and_test(project, ROOT / "cmake", "host")
    pair = ROOT / "examples" / "models" / "pair" / "judge.pte"
    os.utime(shutil.copy(pair, model))
    run("cmake", "--build", "--preset", "host", cwd=project, ember_DIR=ROOT / "cmake")
    folder = project / "build" / "host"
    image = folder / "classify.ember" / "4-package" / "model.pte"
    names = {
        op for method in program.read(image).methods for op in method.operator_names
    }
    assert "aten::_softmax.out" in names  # the other model has none
    assert image.read_bytes() in (folder / "classify").read_bytes()


LISTS = """\
cmake_minimum_required(VERSION 3.20)
project(small C)
find_package(ember CONFIG REQUIRED)
"""


def small(folder: Path, text: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Configure a project for the host."""
    folder.mkdir(exist_ok=True)
    (folder / "CMakeLists.txt").write_text(LISTS + text)
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    command = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja"]
    command += [f"-Dember_DIR={ROOT / 'cmake'}", f"-DEMBER_PYTHON={sys.executable}"]
    command += [f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'cmake' / 'board.cmake'}"]
    command += ["-DEMBER_BOARD=host", *words]
    return subprocess.run(
        list(map(str, command)), check=False, capture_output=True, text=True
    )


def test_a_project_without_a_toolchain(tmp_path: Path) -> None:
    """Found by a prefix; the compiler is the host's."""
    folder = tmp_path / "project"
    folder.mkdir()
    text = f"add_executable(a main.c)\nember_add_model(a {MODEL} BOARD"
    (folder / "CMakeLists.txt").write_text(f"{LISTS}{text} mps2-an386)\n")
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    words = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja"]
    words += [
        f"-DCMAKE_PREFIX_PATH={ROOT / 'cmake'}",
        f"-DEMBER_PYTHON={sys.executable}",
    ]
    command = list(map(str, words))
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "configured for the host, not for mps2-an386" in said
    assert "board.cmake" in said


def test_lists_of_operators(tmp_path: Path) -> None:
    done = small(tmp_path / "a", "", "-DSELECT_OPS_LIST=aten::mm.out,aten::add.out")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "a" / "build" / "ember_selected_ops"
    table = (folder / "operators.c").read_text()
    assert re.findall(r'\{"([^"]+)"', table) == ["aten::add.out", "aten::mm.out"]
    assert "aten::mm.out" in (folder / "selected_operators.yaml").read_text()


@pytest.mark.long  # compiles every kernel without sentences
def test_all_operators(tmp_path: Path) -> None:
    done = small(tmp_path, "", "-DSELECT_ALL_OPS=ON")
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "build" / "ember_selected_ops" / "operators.c").read_text()
    assert len(re.findall(r'\{"([^"]+)"', table)) > 200


@pytest.mark.broad
def test_dtypes_of_a_model(tmp_path: Path) -> None:
    text = f"""\
gen_selected_ops(LIB_NAME ops OPS_FROM_MODEL {MODEL} DTYPE_SELECTIVE_BUILD ON)
generate_bindings_for_kernels(LIB_NAME ops FUNCTIONS_YAML functions.yaml
                              DTYPE_SELECTIVE_BUILD ON)
gen_operators_lib(LIB_NAME ops KERNEL_LIBS portable_kernels DEPS executorch
                  DTYPE_SELECTIVE_BUILD ON)
"""
    folder = tmp_path / "project"
    folder.mkdir()
    functions = folder / "functions.yaml"
    functions.write_text("- op: add.out\n  kernels: [{arg_meta: null}]\n")
    done = small(folder, text)
    assert done.returncode != 0
    functions.write_text("- op: add.out\n")
    done = small(folder, text)
    assert done.returncode != 0
    assert "selected operators are not available" in done.stderr
    done = small(folder, text.replace("FUNCTIONS_YAML functions.yaml", ""))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"add_executable(a main.c)\nember_add_model(a {CUSTOM}/mul3/model.pte)\n",
            "instruction 0: my_ops::mul3.out",
        ),
        ("add_executable(a main.c)\nember_add_model(a)\n", "no model given"),
        (
            f"add_executable(a main.c)\nember_add_model(a {MODEL} BOARD mps2-an386)\n",
            "this project is configured for host, not for mps2-an386",
        ),
        ("gen_selected_ops(LIB_NAME a)\n", "no operators are selected"),
        (
            "gen_selected_ops(LIB_NAME a ROOT_OPS aten::ad.out)\n"
            "generate_bindings_for_kernels(LIB_NAME a)\n",
            "Ember has aten::add.out",
        ),
        (
            "gen_selected_ops(LIB_NAME a ROOT_OPS x DTYPE_SELECTIVE_BUILD ON)\n",
            "DTYPE_SELECTIVE_BUILD needs OPS_FROM_MODEL",
        ),
    ],
)
def test_wrong_use_ends_the_configuration(text: str, said: str, tmp_path: Path) -> None:
    done = small(tmp_path / "project", text)
    assert done.returncode != 0
    assert said in " ".join(done.stderr.split())
