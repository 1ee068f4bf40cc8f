import pytest

from ember import boards
from ember.toolchain import compiler, linker

BARE = [name for name in boards.names() if not name.startswith("host")]


def test_each_role_goes_to_the_first_memory_with_room() -> None:
    board = boards.load("mps3-an547")
    assert linker.place(board)["code"] == "itcm"
    placed = linker.place(board, {"code": 600 * 1024, "rodata": 100 * 1024})
    assert placed["code"] == "bram"
    assert placed["rodata"] == "itcm"
    assert placed["vectors"] == "itcm"


def test_a_role_that_fits_nowhere_goes_to_the_roomiest() -> None:
    board = boards.load("mps3-an547")
    assert linker.place(board, {"code": 64 << 20})["code"] == "bram"


def test_room_is_shared_between_roles() -> None:
    board = boards.load("mps3-an547")
    placed = linker.place(board, {"code": 400 * 1024, "rodata": 200 * 1024})
    assert (placed["code"], placed["rodata"]) == ("itcm", "bram")


@pytest.mark.parametrize("name", BARE)
def test_every_memory_and_symbol_is_in_the_script(name: str) -> None:
    board = boards.load(name)
    text = linker.script(board, stack_bytes=4000)
    for memory in board.memories:
        assert f"{memory.name} ({memory.access}) : ORIGIN = {memory.base:#010x}" in text
        if memory.writable:
            assert f"__ember_work_{memory.name}_start" in text
            assert f"*(.ember_arena.{memory.name} " in text
    assert ". += 4000;" in text
    assert text == linker.script(board, stack_bytes=4000)


def test_data_is_copied_only_out_of_read_only_memory() -> None:
    assert "AT > flash" in linker.script(boards.load("netduinoplus2"))
    assert "AT >" not in linker.script(boards.load("qemu-a64-sme"))
    assert "AT >" not in linker.script(boards.load("hexagon-v68"))


def test_a_placement_of_the_caller_wins() -> None:
    board = boards.load("mps2-an386")
    text = linker.script(board, placement={"weights": "psram"})
    assert text.index("} > psram :model_psram") < text.index("} > code :model_code")
    assert "*(.ember_model) *(.ember_model.psram " in text


def test_what_boot_wants_stands_around_the_vectors() -> None:
    first = linker.script(boards.load("rpi-pico"))
    assert first.index("KEEP(*(.ember_boot_rp2040))") < first.index("KEEP(*(.ember_vec")
    words = linker.script(boards.load("rpi-pico2")).split("__ember_steps_start")[0]
    assert words.index("KEEP(*(.ember_vectors))") < words.index("LONG(0xffffded3)")
    plain = linker.script(boards.load("mps2-an386"))
    assert "LONG(" not in plain.split("__ember_copies_start")[0]


def test_steps_of_the_start_are_a_table() -> None:
    text = linker.script(boards.load("nucleo-f446re"))
    table = text.split("__ember_steps_start = .;")[1].split("__ember_steps_end")[0]
    step = ["LONG(0x40023830)", "LONG(0x00000001)", "LONG(0x00000001)"]
    assert table.split()[:3] == step
    assert table.count("LONG(") == 3 * 4


GNU = """ld: a.elf section `.text' will not fit in region `flash'
ld: region `flash' overflowed by 8192 bytes
"""
LLD = """\
error: section '.text' will not fit in region 'flash': overflowed by 10 bytes
error: section '.rodata' will not fit in region 'flash': overflowed by 42 bytes
"""


@pytest.mark.parametrize(("output", "extra"), [(GNU, 8192), (LLD, 42)])
def test_an_overflow_names_the_memory_and_the_bytes(output: str, extra: int) -> None:
    error = compiler.overflow(output, boards.load("netduinoplus2"))
    assert error is not None
    assert f"memory flash needs {(1 << 20) + extra:,} bytes" in error.what
    assert f"{extra:,} more than the {1 << 20:,} it has" in error.what


def test_other_complaints_of_the_linker_are_not_about_room() -> None:
    assert compiler.overflow("undefined symbol: x", boards.load("host")) is None
