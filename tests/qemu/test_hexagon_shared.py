"""The runtime and Hexagon's kernels link as a shared object of code that can be
anywhere. It is not run: no open loader starts it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ember import boards, paths
from ember.toolchain import emulator, tools

FLAGS = [
    "--target=hexagon-unknown-none-elf",
    "-mcpu=hexagonv68",
    "-mhvx=v66",
    "-mhvx-length=128B",
    "-std=gnu11",
    "-O2",
    "-G0",
    "-fPIC",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-ffreestanding",
]
FOLDERS = (".", "runtime_c/include", "runtime_c/libc/include", "kernels/intrinsics")


def _output(*words: object) -> str:
    done = subprocess.run(
        [*map(str, words)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.broad
@pytest.mark.slow
def test_runtime_and_kernels_link_as_a_shared_object(tmp_path: Path) -> None:
    if not emulator.available(boards.load("hexagon-v68")):
        pytest.skip("no tools for Hexagon")
    root = paths.root()
    sources = [
        *sorted(root.glob("runtime_c/src/*.c")),
        *sorted(root.glob("kernels/cortex_m/*_hvx.c")),
        *sorted(root.glob("kernels/engine/hvx/*.c")),
    ]
    includes = [f"-I{root / folder}" for folder in FOLDERS]
    clang = tools.path("clang-19")
    for source in sources:
        compiled = tmp_path / f"{source.stem}.o"
        _output(clang, *FLAGS, *includes, "-c", source, "-o", compiled)
    library = tmp_path / "libember.so"
    objects = sorted(tmp_path.glob("*.o"))
    _output(tools.path("ld.lld-19"), "-shared", *objects, "-o", library)
    about = _output(tools.path("llvm-readelf-19"), "-h", "-d", "--dyn-syms", library)
    assert "DYN (Shared object file)" in about
    assert "TEXTREL" not in about
    for name in ("ember_method_execute", "ember_kernel_quantized_conv2d_hvx"):
        (line,) = (row for row in about.splitlines() if row.endswith(f" {name}"))
        assert " UND " not in line
