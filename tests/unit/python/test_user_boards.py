"""A user's chips and cores, recipes of the page, old files, and mistakes in files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from board_files import (
    CHIPS,
    CORES,
    DTCM,
    FLASH,
    MEMORIES,
    WHOLE,
    like_h7,
    loader,
    mine,
    refused,
    write,
)

from ember import boards, cli, paths
from ember.boards import Board
from ember.boards import files as loaded_files
from ember.boards.files import Peak
from ember.errors import SdkError
from ember.toolchain import linker

Told = Callable[[Path], str]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    return loader(capsys)


# ---- a user's chips and cores --------------------------------------------------------


def test_a_chip_and_a_core_beside_the_board(tmp_path: Path) -> None:
    flags = "-mcpu=cortex-m33+nodsp -mfloat-abi=soft"
    core = {"title": "a core", "arch": "armv8-m", "port": "cortexm", "isa": []}
    core |= {"toolchains": ["arm-gnu"], "console": "semihosting", "flags": flags}
    write(tmp_path / "cores", "small-m33", **core)
    chip = {"title": "a chip", "cpu": "small-m33", "memories": MEMORIES}
    write(tmp_path / "chips", "abc123", **chip, sources=["a book"])
    board = boards.read(mine(tmp_path, chip="abc123", verified="datasheet"))
    assert board.core is not None
    assert (board.title, board.cpu, board.core.flags) == ("a chip", "small-m33", flags)
    assert board.sources == ("a book",)


def test_an_unknown_chip(tmp_path: Path, told: Told) -> None:
    said = refused(mine(tmp_path, chip="stm32h743zl"))
    assert "mine.yaml: chip: there is no chip 'stm32h743zl'" in said
    assert "did you mean stm32h743zi?" in said
    whole = {"title": "a", "cpu": "cortex-m7", "memories": MEMORIES}
    assert told(mine(tmp_path, chip="abc123", **whole)) == ""
    assert "did you mean stm32h743zi?" in told(
        mine(tmp_path, chip="stm32h743", **whole)
    )


def test_an_unknown_core(tmp_path: Path) -> None:
    said = refused(mine(tmp_path, cpu="cortex-m85", memories=MEMORIES))
    assert "mine.yaml: cpu: there is no core 'cortex-m85'" in said
    assert "did you mean cortex-m55?" in said


M85 = "-mcpu=cortex-m85 -mfloat-abi=hard"


def test_a_core_in_the_boards_file(tmp_path: Path) -> None:
    core = {"like": "cortex-m55", "flags": M85}
    board = boards.read(mine(tmp_path, cpu="cortex-m85", core=core, **WHOLE))
    assert board.core is not None
    assert (board.cpu, board.core.flags) == ("cortex-m85", M85)
    base = boards.load("mps3-an547")
    assert (board.isa, board.toolchains) == (base.isa, base.toolchains)


def test_flags_of_a_known_core(tmp_path: Path) -> None:
    flags = "-mcpu=cortex-m33+nofp -mfloat-abi=soft"
    given = {"cpu": "cortex-m33", "core": {"flags": flags}}
    board = boards.read(mine(tmp_path, **given, **WHOLE))
    assert board.core is not None
    assert (board.core.flags, board.isa) == (
        flags,
        ("dsp",),
    )  # no FPU, no variants for it
    assert boards.load("mps2-an505").isa == ("fpu", "dsp")


def test_a_core_in_the_chips_file(tmp_path: Path) -> None:
    core = {"like": "cortex-m55", "flags": M85}
    chip = {"title": "a", "cpu": "cortex-m85", "core": core, "memories": MEMORIES}
    write(tmp_path / "chips", "abc123", **chip)
    board = boards.read(mine(tmp_path, chip="abc123"))
    assert board.core is not None
    assert board.core.flags == M85


@pytest.mark.parametrize(
    ("core", "said"),
    [
        ({"like": "cortex-m5"}, "core.like: there is no core 'cortex-m5'"),
        ({"flags": M85}, "core.arch: Field required"),
        ({"like": "cortex-m4", "fpu": "none"}, "core.fpu: unknown key"),
        ({"like": "cortex-m4", "flags": "-mthumb"}, "`flags` must name the core"),
        ({"like": "cortex-m4", "arch": "armv7-r"}, "Cortex-R is not supported"),
        (
            {"like": "cortex-m4", "flags": "-mcpu=cortex-r5"},
            "Cortex-R is not supported",
        ),
        (7, "core: it must be a mapping"),
        ({"like": "cortex-m4", "peak": 3}, "core.peak: "),
        (
            {"like": "cortex-m4", "peak": {"cycle": {"macs": {"int4": 1}}}},
            "core.peak.cycle.macs",
        ),
        (
            {"like": "cortex-m4", "peak": {"cycle": {"macs": {"int8": 0}}}},
            "core.peak.cycle.macs.int8: Input should be greater than 0",
        ),
    ],
)
def test_a_core_that_is_wrong(tmp_path: Path, core: object, said: str) -> None:
    assert said in refused(mine(tmp_path, cpu="new", core=core, **WHOLE))


def peak_of(board: Board) -> Peak:
    assert board.core is not None
    assert board.core.peak is not None
    return board.core.peak


def test_the_peak_of_a_core_is_inherited_or_given(tmp_path: Path) -> None:
    base = peak_of(boards.load("mps3-an547"))
    assert base.cycle is not None
    assert base.cycle.macs["int8"] == 8
    core: dict[str, object] = {"like": "cortex-m55", "flags": M85}
    like = boards.read(mine(tmp_path, cpu="cortex-m85", core=core, **WHOLE))
    assert peak_of(like) == base
    core |= {"peak": {"cycle": {"macs": {"int8": 16}, "bytes": 16}}}
    board = boards.read(mine(tmp_path, cpu="cortex-m85", core=core, **WHOLE))
    given = peak_of(board)
    assert given.cycle is not None
    assert (given.cycle.macs, given.instruction) == ({"int8": 16}, None)


@pytest.mark.parametrize("name", CHIPS)
def test_every_chip_makes_a_board(tmp_path: Path, name: str) -> None:
    board = boards.read(mine(tmp_path, chip=name))
    assert board.chip == name
    assert board.cpu in CORES
    probe = {"openocd": "interface/cmsis-dap.cfg"}
    assert boards.read(mine(tmp_path, chip=name, probe=probe)).verified == "nobody"


# ---- old files -----------------------------------------------------------------------


def test_keys_of_old_files_still_work(tmp_path: Path) -> None:
    whole = {"title": "a", "cpu": "cortex-m0plus", "isa": [], "port": "cortexm"}
    whole |= {"toolchains": ["arm-gnu"], "console": "semihosting"}
    identity = {"at": 0x40000000, "value": 1}
    path = mine(tmp_path, **whole, memories=MEMORIES, verified="nobody", chip=identity)
    path.write_text(path.read_text() + "boot_stage: rp2040\nboot_words: [1, 2]\n")
    board = boards.read(path)
    assert board.identity is not None
    assert board.identity.at == identity["at"]
    assert board.chip is None
    assert (board.boot.made, board.boot.words) == ("rp2040", (1, 2))
    assert not board.boot.missing
    assert "KEEP(*(.ember_boot_rp2040))" in linker.script(board)


# ---- the page ------------------------------------------------------------------------

PAGE = (paths.root() / "docs" / "boards.md").read_text()
RECIPES = [
    block
    for block in re.findall(
        r"^```yaml[^\n]*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
    )
    if re.match("name:|like:", block)
]


@pytest.mark.parametrize("text", RECIPES)
def test_recipes_of_the_page_are_boards(tmp_path: Path, told: Told, text: str) -> None:
    for name in ("fcb.bin", "ivt.bin"):
        (tmp_path / name).write_bytes(bytes(32))
    named = re.search(r"^name: (\S+)", text, re.MULTILINE)
    assert named is not None
    path = tmp_path / f"{named[1]}.yaml"
    path.write_text(text)
    assert told(path) == ""
    assert boards.read(path).header_missing is None


def test_the_page_has_its_recipes() -> None:
    assert len(RECIPES) == 5


# ---- mistakes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"like": "mine"}, "mine.yaml: like: mine is itself like another board"),
        ({"like": "nucleo"}, "mine.yaml: like: there is no board 'nucleo'"),
        ({"like": ["host"]}, "mine.yaml: like: there is no board '['host']'"),
        ({"like": "../boards/host"}, "like: there is no board"),
        ({"like": "qemu-a64-sme"}, "qemu-a64-sme is itself like another board"),
        ({"chip": ["x"]}, "mine.yaml: chip: '['x']' is not a name"),
        ({"chip": "../x"}, "mine.yaml: chip: '../x' is not a name"),
        ({"cpu": 7}, "mine.yaml: cpu: '7' is not a name"),
        ({"chip": "rp2040", "colour": 1}, "colour: unknown key"),
        ({"chip": "rp2040", "uarts": {}}, "uarts: unknown key"),
        ({"chip": "rp2040", "memories": 5}, "mine.yaml: memories: Input should"),
        ({"chip": "rp2040", "memories": [5]}, " memories.0: Input should"),
        ({"chip": "rp2040", "start": 5}, "mine.yaml: start: Input should"),
        ({"chip": "stm32h743zi", "start": [5]}, "mine.yaml: start.0: Input should"),
        (
            {"chip": "rp2040", "uart": {"line": "uart7"}},
            "uart.line: Ember knows no 'uart7'",
        ),
        ({"chip": "rp2040", "uart": 5}, "mine.yaml: uart: Input should"),
        ({"chip": "rp2040", "boot": 5}, "mine.yaml: boot: Input should"),
        ({"chip": "rp2040", "probe": 5}, "mine.yaml: probe: Input should"),
    ],
)
def test_a_mistake_names_file_and_key(
    tmp_path: Path, keys: dict[str, Any], said: str
) -> None:
    assert said in refused(mine(tmp_path, **keys))


@pytest.mark.parametrize(
    ("folder", "content", "said"),
    [
        ("chips", "title: 5\ncpu: cortex-m4\n", r"chips/x\.yaml: title: Input should"),
        ("chips", "title: a\ncpu: cortex-m4\nname: x\n", r"x\.yaml: name: unknown key"),
        ("chips", "title: a\n", r"chips/x\.yaml: cpu: Field required"),
        ("chips", "- title\n", r"chips/x\.yaml is not a YAML mapping of keys"),
        ("chips", "title: [\n", r"chips/x\.yaml, line 2: not YAML"),
        ("chips", "1: 2\n", r"chips/x\.yaml is not a YAML mapping of keys"),
        ("chips", "title: a\ncpu: cortex-m99\n", r"cpu: there is no core 'cortex-m99'"),
    ],
)
def test_a_mistake_in_another_file_names_that(
    tmp_path: Path, folder: str, content: str, said: str
) -> None:
    path = mine(tmp_path, chip="x")
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "x.yaml").write_text(content)
    assert re.search(said, refused(path))


def test_a_core_for_cortex_m_has_flags(tmp_path: Path) -> None:
    core = {"title": "a", "arch": "armv7-m", "port": "cortexm", "isa": []}
    write(
        tmp_path / "cores", "x", **core, toolchains=["arm-gnu"], console="semihosting"
    )
    said = refused(mine(tmp_path, cpu="x", memories=MEMORIES))
    assert "cores/x.yaml: `flags` must name the core" in said


def test_a_mistake_in_the_board_that_it_is_like_names_its_file(tmp_path: Path) -> None:
    described = yaml.safe_load((paths.boards() / "mps2-an386.yaml").read_text())
    write(
        tmp_path, "base", **{**described, "name": "base", "runner": {"kind": "magic"}}
    )
    said = refused(mine(tmp_path, like="base", chip="base"))
    assert f"{tmp_path / 'base.yaml'}: runner.kind: " in said


def test_files_are_read_in_one_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = []
    real = loaded_files.content

    def watched(path: Path) -> Any:
        seen.append(path.name)
        return real(path)

    monkeypatch.setattr(loaded_files, "content", watched)
    boards.read(like_h7(tmp_path, chip="stm32h743zi"))
    assert set(seen) == {
        *("mine.yaml", "nucleo-h743zi2.yaml", "stm32h743zi.yaml", "cortex-m7.yaml")
    }


# ---- a core that no compiler here knows ----------------------------------------------


ROM = {"name": "rom", "base": 0x40000000, "size": "1M", "access": "rx"}
ROM |= {"kind": "flash", "holds": ["rodata", "weights"]}
RAM = {"name": "ram", "base": 0x20000000, "size": "1M", "access": "rw"}
RAM |= {"kind": "sram", "holds": ["data", "planned"]}


def test_a_library_needs_only_what_is_linked_of_it(tmp_path: Path, data: Path) -> None:
    memories = [ROM, RAM]
    path = mine(tmp_path, title="a", cpu="lx7", port="library", memories=memories)
    board = boards.read(path)
    assert (board.isa, board.toolchains, board.verified) == ((), (), "nobody")
    words = ["package", data / "add.pte", "--board", path, "--for", "sources"]
    assert cli.main([*map(str, words), "-o", str(tmp_path / "packed")]) == 0
    assert (tmp_path / "packed" / "src" / "Ember.h").is_file()


def test_firmware_for_a_library_is_refused(
    tmp_path: Path,
    data: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = mine(tmp_path, title="a", cpu="lx7", port="library", memories=[ROM, RAM])
    assert cli.main(["build", str(data / "add.pte"), "--board", path.name]) == 1
    assert "`port: library` says: firmware needs another" in capsys.readouterr().err
    assert cli.main(["boards", path.name]) == 0
    assert "none: it is for sources" in capsys.readouterr().out


@pytest.mark.parametrize("port", [{}, {"port": "library"}])
def test_an_unknown_core_is_told_with_everything_else(
    tmp_path: Path, port: dict[str, str]
) -> None:
    code = {**ROM, "holds": ["code"]}
    keys = {"cpu": "lx7", "memories": [code, {**RAM, "holds": ["io"]}]}
    keys |= {"verfied": "qemu"}
    said = refused(mine(tmp_path, **keys, **port))
    assert "verfied: unknown key: did you mean verified?" in said
    assert "no memory holds rodata, data" in said
    assert ("cpu: there is no core 'lx7'" in said) == (not port)
    assert ("`port: library`" in said) == (not port)


def test_mistakes_of_the_whole_are_told_together(tmp_path: Path) -> None:
    keys = {"memories": [FLASH, {**DTCM, "base": FLASH["base"]}], "isa": ["fpuu"]}
    keys |= {"console": "uart", "toolchains": ["arm-gcc"], "flashers": []}
    said = refused(mine(tmp_path, **{**WHOLE, "cpu": "cortex-m4", **keys}))
    for problem in (
        "memories flash and dtcm overlap",
        "kernels/isa.yaml has no fpuu: did you mean fpu?",
        "there is no toolchain 'arm-gcc': did you mean arm-gnu?",
        "console is uart, but there is no `uart`",
    ):
        assert problem in said, said


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"flasher": []}, "flasher: unknown key: did you mean flashers?"),
        ({"probe": {"opnocd": "x"}}, "opnocd: unknown key: did you mean openocd?"),
        ({"memories": [{**RAM, "hold": []}]}, "memories.0.hold: unknown key: did you"),
        ({"lik": "host"}, "lik: unknown key: did you mean like?"),
        ({"zzz": 1}, "zzz: unknown key"),
    ],
)
def test_unknown_keys_suggest_what_is_there(
    tmp_path: Path, keys: dict[str, Any], said: str
) -> None:
    whole = {"cpu": "cortex-m4", **WHOLE}
    assert said in refused(mine(tmp_path, **{**whole, **keys}))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mps2-an368", "did you mean mps2-an386?"),
        ("netduinoplus", "did you mean netduinoplus2?"),
        ("stm32l476", "in a file, for --board FILE.yaml: docs/boards.md"),
        ("nucleo-l476rg", "in a file, for --board FILE.yaml: docs/boards.md"),
        ("STM32F446", "boards with 'STM32F446': nucleo-f446re; or describe"),
        ("cortex-m55", "boards with 'cortex-m55': alif-ensemble-e7, ek-ra8m1, mps3"),
        ("", "one of: alif"),
        ("mine", "a board's own file is named with its .yaml: --board mine.yaml"),
    ],
)
def test_a_board_that_is_not_there(
    tmp_path: Path, name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine(tmp_path)
    with pytest.raises(SdkError) as error:
        boards.load(name)
    assert error.value.hint is not None
    assert said in error.value.hint
    assert ("did you mean" in error.value.hint) == ("did you mean" in said)
