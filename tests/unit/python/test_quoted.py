"""Names that are never chosen on purpose, in every language that the SDK generates."""

from __future__ import annotations

import random
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ember import boards, paths, program, quoted
from ember.firmware import Options
from ember.model import Model
from ember.packaging import linux, new, sources
from ember.plan import regions
from ember.program import Method
from ember.toolchain import linker

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parents[3]
PIECES = (
    *("??/", "?", "\\", '"', "*/", "/*", "//", "\n", "\r\n", "\t", "%s", "$x", "${y}"),
    *("#", "'", "`", "<b>", "&", "@A@", " ", "a", "A", "_", "0", "é", "\u2028", "\x01"),
)
CHOSEN = (
    *("a??/", "a\\", "a?", "a!", "A!", "a__2", "shared", "ember_x", "x", "0", "?" * 9),
    *("x*/ #error /*", "x\n#error", "main", "int", "", "b" * 5000, "b" * 5001),
)
MAIN = """
#include <stdio.h>
#include "ember_models.h"
#include "{header}"
const ember_operators_t ember_operators;
const ember_backends_t ember_backends;
ember_status_t ember_model_attach(const ember_model_t *model, ember_program_t *program,
                                  ember_error_t *err) {{
    (void)model, (void)program, (void)err;
    return EMBER_OK;
}}
ember_status_t ember_model_lend(ember_method_t *method,
                                const ember_model_method_t *placed,
                                ember_error_t *err) {{
    (void)method, (void)placed, (void)err;
    return EMBER_OK;
}}
static void print(const char *name) {{
    for (; *name != '\\0'; name++) {{
        printf("%02x", (unsigned)(unsigned char)*name);
    }}
    putchar('\\n');
}}
int main(void) {{
    const ember_model_t *model = ember_models[ember_model_count - 1];
    print(model->name);
    for (uint32_t i = 0; i < model->method_count; i++) {{
        const ember_model_method_t *method = &model->methods[i];
        print(method->name);
        for (uint32_t m = 0; m < method->planned_count; m++) {{
            if ((uintptr_t)method->planned[m].data % 16 != 0) {{
                return 1;
            }}
        }}
    }}
    return 0;
}}
"""


def drawn(count: int, seed: int) -> list[str]:
    numbers = random.Random(seed)
    return [
        "".join(numbers.choices(PIECES, k=numbers.randint(1, 6))) for _ in range(count)
    ]


def methods(names: list[str]) -> program.Program:
    """The program add.pte with its method once under each name."""
    add = program.parse((DATA / "add.pte").read_bytes())
    (method,) = add.methods
    return replace(add, methods=tuple(replace(method, name=name) for name in names))


