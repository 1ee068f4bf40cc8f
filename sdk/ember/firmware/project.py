"""ember.yaml becomes a project: models, a board, and rules for choosing kernels.

models: [model.pte]         # what commands take that are given no model
board: mps2-an386
kernels: [my_kernels]       # folders with a kernels.yaml, tried before Ember's kernels
pin:
  aten::add.out: add        # every call of the operator
  model/forward/3: add_f32  # the call at instruction 3 of a method of a model
forbid: [mve]               # variants for these instruction sets are not used
optimize: size              # or balanced, speed: what kernels are chosen for
stack: 4K                   # for the stack, instead of what code may need: --stack
prepared: true              # firmware loads nothing: its nodes are prepared by build
rows: smallest              # or off, fit: layers run row by row to need less memory
passes: [fold]              # only these passes of packing, not the default ones
memory: {reserve: {dtcm: 64K}}  # what lies where: steering.py
app: src                    # sources with a main(), or folders of them; or
app: {sources: [src], include: [hal], defines: [HSE=8000000], flags: -Wall}
interrupts: {handlers: {SysTick_Handler: 3}}  # of the application: stack/ports.py
labels: classes.txt         # a line for each class; of several models {MODEL: FILE}

Files are relative to the folder of ember.yaml. The command line goes before it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from ember import boards, files
from ember.boards import keys
from ember.errors import SdkError, UsageError, problem_list
from ember.firmware.stack.ports import Interrupts
from ember.kernels import library
from ember.model.steering import CLASSES, MOST_ALIGN, Steering
from ember.plan import passes
from ember.plan.passes import Rows
from ember.program.types import ALIGN
from ember.select.rules import Rules
from ember.toolchain import user_code
from ember.toolchain.libraries import DEFAULT_OPTIMIZE, Optimize
from ember.toolchain.user_code import UserCode

FILE = Path("ember.yaml")
_FIELDS = (
    *("models", "board", "kernels", "pin", "forbid", "optimize"),
    *("stack", "prepared", "passes", "rows", "memory", "interrupts", "labels"),
    "app",
)
STACK_SIZES = range(256, 2**31)  # bytes
_CALL_PARTS = 3
_MOST_LABELS = 1 << 20  # bytes


@dataclass(frozen=True)
class Project:
    models: tuple[Path, ...] = ()
    board: str | None = None
    rules: Rules = field(default_factory=Rules)
    optimize: Optimize = DEFAULT_OPTIMIZE
    stack: int | None = None  # bytes; None: as many as the code may need
    prepared: bool = False
    passes: tuple[str, ...] = passes.DEFAULT
    rows: Rows = "fit"
    steering: Steering = field(default_factory=Steering)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by model
    interrupts: Interrupts = field(default_factory=Interrupts)
    app: UserCode | None = None  # a main() of the user's own
    is_named: bool = True  # by the user; else it is that of the current folder

    def models_or(self, given: Sequence[Path]) -> list[Path]:
        """The models of a command line, or else the project's."""
        paths = list(given or self.models)
        if not paths:
            raise UsageError(
                "no model given",
                hint="name a .pte, or list models in ember.yaml (--project)",
            )
        return paths

    def model_or(self, given: Path | None) -> Path:
        """The one model of a command line, or of the project."""
        paths = self.models_or([given] if given else [])
        if len(paths) > 1:
            raise UsageError(
                f"the project has {len(paths)} models, but this command takes one",
                hint=f"name one of {', '.join(map(str, paths))}",
            )
        return paths[0]

    def app_or(self, given: Sequence[Path] | None) -> UserCode | None:
        """The application of a command line, compiled as the project says, or else
        the project's."""
        if not given:
            return self.app
        sources = user_code.sources_in(given)
        return replace(self.app or UserCode(), sources=sources)

    def board_or(self, given: str | None) -> str:
        """The board of a command line, or else the project's."""
        name = given or self.board
        if not name:
            raise UsageError("no board given", hint="--board NAME: see `ember boards`")
        if not given and not self.is_named:
            _check_runner(name)
        return name


