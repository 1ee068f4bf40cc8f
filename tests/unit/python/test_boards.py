import importlib.metadata
import json
from pathlib import Path

import pytest
import yaml
from committed_cases import path_of

from ember import boards, cli, paths
from ember.boards import keys
from ember.errors import SdkError
from ember.toolchain import linker, tools

EVERY = boards.names(internal=True)
REAL = [name for name in boards.names() if boards.load(name).runner.kind == "none"]


@pytest.mark.parametrize("name", EVERY)
def test_every_board_is_described_whole(name: str) -> None:
    board = boards.load(name)
    assert board.name == name
    assert board.runner.timeout_s > 0
    for toolchain in board.toolchains:
        assert (paths.toolchains() / f"{toolchain}.cmake").is_file()
        assert toolchain in tools.TOOLCHAIN_TOOLS
    for tool in tools.needed(board):
        assert tool in tools.TOOLS
    for role in (*boards.ROLES_NEEDED, "weights", "method", "planned", "temp", "io"):
        assert board.memories_for(role), role


@pytest.mark.parametrize("name", REAL)
def test_nobody_ran_a_real_board(name: str) -> None:
    board = boards.load(name)
    assert (board.verified, board.runner.kind) == ("datasheet", "none")
    assert board.sources


def test_boards_of_tests_are_hidden() -> None:
    assert "arm-user" in EVERY


def test_sizes_are_in_units() -> None:
    flash = boards.load("netduinoplus2").memory("flash")
    assert (flash.base, flash.size, flash.end) == (0x08000000, 1 << 20, 0x08100000)
    assert not flash.writable


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("mps3-an54", "mps3-an547"),
        ("netduino", "netduinoplus2"),
        ("hexagon", "hexagon-v68"),
    ],
)
def test_an_unknown_board_suggests_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(SdkError) as error:
        boards.load(wrong)
    assert f"unknown board '{wrong}'" in error.value.what
    assert error.value.hint is not None
    assert right in error.value.hint


@pytest.mark.parametrize("name", ["", "../boards/host", "zzzzzzzzzz"])
def test_a_name_like_no_other_lists_them(name: str) -> None:
    with pytest.raises(SdkError) as error:
        boards.load(name)
    assert error.value.hint is not None
    assert "host" in error.value.hint


def test_an_unknown_memory_lists_them() -> None:
    with pytest.raises(SdkError) as error:
        boards.load("netduinoplus2").memory("ccm")
    assert error.value.hint is not None
    assert "flash, ram" in error.value.hint


def described(tmp_path: Path, **changes: object) -> Path:
    data = yaml.safe_load((paths.boards() / "mps2-an386.yaml").read_text())
    data.update(changes)
    path = tmp_path / "board.yaml"
    path.write_text(yaml.safe_dump(data))
    return path


def memory(**changes: object) -> dict[str, object]:
    good = {"name": "all", "base": 0x20000000, "size": "1M", "access": "rwx"}
    good |= {"kind": "sram", "holds": list(boards.ROLES_NEEDED)}
    return good | changes


