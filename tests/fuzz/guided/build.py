"""The fuzzer that is guided by coverage, built by Clang for one sanitizer, and kept."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from committed_cases import path_of

from ember import boards, kernels, paths, program
from ember.boards import isa
from ember.program import bundle
from ember.toolchain import parts

ROOT = Path(__file__).resolve().parents[3]
COMPILER = "clang-19"
_ADDRESS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
SANITIZERS = {
    "address": _ADDRESS,
    "memory": ("-fsanitize=memory",),
    # With 32-bit pointers, and numbers of one width only as SSE has them.
    "address32": (*_ADDRESS, "-m32", "-msse2", "-mfpmath=sse"),
}
_FLAGS = ("-std=c11", "-g", "-O1", "-fno-omit-frame-pointer", "-ffp-contract=off")
# Committed programs whose kernels are there, and that prepared nodes are made of.
EXAMPLES = (
    *("int8_autoencoder_small_m4", "int8_ds_cnn_small_m4", "model_cnn_int8_small"),
    *("model_ds_cnn_small", "model_mlp_int8_dynamic_small"),
)
_FUZZ = ROOT / "tests/fuzz"
_INCLUDES = (
    *(".", "runtime_c/include", "runtime_c/src", "kernels", "tests/unit/c"),
    *("tests/fuzz", "runtime_c/port/uart"),
)


def build(sanitizer: str, jobs: int) -> Path:
    """The fuzzer of all targets."""
    folder = paths.writable_folder(paths.cache() / "guided" / sanitizer)
    tables = [folder / f"{name}.c" for name in ("operators", "backends")]
    for path, text in zip(tables, _tables(), strict=True):
        _write(path, text)
    words = [*_FLAGS, *SANITIZERS[sanitizer]]
    words += [f"-I{ROOT / name}" for name in _INCLUDES]
    headers = _digest(path.read_bytes() for path in _headers())

    def compile_one(source: Path) -> Path:
        ours = _FUZZ in source.parents and source.stem != "links"
        guided = () if ours else ("-fsanitize=fuzzer-no-link",)
        flags = [*words, *guided]
        parts = [source.read_bytes(), headers.encode(), " ".join(flags).encode()]
        target = folder / f"{source.stem}-{_digest(parts)[:16]}.o"
        if not target.is_file():
            aside = target.with_suffix(".tmp")
            _run([COMPILER, *flags, "-c", str(source), "-o", str(aside)])
            aside.rename(target)
        return target

    with ThreadPoolExecutor(jobs) as pool:
        objects = [*pool.map(compile_one, [*_sources(), *tables])]
    digest = _digest(compiled.name.encode() for compiled in objects)
    program = folder / f"guided-{digest[:16]}"
    if not program.is_file():
        link = ["-fsanitize=fuzzer", *SANITIZERS[sanitizer]]
        _run([COMPILER, *link, *map(str, objects), "-lm", "-o", str(program)])
    return program


def examples() -> list[bytes]:
    """The programs of EXAMPLES."""
    return [bundle.read(path_of(name)).program for name in EXAMPLES]


def _chosen() -> dict[str, tuple[str, ...]]:
    """The portable kernels of the operators that the examples call."""
    listed = kernels.load().operators
    methods = (method for data in examples() for method in program.parse(data).methods)
    names = {op for method in methods for _, op, _ in method.kernel_calls()}
    return {name: listed[name].usable(()) for name in sorted(names)}


def _kernel_sources() -> list[Path]:
    """Of those kernels, with what they call."""
    names = {kernel for chosen in _chosen().values() for kernel in chosen}
    symbols = {f"ember_kernel_{name}" for name in names}
    return parts.sources(boards.load("host"), symbols)


def _sources() -> list[Path]:
    sources = [*(ROOT / "runtime_c/src").glob("*.c"), ROOT / "backends/example.c"]
    sources += [ROOT / "backends/xnnpack.c", ROOT / "runtime_c/port/uart/frame.c"]
    sources += (ROOT / "backends/xnnpack/graph").glob("*.c")
    sources += _portable(ROOT / "backends/xnnpack/nodes")
    sources += _portable(ROOT / "kernels/engine")
    sources += [ROOT / "backends/xnnpack/sme/model/vector.c"]
    sources += [_FUZZ / f"{name}.c" for name in ("execute", "mutate", "table")]
    sources += (_FUZZ / "guided").glob("*.c")
    sources += [ROOT / "tests/unit/c/toys.c", *_kernel_sources()]
    return sorted({path for path in sources if path.name != "loader_file.c"})


def _portable(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.c") if isa.of(path.stem) is None]


def _tables() -> tuple[str, str]:
    """Kernels of the examples; both backends, and portable kernels of nodes."""
    backends = kernels.backend_table(kernels.load().backends)
    port = (
        "#include <stdint.h>\nuint32_t ember_port_cpu(void);\n"
        "uint32_t ember_port_cpu(void) { return 0; }\n"
    )
    return kernels.operator_table(_chosen()), backends + port


def _headers() -> list[Path]:
    folders = ("runtime_c", "backends", "kernels", "tests/fuzz", "tests/unit/c")
    return sorted(path for name in folders for path in (ROOT / name).rglob("*.h"))


def _digest(parts: Iterable[bytes]) -> str:
    sum_ = hashlib.sha256()
    for part in parts:
        sum_.update(part + b"\0")
    return sum_.hexdigest()


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _run(words: Sequence[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"fuzz: {' '.join(words)}\n{done.stderr}")
