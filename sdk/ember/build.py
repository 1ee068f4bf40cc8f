"""Models and a board become firmware, through numbered artefacts in a build folder.

1-program.json    what the program contains; a list where there are several
2-selection.json  the kernel of each call
3-plan.json       the memory of each region
4-package/        image and generated C (pack.py)
5-firmware/       firmware.elf, .bin, .hex, firmware.map, size.json, certificate.json
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import itertools
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ember import (
    boards,
    certificate,
    describe,
    firmware,
    footprint,
    image,
    libraries,
    linker,
    memories,
    occupancy,
    pack,
    passes,
    paths,
    plan,
    program,
    repack,
    user_kernels,
)
from ember import kernels as kernel_list
from ember import model as models
from ember import selection as selections
from ember.boards import Board
from ember.errors import SdkError, UsageError
from ember.gaps import Gap
from ember.libraries import Libraries
from ember.memories import Spread
from ember.model import Model
from ember.program import Method
from ember.rules import Rules
from ember.stack.bound import Bound
from ember.steering import Steering
from ember.uses import Pair

_STAMP = "build.json"


@dataclass(frozen=True)
class Options:
    """What a user may ask of a build."""

    methods: tuple[str, ...] = ()  # none: forward, or the only one
    app: Path | None = None  # a main() of the user's own
    messages: bool = False  # keep error sentences and kernel names
    caller_io: bool = False
    stack: int | None = None  # bytes; None: as many as the code may need
    toolchain: str | None = None
    optimize: libraries.Optimize = libraries.DEFAULT_OPTIMIZE
    rules: Rules = field(default_factory=Rules)
    steering: Steering = field(default_factory=Steering)
    passes: tuple[str, ...] = passes.DEFAULT  # of packing


@dataclass(frozen=True)
class Built:
    """Firmware of one model, or of several, for one board."""

    models: tuple[Model, ...]
    board: Board
    chosen: tuple[tuple[Method, ...], ...]  # methods of each model
    folder: Path
    selection: dict[str, Any]
    plan: dict[str, Any]
    certificate: dict[str, Any]
    sizes: dict[str, Any]  # size, memory
    images: tuple[Path, ...]  # flashable files
    options: Options = field(default_factory=Options)

    @property
    def model(self) -> Model:
        """The first one."""
        return self.models[0]

    @property
    def methods(self) -> tuple[Method, ...]:
        """Those of the first model."""
        return self.chosen[0]

    @property
    def name(self) -> str:
        return "_".join(model.name for model in self.models)

    def packed(self, name: str) -> Method:
        """A method of the first model as the firmware has it."""
        folder = self.folder / "4-package"
        if len(self.models) > 1:
            folder /= self.model.identifier
        found = program.read(folder / "model.pte").method(name)
        assert found is not None
        return found

    @property
    def firmware(self) -> Path:
        return self.folder / "5-firmware" / "firmware.elf"

    @property
    def traced(self) -> Path:
        """The same with a mark around each node; made by trace()."""
        return self.folder / "5-firmware" / "firmware-traced.elf"


def build(
    path: Path | Sequence[Path],
    board_name: str,
    *,
    out: Path | None = None,
    data: Sequence[Path] = (),
    options: Options | None = None,
) -> Built:
    """Build `path` (.pte, .bpte or case folder) for a board; nothing when it is built.

    Several become one firmware. `out` is the build folder, build/<board>/<model> when
    None.
    """
    options = options or Options()
    board = boards.load(board_name)
    files = [path] if isinstance(path, Path) else list(path)
    found = tuple(models.read(one, data if len(files) == 1 else ()) for one in files)
    if data and len(files) > 1:
        raise UsageError(
            "--data is for one model", hint="put each model into a folder with its .ptd"
        )
    app = _app(options.app)
    job = _job(found, board, options, app)
    name = "_".join(model.name for model in found)
    folder = (out or Path("build") / board.name / name).absolute()
    pairs = None
    if not libraries.built_key(board, **_asked(options)):
        # Gaps are told before a compiler runs for nothing.
        pairs = _choose(job)
    made = libraries.build(board, **_asked(options))
    key = _key(job, made)
    if not _is_built(folder, key):
        pairs = pairs or _choose(job)
        paths.writable_folder(folder, "choose another one with --out")
        with _locked(folder):
            if not _is_built(folder, key):
                _stages(folder, job, pairs, made)
                _write_json(folder / _STAMP, {"key": key})
    return _read(folder, job)


@dataclass(frozen=True)
class _Job:
    """What a firmware is made of, beside compiled libraries."""

    models: tuple[Model, ...]
    methods: tuple[tuple[Method, ...], ...]  # of each model
    board: Board
    options: Options
    app: Path | None


def _job(
    found: Sequence[Model], board: Board, options: Options, app: Path | None
) -> _Job:
    smallest = options.optimize == "size"
    options = replace(options, rules=replace(options.rules, smallest=smallest))
    return _Job(tuple(found), _methods(found, options), board, options, app)


def _methods(
    found: Sequence[Model], options: Options
) -> tuple[tuple[Method, ...], ...]:
    """Of each model those that were asked for; of several models all without a wish."""
    if len(found) > 1 and not options.methods:
        return tuple(model.program.methods for model in found)
    wanted = options.methods or (None,)
    return tuple(
        tuple(dict.fromkeys(model.method(name) for name in wanted)) for model in found
    )


@dataclass(frozen=True)
class Package:
    """Models compiled for a board, to be linked with an application by its project."""

    folder: Path  # with ember_models.h
    made: Libraries
    objects: tuple[Path, ...]
    script: Path | None


def package(
    files: Sequence[Path], board_name: str, folder: Path, options: Options
) -> Package:
    """As build(), up to what a linker needs beside main()."""
    board = boards.load(board_name)
    found = tuple(models.read(path) for path in files)
    job = _job(found, board, options, None)
    pairs = _choose(job)
    made = libraries.build(board, **_asked(options))
    key = _key(job, made)
    paths.writable_folder(folder)
    place, objects = folder / "4-package", folder / "objects"
    with _locked(folder):
        if not _is_built(folder, key):
            _clean(folder)
            stack = options.stack or linker.DEFAULT_STACK
            chosen = _pack(folder, job, pairs, stack).chosen
            shutil.rmtree(objects, ignore_errors=True)
            objects.mkdir()
            sources = [paths.runtime() / "app" / "model.c", *pack.sources(place)]
            made.compile(sources, objects, [f"-I{place}"])
            for path in user_kernels.objects(made, options.rules.known, chosen):
                shutil.copy(path, objects / f"user_{path.name}")
            _write_json(folder / _STAMP, {"key": key})
    script = place / "linker.ld"
    return Package(
        place,
        made,
        tuple(sorted(objects.iterdir())),
        script if script.is_file() else None,
    )


def plan_of(files: Sequence[Path], board: Board, options: Options) -> dict[str, Any]:
    """What 3-plan.json of a build would say, and what lies where in planned memories
    (occupancy.py); nothing is written."""
    found = tuple(models.read(path) for path in files)
    job = _job(found, board, options, None)
    stack = options.stack or linker.DEFAULT_STACK
    selected = _spread(job, _choose(job), stack)
    facts = _plan_facts(selected, job, stack)[1]
    known = job.options.rules.known
    pairs = ((model, m) for model, chosen in selected.pairs for m in chosen.methods)
    return facts | {"methods": occupancy.of_all(pairs, known)}


def _plan_facts(
    selected: Spread, job: _Job, stack: int
) -> tuple[list[plan.Plan], dict[str, Any]]:
    plans = plan.make_all(
        selected.pairs,
        job.board,
        stack=stack,
        caller_io=job.options.caller_io,
        homes=selected.homes,
    )
    conflicts = [
        one.conflict
        for model, _ in selected.pairs
        for one in model.replanned.values()
        if one.conflict
    ]
    done = [
        {"model": model.name, **asdict(one)}
        for model, _ in selected.pairs
        for one in model.passes
    ]
    facts = {"traffic": selected.facts, "conflicts": conflicts, "passes": done}
    return plans, plan.to_json(plans) | facts


def _choose(job: _Job) -> list[Pair]:
    """Each model packed, with its selection; all gaps are told together."""
    results: list[Pair] = []
    gaps: list[Gap] = []
    for model, methods in zip(job.models, job.methods, strict=True):
        options = job.options
        packed = repack.repack(model, options.rules.known, options.passes, job.board)
        found = selections.examine(
            packed.program,
            packed.content,
            packed.data,
            job.board,
            [packed.method(one.name) for one in methods],
            packed.name,
            options.rules,
            packed.origins,
        )
        gaps += found.gaps
        if found.selection is not None:
            results.append((packed, found.selection))
    if gaps:
        raise selections.missing(gaps)
    return results


def _spread(job: _Job, pairs: Sequence[Pair], stack: int) -> Spread:
    """The models over the memories of the board."""
    options = job.options
    return memories.spread(
        pairs,
        job.board,
        options.rules,
        options.steering,
        stack=stack,
        caller_io=options.caller_io,
    )


def trace(built: Built) -> Path:
    """Link the traced twin of a firmware, unless it is there; its path."""
    with _locked(built.folder):
        if not built.traced.is_file():
            made = libraries.build(built.board, **_asked(built.options))
            known, chosen = built.options.rules.known, built.selection["operators"]
            kernels = user_kernels.objects(made, known, chosen)
            _link_traced(built, made, kernels)
    return built.traced


def _link_traced(built: Built, made: Libraries, kernels: Sequence[Path]) -> None:
    package = built.folder / "4-package"
    methods = tuple(itertools.chain(*built.chosen))
    sources = firmware.Sources(package, methods, None, traced=True)
    with tempfile.TemporaryDirectory(prefix="ember-objects-") as place:
        compiled = sources.compile(made, Path(place))
        objects = firmware.objects(made, [*compiled, *kernels])
        script = package / "linker.ld"
        needed = certificate.stack_size(made, objects.graph, None)[0]
        if objects.graph is not None and needed > built.plan["stack"]:
            script = firmware.script_with_stack(package, needed)
        objects.link(built.traced, script)


def _asked(options: Options) -> dict[str, Any]:
    """What the libraries must be told."""
    return {
        "messages": options.messages,
        "toolchain": options.toolchain,
        "optimize": options.optimize,
    }


# ---- stages ------------------------------------------------------------------------


def _stages(folder: Path, job: _Job, pairs: Sequence[Pair], made: Libraries) -> None:
    _clean(folder)
    target = folder / "5-firmware"
    target.mkdir()
    with tempfile.TemporaryDirectory(prefix="ember-objects-") as place:
        packed, objects = _with_stack(folder, job, pairs, made, Path(place))
        elf_file = target / "firmware.elf"
        planned = certificate.planned(packed.plans, objects.members, packed.bound)
        script = folder / "4-package" / "linker.ld"
        objects.link(elf_file, script if script.is_file() else None)
        certificate.linked(planned, elf_file, objects.graph).write(target)
    _write_sizes(target, job, packed, made)


def _write_sizes(target: Path, job: _Job, packed: _Packed, made: Libraries) -> None:
    elf_file, plans = target / "firmware.elf", packed.plans
    images = image.write_images(elf_file, job.board)
    regions = {region.name: region.size for one in plans for region in one.regions}
    model_bytes = sum(one.model_bytes for one in plans)
    found = image.sizes(elf_file, job.board, model_bytes, sum(regions.values()))
    _write_json(
        target / "size.json",
        {
            "size": found.to_json(),
            "memory": found.memories_json(),
            "footprint": footprint.of_map(
                elf_file.with_suffix(".map"), packed.chosen, made.objects, job.app
            ),
            "method_arena": plan.to_json(plans)["method_arena"],
            "images": [path.name for path in images],
        },
    )


@dataclass(frozen=True)
class _Packed:
    """Models with their place in the board's memories."""

    chosen: dict[str, tuple[str, ...]]  # the kernels of all models
    plans: list[plan.Plan]
    bound: Bound | None = None  # of the stack


