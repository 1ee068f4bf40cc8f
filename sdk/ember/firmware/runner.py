"""A board and its kernels become the test runner, firmware that `ember test` starts.

A runner for a small board also carries programs in its flash.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ember import kept, kernels, paths, progress
from ember.boards import Board, keys
from ember.cases import Case
from ember.errors import SdkError
from ember.firmware import certificate, linking
from ember.firmware.stack.bound import UnknownBoundError
from ember.kernels import Earlier, KernelList
from ember.program import Program
from ember.select.rules import Rules
from ember.toolchain import build_tree, libraries, linker
from ember.toolchain.compiler import Libraries
from ember.toolchain.libraries import DEFAULT_OPTIMIZE, Optimize

_APP = (
    "runner_main.c",
    "runner_open.c",
    "runner_case.c",
    "runner_poison.c",
    "runner_cycles.c",
    "runner_capture.c",
    "values.c",
    "values_any.c",
)
_STACK = 32 * 1024
_SMALL = 1024 * 1024  # a board with less memory for cases keeps programs in its flash
_HEX = "[0-9a-f]" * 16
_KEPT = 16  # firmware files of one board
_ALIGN = 32  # a bundled program needs it
_ROOMY = 64 * 1024  # memory with which 4096 bytes of a serial line are kept, not 1024


def memory(board: Board) -> int:
    """Bytes of the memory that cases are loaded to."""
    return max((memory.size for memory in board.memories_for("batch")), default=0)


def is_small(board: Board) -> bool:
    """Whether cases must be linked to the runner instead of being read by it."""
    return memory(board) < _SMALL


def general(
    board: Board,
    optimize: Optimize = DEFAULT_OPTIMIZE,
    rules: Rules | None = None,
) -> Path:
    """The runner with every kernel that `rules` allow and every backend, built unless
    it is cached.
    """
    libs = libraries.build(board, messages=True, optimize=optimize)
    return _general(libs, rules or Rules())


def _general(libs: Libraries, rules: Rules) -> Path:
    backends = tuple(rules.known.backends)
    known = rules.known
    return _cached(libs, known, rules.allowed(libs.board), backends, (), known.earlier)


def for_programs(
    board: Board,
    programs: Sequence[Program],
    optimize: Optimize = DEFAULT_OPTIMIZE,
    rules: Rules | None = None,
    more: Sequence[str] = (),
) -> Path:
    """The general runner, or one with what `programs` and the operators `more` need
    where that compiles less."""
    rules = rules or Rules()
    libs = libraries.build(board, messages=True, optimize=optimize, whole=False)
    if libs.is_whole:
        return _general(libs, rules)
    by_operator, backends = needs(programs, board, rules, more)
    return _cached(libs, rules.known, by_operator, backends, (), _earlier(programs))


def special(
    board: Board,
    cases: Sequence[Case],
    optimize: Optimize = DEFAULT_OPTIMIZE,
    rules: Rules | None = None,
) -> tuple[Path, list[int]]:
    """A runner with what `cases` need and their programs in its flash.

    Also returns the place of each case's program, for batch.record(). SdkError when
    they do not fit together.
    """
    rules = rules or Rules()
    by_operator, backends = needs([case.program for case in cases], board, rules)
    blobs: list[bytes] = []
    places: list[int] = []
    for case in cases:
        places.append(len(blobs))
        blobs += [case.content, *case.data]
    libs = libraries.build(board, messages=True, optimize=optimize, whole=False)
    earlier = _earlier(case.program for case in cases)
    return _cached(libs, rules.known, by_operator, backends, blobs, earlier), places


def serial(
    board: Board,
    cases: Sequence[Case] = (),
    optimize: Optimize = DEFAULT_OPTIMIZE,
    rules: Rules | None = None,
) -> Path:
    """A runner that receives cases over the board's serial line.

    It has every kernel, or those that `cases` need.
    """
    if board.uart is None:
        raise SdkError(
            f"board {board.name} describes no serial port for the test runner",
            hint="add `uart:` to its file: docs/boards.md",
        )
    rules = rules or Rules()
    by_operator, backends = rules.allowed(board), tuple(rules.known.backends)
    earlier = rules.known.earlier
    if cases:
        programs = [case.program for case in cases]
        by_operator, backends = needs(programs, board, rules)
        earlier = _earlier(programs)
    libs = libraries.build(
        board, messages=True, optimize=optimize, console=False, whole=not cases
    )
    return _cached(libs, rules.known, by_operator, backends, (), earlier, serial=True)


def _earlier(programs: Iterable[Program]) -> Earlier:
    """The argument lists of other versions that calls in the files have."""
    return frozenset[tuple[str, int]]().union(*(each.earlier for each in programs))


def needs(
    programs: Sequence[Program],
    board: Board,
    rules: Rules,
    more: Sequence[str] = (),
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Every candidate of the operators that `programs` call and of `more`, and their
    backends."""
    used = set(more)
    delegates: set[str] = set()
    for program in programs:
        for method in program.methods:
            used.update(method.operator_names)
            delegates.update(delegate.id for delegate in method.delegates)
    offered = rules.allowed(board)
    operators = {name: variants for name, variants in offered.items() if name in used}
    return operators, tuple(sorted(delegates & set(rules.known.backends)))


