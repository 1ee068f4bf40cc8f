"""The C core: its unit tests, on this host with sanitizers and as 32-bit processes; and
the sizes of all C files and functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import c_programs
import crafted
import programs as toy_programs
import pytest
from c_programs import (
    ARM,
    KERNELS,
    ROOT,
    SANITIZED,
    TARGETS,
    TESTS,
    THREADS,
    TOPICS,
    Target,
)
from crafting import Crafted

MOST_LINES, MOST_OF_FUNCTION = 500, 60
SLOW = ("test_bundle", "test_slots")
MARKED_TOPICS = [
    pytest.param(topic, marks=pytest.mark.slow if topic in SLOW else ())
    for topic in TOPICS
]


class Builder(c_programs.Builder):
    """Skips where a target's tools are missing."""

    def build(self, target: Target, topic: str, *sources: Path) -> Path:
        if target.missing is not None:
            pytest.skip(f"{target.missing} is not installed")
        return super().build(target, topic, *sources)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    toy_programs.write_all(folder)
    crafted.write_all(folder)
    return folder


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(tmp_path_factory.mktemp("c"))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize("topic", MARKED_TOPICS)
def test_topic(topic: str, target: Target, programs: Path, builder: Builder) -> None:
    program = builder.build(target, topic, TESTS / f"{topic}.c")
    done = c_programs.run(target, program, str(programs))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("target", (SANITIZED, ARM), ids=lambda target: target.name)
def test_kernels_once_exploited(
    target: Target, programs: Path, builder: Builder
) -> None:
    program = builder.build(target, "kernels", TESTS / "kernels.c", *KERNELS)
    done = c_programs.run(target, program, str(programs))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_threads_share_a_program(programs: Path, builder: Builder) -> None:
    program = builder.build(THREADS, "threads", TESTS / "threads.c")
    done = c_programs.run(THREADS, program, str(programs))
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
            files = [case.file for case in crafted.collect()]
            done = c_programs.run(target, program, str(programs), *files)
            lines = [line.partition(" ") for line in done.stderr.splitlines()]
            known[target.name] = {name: answer for name, _, answer in lines}
            known[target.name]["end"] = done.stderr[-3000:]
        return known[target.name]

    return ask


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize("case", crafted.collect(), ids=lambda case: case.file)
def test_crafted_file(
    case: Crafted,
    target: Target,
    answers: Callable[[Target], dict[str, str]],
) -> None:
    answer = answers(target)
    assert answer.get(case.file, answer["end"]) == f"{case.stage} {case.status}"


# ---- sizes ---------------------------------------------------------------------------


def functions(lines: list[str]) -> Iterator[tuple[str, int]]:
    """The first line of each function, and how many it has, in formatted C."""
    start = None
    for number, line in enumerate(lines):
        if line == "}" and start is not None:
            yield lines[start], number + 1 - start
        if re.match(r"(?!typedef|struct|enum|union)[A-Za-z_]", line):
            start = number
        if line.startswith("}") or (line.endswith(";") and start == number):
            start = None


def test_functions_are_counted_from_their_first_line_to_their_brace() -> None:
    text = "int a;\nstatic int f(int x,\n             int y) {\n    return x;\n}\n"
    assert list(functions(text.splitlines())) == [("static int f(int x,", 4)]
    assert not list(functions("typedef struct t {\n    int a;\n} t;".splitlines()))


def test_files_and_functions_are_short() -> None:
    folders = ("kernels", "runtime_c", "backends", "examples", "tests", "platformio")
    files = [path for name in folders for path in (ROOT / name).rglob("*.[chS]")]
    long = []
    for path in files:
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > MOST_LINES:
            long.append(f"{path.relative_to(ROOT)}: {len(lines)} lines")
        for first, count in functions(lines):
            if count > MOST_OF_FUNCTION:
                long.append(f"{path.relative_to(ROOT)}: {first}: {count} lines")
    assert len(files) > 1000
    assert long == []