def load(path: Path | None = None, kernels: Sequence[Path] | None = None) -> Project:
    """The project file `path`, or ember.yaml in the current folder if there is one.

    `kernels` are folders of kernels beside the project's, tried before them.
    """
    more = tuple(dict.fromkeys(map(library.real, kernels or ())))
    if path is None and not FILE.is_file():
        return Project(rules=Rules(folders=more))
    is_named = path is not None
    path = path or FILE
    if not is_named:
        _check_owner(path)
    data = files.read_yaml(path, "the project file")
    project = _Reader(path, data or {}).project()
    rules = project.rules
    folders = tuple(dict.fromkeys(more + rules.folders))
    rules = Rules(folders, rules.pins, rules.calls, rules.forbid)
    return replace(project, rules=rules, is_named=is_named)


def _check_owner(path: Path) -> None:
    """Refuse a file that somebody else put into the current folder.

    What it names is compiled and run.
    """
    owner, me = path.stat().st_uid, os.geteuid()
    if owner in (me, 0) or (me == 0 and owner == Path.cwd().stat().st_uid):
        return
    raise SdkError(
        f"{path} in this folder belongs to another user, and it can run code here",
        hint=f"if you trust it: --project {path}",
    )


def _check_runner(name: str) -> None:
    """Refuse a board of a file that runs programs that none of Ember's boards runs."""
    if not name.endswith(".yaml"):
        return
    runner = boards.load(name).runner
    ours = (boards.load(board).runner for board in boards.names(internal=True))
    known = {(each.kind, each.binary, each.args) for each in ours}
    if (runner.kind, runner.binary, runner.args) in known or runner.kind == "none":
        return
    words = " ".join([runner.binary or runner.kind, *runner.args])
    raise SdkError(
        f"the board {name} of {FILE} in this folder runs its own command: {words}",
        hint=f"if you trust it, name it: --board {name}",
    )