def sectors(*runs: tuple[str, int | None]) -> dict[str, object]:
    groups = [{"size": size, "count": count} for size, count in runs]
    return memory(flash={"sectors": groups})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"colour": "red"}, "colour"),
        ({"cpu": None}, "cpu"),
        ({"port": "riscv"}, "port"),
        ({"toolchains": []}, "toolchains"),
        ({"isa": ["sse"]}, "kernels/isa.yaml has no sse"),
        ({"memories": [memory(size="16Q")]}, "'16Q' is not a size"),
        ({"memories": [memory(size=0)]}, "memories.0.size"),
        ({"memories": [memory(read_cycles="fast")]}, "write cycles, such as 3, or"),
        ({"memories": [memory(read_cycles={3: 1})]}, "3 is not an access width"),
        ({"memories": [memory(write_cycles={4: 0})]}, "0 cycles: must be above 0"),
        ({"memories": [memory(fetch_cycles={5: 1})]}, "5 is not an access width"),
        ({"memories": [memory(holds=["cod"])]}, "memories.0.holds"),
        ({"memories": [memory(holds=["code"])]}, "no memory holds vectors"),
        ({"memories": [memory(access="rx")]}, "cannot hold data"),
        ({"memories": [memory(base=0)]}, "below 0x20000000"),
        ({"memories": [memory(), memory(name="b")]}, "all and b overlap"),
        ({"memories": [memory(), memory(base=0x30000000)]}, "the same name"),
        ({"runner": {"kind": "qemu-system", "counts": None}}, "needs `binary`"),
        ({"memories": [memory(flash={"sectors": "3K"})]}, "add up to 0 bytes"),
        ({"memories": [sectors(("1M", 2))]}, "2097152 bytes, the memory has"),
        ({"memories": [sectors(("64K", None), ("4K", None))]}, "only the last group"),
        ({"memories": [memory(flash={"sectors": []})]}, "flash.sectors"),
        ({"flashers": [{"tool": "gdb"}]}, "no memory has `flash`"),
        ({"flashers": [{"tool": "magic"}]}, "flashers.0"),
        ({"flashers": [{"tool": "pyocd", "target": "x"}] * 2}, "listed twice"),
        ({"runner": {"kind": "none"}}, "`verified: qemu` needs a `runner`"),
        (
            {"verified": "datasheet"},
            "`verified: datasheet` needs the datasheet under `sources`",
        ),
        ({"start": [{"at": 0x40000000}]}, "a step needs one of"),
        ({"start": [{"at": 0x40000000, "set": 1, "write": 1}]}, "a step needs one of"),
        ({"start": [{"at": 0x40000002, "set": 1}]}, "start.0.at"),
        ({"start": [{"at": 0x40000000, "set": 1 << 32}]}, "start.0.set"),
        (
            {"port": "a64", "start": [{"at": 0, "set": 1}]},
            "a64 does not support `start`",
        ),
        (
            {"port": "a64", "interrupts": {"levels": 2}},
            "a64 does not support `interrupts`",
        ),
        ({"interrupts": {"levels": 0}}, "interrupts.levels"),
        (
            {"interrupts": {"handlers": {"dma_done": -1}}},
            "interrupts.handlers.dma_done",
        ),
        ({"interrupts": {"handler": {}}}, "interrupts.handler"),
    ],
)
def test_a_wrong_description_is_refused_by_the_name_of_the_field(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(SdkError) as error:
        boards.read(described(tmp_path, **changes))
    assert said in error.value.what


def test_sectors_of_a_flash() -> None:
    flash = boards.load("netduinoplus2").memory("flash")
    assert flash.flash is not None
    spans = list(flash.flash.spans(flash.base, flash.size))
    assert len(spans) == 12
    assert [len(span) >> 10 for span in spans[3:6]] == [16, 64, 128]
    assert (spans[0].start, spans[-1].stop) == (flash.base, flash.end)
    rest = boards.Memory.model_validate(sectors(("512K", 1), ("128K", None)))
    assert rest.flash is not None
    assert len(list(rest.flash.spans(0, rest.size))) == 5


def test_a_flasher_is_found_by_its_tool() -> None:
    board = boards.load("netduinoplus2")
    assert board.flasher(None).tool == "pyocd"
    dfu = board.flasher("dfu-util")
    assert isinstance(dfu, keys.DfuUtil)
    assert dfu.product == 0xDF11
    with pytest.raises(SdkError) as error:
        board.flasher("uf2")
    assert error.value.hint is not None
    assert "pyocd, openocd" in error.value.hint
    gdb = board.flasher("gdb")
    assert isinstance(gdb, keys.Gdb)
    assert gdb.remote is None
    with pytest.raises(SdkError):
        boards.load("mps2-an386").flasher("gdb")


def test_cycles_of_an_access() -> None:
    def parsed(**changes: object) -> boards.Memory:
        return boards.Memory.model_validate(memory(**changes))

    wide = parsed(read_cycles={4: 3, 16: 9}, write_cycles=5)
    assert [wide.cycles(width) for width in (1, 4, 8, 16, 32)] == [3, 3, 9, 9, 18]
    assert [wide.cycles(width, write=True) for width in (1, 4, 16)] == [5, 5, 20]
    assert parsed(read_cycles=2).cycles(8, write=True) == 4
    assert [parsed(kind=kind).cycles(4) for kind in ("tcm", "flash", "dram")] == [
        1,
        3,
        8,
    ]


def test_cycles_of_fetching_code() -> None:
    def fetching(**changes: object) -> float:
        return boards.Memory.model_validate(memory(**changes)).fetching(64)

    assert fetching(kind="flash") == 48
    assert fetching(kind="flash", read_cycles={4: 5, 16: 8}) == 32
    assert fetching(read_cycles={4: 5}, fetch_cycles={8: 2}) == 16


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"write": 7}, (0x40000000, 0xFFFFFFFF, 7)),
        ({"set": 7}, (0x40000000, 7, 7)),
        ({"clear": 7}, (0x40000000, 7, 0)),
        ({"clear": 7, "set": 8}, (0x40000000, 15, 8)),
        ({"until_set": 7}, (0x40000001, 7, 7)),
        ({"until_clear": 7}, (0x40000001, 7, 0)),
    ],
)
def test_a_step_is_three_words(
    step: dict[str, int], words: tuple[int, int, int]
) -> None:
    assert keys.RegisterStep.model_validate({"at": 0x40000000, **step}).words == words


