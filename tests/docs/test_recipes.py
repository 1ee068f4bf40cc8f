"""Each recipe of CONTRIBUTING.md, followed literally with an empty cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import follow
import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = follow.blocks(ROOT / "CONTRIBUTING.md")
RECIPES = {
    block.commands[0].split()[1]: block
    for block in BLOCKS
    if block.text.startswith("tools/new_")
}
(BOARD,) = (block for block in BLOCKS if block.language == "yaml")
BOARD_COMMANDS = (
    "ember boards my-board.yaml",
    "ember build examples/models/digits/digits.pte --board my-board.yaml",
)
LOOP = """\
#include <arm_mve.h>

#include "kernels/engine/map_f32.h"

static int32_t run(void *state) {
    const ember_map_f32_1_t *s = state;
    const float *a = s->a;
    float *y = s->y;

    for (int32_t left = (int32_t)s->count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        vstrwq_p_f32(y, vnegq_f32(vldrwq_z_f32(a, lanes)), lanes);
        a += 4;
        y += 4;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_1_prepare(node, state);
}

EMBER_KERNEL(neg_f32_mve, ember_map_f32_1_t);
"""
MODEL = """
static inline float32x4_t vnegq_f32(float32x4_t a) {
    return -a;
}
"""


class Clone:
    """A checkout with an empty cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        self.folder.mkdir()
        follow.copy_of_checkout(self.folder)
        self._environment = {
            **os.environ,
            "EMBER_CACHE": str(folder / "cache"),
            "PYTHONPATH": str(self.folder / "sdk"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        if command.startswith("ember "):
            command = f"python -m {command}"
        elif command.startswith("tools/"):
            command = f"python {command}"
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def do(self, *commands: str) -> None:
        for command in commands:
            done = self.run(command)
            assert done.returncode == 0, f"{command}\n{done.stdout}"


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.mark.long
@pytest.mark.qemu
@pytest.mark.parametrize("name", ["twice", "adder"])
def test_an_operator_and_a_backend(name: str, clone: Clone) -> None:
    clone.do(*RECIPES[name].commands)


@pytest.mark.long
@pytest.mark.qemu
def test_a_variant(clone: Clone) -> None:
    tool, *tests = RECIPES["neg_f32"].commands
    clone.do(tool, tests[0])  # it begins as a copy, which passes
    (clone.folder / "kernels" / "elementwise" / "neg_f32_mve.c").write_text(LOOP)
    for cache in ("full", "empty"):
        for test in tests:
            if cache == "empty":
                clone.do('rm -rf "$EMBER_CACHE"')
            done = clone.run(test)
            assert done.returncode == 1, done.stdout
            assert "neg_f32_mve uses vnegq_f32" in done.stdout
    models = clone.folder / "kernels" / "models" / "arm_mve.h"
    before, end, _ = models.read_text().rpartition("\n#endif")
    models.write_text(f"{before}{MODEL}{end}\n")
    clone.do(*tests)


@pytest.mark.long
def test_a_board(clone: Clone) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert all(command in text.replace("\n", " ") for command in BOARD_COMMANDS)
    (clone.folder / "my-board.yaml").write_text(BOARD.text)
    clone.do(*BOARD_COMMANDS)