def _cached(
    libs: Libraries,
    known: KernelList,
    by_operator: Mapping[str, Sequence[str]],
    backends: Sequence[str],
    blobs: Sequence[bytes],
    earlier: Earlier,
    *,
    serial: bool = False,
) -> Path:
    board = libs.board
    running = [kernel for offered in by_operator.values() for kernel in offered]
    build_tree.need_models(running, libs.unmodelled, f"{board.name} runs it")
    texts = {
        "operators.c": kernels.operator_table(by_operator, known, earlier),
        "backends.c": kernels.backend_table(backends, board.isa),
        "linked.c": _linked_table(blobs),
        "runner.ld": _script(board, serial),
    }
    if blobs:
        texts["linked.S"] = _linked_assembly(blobs)
    user_objects = libraries.user_objects(libs, known, by_operator)
    app = [paths.runtime() / "app" / name for name in _APP]
    if serial and board.uart is not None:
        app += keys.runner(board.uart, board.port)
    place = _place(
        libs, texts, app, [*blobs, *(path.read_bytes() for path in user_objects)]
    )
    if not kept.found(place):
        with (
            progress.doing(f"linking the test runner of {board.name}"),
            tempfile.TemporaryDirectory(dir=place.parent) as folder,
        ):
            built = _link(libs, Path(folder), texts, app, blobs, user_objects)
            kept.put(built, place)
        others = place.parent.glob(f"{board.name}-{_HEX}.elf")
        kept.forget_old(others, _KEPT)
    return place


def _place(
    libs: Libraries,
    texts: Mapping[str, str],
    app: Sequence[Path],
    blobs: Sequence[bytes],
) -> Path:
    """Where the firmware of exactly this content is kept."""
    digest = hashlib.sha256(libs.key.encode())
    headers = {path.parent for path in app}
    for path in (*app, *sorted(h for include in headers for h in include.glob("*.h"))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    for text in texts.values():
        digest.update(hashlib.sha256(text.encode()).digest())
    for blob in blobs:
        digest.update(hashlib.sha256(blob).digest())
    folder = paths.writable_folder(paths.cache() / "runners")
    return folder / f"{libs.board.name}-{digest.hexdigest()[:16]}.elf"


def _link(
    libs: Libraries,
    folder: Path,
    texts: Mapping[str, str],
    app: Sequence[Path],
    blobs: Sequence[bytes],
    user_objects: Sequence[Path],
) -> Path:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for index, blob in enumerate(blobs):
        (folder / f"{index}.bin").write_bytes(blob)
    window = 4096 if memory(libs.board) >= _ROOMY else 1024
    options = [f"-I{folder}", f"-DEMBER_LINK_WINDOW={window}"]
    generated = [folder / name for name in texts if name.endswith((".c", ".S"))]
    compiled = libs.compile([*app, *generated], folder, options)
    objects = linking.link_inputs(libs, [*compiled, *user_objects])
    script = folder / "runner.ld"
    if objects.graph is not None:
        # Without a bound, a user's kernel has the script's fixed size.
        with contextlib.suppress(UnknownBoundError):
            size = certificate.stack_size(libs, objects.graph, None).bytes
            text = linker.with_stack(texts[script.name], size)
            script.write_text(text, encoding="utf-8")
    objects.link(folder / "runner.elf", script if texts[script.name] else None)
    return folder / "runner.elf"


def _script(board: Board, serial: bool) -> str:
    """The runner's linker script, with a stack of fixed size."""
    if board.port == "host":
        return ""
    stack = linker.DEFAULT_STACK if is_small(board) else _STACK
    return linker.script(board, stack_bytes=stack, serial=serial)


# ---- programs in flash ---------------------------------------------------------------


def _linked_table(blobs: Sequence[bytes]) -> str:
    items = "".join(f"{{ember_linked_{i}, {len(b)}}}, " for i, b in enumerate(blobs))
    return "\n".join(
        [
            "// Generated by Ember. Do not edit.",
            '#include "runtime_c/app/runner.h"',
            "",
            *(f"extern const uint8_t ember_linked_{i}[];" for i in range(len(blobs))),
            f"static const ember_bytes_t items[] = {{{items}{{0, 0}}}};",
            f"const ember_linked_t ember_linked = {{items, {len(blobs)}}};",
            "",
        ]
    )


def _linked_assembly(blobs: Sequence[bytes]) -> str:
    lines = ['.section .ember_model, "a", %progbits']
    for index in range(len(blobs)):
        lines += [
            f".balign {_ALIGN}",
            f".global ember_linked_{index}",
            f"ember_linked_{index}:",
            f'.incbin "{index}.bin"',
        ]
    return "\n".join([*lines, ""])