def _lines(path: Path) -> tuple[str, ...]:
    text = files.read(path, _MOST_LABELS, "the labels").decode("utf-8", "replace")
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _is_count(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0


class _Reader:
    """Reads the fields of one file and keeps every problem."""

    def __init__(self, path: Path, data: Any) -> None:
        self.path = path
        self.problems: list[str] = []
        self.data = data if isinstance(data, dict) else {}
        if not isinstance(data, dict):
            self.problems.append("it must be a mapping")

    def project(self) -> Project:
        models = self._paths("models")
        folders = tuple(map(library.real, self._paths("kernels")))
        pins, calls = self._pins()
        forbid = tuple(self._texts("forbid", self.data.pop("forbid", None)))
        board = self.data.pop("board", None)
        if board is not None and not isinstance(board, str):
            self.problems.append("board: it must be a name")
        optimize = self.data.pop("optimize", DEFAULT_OPTIMIZE)
        if optimize not in get_args(Optimize):
            self.problems.append("optimize: it must be size, balanced or speed")
        stack = self._stack()
        prepared = self._flag("prepared", self.data.pop("prepared", False))
        chosen = self._passes()
        rows = self.data.pop("rows", "fit")
        if rows is False:  # as YAML reads off
            rows = "off"
        if rows not in get_args(Rows):
            self.problems.append("rows: it must be off, fit, smallest or fed")
        steering = self._steering()
        labels = self._labels()
        interrupts = self._interrupts()
        app = self._app()
        self._unknown("", self.data, _FIELDS)
        if self.problems:
            raise SdkError(problem_list(f"{self.path} is wrong", self.problems))
        rules = Rules(folders, pins, calls, forbid)
        facts = (
            optimize,
            stack,
            prepared,
            chosen,
            rows,
            steering,
            labels,
            interrupts,
            app,
        )
        return Project(models, board, rules, *facts)

    def _labels(self) -> dict[str, tuple[str, ...]]:
        """Lines of files, by model; "" for the only one."""
        given = self.data.pop("labels", None) or {}
        by_model = {"": given} if isinstance(given, str) else given
        if not isinstance(by_model, dict) or not all(
            isinstance(names, str) for names in by_model.values()
        ):
            self.problems.append("labels: it must be a file, or map models to files")
            return {}
        folder = self.path.absolute().parent
        return {str(model): _lines(folder / names) for model, names in by_model.items()}

    def _passes(self) -> tuple[str, ...]:
        if "passes" not in self.data:
            return passes.DEFAULT
        try:
            return passes.wanted(self._texts("passes", self.data.pop("passes")))
        except UsageError as error:
            self.problems.append(f"passes: {error.what}; {error.hint}")
            return ()

    def _unknown(self, where: str, left: Iterable[Any], known: Sequence[str]) -> None:
        for name in left:
            near = get_close_matches(str(name), known, n=1)
            meant = f": did you mean {near[0]}?" if near else ""
            self.problems.append(f"{where}unknown key {name}{meant}")

    def _steering(self) -> Steering:
        given = self._mapping("memory", self.data.pop("memory", None))
        place = self._mapping("memory.place", given.pop("place", None))
        reserve = self._mapping("memory.reserve", given.pop("reserve", None))
        code = self._mapping("memory.code", given.pop("code", None))
        align = given.pop("align", None)
        if not isinstance(align, dict):
            every = ALIGN if align is None else self._align(align)
            align = dict.fromkeys(CLASSES, every) if every != ALIGN else {}
        steering = Steering(
            place={
                str(word): tuple(self._list(f"memory.place: {word}", memories))
                for word, memories in place.items()
            },
            reserve={
                str(name): self._size(f"memory.reserve: {name}", size)
                for name, size in reserve.items()
            },
            forbid=tuple(self._list("memory.forbid", given.pop("forbid", None) or [])),
            align={
                str(name): self._align(alignment) for name, alignment in align.items()
            },
            exclusive=self._groups(given.pop("exclusive", None) or []),
            reload=self._flag("memory.reload", given.pop("reload", False)),
            code={
                str(memory): tuple(
                    self._list(f"memory.code: {memory}", words, "kernel")
                )
                for memory, words in code.items()
            },
        )
        self._unknown("memory.align: ", set(align) - set(CLASSES), tuple(CLASSES))
        known = ("place", "reserve", "forbid", "align", "exclusive", "reload", "code")
        self._unknown("memory: ", given, known)
        return steering

    def _interrupts(self) -> Interrupts:
        is_declared = "interrupts" in self.data
        given = self._mapping("interrupts", self.data.pop("interrupts", None))
        handlers = self._mapping("interrupts.handlers", given.pop("handlers", None))
        levels = given.pop("levels", None)
        self._unknown("interrupts: ", given, ("handlers", "levels"))
        if not (levels is None or (_is_count(levels) and levels > 0)):
            self.problems.append(
                f"interrupts.levels: {levels!r} is not a number above 0"
            )
        for name, priority in handlers.items():
            if not (priority is None or _is_count(priority)):
                self.problems.append(
                    f"interrupts.handlers: the priority of {name} must be a number from"
                    " 0, or null if it is unknown"
                )
        named = {str(name): priority for name, priority in handlers.items()}
        return Interrupts(named, levels, is_declared)

    def _flag(self, where: str, given: Any) -> bool:
        if not isinstance(given, bool):
            self.problems.append(f"{where}: it must be true or false")
        return given is True

    def _mapping(self, where: str, given: Any) -> dict[Any, Any]:
        if given is not None and not isinstance(given, dict):
            self.problems.append(f"{where}: it must be a mapping")
        return dict(given) if isinstance(given, dict) else {}

    def _list(self, where: str, given: Any, what: str = "memory") -> list[str]:
        items = [given] if isinstance(given, str) else given
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return items
        wanted = "kernels" if what == "kernel" else "memories"
        self.problems.append(f"{where}: it must be a {what} or a list of {wanted}")
        return []

    def _groups(self, given: Any) -> tuple[tuple[str, ...], ...]:
        groups = given if isinstance(given, list) else [given]
        for group in groups:
            if isinstance(group, list) and all(isinstance(item, str) for item in group):
                continue
            self.problems.append(
                "memory.exclusive: it must be a list of groups, such as [[detect,"
                " track]]"
            )
            return ()
        return tuple(map(tuple, groups))

    def _size(self, where: str, given: Any) -> int:
        try:
            size = keys.size_of(given)
        except ValueError as error:
            self.problems.append(f"{where}: {error}")
            return 0
        return size

    def _app(self) -> UserCode | None:
        """Files, or a mapping of them and what they are compiled with."""
        given = self.data.pop("app", None)
        if given is None:
            return None
        parts = dict(given) if isinstance(given, dict) else {"sources": given}
        defines, flags = parts.pop("defines", None), parts.pop("flags", None)
        if isinstance(defines, dict):
            pairs = defines.items()
            defines = [str(k) if v is None else f"{k}={v}" for k, v in pairs]
        sources, include, defines, flags = (
            self._texts(f"app.{key}", given)
            for key, given in (
                ("sources", parts.pop("sources", None)),
                ("include", parts.pop("include", None)),
                ("defines", defines),
                ("flags", flags.split() if isinstance(flags, str) else flags),
            )
        )
        self._unknown("app: ", parts, ("sources", "include", "defines", "flags"))
        folder = self.path.absolute().parent
        if not sources:
            self.problems.append("app: it must have `sources`")
        files: tuple[Path, ...] = ()
        try:
            files = user_code.sources_in(folder / text for text in sources)
        except SdkError as error:
            self.problems.append(f"app.sources: {error.what}")
        folders = tuple(folder / text for text in include)
        self.problems += [
            f"app.include: {place} is not a folder"
            for place in folders
            if not place.is_dir()
        ]
        self.problems += [
            f"app.defines: {name!r} is not NAME or NAME=VALUE"
            for name in defines
            if not re.fullmatch(r"[A-Za-z_]\w*(=.*)?", name, re.DOTALL)
        ]
        return UserCode(files, folders, tuple(defines), tuple(flags), folder)

    def _stack(self) -> int | None:
        if "stack" not in self.data:
            return None
        size = self._size("stack", self.data.pop("stack"))
        if size and size not in STACK_SIZES:
            self.problems.append(f"stack: it must have 256 bytes to 2G, not {size:,}")
        return size

    def _align(self, given: Any) -> int:
        good = isinstance(given, int) and ALIGN <= given <= MOST_ALIGN
        if good and given & (given - 1) == 0:
            return int(given)
        self.problems.append(
            f"memory.align: {given!r} is not a power of two from {ALIGN} to"
            f" {MOST_ALIGN}"
        )
        return ALIGN

    def _texts(self, name: str, given: Any) -> list[str]:
        items = [given] if isinstance(given, str) and given else given
        items = [] if items in (None, "") else items
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return items
        self.problems.append(f"{name}: it must be a list of strings")
        return []

    def _paths(self, name: str) -> tuple[Path, ...]:
        folder = self.path.absolute().parent
        texts = self._texts(name, self.data.pop(name, None))
        return tuple(folder / text for text in texts)

    def _pins(self) -> tuple[dict[str, str], dict[tuple[str, str, int], str]]:
        operators: dict[str, str] = {}
        calls: dict[tuple[str, str, int], str] = {}
        given = self.data.pop("pin", None) or {}
        if not isinstance(given, dict):
            self.problems.append("pin: it must map operators or calls to kernels")
            return operators, calls
        for place, kernel in given.items():
            parts = str(place).rsplit("/", 2)
            if not isinstance(kernel, str):
                self.problems.append(f"pin: the kernel of {place} must be a name")
            elif "/" not in str(place):
                operators[str(place)] = kernel
            elif len(parts) == _CALL_PARTS and parts[2].isdecimal():
                calls[(parts[0], parts[1], int(parts[2]))] = kernel
            else:
                self.problems.append(
                    f"pin: {place} is neither an operator nor MODEL/METHOD/INSTRUCTION"
                )
        return operators, calls
