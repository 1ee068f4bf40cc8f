"""What a compiler says of variants becomes the intrinsics that have no model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from ember import boards
from ember.errors import SdkError
from ember.toolchain import build_tree, libraries, parts

GCC = """\
[3/9] Building C object CMakeFiles/ember_variants.dir/kernels/a/abs.c.o
FAILED: CMakeFiles/ember_variants.dir/kernels/elementwise/add_f32_mve.c.o
/usr/bin/cc -o CMakeFiles/ember_variants.dir/kernels/elementwise/add_f32_mve.c.o
/e/kernels/elementwise/add_f32_mve.c:7:12: error: implicit declaration of function \
'vhcaddq_rot90_s32' [-Wimplicit-function-declaration]
/e/kernels/elementwise/add_f32_mve.c:7:12: error: incompatible types
ninja: build stopped: cannot make progress due to previous errors.
"""
CLANG = """\
FAILED: [code=1] CMakeFiles/ember_variants.dir/kernels/elementwise/relu_f32_mve.c.o
clang -c relu_f32_mve.c
/e/relu_f32_mve.c:7:12: error: call to undeclared function 'vnewq_s32'; ISO C99
"""
OTHER = """\
FAILED: CMakeFiles/ember_kernels.dir/kernels/elementwise/add.c.o
add.c:7:12: error: expected ';' before 'return'
"""


HEADER = """\
FAILED: CMakeFiles/ember_kernels.dir/kernels/elementwise/shrink.c.o
/e/kernels/engine/map.h:119:73: error: unused variable 'b'
/e/kernels/elementwise/shrink.c:5:1: note: in expansion of macro 'EMBER_ROW2'
"""


def test_an_error_in_a_header_names_the_source() -> None:
    (error,) = build_tree._errors(HEADER)
    assert error.endswith("unused variable 'b' (of kernels/elementwise/shrink.c)")


def test_each_left_out_kernel_is_named_with_its_intrinsic(tmp_path: Path) -> None:
    unmodelled = build_tree.unmodelled(GCC + CLANG)
    assert unmodelled == {
        "kernels/elementwise/add_f32_mve.c": "vhcaddq_rot90_s32",
        "kernels/elementwise/relu_f32_mve.c": "vnewq_s32",
    }
    build_tree.write_left_out(tmp_path, unmodelled)
    assert build_tree.left_out(tmp_path) == {
        "add_f32_mve": "vhcaddq_rot90_s32",
        "relu_f32_mve": "vnewq_s32",
    }


@pytest.mark.parametrize(
    "output",
    [
        OTHER,
        GCC + OTHER,
        OTHER + CLANG,
        GCC.replace("implicit declaration of function 'vhcaddq_rot90_s32'", "no"),
        GCC.replace("add_f32_mve.c.o", "gemm_f32_mve.c.o"),  # of an engine
    ],
)
def test_another_error_leaves_nothing_out(output: str) -> None:
    assert build_tree.unmodelled(output) == {}


def test_who_needs_the_kernel_is_told() -> None:
    build_tree.need_models(
        ["add_f32"], {"add_f32_mve": "vhcaddq_rot90_s32"}, "b runs it"
    )
    with pytest.raises(SdkError) as error:
        build_tree.need_models(
            ["add_f32_mve"], {"add_f32_mve": "vhcaddq_rot90_s32"}, "b runs it"
        )
    for word in ("add_f32_mve", "vhcaddq_rot90_s32", "kernels/models", "b runs it"):
        assert word in error.value.what


def test_a_link_that_lacks_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects of the host say what kernels of a board call; this one has none."""
    whole = SimpleNamespace(unmodelled={"add_f32_mve": "vhcaddq_rot90_s32"})
    part = SimpleNamespace(unmodelled={})

    def build(_: object, *, messages: bool, whole: bool = True) -> object:
        return built[whole]

    def defining(libs: object, _: Sequence[str]) -> list[Path]:
        if libs is part:
            raise parts.UnmodelledError({})
        return []

    built = {True: whole, False: part}
    monkeypatch.setattr(libraries, "build", build)
    monkeypatch.setattr(parts, "defining", defining)
    board = boards.load("mps3-an547")
    assert parts.sources(board, ["ember_kernel_add_f32"]) == []
    with pytest.raises(SdkError, match="add_f32_mve uses vhcaddq_rot90_s32"):
        parts.sources(board, ["ember_kernel_add_f32_mve"])
