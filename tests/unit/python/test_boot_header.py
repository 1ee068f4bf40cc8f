"""What a chip's boot ROM reads before the code: `boot:` of a board."""

import struct
from pathlib import Path

import pytest
import yaml

from ember import boards, cli, paths
from ember.boards import boot
from ember.errors import SdkError
from ember.firmware.advice import answers
from ember.firmware.jobs import Options
from ember.plan import room
from ember.toolchain import linker

MODEL = paths.root() / "tests" / "unit" / "python" / "data" / "add.pte"
PARTS = ("flash_configuration", "image_vector_table", "boot_data")


def described(folder: Path, **keys: object) -> Path:
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({"name": "mine", "chip": "mimxrt1062", **keys}))
    return path


def with_files(folder: Path, **sizes: int) -> Path:
    parts = {}
    for name, size in sizes.items():
        (folder / f"{name}.bin").write_bytes(bytes([len(name)]) * size)
        parts[name] = {"file": f"{name}.bin"}
    return described(folder, boot={"parts": parts})


def refused(path: Path) -> str:
    with pytest.raises(SdkError) as error:
        boards.read(path)
    return error.value.what


def test_flashing_without_a_header_is_refused_before_a_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = described(tmp_path)
    assert cli.main(["flash", str(MODEL), "--board", str(path), "--dry-run"]) == 1
    said = capsys.readouterr().err
    assert "expects a FlexSPI configuration block before the code" in said
    assert "`file`" in said
    assert "`boot: parts:`" in said


def test_what_is_missing_shrinks(tmp_path: Path) -> None:
    bare = {name: {"made": None} for name in PARTS[1:]}
    board = boards.read(described(tmp_path, boot={"parts": bare}))
    assert len(board.boot.missing) == 3
    board = boards.read(described(tmp_path))
    assert board.boot.missing == ["a FlexSPI configuration block"]
    board = boards.read(with_files(tmp_path, flash_configuration=512))
    assert board.boot.missing == []
    kept = {name: {"kept": True} for name in PARTS}
    board = boards.read(described(tmp_path, boot={"parts": kept}))
    assert board.header_missing is None
    assert ".ember_boot0" not in linker.script(board)
    assert "ORIGIN(flash) + 0x2000" in linker.script(board)


def test_a_plan_counts_what_is_kept_for_a_header(tmp_path: Path) -> None:
    board = boards.read(described(tmp_path))
    header = board.boot.code
    assert header > 0
    answer = answers.of([MODEL], board, Options())
    assert answer["linked"]
    pieces = {section["name"]: section["bytes"] for section in answer["sections"]}
    assert pieces["boot header"] == header
    (flash,) = (memory for memory in answer["memories"] if memory["name"] == "flash")
    in_flash = [
        section for section in answer["sections"] if section["memory"] == "flash"
    ]
    assert flash["used"] >= sum(section["bytes"] for section in in_flash)
    plain = board.model_copy(update={"boot": boot.Boot()})
    assert room.guessed(board)["flash"] == room.guessed(plain)["flash"] + header


def test_a_package_without_a_header_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["pack", str(MODEL), "--board", str(described(tmp_path))]
    assert cli.main([*words, "--out", str(tmp_path / "package")]) == 0
    assert "note: mine cannot boot" in capsys.readouterr().err


def test_files_lie_in_front_of_the_code(tmp_path: Path) -> None:
    board = boards.read(
        with_files(
            tmp_path, flash_configuration=100, image_vector_table=32, boot_data=12
        )
    )
    assert board.header_missing is None
    blocks = {block.at: block.data for block in board.boot_blocks}
    assert blocks[0] == bytes([19]) * 100 + bytes(412)
    assert (len(blocks[0x1000]), len(blocks[0x1020])) == (32, 12)
    text = linker.script(board)
    assert ".ember_boot2 ORIGIN(flash) + 0x1020 : {" in text
    assert text.index(".ember_boot0 ORIGIN(flash) + 0x0") < text.index(".ember_vectors")


def test_a_header_of_one_piece(tmp_path: Path) -> None:
    (tmp_path / "all.bin").write_bytes(bytes(range(256)) * 32)
    board = boards.read(described(tmp_path, boot={"file": "all.bin"}))
    assert board.boot.missing == []
    assert [(block.at, len(block.data)) for block in board.boot_blocks] == [(0, 0x2000)]
    again = boards.Board.model_validate(board.model_dump())
    assert again == board
    (tmp_path / "all.bin").write_bytes(bytes(0x2004))
    assert "has 8196 bytes, but the code begins at 0x2000" in refused(
        tmp_path / "mine.yaml"
    )