@pytest.fixture(scope="module", name="package")
def _package(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Sources of a program of hostile names, in a file of one."""
    folder = tmp_path_factory.mktemp("names")
    names = list(dict.fromkeys([*CHOSEN, *drawn(60, seed=1)]))
    file = folder / 'a"\\??\udcff*; b.pte'
    file.write_bytes(program.write(methods(names)))
    board = boards.load("mps2-an386")
    sources.write([file], board, folder / "package", Options(methods=tuple(names)))
    return folder / "package" / "src", [paths.text(file.stem), *names]


@pytest.mark.parametrize("standard", ["c11", "gnu11"])
def test_generated_c_says_the_names(
    package: tuple[Path, list[str]], standard: str, tmp_path: Path
) -> None:
    src, names = package
    (header,) = (src / "model").glob("*_plan.h")
    main = tmp_path / "main.c"
    main.write_text(MAIN.format(header=f"model/{header.name}"))
    files = [main, *(src / "model" / f"model_{x}.c" for x in ("data", "image"))]
    words = ["cc", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    words += [f"-I{src}", "-o", str(tmp_path / "main"), str(src / "model/models.c")]
    subprocess.run([*words, *map(str, files)], check=True, cwd=tmp_path)
    done = subprocess.run(
        [tmp_path / "main"], check=True, capture_output=True, text=True
    )
    said = [bytes.fromhex(line) for line in done.stdout.splitlines()]
    assert said == [name.encode() for name in names]


def test_memory_keeps_its_section(
    package: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """Without -Werror, a line that a comment swallows is not noticed."""
    data = (package[0] / "model" / "model_data.c").read_text()
    regions = re.findall(r"^static uint8_t (\w+)\[", data, re.MULTILINE)
    words = ["cc", "-std=c11", "-w", f"-I{package[0]}", "-I", str(package[0] / "model")]
    words += ["-c", str(package[0] / "model" / "model_data.c"), "-o", "data.o"]
    subprocess.run(words, check=True, cwd=tmp_path)
    listed = subprocess.run(
        ["objdump", "-h", tmp_path / "data.o"], check=True, capture_output=True
    )
    assert len(set(regions)) == len(regions) > len(CHOSEN)
    sections = set(re.findall(r"\.bss\.(\w+)", listed.stdout.decode()))
    assert sections == set(regions)


@pytest.mark.parametrize("seed", range(20))
def test_no_two_methods_share_a_macro(seed: int) -> None:
    (method,) = program.parse((DATA / "add.pte").read_bytes()).methods
    pieces = ("ember_", "EMBER_", "a", "A", "?", "_1", "_2", "_3", "shared")
    numbers = random.Random(seed)
    names = {"".join(numbers.choices(pieces, k=numbers.randint(1, 3))) for _ in "." * 9}
    named: list[Method] = [replace(method, name=name) for name in sorted(names)]
    prefixes = regions.prefixes(named)
    assert len(prefixes) == len(named)
    macros = {text.upper().removeprefix("EMBER_") for text in prefixes}
    assert len(macros | {"SHARED"}) == len(named) + 1
    assert all(re.fullmatch(r"[A-Za-z]\w*", text, re.ASCII) for text in prefixes)


def test_a_model_is_not_named_like_the_runtime() -> None:
    header = (ROOT / "runtime_c" / "include" / "ember" / "model.h").read_text()
    theirs = set(re.findall(r"\bember_model_[a-z_]*[a-z]", header))
    add = program.parse((DATA / "add.pte").read_bytes())
    for name in sorted(theirs):
        path = Path(f"{name.removeprefix('ember_model_')}.pte")
        model = Model(path.stem, path, b"", (), add)
        assert f"ember_model_{model.identifier}" not in theirs


# ---- CMake, linker scripts -----------------------------------------------------------


def test_cmake_reads_what_was_written(tmp_path: Path) -> None:
    texts = [
        *filter(None, CHOSEN),
        *drawn(100, seed=2),
        "a;b",
        "]]",
        "#[[",
        "$ENV{HOME}",
    ]
    lines = [f"file(APPEND out {quoted.cmake(text + '|')})" for text in texts]
    (tmp_path / "names.cmake").write_text("\n".join(lines), newline="")
    subprocess.run(["cmake", "-P", "names.cmake"], check=True, cwd=tmp_path)
    assert (tmp_path / "out").read_bytes().decode() == "".join(f"{x}|" for x in texts)


def test_names_of_targets_and_files(tmp_path: Path) -> None:
    names = [quoted.target(text) for text in (*CHOSEN, *drawn(100, seed=3), "test")]
    assert new._name_of(tmp_path / "test") == "app_test"  # CMake has one
    kept = ["lenet", "mobilenet_v2_0.35", "2d-conv"]
    assert [quoted.target(name) for name in kept] == kept
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    lines = ["cmake_minimum_required(VERSION 3.20)", "project(names C)"]
    lines += [f"add_executable({name[:99]} main.c)" for name in dict.fromkeys(names)]
    (tmp_path / "CMakeLists.txt").write_text("\n".join(dict.fromkeys(lines)))
    words = ["cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_C_COMPILER_WORKS=1"]
    done = subprocess.run(
        words, check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_package_for_linux_is_named_for_cmake_and_a_shell(tmp_path: Path) -> None:
    name = quoted.target('$(touch x)" all')
    linux._from_templates(tmp_path, boards.load("linux-aarch64"), name)
    (line,) = (x for x in (tmp_path / "test.sh").read_text().splitlines() if name in x)
    assert re.fullmatch(r"[\w.-]+", name)
    assert f"bin/{name}" in line


def test_a_board_does_not_end_the_comment() -> None:
    board = boards.load("mps2-an386")
    for name in ('x */ ASSERT(0, "no") /*', "a\nb", "a??/"):
        script = linker.script(board.model_copy(update={"name": name}))
        assert re.fullmatch(r"/\* [^*]* \*/", script.splitlines()[0])


def test_a_file_in_a_linker_script() -> None:
    assert quoted.pattern("kernels/my mul(3)*.c.o") == "kernels/my?mul?3??.c.o"
    assert quoted.pattern("add_f32.c.o") == "add_f32.c.o"