def _with_stack(
    folder: Path, job: _Job, pairs: Sequence[Pair], made: Libraries, place: Path
) -> tuple[_Packed, firmware.Objects]:
    """Plan, pack and compile, with the stack that the compiled code needs.

    What is linked says how much that is, and where memory is left may change what is
    linked; so it starts with a small stack, which only grows.
    """
    sources = firmware.Sources(
        folder / "4-package", tuple(itertools.chain(*job.methods)), job.app
    )
    known, wish = job.options.rules.known, job.options.stack
    stack = wish or certificate.first_stack(job.board)
    compiled = b""
    while True:
        packed = _pack(folder, job, pairs, stack)
        if compiled != sources.digest():
            compiled = sources.digest()
            own = user_kernels.objects(made, known, packed.chosen)
            objects = firmware.objects(made, [*sources.compile(made, place), *own])
            needed, bound = certificate.stack_size(made, objects.graph, wish)
        if needed <= stack:
            return replace(packed, bound=bound), objects
        stack = needed


def _pack(folder: Path, job: _Job, pairs: Sequence[Pair], stack: int) -> _Packed:
    """The first four artefacts."""
    selected = _spread(job, pairs, stack)
    _write_json(folder / "1-program.json", _program_facts(job))
    kernels = [one.kernels for _, one in selected.pairs]
    chosen = selections.merge(kernels, job.options.rules.allowed(job.board))
    _write_json(folder / "2-selection.json", _selection_facts(job, selected, chosen))
    plans, facts = _plan_facts(selected, job, stack)
    _write_json(folder / "3-plan.json", facts)
    package = folder / "4-package"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir()
    changing = [one.changing for _, one in selected.pairs]
    parts = pack.parts([model for model, _ in selected.pairs], plans, changing)
    backends = sorted({name for _, one in selected.pairs for name in one.backends})
    nodes = frozenset(name for _, one in selected.pairs for name in one.nodes)
    table = kernel_list.backend_table(backends, job.board.isa, nodes)
    pack.write(package, parts, chosen, table, job.options.rules.known)
    return _Packed(chosen, plans)