def test_a_board_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = described(tmp_path, name="board")
    assert boards.load(str(path)).title == boards.load("mps2-an386").title
    monkeypatch.chdir(tmp_path)
    assert cli.main(["boards", "board.yaml"]) == 0
    assert "board: Arm MPS2" in capsys.readouterr().out
    with pytest.raises(SdkError, match=r"other\.yaml does not exist"):
        boards.load("other.yaml")
    with pytest.raises(SdkError, match="its file says 'renamed'"):
        boards.load(str(path.rename(tmp_path / "renamed.yaml")))


@pytest.mark.parametrize("command", ["run", "test", "profile"])
def test_a_board_that_nothing_emulates_is_refused_before_a_build(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(path_of("op_abs"))
    assert cli.main([command, model, "--board", "nucleo-f767zi"]) == 1
    assert "no emulator runs nucleo-f767zi" in capsys.readouterr().err


def test_stores_below_the_first_writable_memory_fault() -> None:
    low = boards.load("alif-ensemble-e7")
    assert low.read_only_end == low.memory("sram0").base == 0x02000000
    assert boards.load("mps2-an505").read_only_end == 0x20000000
    assert boards.load("nucleo-f767zi").read_only_end == 0x20000000


def test_core_coupled_memory_can_be_written(tmp_path: Path) -> None:
    code = memory(name="code", base=0, access="rx", holds=["vectors", "code", "rodata"])
    ccm = memory(name="ccm", base=0x10000000, size="64K", access="rw", holds=["stack"])
    data = memory(name="data", access="rw", holds=["data"])
    board = boards.read(described(tmp_path, memories=[code, ccm, data]))
    assert board.read_only_end == 0x10000000  # 256 MB, as the MPU has it
    text = linker.script(board)
    assert "__ember_read_only_end = 0x10000000;" in text
    assert "__ember_read_only_size = 27;" in text  # 2 ** (27 + 1) bytes
    assert "__ember_read_only_size = 28;" in linker.script(boards.load("mps2-an386"))


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SdkError) as error:
        boards.read(described(tmp_path, port="riscv", console="carrier pigeon"))
    assert "port" in error.value.what
    assert "console" in error.value.what


def test_a_file_that_is_not_yaml(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"
    path.write_text("name: [")
    with pytest.raises(SdkError, match="not YAML"):
        boards.read(path)


def test_a_toolchain_that_the_board_does_not_have() -> None:
    with pytest.raises(SdkError) as error:
        tools.cmake_arguments(boards.load("mps3-an547"), "arm-gnu")
    assert error.value.hint is not None
    assert "arm-llvm" in error.value.hint


def test_a_missing_program_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SdkError) as error:
        tools.path("qemu-system-arm")
    assert error.value.hint == "install it: apt-get install qemu-system-arm"


