"""The C core: its unit tests, on this host with sanitizers and as 32-bit processes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import crafted
import programs as toy_programs
import pytest

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "tests/unit/c"
SHARED = [TESTS / f"{name}.c" for name in ("check", "subject", "toys")]
CORE = sorted((ROOT / "runtime_c/src").glob("*.c"))
BACKENDS = [ROOT / "backends/example.c"]
ENGINES = (
    "copy",
    "fill",
    "scalar",
    "element",
    "half",
    "strided",
    "view",
    "view_args",
    "parts",
)
TOPICS = sorted(path.stem for path in TESTS.glob("test_*.c"))
SLOW = ("test_bundle",)
MARKED_TOPICS = [
    pytest.param(topic, marks=pytest.mark.slow if topic in SLOW else ())
    for topic in TOPICS
]


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
THREADS = Target(
    "host-tsan",
    ("gcc", *WARNINGS, "-O1", "-fsanitize=thread", "-DTOY_LOCAL=_Thread_local"),
    HOST,
)


def _arm_libraries() -> list[str]:
    """newlib and libgcc, for memcpy and 64-bit division."""
    found = []
    for question in ("-print-file-name=libc.a", "-print-libgcc-file-name"):
        flags = ("-march=armv7-a+fp", "-mfloat-abi=hard", "-mthumb")
        done = subprocess.run(
            ["arm-none-eabi-gcc", *flags, question],
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout.strip())
    return found


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


class Builder:
    """Compiles tests for the targets; the core and the ports once each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._objects: dict[str, list[str]] = {}

    def build(self, target: Target, topic: str, *sources: Path) -> Path:
        """The executable of a test; skips when the target's tools are missing."""
        if target.missing is not None:
            pytest.skip(f"{target.missing} is not installed")
        program = self._folder / f"{topic}-{target.name}"
        link = ["-nostdlib", "-fuse-ld=lld-19", "-e", "_start"]
        extra = [*link, *_arm_libraries()] if target is ARM else []
        flags = [*target.command, *_includes()]
        objects = self._core(target)
        _compile([*flags, *map(str, sources), *objects, *extra, "-o", str(program)])
        return program

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
                flags = [*target.command, *_includes(), "-c", str(source)]
                _compile([*flags, "-o", str(folder / f"{source.stem}.o")])
            self._objects[target.name] = sorted(map(str, folder.glob("*.o")))
        return self._objects[target.name]


def _includes() -> list[str]:
    folders = ("runtime_c/include", "runtime_c/src", ".")
    return [f"-I{ROOT / one}" for one in folders]


def run(
    target: Target, program: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    command = [*target.runner, str(program), *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},  # files are kept
    )


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    toy_programs.write_all(folder)
    crafted.write_all(folder)
    return folder


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(tmp_path_factory.mktemp("c"))


@pytest.mark.parametrize("target", TARGETS, ids=lambda one: one.name)
@pytest.mark.parametrize("topic", MARKED_TOPICS)
def test_topic(topic: str, target: Target, programs: Path, builder: Builder) -> None:
    program = builder.build(target, topic, TESTS / f"{topic}.c")
    done = run(target, program, str(programs))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("target", (SANITIZED, ARM), ids=lambda one: one.name)
def test_kernels_once_exploited(
    target: Target, programs: Path, builder: Builder
) -> None:
    kernels = ROOT / "kernels"
    movement = [
        kernels / f"movement/{name}.c" for name in ("constant_pad_nd", "pad_common")
    ]
    sources = [kernels / "prim/et_copy_index.c", *movement]
    engines = [kernels / "engine" / f"{name}.c" for name in ENGINES]
    program = builder.build(target, "kernels", TESTS / "kernels.c", *sources, *engines)
    done = run(target, program, str(programs))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_threads_share_a_program(programs: Path, builder: Builder) -> None:
    program = builder.build(THREADS, "threads", TESTS / "threads.c")
    done = run(THREADS, program, str(programs))
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("ThreadSanitizer does not run on this kernel")
    assert done.returncode == 0, done.stdout + done.stderr


# ---- crafted files -----------------------------------------------------------------


@pytest.fixture(scope="session")
def answers(programs: Path, builder: Builder) -> Callable[[Target], dict[str, str]]:
    """What each target's loader says to each crafted file, in one run of it."""
    known: dict[str, dict[str, str]] = {}

    def ask(target: Target) -> dict[str, str]:
        if target.name not in known:
            program = builder.build(target, "crafted", TESTS / "crafted.c")
            files = [one.file for one in crafted.collect()]
            done = run(target, program, str(programs), *files)
            lines = [line.partition(" ") for line in done.stderr.splitlines()]
            known[target.name] = {name: answer for name, _, answer in lines}
            known[target.name]["end"] = done.stderr[-3000:]
        return known[target.name]

    return ask


@pytest.mark.parametrize("target", TARGETS, ids=lambda one: one.name)
@pytest.mark.parametrize("one", crafted.collect(), ids=lambda one: one.file)
def test_crafted_file(
    one: crafted.Crafted,
    target: Target,
    answers: Callable[[Target], dict[str, str]],
) -> None:
    answer = answers(target)
    assert answer.get(one.file, answer["end"]) == f"{one.stage} {one.status}"