def _program_facts(job: _Job) -> Any:
    facts = [
        describe.program(model.program, model.program.methods) for model in job.models
    ]
    return facts[0] if len(facts) == 1 else facts


def _selection_facts(
    job: _Job, selected: Spread, chosen: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """As one selection; of several models also each by itself."""
    pairs = selected.pairs
    facts = [{"model": model.name, **one.to_json()} for model, one in pairs]
    if len(facts) == 1:
        return pairs[0][1].to_json()
    return facts[0] | {"operators": chosen, "models": facts}


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


def _key(job: _Job, made: Libraries) -> str:
    """Names everything that a firmware depends on."""
    digest = hashlib.sha256(made.key.encode())
    digest.update(_sdk_digest())
    for model in job.models:
        for content in (model.content, *model.data):
            digest.update(hashlib.sha256(content).digest())
    if job.app is not None:
        for path in sorted(job.app.parent.glob("*.[ch]")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    options = job.options
    facts = [
        job.board.model_dump(mode="json"),
        [model.name for model in job.models],
        [[one.name for one in methods] for methods in job.methods],
        [str(job.app), options.messages, options.caller_io, options.stack],
        [options.toolchain, options.rules.key(), options.steering.key()],
        options.passes,
    ]
    digest.update(json.dumps(facts).encode())
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


def _read(folder: Path, job: _Job) -> Built:
    sizes = _read_json(folder / "5-firmware" / "size.json")
    return Built(
        models=job.models,
        board=job.board,
        chosen=job.methods,
        folder=folder,
        selection=_read_json(folder / "2-selection.json"),
        plan=_read_json(folder / "3-plan.json"),
        certificate=_read_json(folder / "5-firmware" / certificate.FILE),
        sizes=sizes,
        images=tuple(folder / "5-firmware" / name for name in sizes["images"]),
        options=job.options,
    )


def _write_json(path: Path, facts: Any) -> None:
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
