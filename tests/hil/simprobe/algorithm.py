"""flash_algorithm.c becomes the user script that gives pyOCD the simulated flash."""

from __future__ import annotations

import pathlib
import subprocess

from ember.toolchain import elf, image

RAM, SECTOR, PAGE = 0x2000_0000, 4096, 1024
FLAGS = ["-mcpu=cortex-m3", "-mthumb", "-Os", "-ffreestanding", "-fno-builtin"]
FLAGS += ["-Wall", "-Wextra", "-Werror", "-nostdlib", "-Wl,--build-id=none"]
FLAGS += ["-fno-tree-loop-distribute-patterns", f"-Wl,-Ttext={RAM:#x},-e,Init"]
SCRIPT = """
from pyocd.core.memory_map import FlashRegion, MemoryMap, RamRegion

ALGORITHM = {algorithm}


def will_connect(board):
    board.target.memory_map = MemoryMap(
        FlashRegion(start=0, length={size}, sector_size={sector}, page_size={page},
                    algo=ALGORITHM, is_boot_memory=True),
        RamRegion(start={ram}, length={ram_size}),
    )
"""


def build(folder: pathlib.Path) -> tuple[bytes, dict[str, int]]:
    """Compile the algorithm; its code and the addresses of its functions."""
    path = folder / "algorithm.elf"
    source = pathlib.Path(__file__).with_name("flash_algorithm.c")
    words = ["arm-none-eabi-gcc", *FLAGS, str(source), "-o", str(path)]
    subprocess.run(words, check=True)
    program = elf.read(path)
    code = image.flat(image.segments(path))
    code += b"\0" * (-len(code) % 4)
    names = ("Init", "UnInit", "EraseSector", "ProgramPage")
    return code, {name: program.address(name) | 1 for name in names}


def user_script(folder: pathlib.Path, flash_size: int) -> pathlib.Path:
    """Write pyocd_user.py into `folder`; its path."""
    code, functions = build(folder)
    words = [int.from_bytes(code[i : i + 4], "little") for i in range(0, len(code), 4)]
    algorithm = {
        "load_address": RAM,
        "instructions": words,
        "pc_init": functions["Init"],
        "pc_unInit": functions["UnInit"],
        "pc_erase_sector": functions["EraseSector"],
        "pc_program_page": functions["ProgramPage"],
        "static_base": RAM + 0x800,
        "begin_stack": RAM + 0x1000,
        "page_buffers": [RAM + 0x1000],
        "analyzer_supported": False,
    }
    path = folder / "pyocd_user.py"
    path.write_text(
        SCRIPT.format(
            algorithm=algorithm,
            size=flash_size,
            sector=SECTOR,
            page=PAGE,
            ram=RAM,
            ram_size=4 << 20,
        )
    )
    return path