def test_the_stage_of_the_pico_is_made(tmp_path: Path) -> None:
    pico = boards.load("rpi-pico")
    assert (pico.boot.made, pico.boot.missing) == ("rp2040", [])
    (tmp_path / "stage.bin").write_bytes(bytes(100))
    parts = {"second_stage": {"file": "stage.bin"}}
    path = described(tmp_path, chip="rp2040", boot={"parts": parts})
    board = boards.read(path)
    (block,) = board.boot_blocks
    assert (board.boot.made, len(block.data)) == (None, 256)
    assert boot.crc32_mpeg2(block.data[:252]) == block.data[252:]
    assert "ORIGIN(flash) + 0x100" in linker.script(board)
    assert "ember_boot_rp2040" not in linker.script(board)
    (tmp_path / "stage.bin").write_bytes(block.data)
    assert boards.read(path).boot_blocks == [block]
    (tmp_path / "stage.bin").write_bytes(block.data[:-1] + b"\x00")
    assert "that end in a valid checksum" in refused(path)


def test_the_sum_is_the_published_one() -> None:
    check = boot.crc32_mpeg2(b"123456789")
    assert struct.unpack("<I", check) == (0x0376E6E7,)


EVK = "mimxrt1060-evk"


def made_by_ember(board: boards.Board) -> dict[int, bytes]:
    return {block.at: block.data for block in board.boot_blocks}


def test_the_flash_configuration_has_the_layout_of_the_manual() -> None:
    block = made_by_ember(boards.load(EVK))[0]
    assert len(block) == 512
    assert block[:4] == b"FCFB"
    assert block[7::-1][:4] == b"V\x01\x04\x00"  # V 1.4.0
    named = {
        **{0x0C: 0, 0x0D: 3, 0x0E: 3},  # sampled inside; cycles of the chip select
        **{0x44: 1, 0x45: 1, 0x46: 1},  # serial NOR, one line, 30 MHz
        0x1C8: 1,  # commands at 30 MHz
    }
    assert {at: block[at] for at in named} == named
    words = {0x50: 8 << 20, 0x80: 0x08180403, 0x84: 0x2404, 0x1C0: 256, 0x1C4: 4096}
    assert {at: word(block, at) for at in words} == words
    said = {*range(8), *named, *(at + byte for at in words for byte in range(4))}
    assert not any(block[at] for at in range(512) if at not in said)


def word(data: bytes, at: int) -> int:
    number: int = struct.unpack_from("<I", data, at)[0]
    return number


def test_the_vector_table_and_boot_data_point_at_the_image() -> None:
    blocks = made_by_ember(boards.load(EVK))
    header, *words = struct.unpack("<8I", blocks[0x1000])
    assert header == 0x412000D1  # tag D1, 32 bytes, version 4.1
    entry, _, devices, data, itself, signature, _ = words
    assert (entry, data, itself) == (0x60002000, 0x60001020, 0x60001000)
    assert devices == signature == 0
    assert struct.unpack("<3I", blocks[0x1020]) == (0x60000000, 8 << 20, 0)


def test_a_header_follows_the_fields_of_the_board(tmp_path: Path) -> None:
    quad = {"clock": "100MHz", "dqs_pad": True, "command": 0xEB}
    quad |= {"address_lines": 4, "lines": 4, "dummy_cycles": 6}
    configuration = {"made": "imxrt-flash-configuration", "flexspi": quad}
    chip = boards.read(described(tmp_path))
    flash = {"name": "flash", "base": 0x60010000, "size": "4M"}
    rest = [{"name": memory.name} for memory in chip.memories[1:]]
    keys = {"boot": {"parts": {PARTS[0]: configuration}}, "memories": [flash, *rest]}
    blocks = made_by_ember(boards.read(described(tmp_path, **keys)))
    assert blocks[0][0x80:0x8A].hex() == "eb04180a063204260000"
    assert (blocks[0][0x0C], blocks[0][0x45], blocks[0][0x46]) == (1, 4, 6)
    assert word(blocks[0], 0x50) == 4 << 20
    assert word(blocks[0x1000], 4) == 0x60012000
    assert struct.unpack("<3I", blocks[0x1020]) == (0x60010000, 4 << 20, 0)


