"""Compiled libraries: what they are kept by, and what is said when they fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ember import boards, kernels, paths
from ember.boards import isa
from ember.errors import SdkError
from ember.toolchain import build_tree, libraries, parts

KERNEL = """\
#include "ember/node.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    (void)node;
    *(int *)state = 1;
    return EMBER_OK;
}

static int32_t run(void *state) {
    (void)state;
    return EMBER_OK;
}

EMBER_KERNEL(nothing, int);
"""
LIST = """\
- op: test::nothing
  schema: (Tensor self, *, int[2] size=[1, 1], Tensor(a!) out) -> Tensor(a!)
  in: toy
  kernels: [nothing, nothing_else]
  dtypes: [f32]
  tolerance: exact
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The C sources with one kernel, without the backend that shares code with
    kernels, and an empty cache."""
    real = paths.root()
    checkout = tmp_path / "root"
    checkout.mkdir()
    without = shutil.ignore_patterns("xnnpack*")
    for name in ("runtime_c", "backends", "toolchains", "boards"):
        shutil.copytree(real / name, checkout / name, ignore=without)
    shutil.copy(real / "CMakeLists.txt", checkout)
    (checkout / "kernels" / "toy").mkdir(parents=True)
    shutil.copy(real / "kernels" / "CMakeLists.txt", checkout / "kernels")
    (checkout / "kernels" / "toy" / "nothing.c").write_text(KERNEL)
    (checkout / "kernels" / "kernels.yaml").write_text(LIST)
    shutil.copy(real / "kernels" / "isa.yaml", checkout / "kernels")
    monkeypatch.setattr(paths, "root", lambda: checkout)
    monkeypatch.setenv("EMBER_CACHE", str(tmp_path / "cache"))
    kernels.load.cache_clear()
    yield checkout
    kernels.load.cache_clear()


@pytest.mark.slow
def test_kept_by_content(root: Path) -> None:
    host = boards.load("host")
    first = libraries.build(host)
    assert all(path.is_file() for path in (*first.archives, *first.objects))
    assert libraries.build(host) == first
    assert libraries.build(host, messages=True).key != first.key
    source = root / "kernels" / "toy" / "nothing.c"
    change(source, KERNEL.replace("= 1", "= 2"))
    changed = libraries.build(host)
    assert changed.key != first.key
    change(source, KERNEL)
    assert libraries.build(host) == first


def change(source: Path, text: str) -> None:
    """As an editor does between two commands."""
    source.write_text(text)
    libraries.first_sources_digest.cache_clear()


def test_sources_that_change_under_the_compiler(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = root / "kernels" / "toy" / "nothing.c"

    def compiled(*_: object) -> None:
        source.write_text(KERNEL.replace("= 1", "= 2"))

    monkeypatch.setattr(libraries, "compile_libraries", compiled)
    with pytest.raises(SdkError, match="sources changed"):
        libraries.build(boards.load("host"))


@pytest.mark.slow
def test_a_compiler_that_moved(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = boards.load("host")
    cc = shutil.which("cc")
    assert cc is not None
    other = tmp_path / "cc"
    other.symlink_to(cc)
    with monkeypatch.context() as only_here:
        only_here.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        libraries.build(host)
    other.unlink()
    source = root / "kernels" / "toy" / "nothing.c"
    change(source, KERNEL.replace("= 1", "= 2"))
    assert libraries.build(host).archives


@pytest.mark.slow
def test_compile_error_is_readable(root: Path) -> None:
    (root / "kernels" / "toy" / "nothing.c").write_text(
        "int broken(void) { return x; }"
    )
    with pytest.raises(SdkError) as error:
        libraries.build(boards.load("host"))
    assert "kernels/toy/nothing.c:1" in error.value.what
    assert "undeclared" in error.value.what
    assert error.value.hint is not None
    assert "build.log" in error.value.hint


@pytest.mark.slow
def test_a_variant_without_a_model_is_named(root: Path) -> None:
    """Also where only what is needed is compiled, as with an empty cache."""
    text = KERNEL.replace("nothing", "nothing_mve")
    text = text.replace("(void)state", "vnewq_s32(state)")
    (root / "kernels" / "toy" / "nothing_mve.c").write_text(text)
    text = LIST.replace("[nothing,", "[nothing_mve, nothing,")
    (root / "kernels" / "kernels.yaml").write_text(text)
    libs = libraries.build(boards.load("host"), messages=True, whole=False)
    with pytest.raises(parts.UnmodelledError) as error:
        parts.members_on_demand(
            libs, ["ember_kernel_nothing_mve", "ember_kernel_nothing"]
        )
    assert error.value.unmodelled == {"nothing_mve": "vnewq_s32"}


@pytest.mark.slow
def test_damage_is_made_good(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = boards.load("host")
    first = libraries.build(host)
    contents = {path: path.read_bytes() for path in (*first.archives, *first.objects)}
    for path in (first.archives[-1], first.objects[0]):
        path.write_bytes(contents[path][:100])
        tree = first.config.build
        for member in tree.rglob("*.o"):  # as after a power cut
            member.write_bytes(b"")
        assert libraries.build(host) == first
        assert f"{path} was damaged: it is made again" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in contents} == contents
    assert libraries.build(host) == first
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_cache_that_moved(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = boards.load("host")
    symbols = ["ember_kernel_nothing"]
    first = libraries.build(host, whole=False)
    assert parts.members_on_demand(first, symbols)
    (tmp_path / "cache").rename(tmp_path / "moved")
    monkeypatch.setenv("EMBER_CACHE", str(tmp_path / "moved"))
    moved = libraries.build(host, whole=False)
    assert moved.key == first.key
    assert parts.members_on_demand(moved, symbols) == parts.members_on_demand(
        moved, symbols
    )
    (moved.folder / "ember.txt").read_text().index("archives=")
    for path in moved.folder.glob("members-*"):
        path.unlink()
    assert parts.members_on_demand(moved, symbols)
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_ready_made_libraries(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The same bytes wherever they are made; taken for the same sources."""
    host = boards.load("host")
    first = libraries.build(host, messages=True)
    assert re.search(
        r"compiling \d+ files for native, once: the host", capsys.readouterr().err
    )
    place = libraries.save_ready_made(first, tmp_path / "ready")
    moved = root.rename(tmp_path / "another-root")
    monkeypatch.setattr(paths, "root", lambda: moved)
    monkeypatch.setenv("EMBER_CACHE", str(tmp_path / "another-cache"))
    libraries.first_sources_digest.cache_clear()
    second = libraries.build(host, messages=True)
    again = libraries.save_ready_made(second, tmp_path / "again")
    assert again.name == place.name
    names = {path.name for path in place.iterdir()}
    assert names == {path.name for path in again.iterdir()}
    for name in names:
        assert (place / name).read_bytes() == (again / name).read_bytes(), name

    shutil.copytree(tmp_path / "ready", moved / libraries.READY_MADE)
    monkeypatch.setenv("EMBER_CACHE", str(tmp_path / "empty"))
    with monkeypatch.context() as only_here:
        only_here.setattr(libraries, "compile_libraries", None)
        taken = libraries.build(host, messages=True, whole=False)
    assert taken.is_whole
    (tmp_path / "main.c").write_text("int main(void) { return 0; }")
    objects = taken.compile([tmp_path / "main.c"], tmp_path)
    assert objects
    text = KERNEL.replace("= 1", "= 2")
    change(moved / "kernels" / "toy" / "nothing.c", text)
    assert libraries.build(host, messages=True).key != taken.key  # compiled


