"""What a board has of its core, of its chip, and of the board that it is `like:`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from board_files import H7, MEMORIES, like_h7, loader, mine, refused, write

from ember import boards, cli, paths
from ember.boards.keys import OpenOcd
from ember.toolchain import linker

Told = Callable[[Path], str]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    return loader(capsys)


# ---- another chip --------------------------------------------------------------------


def test_another_chip_has_none_of_the_registers(tmp_path: Path) -> None:
    board = boards.read(like_h7(tmp_path, memories=MEMORIES))
    assert (board.cpu, board.isa, board.port) == (H7.cpu, H7.isa, H7.port)
    assert board.start == ()
    assert (board.uart, board.identity, board.probe) == (None, None, None)
    assert (board.flashers, board.console) == ((), "semihosting")
    assert "LONG(0x" not in linker.script(board, serial=True)
    registers = [f"{step.at:#010x}" for step in H7.start]
    assert not [register for register in registers if register in linker.script(board)]


def test_another_chip_cites_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = like_h7(tmp_path, memories=MEMORIES)
    report = tmp_path / "report.json"
    assert cli.main(["boards", str(path), "--json", str(report)]) == 0
    said = capsys.readouterr().out
    assert "ST RM0433" not in said
    assert "Nucleo" not in said
    (facts,) = json.loads(report.read_text())["boards"]
    assert (facts["verified"], facts["sources"]) == ("nobody", [])


def test_every_key_that_is_left_behind_is_told(tmp_path: Path, told: Told) -> None:
    said = told(like_h7(tmp_path, memories=MEMORIES, console="semihosting"))
    (line,) = [row for row in said.splitlines() if row.startswith("note: ")]
    assert f"{tmp_path / 'mine.yaml'} names no chip" in line
    lost = line.partition("from it, not ")[2].split(", ")
    assert set(lost) == {
        *("start", "uart", "identity", "flashers", "probe", "verified", "sources")
    }
    assert "only cpu is inherited" in line
    assert "`chip: stm32h743zi`" in said


def whole() -> Iterator[str]:
    """Boards that are like no other."""
    for name in boards.names():
        text = (paths.boards() / f"{name}.yaml").read_text()
        if "like" not in yaml.safe_load(text):
            yield name


@pytest.mark.parametrize("name", list(whole()))
def test_no_board_leaks_into_another_chip(tmp_path: Path, name: str) -> None:
    base = boards.load(name)
    skipped = {"read_cycles", "write_cycles", "fetch_cycles"}
    memories = [
        memory.model_dump(mode="json", exclude=skipped) for memory in base.memories
    ]
    path = mine(tmp_path, like=name, memories=memories)
    board = boards.read(path)
    assert (board.cpu, board.isa) == (base.cpu, base.isa)
    kept = {"name", "title", "cpu", "core", "isa", "svl", "port", "toolchains"}
    kept |= {"memories", "console", "verified"}
    for key, field in boards.Board.model_fields.items():
        assert key in kept or getattr(board, key) == field.default, key
    assert (board.verified, board.title) == ("nobody", "mine")


def test_a_chip_that_is_named_and_another(tmp_path: Path, told: Told) -> None:
    path = like_h7(tmp_path, chip="mimxrt1062")
    board = boards.read(path)
    assert board.memory("flash").base == 0x60000000
    assert board.sources[0] == "target mimxrt1060 of pyOCD"
    assert not any("stm32" in source for source in board.sources)
    assert board.start == ()
    said = told(path)
    assert "mimxrt1062" in said
    assert "nucleo-h743zi2 has stm32h743zi" in said


def test_memories_of_another_chip_are_to_be_given(tmp_path: Path) -> None:
    said = refused(like_h7(tmp_path, cpu="cortex-m4"))
    assert "mine.yaml: `memories` is missing" in said
    assert "`chip: stm32h743zi`" in said
    said = refused(like_h7(tmp_path, chip="stm32h999zz"))
    assert "Ember knows no chip 'stm32h999zz'" in said


def test_another_core_has_nothing_of_it(tmp_path: Path, told: Told) -> None:
    path = like_h7(tmp_path, cpu="cortex-m0", memories=MEMORIES)
    assert boards.read(path).isa == ()
    assert "nothing is inherited" in told(path)


# ---- the same chip -------------------------------------------------------------------


def test_the_same_chip_has_everything(tmp_path: Path, told: Told) -> None:
    pins = {"tx": "PB10", "rx": "PB11"}
    path = like_h7(tmp_path, chip="stm32h743zi", uart={"baud": 115200, "pins": pins})
    board = boards.read(path)
    identity = {key: getattr(H7, key) for key in ("name", "uart", "verified")}
    assert board.model_copy(update=identity) == H7
    assert board.uart is not None
    assert board.uart.pins is not None
    assert H7.uart is not None
    assert (board.uart.base, board.uart.baud) == (H7.uart.base, 115200)
    assert board.uart.pins.tx == "PB10"
    assert told(path) == ""


def test_a_core_that_is_said_again_changes_nothing(tmp_path: Path) -> None:
    keys = {"like": "stm32vldiscovery", "chip": "stm32f100rb"}
    assert boards.read(mine(tmp_path, **keys, cpu="cortex-m3")).toolchains == (
        "arm-gnu",
    )


def test_a_board_that_changes_no_fact_of_the_chip_is_told_to_name_it(
    tmp_path: Path, told: Told
) -> None:
    path = like_h7(tmp_path, console="semihosting")
    assert boards.read(path).start == H7.start
    assert "confirm with `chip: stm32h743zi`" in told(path)
    for keys in ({"memories": MEMORIES}, {"identity": {"at": 0, "value": 1}}):
        given = {"memories": MEMORIES, **keys}
        assert boards.read(like_h7(tmp_path, **given)).start == ()


def test_a_chip_is_enough(tmp_path: Path) -> None:
    board = boards.read(mine(tmp_path, chip="stm32h743zi"))
    assert board.memories == H7.memories
    assert board.start == H7.start[:1]
    assert (board.verified, board.console) == ("nobody", "semihosting")
    assert "openocd" not in [flasher.tool for flasher in board.flashers]  # which probe?
    probe = {"openocd": "interface/cmsis-dap.cfg"}
    board = boards.read(mine(tmp_path, chip="stm32h743zi", probe=probe))
    tools = {flasher.tool: flasher for flasher in board.flashers}
    openocd = tools["openocd"]
    assert isinstance(openocd, OpenOcd)
    assert openocd.config == (probe["openocd"], "target/stm32h7x.cfg")


def test_steps_and_sources_of_a_board_follow_those_of_its_chip(tmp_path: Path) -> None:
    step = {"at": 0x58024400, "set": 1}
    path = like_h7(tmp_path, chip="stm32h743zi", start=[step], sources=["a book"])
    board = boards.read(path)
    assert [entry.at for entry in board.start] == [H7.start[0].at, step["at"]]
    assert board.sources[:2] == ("ST RM0433", "ST DS12110")
    assert board.sources[-1] == "a book"
    assert len(board.sources) == len(set(board.sources))


def test_a_memory_has_the_rest_of_the_chips(tmp_path: Path) -> None:
    memories = [{"name": "flash", "size": "1M"}, {"name": "dtcm"}]
    board = boards.read(mine(tmp_path, chip="stm32h743zi", memories=memories))
    assert board.memory("flash").size == 1 << 20
    assert board.memory("flash").flash == H7.memory("flash").flash
    assert board.memory("dtcm") == H7.memory("dtcm")
    assert len(board.memories) == 2


def test_a_board_without_a_chip_has_its_own(tmp_path: Path) -> None:
    described = yaml.safe_load((paths.boards() / "mps2-an386.yaml").read_text())
    write(tmp_path, "base", **{**described, "name": "base"})
    path = mine(tmp_path, like="base", chip="base", memories=described["memories"][:2])
    board = boards.read(path)
    assert board.uart == boards.load("mps2-an386").uart
    assert board.runner == boards.load("mps2-an386").runner


# ---- a file of the user's own --------------------------------------------------------


@pytest.mark.parametrize("like", ["base", "base.yaml", "./base.yaml", "../x/base.yaml"])
def test_like_a_file(tmp_path: Path, like: str) -> None:
    folder = tmp_path / "x"
    write(folder, "base", name="base", chip="stm32h743zi", title="base")
    board = boards.read(mine(folder, like=like, chip="stm32h743zi"))
    assert (board.title, board.chip) == ("base", "stm32h743zi")
    assert board.memories == H7.memories


def test_like_a_file_with_a_chip_and_a_core_beside_it(tmp_path: Path) -> None:
    flags = "-mcpu=cortex-m33+nodsp -mfloat-abi=soft"
    core = {"title": "a core", "arch": "armv8-m", "port": "cortexm", "isa": []}
    core |= {"toolchains": ["arm-gnu"], "console": "semihosting", "flags": flags}
    there = tmp_path / "there"
    write(there, "base", name="base", chip="abc")
    write(there / "chips", "abc", title="a chip", cpu="own", memories=MEMORIES)
    write(there / "cores", "own", **core)
    here = tmp_path / "here"
    board = boards.read(mine(here, like="../there/base.yaml", chip="abc"))
    assert board.core is not None
    assert (board.title, board.core.flags) == ("a chip", flags)
    assert [memory.name for memory in board.memories] == ["flash", "dtcm"]


def test_like_a_file_that_is_not_there(tmp_path: Path) -> None:
    said = refused(mine(tmp_path, like="nucleo-h743zi.yaml"))
    assert "like: there is no board 'nucleo-h743zi.yaml'" in said
    assert "did you mean nucleo-h743zi2?" in said
    assert "mine.yaml is itself like" in refused(mine(tmp_path, like="mine.yaml"))


@pytest.mark.parametrize("base", ["nucleo-h743zi2", "mps2-an386"])
def test_nobody_verified_a_board_that_is_like_one_that_was(
    tmp_path: Path, base: str
) -> None:
    chip = boards.load(base).chip or base
    path = mine(tmp_path, like=base, chip=chip)
    assert boards.read(path).verified == "nobody"
    path = mine(tmp_path, like=base, chip=chip, verified=boards.load(base).verified)
    assert boards.read(path).verified == boards.load(base).verified


def test_boards_of_ember_say_how_they_were_verified() -> None:
    for path in paths.boards().glob("*.yaml"):
        assert "verified" in yaml.safe_load(path.read_text()), path.name