def test_missing_ziglang_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(SdkError) as error:
        tools.hexagon_runtime()
    assert error.value.hint is not None
    assert "pip install ziglang" in error.value.hint


def test_a_board_may_be_like_another(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "like: base\nname: mine\nisa: [mve]\nrunner: {timeout_s: 5}\n"
    )
    with pytest.raises(SdkError) as error:
        boards.read(tmp_path / "mine.yaml")
    assert "there is no board 'base'" in error.value.what
    base = (paths.boards() / "mps3-an547.yaml").read_text()
    (tmp_path / "base.yaml").write_text(base)
    mine, like = boards.read(tmp_path / "mine.yaml"), boards.load("mps3-an547")
    assert (mine.name, mine.isa, mine.runner.timeout_s) == ("mine", ("mve",), 5)
    assert (mine.memories, mine.runner.args) == (like.memories, like.runner.args)
    (tmp_path / "base.yaml").write_text("like: other\n")
    with pytest.raises(SdkError) as error:
        boards.read(tmp_path / "mine.yaml")
    assert "base is itself like another board" in error.value.what


def test_doctor_names_what_is_missing_and_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    tools.version.cache_clear()
    try:
        report = tmp_path / "report.json"
        assert cli.main(["doctor", "--board", "mps2-an386", "--json", str(report)]) == 1
        assert cli.main(["doctor"]) == 0
    finally:
        tools.version.cache_clear()
    facts = json.loads(report.read_text())
    assert not facts["ready"]
    assert {"qemu-system-arm", "arm-none-eabi-gcc"} <= set(
        facts["boards"][0]["missing"]
    )
    assert "gcc-arm-none-eabi" in facts["install"][0]
    said = capsys.readouterr().out
    assert "sudo apt-get install" in said
    assert "not ready: mps2-an386 lacks" in said
    assert "optional: llvm-mca-19 has models of cores for --cycles" in said
    optional = {tool["name"]: tool for tool in facts["tools"]}["llvm-mca-19"]
    assert optional["missing"]
    assert optional["optional"]
    assert "llvm-mca-19" not in facts["boards"][0]["missing"]


def test_doctor_says_which_versions_are_tested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    versions = {"cmake": "4.0.2", "qemu-system-arm": "10.0.13", "clang-19": "18.1.9"}
    monkeypatch.setattr(tools, "version", lambda name: versions.get(name, "unknown"))
    report = tmp_path / "report.json"
    assert cli.main(["doctor", "--board", "mps3-an547", "--json", str(report)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "CMake 3.25 to 3.31, Ninja 1.11 to 1.12" in said
    assert "LLVM 19.1, QEMU 7.2 to 10.0, Python 3.11 to 3.13" in said
    assert "not tested: cmake 4.0.2" in said
    assert "not tested: clang-19 18.1.9" in said
    assert "not tested: qemu" not in said.replace("qemu-arm unknown", "")
    facts = {
        tool["name"]: tool["tested"] for tool in json.loads(report.read_text())["tools"]
    }
    assert facts["qemu-system-arm"] == ["7.2", "10.0"]
    assert facts["newlib"] is None


def test_doctor_is_content_with_this_machine() -> None:
    assert cli.main(["doctor", "--board", "host"]) == 0


def test_boards_lists_and_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "boards.json"
    assert cli.main(["boards", "--json", str(report)]) == 0
    listed = json.loads(report.read_text())["boards"]
    assert [board["name"] for board in listed] == boards.names()
    assert cli.main(["boards", "netduinoplus2"]) == 0
    assert "0x08000000" in capsys.readouterr().out
    assert cli.main(["boards", "netduinoplus3"]) == 1
    assert "did you mean netduinoplus2?" in capsys.readouterr().err
