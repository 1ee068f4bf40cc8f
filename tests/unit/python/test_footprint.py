"""Where the bytes of a firmware are, what changed, and budgets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from html_pages import Page, needs_nothing

from ember import cli
from ember.firmware import Options, build
from ember.toolchain import footprint
from ember.toolchain.footprint import flash

BOARDS = ("host", "mps2-an386", "mps3-an547")


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("board", BOARDS)
def test_bytes_by_library_and_operator(data: Path, board: str) -> None:
    built = build(data / "add.pte", board)
    shares = built.sizes["footprint"]
    assert set(shares) == {"libraries", "operators", "engines"}
    assert {"core", "port", "application", "tables"} <= set(shares["libraries"])
    (operator,) = shares["operators"]
    assert operator == "aten::add.out"
    assert 0 < flash(shares["operators"][operator]) < 1000
    kernels = [shares["libraries"].get(name) for name in ("kernels", "variants")]
    parts = [*shares["operators"].values(), *shares["engines"].values()]
    assert sum(map(flash, filter(None, kernels))) == sum(map(flash, parts))


@pytest.mark.parametrize("board", BOARDS[1:])
def test_libraries_are_all_of_the_firmware(data: Path, board: str) -> None:
    built = build(data / "add.pte", board)
    rows = built.sizes["footprint"]["libraries"].values()
    total = footprint.total(built.sizes["size"])
    padding = total - sum(map(flash, rows))
    assert 0 <= padding < 0.02 * total


@pytest.mark.slow
def test_a_build_is_compared_with_another(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("add", "conv"):
        options = Options(optimize="size" if name == "add" else "speed")
        build(data / f"{name}.pte", "mps2-an386", out=Path(name), options=options)
    words = ["compare", "add", "conv", "--html", "page.html", "--json", "-"]
    assert cli.main(words) == 0
    report = json.loads(capsys.readouterr().out)
    before, after = report["firmware"]["total"]
    assert before < after
    assert after > report["firmware"]["model"][1] > 0
    facts = json.loads(Path("conv/5-firmware/size.json").read_text())["size"]
    assert after == sum(facts[kind] for kind in ("code", "rodata", "data", "model"))
    assert report["options"] == {"--optimize": ["size", "speed"]}
    assert report["operators"]["aten::add.out"][1] == 0
    assert report["operators"]["aten::convolution.out"][0] == 0
    text = Path("page.html").read_text()
    assert needs_nothing(text)
    changed, firmware = Page(text).tables[:2]
    assert changed.rows == [["--optimize", "size", "speed"]]
    assert ["total", f"{before:,}", f"{after:,}"] in [row[:3] for row in firmware.rows]
    assert cli.main(["compare", "add", "add"]) == 0
    assert "same sizes" in capsys.readouterr().out
    assert cli.main(["compare", "add", "nowhere"]) == 1
    assert "is not a finished build" in capsys.readouterr().err


def built_within(data: Path, text: str) -> int:
    Path("budget.yaml").write_text(text)
    words = ["build", data / "add.pte", "--board", "mps2-an386"]
    return cli.main([*map(str, words), "--budget", "budget.yaml"])


def test_within_a_budget(data: Path) -> None:
    assert built_within(data, "total: 24K\nram: 64K\nlibraries: {core: 12K}\n") == 0
    assert built_within(data, "") == 0


def test_above_a_budget(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'total: 1K\nram: 100\nlibraries: {core: 1K}\noperators: {"aten::add.out": 8}'
    assert built_within(data, text) == 1
    said = capsys.readouterr().err
    for name in ("total takes", "ram takes", "core takes", "aten::add.out takes"):
        assert name in said
    assert "largest parts, bytes: core" in said


@pytest.mark.parametrize("text", ["totle: 1", "total: many", "ram: -1", "[1]"])
def test_a_wrong_budget(
    data: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert built_within(data, text) == 1
    said = capsys.readouterr().err
    assert "budget.yaml" in said
    assert "Traceback" not in said
    assert "bug" not in said


GNU = """\
Discarded input sections
 .text.gone     0x00000000       0x40 a.o
Linker script and memory map
 .text.f        0x00000000       0x24 /x/libember_core.a(f.c.obj)
 .text.a_function_with_a_long_name
                0x00000024       0x10 /x/0_start.o
 .bss.b         0x20000000        0x8 /x/0_start.o
 .comment       0x00000000       0x20 /x/0_start.o
"""


def test_a_map(tmp_path: Path) -> None:
    (tmp_path / "f.map").write_text(GNU)
    pieces = footprint.pieces(tmp_path / "f.map")
    assert [
        (piece.kind, piece.size, piece.archive, piece.member) for piece in pieces
    ] == [
        ("code", 0x24, "libember_core", "f.c.obj"),
        ("code", 0x10, None, "0_start.o"),
        ("bss", 8, None, "0_start.o"),
    ]
    assert footprint.archive_bytes(tmp_path / "f.map") == {"libember_core": 36, "": 16}


MERGED = """Linker script and memory map
 .rodata.main.str1.1
                0x000022d0      0x1ea /x/0_main.o
                                 0x31 (size before relaxing)
 .rodata.f.str1.1
                0x000024ba       0x30 /x/1_f.o
 .rodata.zeros  0x000024ba        0x4 /x/1_f.o
"""


def test_strings_that_binutils_merged_count_once(tmp_path: Path) -> None:
    (tmp_path / "f.map").write_text(MERGED)
    pieces = footprint.pieces(tmp_path / "f.map")
    assert [(piece.section, piece.size) for piece in pieces] == [
        (".rodata.main.str1.1", 0x1EA),
        (".rodata.zeros", 4),
    ]


def included(lib: str, longest: str) -> str:
    """A map of GNU ld with libraries in the folder `lib`; a long name breaks a line."""
    member = f"{lib}/libember_core.a(f.c.obj)"
    told = f"{member}\n{'':30}" if len(member) > 29 else f"{member:30}"
    return (
        "Archive member included to satisfy reference by file (symbol)\n\n"
        f"{told}{longest}/0_start.o (f)\n\n"
        "Linker script and memory map\n"
        f" .text.f        0x00000000       0x24 {lib}/libember_core.a(f.c.obj)\n"
    )


def test_a_map_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    texts = []
    for lib, scratch in (("/l", "/l/objects"), ("/a longer/folder's name", "/tmp/x")):
        file = tmp_path / "f.map"
        file.write_text(included(lib, scratch))
        footprint.make_portable(file, {Path(lib): "ember", Path(scratch): "build"})
        texts.append(file.read_text())
        (piece,) = footprint.pieces(file)
        assert (piece.member, piece.file) == ("f.c.obj", "ember/libember_core.a")
    assert texts[0] == texts[1]
    assert "build/0_start.o (f)" in texts[0]
