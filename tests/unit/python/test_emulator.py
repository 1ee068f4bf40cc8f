"""What every port must do, asked of a small firmware on every board."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from ember import boards, paths
from ember.errors import SdkError
from ember.toolchain import compiler, doctor, elf, emulator, linker, tools

PROBE = Path(__file__).parents[2] / "qemu" / "probe"
Target = tuple[str, str]  # a board and its toolchain
TARGETS = [
    (name, toolchain)
    for name in boards.names(internal=True)
    if emulator.emulated(boards.load(name))
    for toolchain in boards.load(name).toolchains
]
STACK = {"stm32vldiscovery": 4096}  # bytes; the board has 8 KiB of RAM
LOOP = {"instructions": 2001, "packets": 1001}
# Of boards with two toolchains this one is tried with both, others by `make check`.
BOTH = "mps2-an386"


def is_rare(target: Target) -> bool:
    board, toolchain = target
    return board != BOTH and toolchain != boards.load(board).toolchains[0]


def each(targets: Iterable[Target]) -> pytest.MarkDecorator:
    values = [
        pytest.param(
            target,
            id="-".join(target),
            marks=pytest.mark.long if is_rare(target) else (),
        )
        for target in targets
    ]
    return pytest.mark.parametrize("target", values)


pytestmark = pytest.mark.qemu
every_target = each(TARGETS)
PROCESSES = [
    target for target in TARGETS if boards.load(target[0]).port == "linux_user"
]
on_qemu = each(target for target in TARGETS if not target[0].startswith("host"))


# Words for CMake that name a board or its core; code does not depend on them.
NAMES = ("-DEMBER_BOARD=", "-DEMBER_CPU=")


def options_of(target: Target) -> tuple[str, ...]:
    """What CMake is told: boards for which that is the same share objects."""
    told = tools.cmake_arguments(boards.load(target[0]), target[1])
    words = (f"-DEMBER_RUNTIME={paths.runtime()}", *told)
    return tuple(word for word in words if not word.startswith(NAMES))


def script_of(target: Target) -> str | None:
    board = boards.load(target[0])
    if board.port == "host":
        return None
    stack_bytes = STACK.get(board.name, linker.DEFAULT_STACK)
    return nameless(linker.script(board, stack_bytes=stack_bytes))


def nameless(script: str) -> str:
    """Without the comment that names the board."""
    comment, text = script.split("\n", 1)
    assert comment.startswith("/*"), comment
    return text


def compile_probe(script: str | None, options: tuple[str, ...], folder: Path) -> Path:
    if script is not None:
        (folder / "link.ld").write_text(script)
        options = (*options, f"-DEMBER_LINKER_SCRIPT={folder / 'link.ld'}")
    words = ["cmake", "-G", "Ninja", "-S", str(PROBE), "-B", str(folder), *options]
    subprocess.run(words, capture_output=True, text=True, check=True)
    words = ["ninja", "-C", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "probe"


def link_again(
    program: Path, text: str, folder: Path
) -> subprocess.CompletedProcess[str]:
    """The linker's run with another script, and the program in `folder`."""
    words = ["ninja", "-C", str(program.parent), "-t", "commands", "probe"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    command = done.stdout.splitlines()[-1]
    script = folder / "link.ld"
    script.write_text(text)
    for old, new in ((program.parent / "link.ld", script), ("-o probe ", None)):
        assert str(old) in command
        command = command.replace(str(old), str(new or f"-o {folder / 'probe'} "))
    return subprocess.run(
        ["sh", "-c", command],
        cwd=program.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


class Probe:
    """The small firmware, compiled once for all boards of the same options."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        # Programs whose folders have objects, by options.
        self._first: dict[tuple[str, ...], Path] = {}
        self._programs: dict[tuple[str | None, tuple[str, ...]], Path] = {}

    def elf(self, target: Target) -> Path:
        key = script_of(target), options_of(target)
        if key not in self._programs:
            self._programs[key] = self._compiled(*key)
        return self._programs[key]

    def _compiled(self, script: str | None, options: tuple[str, ...]) -> Path:
        folder = self._folders.mktemp("probe")
        if options not in self._first:
            self._first[options] = compile_probe(script, options, folder)
            return self._first[options]
        assert script is not None  # the host's programs differ by their options
        done = link_again(self._first[options], script, folder)
        assert done.returncode == 0, done.stdout
        return folder / "probe"

    def linked(
        self, target: Target, script: str, folder: Path
    ) -> subprocess.CompletedProcess[str]:
        self.elf(target)
        return link_again(self._first[options_of(target)], script, folder)

    def __call__(
        self,
        target: Target,
        job: str,
        *,
        cwd: Path | None = None,
        timeout_s: float = 60,
        count: bool = True,
        exact: bool = False,
        on_line: Callable[[str], None] | None = None,
    ) -> emulator.RunResult:
        return emulator.run(
            boards.load(target[0]),
            self.elf(target),
            job.split(),
            cwd=cwd,
            timeout_s=timeout_s,
            count=count,
            exact=exact,
            on_line=on_line,
        )


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return Probe(tmp_path_factory)


@every_target
def test_log_and_arguments(probe: Probe, target: Target) -> None:
    result = probe(target, "hello a,b c=d ..e")
    assert result.problem is None
    assert result.text == "hello a,b c=d ..e\n"


@every_target
@pytest.mark.parametrize(
    "job", ["memory", "maths", "stack", "workspace", "missing no/file"]
)
def test_small_jobs(probe: Probe, target: Target, job: str) -> None:
    assert probe(target, job).problem is None


@every_target
def test_files_of_the_host(probe: Probe, target: Target, tmp_path: Path) -> None:
    data = os.urandom(10_001)
    (tmp_path / "in.bin").write_bytes(data)
    assert probe(target, "copy in.bin out.bin", cwd=tmp_path).problem is None
    assert (tmp_path / "out.bin").read_bytes() == data


@every_target
def test_an_empty_file(probe: Probe, target: Target, tmp_path: Path) -> None:
    (tmp_path / "in.bin").write_bytes(b"")
    assert probe(target, "copy in.bin out.bin", cwd=tmp_path).problem is None
    assert (tmp_path / "out.bin").read_bytes() == b""


@on_qemu
@pytest.mark.parametrize("exact", [False, True])
def test_counts_are_exact(probe: Probe, target: Target, exact: bool) -> None:
    board = boards.load(target[0])
    unit = emulator.unit(board)
    if unit is None:
        pytest.skip(emulator.counts_nothing(board))
    result = probe(target, "count", exact=exact)
    words = [(mark.word, mark.kind) for mark in result.marks]
    assert words == [(0, "w"), (0, "r"), (2, "w"), (2, "r")]
    empty = result.marks[1].count - result.marks[0].count
    loop = result.marks[3].count - result.marks[2].count
    assert loop - empty == LOOP[unit]
    assert result.total is not None
    assert result.total > result.marks[3].count
    assert probe(target, "count", exact=exact).marks == result.marks


def test_the_host_does_not_count(probe: Probe) -> None:
    result = probe(("host", "host"), "count")
    assert (result.problem, result.marks, result.total) == (None, (), None)


def test_an_emulator_without_plugins_runs_uncounted(
    probe: Probe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Debian 13's of user mode are static programs."""
    target = ("linux-aarch64", "aarch64-llvm")
    board = boards.load(target[0])
    probe.elf(target)
    static = tmp_path / "qemu-aarch64"
    static.write_text(
        f"""#!/bin/sh
[ "$1" != -help ] || exit 0
case "$*" in *-plugin*) echo "unknown option 'plugin'"; exit 1 ;; esac
exec {tools.path("qemu-aarch64")} "$@"
"""
    )
    static.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    tools.takes_plugins.cache_clear()
    try:
        result = probe(target, "count")
        assert (result.problem, result.marks, result.total) == (None, (), None)
        assert emulator.unit(board) is None
        said = "qemu-aarch64 counts nothing: it is built without plugins"
        assert emulator.counts_nothing(board) == said
        report = doctor.examine([board])
        assert report.uncounted == {"qemu-aarch64": ("linux-aarch64",)}
        assert report.ready
    finally:
        tools.takes_plugins.cache_clear()


@on_qemu
def test_counting_can_be_left_out(probe: Probe, target: Target) -> None:
    result = probe(target, "count", count=False)
    assert (result.problem, result.marks, result.total) == (None, (), None)


FAULTS = {
    "null": ("at address 0x0 in null_store()", "null pointer"),
    "undefined": ("undefined instruction", "signal 4"),
    "hole": ("at address 0xe8", "SEGV"),
    "overflow": ("stack overflow", "stack-overflow"),
}


@every_target
@pytest.mark.parametrize("job", FAULTS)
def test_a_fault_ends_in_one_sentence(probe: Probe, target: Target, job: str) -> None:
    if (target[0], job) == ("microbit", "null"):
        pytest.skip("a Cortex-M0 has no MPU, and its flash ignores writes")
    result = probe(target, job)
    bare, sanitized = FAULTS[job]
    if boards.load(target[0]).cpu == "cortex-m0" and job != "overflow":
        bare = f"HardFault (this core does not report its cause) in {job}"
    said = (
        sanitized
        if target[0] in ("host-asan", "host-dsp", "host-hvx", "host-mve", "host-neon")
        else bare
    )
    assert result.fault is not None
    assert result.fault.startswith(f"fault on {target[0]}: ")
    assert said in result.fault
    assert "\n" not in result.fault
    assert result.problem == result.fault
    with pytest.raises(SdkError, match="probe: fault on"):
        result.check("probe")


@pytest.mark.parametrize("name", ["microbit", "mps2-an385-v6m"])
def test_unaligned_accesses_fault_in_armv6m_code(probe: Probe, name: str) -> None:
    result = probe((name, "arm-gnu"), "unaligned")
    assert result.fault is not None
    assert "in unaligned() at" in result.fault


@every_target
def test_panic(probe: Probe, target: Target) -> None:
    result = probe(target, "panic out of luck")
    assert result.fault == "panic: out of luck"
    assert result.exit_code == emulator.EXIT_PANIC


@every_target
def test_exit_status(probe: Probe, target: Target) -> None:
    result = probe(target, "fail")
    assert (result.exit_code, result.fault) == (7, None)
    assert result.problem is not None
    assert "exit status 7" in result.problem


@every_target
def test_a_hang_ends_in_a_time_out(probe: Probe, target: Target) -> None:
    started = time.monotonic()
    result = probe(target, "hang", timeout_s=0.3)
    assert result.timed_out
    assert result.problem is not None
    said = r"time-out: the firmware was still running after \d+ s \(\d+ s of CPU time\)"
    assert re.fullmatch(said, result.problem)
    assert time.monotonic() - started < 30


@on_qemu
def test_a_stack_that_is_too_small(
    probe: Probe, target: Target, tmp_path: Path
) -> None:
    board = boards.load(target[0])
    small = linker.script(board, stack_bytes=2048)
    done = probe.linked(target, small, tmp_path)
    assert done.returncode == 0, done.stdout
    result = emulator.run(board, tmp_path / "probe", ["stack"], timeout_s=60)
    assert result.fault is not None
    assert "stack overflow" in result.fault


@on_qemu
def test_a_firmware_that_does_not_fit_says_by_how_much(
    probe: Probe, target: Target, tmp_path: Path
) -> None:
    board = boards.load(target[0])
    memory = max(board.memories_for("stack"), key=lambda region: region.size)
    large = linker.script(board, stack_bytes=memory.size + 4096)
    done = probe.linked(target, large, tmp_path)
    assert done.returncode != 0
    error = compiler.overflow(done.stdout, board)
    assert error is not None
    assert f"memory {memory.name} needs" in error.what
    assert f"more than the {memory.size:,} it has" in error.what


def segments(program: Path) -> list[int]:
    """The bytes of each in memory."""
    words = ["readelf", "--segments", "--wide", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return [int(row[5], 16) for row in rows if row[:1] == ["LOAD"]]


@each(PROCESSES)
def test_a_process_has_no_empty_segment(probe: Probe, target: Target) -> None:
    """From QEMU 8.1 on, it would not start."""
    sizes = segments(probe.elf(target))
    assert len(sizes) == 4
    assert 0 not in sizes


@each(PROCESSES)
def test_nor_where_models_have_more_memories(
    probe: Probe, target: Target, tmp_path: Path
) -> None:
    board = boards.load(target[0])
    code, ram = board.memories
    both = ram.model_copy(update={"holds": (*ram.holds, "weights")})
    board = board.model_copy(update={"memories": (code, both)})
    done = probe.linked(target, linker.script(board), tmp_path)
    assert done.returncode == 0, done.stdout
    assert 0 not in segments(tmp_path / "probe")
    assert emulator.run(board, tmp_path / "probe", ["memory"]).problem is None


@pytest.mark.parametrize("job", ["sme state", "sme save", "sme off"])
def test_sme_support_routines(probe: Probe, job: str) -> None:
    assert probe(("qemu-a64-sme", "aarch64-llvm"), job).problem is None


def test_lines_come_as_they_are_written(probe: Probe) -> None:
    lines: list[str] = []
    probe(("mps2-an386", "arm-gnu"), "hello you", on_line=lines.append)
    assert lines == ["hello you"]


@every_target
def test_symbols(probe: Probe, target: Target) -> None:
    program = elf.read(probe.elf(target))
    assert program.bits == 8 * boards.load(target[0]).pointer_bytes
    main = program.address("main") & ~1
    assert program.function_at(main + 2) == "main"
    assert program.function_at(0xFFFFFFF0) is None
    with pytest.raises(SdkError, match="no symbol 'nowhere'"):
        program.address("nowhere")


def test_a_file_that_is_no_elf(tmp_path: Path) -> None:
    path = tmp_path / "firmware.elf"
    path.write_bytes(b"\x7fELF" + bytes(3))
    with pytest.raises(SdkError, match="ELF"):
        elf.read(path)
    path.write_bytes(b"\x7fELF\x01\x01" + b"\xff" * 60)
    with pytest.raises(SdkError, match="broken"):
        elf.read(path)
    with pytest.raises(SdkError, match="does not exist"):
        elf.read(tmp_path / "nothing")


def test_a_missing_emulator(monkeypatch: pytest.MonkeyPatch, probe: Probe) -> None:
    program = probe.elf(("mps2-an386", "arm-gnu"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SdkError) as error:
        emulator.run(boards.load("mps2-an386"), program, count=False)
    assert error.value.hint is not None
    assert "apt-get install qemu-system-arm" in error.value.hint


def test_the_plugin_refuses_bad_options(probe: Probe) -> None:
    board = boards.load("mps2-an386")
    program = probe.elf(("mps2-an386", "arm-gnu"))
    for options in ("", ",out=/no/such/folder/x", ",colour=red"):
        words = ["-plugin", f"{emulator.plugin()}{options}"]
        words = emulator.command(board, program, ["hello"], words)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "ember_count: " in done.stderr


def test_the_weak_port_compiles(tmp_path: Path) -> None:
    words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion"]
    words += ["-Wshadow", "-Werror", f"-I{paths.runtime() / 'include'}"]
    words += ["-c", str(paths.runtime() / "port" / "weak.c")]
    subprocess.run([*words, "-o", str(tmp_path / "port.o")], check=True)