def test_what_is_kept_or_given_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "ivt.bin").write_bytes(b"mine")
    parts = {PARTS[1]: {"file": "ivt.bin"}, PARTS[2]: {"kept": True}}
    keys = {"chip": "mimxrt1062", "boot": {"parts": parts}}
    assert made_by_ember(boards.read(described(tmp_path, **keys))) == {
        0x1000: b"mine" + bytes(28)
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"flexspi": {"clock": "33MHz"}}, "not one that the boot ROM sets: 30MHz, "),
        ({"flexspi": {"clock": "75MHz"}}, "above 60MHz needs `dqs_pad: true`"),
        ({"flexspi": {"lines": 3}}, "boot.parts.flash_configuration.flexspi.lines"),
        ({"made": None, "flexspi": {}}, "`flexspi` needs `made: imxrt-flash-"),
        ({"size": 448}, "a FlexSPI configuration block has 512 bytes, not 448"),
    ],
)
def test_a_header_that_cannot_be_made_is_refused(
    tmp_path: Path, given: dict[str, object], said: str
) -> None:
    part = {"made": "imxrt-flash-configuration", **given}
    assert said in refused(described(tmp_path, boot={"parts": {PARTS[0]: part}}))


def test_a_flash_of_unknown_sectors_has_no_configuration() -> None:
    board = boards.load(EVK)
    flash = board.memory("flash")
    with pytest.raises(ValueError, match=r"needs `flash: \{sectors"):
        boot.block(boot.FlexSpi(), flash.model_copy(update={"flash": None}))
    with pytest.raises(ValueError, match="flash has more than 16M: give a `file`"):
        boot.block(boot.FlexSpi(), flash.model_copy(update={"size": 1 << 25}))


def part(**keys: object) -> dict[str, object]:
    return {"what": "a thing", "at": 0, "size": 64, **keys}


@pytest.mark.parametrize(
    ("boot", "said"),
    [
        ({"code": 100}, "boot.code: Input should be a multiple of 256"),
        ({"code": -256}, "boot.code: "),
        ({"code": 256, "words": [1 << 32]}, "boot.words.0: "),
        ({"code": 256, "lines": []}, "boot.lines: unknown key"),
        ({"code": 256, "parts": [1]}, "boot.parts: "),
        ({"parts": {"a": part()}}, "boot: a ends at 0x40, but the code begins at 0x0"),
        ({"code": 256, "parts": {"a": part(), "b": part(at=32)}}, "a and b overlap"),
        (
            {"code": 256, "parts": {"a": part(made="rp2040")}},
            "must fill everything before `code`",
        ),
        ({"code": 256, "parts": {"a": part(made="magic")}}, "boot.parts.a.made: "),
        ({"code": 256, "parts": {"a": part(size="64Q")}}, "'64Q' is not a size"),
        ({"code": 256, "parts": {"a": part(file="no.bin")}}, "no.bin does not exist"),
        ({"code": 256, "parts": {"a": part(file="big.bin")}}, "a thing takes 64"),
        ({"code": 256, "parts": {"a": part(file="none.bin")}}, "none.bin is empty"),
        ({"code": 256, "file": "."}, " does not exist"),
        ({"code": 256, "file": 5}, "boot.file: "),
    ],
)
def test_a_wrong_header_is_refused_by_the_name_of_the_key(
    tmp_path: Path, boot: dict[str, object], said: str
) -> None:
    (tmp_path / "big.bin").write_bytes(bytes(65))
    (tmp_path / "none.bin").write_bytes(b"")
    what = refused(described(tmp_path, chip="stm32h743zi", boot=boot))
    assert what.startswith(f"{tmp_path / 'mine.yaml'}: boot")
    assert said in what


def test_ports_without_a_boot_rom_take_none(tmp_path: Path) -> None:
    path = described(tmp_path, chip="qemu-virt", boot={"code": 256})
    assert "the port a64 does not support `boot`" in refused(path)


def test_flash_outside_of_a_chip_says_how_it_starts(tmp_path: Path) -> None:
    chip = boards.read(described(tmp_path))
    skipped = {"read_cycles"}
    memories = [
        memory.model_dump(mode="json", exclude=skipped) for memory in chip.memories
    ]
    keys = {"chip": None, "title": "a", "cpu": "cortex-m7", "memories": memories}
    board = boards.read(described(tmp_path, **keys))
    assert board.header_unsaid is not None
    assert "at 0x60000000, outside the chip" in board.header_unsaid[0]
    assert boards.read(described(tmp_path, **keys, boot={})).header_unsaid is None


@pytest.mark.parametrize("name", boards.names())
def test_no_board_of_embers_lacks_a_header(name: str) -> None:
    board = boards.load(name)
    assert board.header_missing is None
    assert board.header_unsaid is None