@pytest.mark.slow
def test_assembly_includes_the_model_beside_it(root: Path, tmp_path: Path) -> None:
    """Not one in the folder of Ember's sources, or where the command runs."""
    folder = tmp_path / "package"
    folder.mkdir()
    (root / "model.pte").write_bytes(b"another")
    (folder / "model.pte").write_bytes(b"this one")
    (folder / "model.S").write_text('.section .a,"a"\n.incbin "model.pte"\n')
    libs = libraries.build(boards.load("host"), whole=False)
    told = [f"-I{folder}"]
    (compiled,) = libs.compile([folder / "model.S"], tmp_path, told)
    assert b"this one" in compiled.read_bytes()


@pytest.mark.slow
def test_two_processes_at_once(root: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ember import paths;"
        f"paths.root = lambda: Path({str(root)!r});"
        "from ember import boards; from ember.toolchain import libraries;"
        "print(libraries.build(boards.load('host')).folder)"
    )
    words = [sys.executable, "-c", code]
    package = str(Path(libraries.__file__).parents[2])
    running = [
        subprocess.Popen(
            words,
            env={**__import__("os").environ, "PYTHONPATH": package},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    folders = {process.communicate()[0] for process in running}
    assert all(process.returncode == 0 for process in running)
    assert len(folders) == 1


@pytest.mark.parametrize(
    "names",
    [
        ("mps2-an386", "netduinoplus2"),
        ("mps2-an505", "rpi-pico2"),  # the same core
        ("qemu-a64", "qemu-a64-i8mm", "qemu-a64-sme"),  # the same flags
    ],
)
def test_boards_share(names: tuple[str, ...]) -> None:
    """What a core may run of the libraries is chosen by the board."""
    keys = set()
    for name in names:
        board = boards.load(name)
        keys.add(build_tree.Config(board, board.toolchain, messages=False).folder)
    assert len(keys) == 1


def test_cores_with_other_flags_do_not_share() -> None:
    names = ("mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "microbit")
    targets = [boards.load(name) for name in names]
    folders = {
        build_tree.Config(target, target.toolchain, False).folder for target in targets
    }
    assert len(folders) == len(names)


def test_boards_with_models_of_instructions_share() -> None:
    """They compile all variants; which of them run is chosen by the board."""
    names = ("host-asan", "host-dsp", "host-hvx", "host-mve", "host-neon")
    folders = {
        build_tree.Config(boards.load(name), "host", True).folder for name in names
    }
    assert len(folders) == 1


def test_toolchains_with_models_are_known() -> None:
    files = paths.toolchains().glob("*.cmake")
    modelled = {
        file.stem for file in files if "set(EMBER_MODELS ON)" in file.read_text()
    }
    assert modelled == set(isa.MODELLED)


@pytest.mark.parametrize(
    ("board", "tool", "package"),
    [("mps2-an386", "cmake", "cmake"), ("host", "cmake", "cmake")],
)
def test_missing_tool(
    board: str, tool: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SdkError) as error:
        libraries.build(boards.load(board))
    assert error.value.what.startswith(f"{tool} is missing")
    assert error.value.hint == f"install it: apt-get install {package}"


def test_operator_table(root: Path) -> None:
    known = kernels.load()
    operator = known.operators["test::nothing"]
    assert operator.kernels == ("nothing",)  # the other has no file
    assert operator.arguments == 3
    text = kernels.operator_table(known.all())
    assert '{"test::nothing", candidates_0, 4, 4, 0}' in text
    assert "&ember_kernel_nothing, 0}" in text
    assert "items, 0}" in kernels.operator_table({})


def test_a_board_for_sources_has_no_libraries() -> None:
    board = boards.load("mps2-an386").model_copy(update={"port": "library"})
    with pytest.raises(SdkError, match=r"port: library.*firmware needs another port"):
        build_tree.need_tools(board, "arm-gnu")
