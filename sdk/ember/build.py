"""A model and a board become firmware, through numbered artefacts in a build folder.

1-program.json    what the program contains
2-selection.json  the kernel of each call
3-plan.json       the memory of each region
4-package/        image and generated C (pack.py)
5-firmware/       firmware.elf, .bin, .hex, firmware.map, size.json
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ember import (
    boards,
    describe,
    image,
    libraries,
    linker,
    pack,
    paths,
    plan,
    user_kernels,
)
from ember import model as models
from ember import selection as selections
from ember.boards import Board
from ember.errors import SdkError
from ember.libraries import Libraries
from ember.model import Model
from ember.program import Method
from ember.rules import Rules
from ember.selection import Selection

_STAMP = "build.json"
_APP = ("model.c", "values.c", "run_main.c")


@dataclass(frozen=True)
class Options:
    """What a user may ask of a build."""

    methods: tuple[str, ...] = ()  # none: forward, or the only one
    app: Path | None = None  # a main() of the user's own
    messages: bool = False  # keep error sentences and kernel names
    caller_io: bool = False
    stack: int = linker.DEFAULT_STACK
    toolchain: str | None = None
    optimize: libraries.Optimize = libraries.DEFAULT_OPTIMIZE
    rules: Rules = field(default_factory=Rules)


@dataclass(frozen=True)
class Built:
    """Firmware of one model for one board."""

    model: Model
    board: Board
    methods: tuple[Method, ...]
    folder: Path
    selection: dict[str, Any]
    plan: dict[str, Any]
    sizes: dict[str, Any]  # size, memory
    images: tuple[Path, ...]  # flashable files
    options: Options = field(default_factory=Options)

    @property
    def firmware(self) -> Path:
        return self.folder / "5-firmware" / "firmware.elf"

    @property
    def traced(self) -> Path:
        """The same with a mark around each node; made by trace()."""
        return self.folder / "5-firmware" / "firmware-traced.elf"


def build(
    path: Path,
    board_name: str,
    *,
    out: Path | None = None,
    data: Sequence[Path] = (),
    options: Options | None = None,
) -> Built:
    """Build `path` (.pte, .bpte or case folder) for a board; nothing when it is built.

    `out` is the build folder, build/<board>/<model> when None.
    """
    options = options or Options()
    board = boards.load(board_name)
    model = models.read(path, data)
    wanted = options.methods or (None,)
    methods = tuple(dict.fromkeys(model.method(name) for name in wanted))
    app = _app(options.app)
    folder = (out or Path("build") / board.name / model.name).absolute()
    selected = None
    if not libraries.built_key(board, **_asked(options)):
        # Gaps are told before a compiler runs for nothing.
        selected = _choose(model, methods, board, options)
    made = libraries.build(board, **_asked(options))
    key = _key(model, board, methods, options, app, made)
    if not _is_built(folder, key):
        selected = selected or _choose(model, methods, board, options)
        paths.writable_folder(folder, "choose another one with --out")
        with _locked(folder):
            if not _is_built(folder, key):
                _stages(folder, model, selected, board, options, made)
                _write_json(folder / _STAMP, {"key": key})
    return _read(folder, model, board, methods, options)


def _choose(
    model: Model, methods: tuple[Method, ...], board: Board, options: Options
) -> Selection:
    return selections.choose(
        model.program,
        model.content,
        model.data,
        board,
        methods,
        model.name,
        options.rules,
    )


def trace(built: Built) -> Path:
    """Link the traced twin of a firmware, unless it is there; its path."""
    with _locked(built.folder):
        if not built.traced.is_file():
            made = libraries.build(built.board, **_asked(built.options))
            known, chosen = built.options.rules.known, built.selection["operators"]
            kernels = user_kernels.objects(made, known, chosen)
            package = built.folder / "4-package"
            _link(package, built.traced, made, kernels, None, traced=True)
    return built.traced


def _asked(options: Options) -> dict[str, Any]:
    """What the libraries must be told."""
    return {
        "messages": options.messages,
        "toolchain": options.toolchain,
        "optimize": options.optimize,
    }


# ---- stages ------------------------------------------------------------------------


def _stages(
    folder: Path,
    model: Model,
    selected: Selection,
    board: Board,
    options: Options,
    made: Libraries,
) -> None:
    _clean(folder)
    facts = describe.program(model.program, model.program.methods)
    _write_json(folder / "1-program.json", facts)
    _write_json(folder / "2-selection.json", selected.to_json())
    placed = plan.make(
        model, selected, board, stack=options.stack, caller_io=options.caller_io
    )
    _write_json(folder / "3-plan.json", placed.to_json())
    package = folder / "4-package"
    package.mkdir()
    pack.write(package, model, selected, placed)
    target = folder / "5-firmware"
    target.mkdir()
    firmware = target / "firmware.elf"
    kernels = user_kernels.objects(made, selected.known, selected.kernels)
    _link(package, firmware, made, kernels, _app(options.app))
    images = image.write_images(firmware, board)
    arena = sum(region.size for region in placed.regions)
    found = image.sizes(firmware, board, placed.model_bytes, arena)
    _write_json(
        target / "size.json",
        {
            "size": found.to_json(),
            "memory": found.memories_json(),
            "method_arena": placed.method_arena,
            "images": [path.name for path in images],
        },
    )


def _link(
    package: Path,
    firmware: Path,
    made: Libraries,
    kernels: Sequence[Path],
    app: Path | None,
    *,
    traced: bool = False,
) -> None:
    """Compile the package and an application's main, and link `firmware`.

    `kernels` are objects of the user's own.
    """
    folder = paths.runtime() / "app"
    own = [] if app else [folder / f"trace_{'on' if traced else 'off'}.c"]
    sources = [*(folder / name for name in (_APP[:1] if app else _APP)), *own]
    sources += [package / name for name in pack.SOURCES]
    sources += [app] if app else []
    options = [f"-I{package}"]
    options += [f"-I{app.parent}"] if app else []
    script = package / "linker.ld"
    with tempfile.TemporaryDirectory(prefix="ember-objects-") as objects:
        compiled = made.compile(
            sources, Path(objects), options, given=[app] if app else []
        )
        made.link(
            [*compiled, *kernels],
            firmware,
            script=script if script.is_file() else None,
            map_file=firmware.with_suffix(".map"),
        )


def _clean(folder: Path) -> None:
    """Forget an older build; files that are not ours stay."""
    (folder / _STAMP).unlink(missing_ok=True)
    for pattern in ("[1-3]-*.json", "4-package", "5-firmware", "6-run"):
        for path in folder.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _app(path: Path | None) -> Path | None:
    if path is not None and not path.is_file():
        raise SdkError(f"the application {path} does not exist")
    return path.absolute() if path else None


# ---- cache -------------------------------------------------------------------------


def _key(
    model: Model,
    board: Board,
    methods: Sequence[Method],
    options: Options,
    app: Path | None,
    made: Libraries,
) -> str:
    """Names everything that a firmware depends on."""
    digest = hashlib.sha256(made.key.encode())
    for content in (model.content, *model.data, _sdk_digest()):
        digest.update(hashlib.sha256(content).digest())
    if app is not None:
        for path in sorted(app.parent.glob("*.[ch]")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    facts = [board.model_dump(mode="json"), [one.name for one in methods], model.name]
    asked = [str(app), options.messages, options.caller_io, options.stack]
    asked += [options.toolchain, options.rules.key()]
    digest.update(json.dumps([facts, asked]).encode())
    digest.update(user_kernels.digest(options.rules.known))
    return digest.hexdigest()


@functools.cache
def _sdk_digest() -> bytes:
    """A hash of the SDK and of the applications that it links."""
    digest = hashlib.sha256()
    files = [*Path(__file__).parent.rglob("*.py"), *(paths.runtime() / "app").iterdir()]
    files.append(paths.kernels() / "kernels.yaml")
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()


def _is_built(folder: Path, key: str) -> bool:
    try:
        stamp = json.loads((folder / _STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(stamp, dict) and stamp.get("key") == key


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One build at a time in a folder."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _read(
    folder: Path,
    model: Model,
    board: Board,
    methods: tuple[Method, ...],
    options: Options,
) -> Built:
    sizes = _read_json(folder / "5-firmware" / "size.json")
    return Built(
        model=model,
        board=board,
        methods=methods,
        folder=folder,
        selection=_read_json(folder / "2-selection.json"),
        plan=_read_json(folder / "3-plan.json"),
        sizes=sizes,
        images=tuple(folder / "5-firmware" / name for name in sizes["images"]),
        options=options,
    )


def _write_json(path: Path, facts: Any) -> None:
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
