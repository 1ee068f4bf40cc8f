"""C tests and ways to build them become programs: on this host with sanitizers, as
firmware is built, as 32-bit processes."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests/unit/c"
SHARED = [TESTS / f"{name}.c" for name in ("check", "subject", "toys")]
CORE = sorted((ROOT / "runtime_c/src").glob("*.c"))
BACKENDS = [ROOT / "backends/example.c"]
_ENGINES = (
    *("copy", "fill", "scalar", "element", "half", "strided"),
    *("view", "view_args", "parts", "pad_common"),
)
# What kernels.c needs.
KERNELS = [
    ROOT / "kernels/prim/et_copy_index.c",
    ROOT / "kernels/movement/constant_pad_nd.c",
    *(ROOT / f"kernels/engine/{name}.c" for name in _ENGINES),
]
TOPICS = sorted(path.stem for path in TESTS.glob("test_*.c"))


@dataclass(frozen=True)
class Target:
    """A way to build and run a C test."""

    name: str
    command: tuple[str, ...]  # compiler and flags
    ports: tuple[str, ...]
    core: tuple[Path, ...] = tuple(CORE)
    runner: tuple[str, ...] = ()

    @property
    def missing(self) -> str | None:
        tools = (self.command[0], *self.runner)
        return next((tool for tool in tools if shutil.which(tool) is None), None)


WARNINGS = ("-std=c11", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
HOST = ("runtime_c/port/common.c", "runtime_c/port/host/host.c")
SANITIZED = Target(
    "host-asan",
    (
        *("gcc", *WARNINGS, "-O1", "-fsanitize=address,undefined"),
        "-fno-sanitize-recover=undefined",
    ),
    HOST,
)
# What firmware is built from: one translation unit, without sentences.
PLAIN = Target(
    "host",
    ("gcc", *WARNINGS, "-O2", "-DEMBER_ERROR_STRINGS=0"),
    HOST,
    core=(ROOT / "runtime_c/ember_core.c",),
)
ARM_FLAGS = ("-march=armv7-a", "-mfpu=vfpv3-d16", "-mfloat-abi=hard")
ARM = Target(
    "arm-user",
    (
        *("clang-19", "--target=arm-none-eabi", *ARM_FLAGS, *WARNINGS, "-Os"),
        *("-ffreestanding", "-fsanitize=undefined", "-fsanitize-trap=undefined"),
        *("-isystem", "/usr/lib/arm-none-eabi/include"),
        *("-isystem", "/usr/include/newlib"),
    ),
    (
        "runtime_c/port/common.c",
        "runtime_c/port/linux_user/linux_user.c",
        "tests/unit/c/arm_memory.c",
    ),
    runner=("qemu-arm",),
)
TARGETS = (SANITIZED, PLAIN, ARM)
# For tests that load the core as a library.
APART = replace(SANITIZED, name="host-apart", command=(*SANITIZED.command, "-fPIC"))
CORE_LIBRARY = "libcore.so"
COVERAGE = Target(
    "host-coverage",
    (
        *("clang-19", "-std=c11", "-g", "-O0"),
        *("-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"),
    ),
    HOST,
)
THREADS = Target(
    "host-tsan",
    ("gcc", *WARNINGS, "-O1", "-fsanitize=thread", "-DTOY_LOCAL=_Thread_local"),
    HOST,
)


def _arm_libraries() -> list[str]:
    """newlib and libgcc, for memcpy and 64-bit division."""
    paths = []
    for question in ("-print-file-name=libc.a", "-print-libgcc-file-name"):
        flags = ("-march=armv7-a+fp", "-mfloat-abi=hard", "-mthumb")
        done = subprocess.run(
            ["arm-none-eabi-gcc", *flags, question],
            capture_output=True,
            text=True,
            check=True,
        )
        paths.append(done.stdout.strip())
    return paths


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


class Builder:
    """Compiles tests for the targets; the core and the ports once each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._objects: dict[str, list[str]] = {}

    def build(self, target: Target, topic: str, *sources: Path) -> Path:
        """The executable of a test, whose target's tools are there."""
        program = self._folder / f"{topic}-{target.name}"
        link = ["-nostdlib", "-fuse-ld=lld-19", "-e", "_start"]
        extra = [*link, *_arm_libraries()] if target is ARM else []
        flags = [*target.command, *includes()]
        objects = [self._object(target, topic, source) for source in sources]
        _compile([*flags, *objects, *self._core(target), *extra, "-o", str(program)])
        return program

    def build_apart(self, target: Target, topic: str, *sources: Path) -> Path:
        """The executable of a test that loads the core as a library: `library`."""
        program = self._folder / f"{topic}-{target.name}"
        objects = [self._object(target, topic, source) for source in sources]
        library = self.library(target, self._folder / CORE_LIBRARY)
        _compile([*target.command, *objects, str(library), "-o", str(program)])
        return program

    def library(self, target: Target, path: Path, **changed: Path) -> Path:
        """The core as a library, with other objects in place of parts of it."""
        if changed or not path.is_file():
            core = [changed.get(Path(file).stem, file) for file in self._core(target)]
            words = [*target.command, "-shared", f"-Wl,-soname,{CORE_LIBRARY}"]
            _compile([*words, *map(str, core), "-o", str(path)])
        return path

    def _object(self, target: Target, topic: str, source: Path) -> str:
        built = self._folder / f"{topic}-{target.name}-{source.stem}.o"
        flags = [*target.command, *includes(), "-c", str(source)]
        _compile([*flags, "-o", str(built)])
        return str(built)

    def _core(self, target: Target) -> list[str]:
        if target.name not in self._objects:
            folder = self._folder / target.name
            folder.mkdir()
            sources = [
                *CORE,
                *BACKENDS,
                *SHARED,
                *(ROOT / path for path in target.ports),
            ]
            for source in sources:
                flags = [*target.command, *includes(), "-c", str(source)]
                _compile([*flags, "-o", str(folder / f"{source.stem}.o")])
            self._objects[target.name] = sorted(map(str, folder.glob("*.o")))
        return self._objects[target.name]


def includes() -> list[str]:
    folders = ("runtime_c/include", "runtime_c/src", ".")
    return [f"-I{ROOT / folder}" for folder in folders]


def run(
    target: Target,
    program: Path,
    *arguments: str,
    timeout: float = 120,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    command = [*target.runner, str(program), *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        # Files are kept.
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **environment},
    )
