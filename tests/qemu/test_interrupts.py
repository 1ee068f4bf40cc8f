"""Handlers of an application: the stack's bound counts them as deep as they nest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from committed_cases import path_of

from ember import cli
from ember.errors import SdkError
from ember.firmware import Built, Options, build
from ember.firmware.stack.ports import Interrupts
from ember.toolchain import emulator

MLP = path_of("model_mlp_small")
M4 = "mps2-an386"
pytestmark = pytest.mark.qemu

# SysTick begins at any call of a run, and has an interrupt of a higher priority begin
# where its own stack is deepest.
HANDLERS = r"""
#include "ember/model.h"
#include "ember/port.h"
#define WORD(address) (*(volatile uint32_t *)(address))
static volatile uint32_t ticks, inner;
static ember_program_t program;
static ember_method_t method;

#define TAKE(bytes) \
    volatile char taken[bytes]; \
    taken[0] = taken[bytes - 1] = 1; \
    __asm volatile("" : : "r"(taken) : "memory")
STATIC void timer_done(void) {
    TAKE(1200);
    inner += taken[0];
}
STATIC void SysTick_Handler(void) {
    TAKE(1400);
    ticks += taken[0];
    WORD(0xE000E200u) = 1; // interrupt 0 of the NVIC is pending now
    __asm volatile("dsb \n isb");
}
static void start_interrupts(void) {
    WORD(0xE000ED20u) = 0xC0000000u; // priorities: SysTick 0xC0, interrupt 0 0x40
    WORD(0xE000E400u) = 0x40;
    WORD(0xE000E100u) = 1;
    WORD(0xE000E014u) = 2000;
    WORD(0xE000E018u) = 0;
    WORD(0xE000E010u) = 7;
}
static void log_number(uint32_t value) {
    char text[12] = {0}, *at = text + 11;
    do {
        *--at = (char)('0' + value % 10);
    } while ((value /= 10) != 0);
    ember_port_log(at);
    ember_port_log("\n");
}
int main(void) {
    SET_UP
    start_interrupts();
    if (ember_model_open(&program, NULL) != EMBER_OK ||
        ember_model_load(&method, &program, NULL, NULL) != EMBER_OK) {
        return 1;
    }
    for (int i = 0; i < 20 || ticks < 50; i++) {
        if (ember_method_execute(&method, NULL) != EMBER_OK) {
            return 2;
        }
    }
    WORD(0xE000E010u) = 0;
    log_number(ember_port_stack_used());
    return ticks > 0 && inner > 0 ? 0 : 3;
}
"""
IN_TABLE = """
__attribute__((section(".ember_vectors.external"), used))
static void (*const external[])(void) = {timer_done};
int main(void)"""
# A table in RAM, by the words of CMSIS.
MOVED = """
static uint32_t table[64] __attribute__((aligned(512)));
typedef struct { uint32_t cpuid, icsr, vtor; } scb_t;
#define SCB ((volatile scb_t *)0xE000ED00u)
static void move_table(void) {
    for (int i = 0; i < 16; i++) {
        table[i] = ((const uint32_t *)SCB->vtor)[i];
    }
    table[15] = (uint32_t)(uintptr_t)SysTick_Handler;
    table[16] = (uint32_t)(uintptr_t)timer_done;
    SCB->vtor = (uint32_t)(uintptr_t)table;
}
int main(void)"""
DECLARED = Interrupts({"SysTick_Handler": 3, "timer_done": 1}, None, True)


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def in_table(folder: Path) -> Path:
    return written(folder, HANDLERS, IN_TABLE, "", "")


def moved(folder: Path) -> Path:
    return written(folder, HANDLERS, MOVED, "static", "move_table();")


def written(folder: Path, text: str, table: str, kind: str, first: str) -> Path:
    text = text.replace("int main(void)", table).replace("SET_UP", first)
    path = folder / "app.c"
    path.write_text(text.replace("STATIC", kind))
    return path


def made(app: Path, board: str = M4, declared: Interrupts | None = None) -> Built:
    options = Options(app=app, interrupts=declared or Interrupts())
    return build(MLP, board, options=options)


def used(built: Built) -> int:
    """What a run used of its stack. Counting makes the time of its interrupts exact."""
    result = emulator.run(built.board, built.firmware, timeout_s=60)
    assert result.exit_code == 0, result.text
    return int(re.findall(r"^(\d+)$", result.text, re.M)[-1])


@pytest.mark.parametrize("board", [M4, "mps2-an385-v6m", "mps3-an547"])
def test_nested_handlers_of_the_table_are_in_the_bound(
    tmp_path: Path, board: str
) -> None:
    built = made(in_table(tmp_path), board)
    stack = built.certificate["stack"]
    assert [level["handler"] for level in stack["levels"]] == [
        "SysTick_Handler",
        "timer_done",
    ]
    assert stack["handlers"] > 1200 + 1400 + 2 * 36
    assert 1200 + 1400 < used(built) <= stack["bound"]


def test_a_table_set_up_at_run_time_must_be_declared(tmp_path: Path) -> None:
    app = moved(tmp_path)
    with pytest.raises(SdkError, match=r"'\w+' writes VTOR") as error:
        made(app)
    assert "interrupts: {handlers: {SysTick_Handler: 3" in str(error.value.hint)
    built = made(app, declared=DECLARED)
    assert used(built) <= built.certificate["stack"]["bound"]


def test_without_its_handlers_the_same_stack_overflows(tmp_path: Path) -> None:
    built = made(moved(tmp_path), declared=Interrupts({}, None, True))
    for _ in range(10):  # SysTick depends on the host's time: it may begin high up
        fault = emulator.run(built.board, built.firmware, timeout_s=60).fault
        if fault is not None:
            break
    assert fault is not None
    assert "stack" in fault


@pytest.mark.parametrize("board", [M4, "mps2-an385-v6m"])
@pytest.mark.parametrize(
    ("what", "statements"),
    [
        ("VTOR", "WORD(0xE000E000u + 0xD08u) = 0x1000;"),
        ("VTOR", "extern void set(volatile uint32_t *); set(&WORD(0xE000ED08u));"),
        ("VTOR", "extern void set(volatile uint32_t *); set(&WORD(0xE000ED00u) + 0);"),
        ("the table of vectors", "((uint32_t *)WORD(0xE000ED08u))[ticks + 16] = 1;"),
        (
            "the table of vectors",
            '__asm volatile("movs r1, #0x3C \\n str r1, [r1]" : : : "r1", "memory");',
        ),
    ],
)
def test_every_way_to_change_the_table_is_seen(
    tmp_path: Path, board: str, what: str, statements: str
) -> None:
    table = "__attribute__((noinline)) void set(volatile uint32_t *p) { *p = 0; }"
    app = written(tmp_path, HANDLERS, f"{table}\nint main(void)", "", statements)
    with pytest.raises(SdkError, match=f"'main' writes {what}"):
        made(app, board)


@pytest.mark.parametrize("address", ["0xE000ED08u", "0xE000ED00u"])
def test_a_pointer_to_the_table_in_data_must_be_declared(
    tmp_path: Path, address: str
) -> None:
    registers = f"volatile uint32_t *registers[] = {{(volatile uint32_t *){address}}};"
    statements = "registers[0][ticks] = 0x1000;"
    app = written(tmp_path, HANDLERS, f"{registers}\nint main(void)", "", statements)
    with pytest.raises(SdkError, match=r"a table of .*has the address of VTOR"):
        made(app)
    made(app, declared=Interrupts(is_declared=True))


def test_priorities_and_levels_bound_how_deep_handlers_nest(tmp_path: Path) -> None:
    app = in_table(tmp_path)

    def handlers(declared: Interrupts) -> int:
        taken: int = made(app, declared=declared).certificate["stack"]["handlers"]
        return taken

    names = ("SysTick_Handler", "timer_done")
    both = handlers(Interrupts())
    assert handlers(Interrupts(dict.fromkeys(names, 2), None, True)) < both - 1200
    assert handlers(Interrupts(dict(zip(names, (1, 2), strict=True)))) == both
    assert handlers(Interrupts({}, 1, True)) < both - 1200


def test_a_board_file_declares_what_its_applications_share(tmp_path: Path) -> None:
    app = in_table(tmp_path)

    def levels(interrupts: str, declared: Interrupts) -> list[tuple[str, int | None]]:
        name = f"mine{len(list(tmp_path.iterdir()))}"
        file = tmp_path / f"{name}.yaml"
        file.write_text(f"name: {name}\nlike: {M4}\ninterrupts: {interrupts}\n")
        built = made(app, str(file), declared=declared)
        told = built.certificate["stack"]["levels"]
        return [(level["handler"], level["priority"]) for level in told]

    shared = "{handlers: {timer_done: 2, SysTick_Handler: 2, radio_done: 1}}"
    assert levels(shared, Interrupts()) == [("SysTick_Handler", 2)]
    of_application = Interrupts({"timer_done": 1}, None, True)
    both = [("SysTick_Handler", 2), ("timer_done", 1)]
    assert levels(shared, of_application) == both
    assert levels("{levels: 1}", of_application) == [("SysTick_Handler", None)]


def test_declarations_are_read_from_the_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = moved(tmp_path)
    project = tmp_path / "ember.yaml"
    words = ["build", str(MLP), "--board", M4, "--app", str(app)]
    project.write_text("interrupts: {handlers: {SysTick_Handler: 3, timer_don: 1}}\n")
    assert cli.main(words) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "no function 'timer_don': did you mean timer_done?" in said
    project.write_text("interrupts: {handlers: {SysTick_Handler: 3, timer_done: 1}}\n")
    assert cli.main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    names = r"SysTick_Handler 1,\d+, timer_done 1,\d+"
    assert re.search(rf"handlers [23],\d+ \({names}\)", said), said
    project.write_text("interrupts: {handlers: {SysTick_Handler: high}, level: 2}\n")
    assert cli.main(words) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "the priority of SysTick_Handler must be a number from 0" in said
    assert "interrupts: unknown key level: did you mean levels?" in said


def test_what_a_task_needs_is_shown_apart(tmp_path: Path) -> None:
    with_handlers = made(in_table(tmp_path)).certificate["stack"]["tasks"]
    tasks = {row["function"]: row["bytes"] for row in with_handlers}
    assert 0 < tasks["ember_method_execute"] < tasks["ember_model_load_of"] < 2000
