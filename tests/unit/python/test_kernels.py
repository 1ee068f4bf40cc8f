"""kernels.yaml and the files in kernels/ agree, both ways."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ember import files, kernels, paths
from ember.boards import isa
from ember.kernels.library import kernel_of

DTYPES = {"f32", "f64", "f16", "bf16", "s4", "s8", "u8", "s16", "u16", "s32", "u32"}
DTYPES |= {"s64", "u64", "b1"}
KERNELS = paths.kernels() / "kernels.yaml"
EVERY: list[dict[str, Any]] = files.read_yaml(KERNELS)["operators"]
ENTRIES = [entry for entry in EVERY if "nhwc" not in entry]  # which is of another one
NAMES = {entry["op"]: [*map(kernel_of, entry["kernels"])] for entry in ENTRIES}
OPTIONAL = {"flags", "version", "earlier", "macs", "window"}
FIELDS = {"op", "schema", "in", "kernels", "dtypes", "tolerance"}
SHARED = {"engine", "intrinsics", "models"}  # the other folders are families
INCLUDED = re.compile(r'#include "kernels/(\w+)/')

NODES = re.compile(
    r"^XNN_(?:HVX_TABLE_)?KERNEL(?:_FOR\([\w |]+, |\()(\w+)"  # of a file
    r"|^    (?:LINEAR|CONV|TRANSPOSED|MATMUL)\((?:EMBER_CPU_\w+, )?(\w+)",  # forms.h
    re.MULTILINE,
)
DEFINES = re.compile(r"^ *EMBER_\w*(?:KERNEL|MAP_F32_\w+)\(\s*(\w+)", re.MULTILINE)


def defined(path: Path) -> list[str]:
    """The kernels of one file: one, or none in a file that several share."""
    return [str(name) for name in DEFINES.findall(path.read_text(encoding="utf-8"))]


def kernel_files() -> list[Path]:
    return [path for path in sorted(paths.kernels().glob("*/*.c")) if defined(path)]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["op"]))
def test_entry(entry: dict[str, Any]) -> None:
    assert entry.keys() - OPTIONAL == FIELDS
    assert ("version" in entry) == ("earlier" in entry)
    assert re.fullmatch(r"\w+::\w+(\.\w+)?", entry["op"])
    assert set(entry["dtypes"]) <= DTYPES
    assert entry["tolerance"] == "exact" or entry["tolerance"].keys() == {
        "rtol",
        "atol",
    }
    assert set(entry.get("flags", ())) <= kernels.FLAGS.keys()
    for kernel in NAMES[entry["op"]]:
        assert kernels.NAME.fullmatch(kernel)
        assert len(kernel) <= kernels.NAME_LENGTH
        assert defined(paths.kernels() / entry["in"] / f"{kernel}.c") == [kernel]


def test_kernels_of_nodes_are_listed() -> None:
    """Each is a file of its backend's folders or a line of forms.h, once."""
    for backend in kernels.load().backends.values():
        defined_ones = []
        for path in (paths.backends() / backend.source).rglob("*.[ch]"):
            matches = NODES.findall(path.read_text(encoding="utf-8"))
            names = [kernel or form for kernel, form in matches]
            assert path.name == "forms.h" or names in ([], [path.stem])
            defined_ones += names
        assert sorted(defined_ones) == sorted(backend.kernels)


def test_operators_are_listed_once() -> None:
    names = [entry["op"] for entry in ENTRIES]
    assert len(names) == len(set(names))


def test_every_file_is_listed() -> None:
    listed = {kernel for names in NAMES.values() for kernel in names}
    assert {path.stem for path in kernel_files()} - listed == set()


def test_families_include_only_their_own_files_and_the_engines() -> None:
    """What several families share, or a backend uses, is in kernels/engine."""
    foreign = []
    for path in (*paths.kernels().rglob("*.[ch]"), *paths.backends().rglob("*.[ch]")):
        family = path.relative_to(paths.root()).parts[1]
        allowed = {family, "engine"} if family not in SHARED else {"engine"}
        for folder in INCLUDED.findall(path.read_text(encoding="utf-8")):
            if folder not in allowed:
                foreign.append(f"{path.relative_to(paths.root())}: kernels/{folder}/")
    assert foreign == []


def test_cortex_m_has_kernels_and_no_engine() -> None:
    assert len(list((paths.kernels() / "cortex_m").iterdir())) <= 120


def test_kernels_have_their_own_names() -> None:
    names = [path.stem for path in kernel_files()]
    assert len(names) == len(set(names))


def test_arguments_are_counted_by_the_schema() -> None:
    known = kernels.load().operators
    assert known["aten::add.out"].arguments == 4
    assert known["aten::full.out"].arguments == 3
    assert known["executorch_prim::add.Scalar"].arguments == 2


def test_table_is_sorted_as_strcmp_sorts() -> None:
    text = kernels.operator_table(kernels.load().all())
    names = [name.encode() for name in re.findall(r'\{"([^"]+)"', text)]
    assert names == sorted(names)
    assert len(names) == len(EVERY)


def test_the_smallest_kernels_take_every_call_of_the_fast_ones() -> None:
    known = kernels.load()
    smallest = known.all(["mve"], smallest=True)
    assert known.facts.fast
    for name, operator in known.operators.items():
        assert smallest[name] or not operator.kernels, name
        assert not set(smallest[name]) & known.facts.fast
        assert not any(isa.of(kernel) for kernel in smallest[name])
    listed = {kernel for entry in known.operators.values() for kernel in entry.kernels}
    assert known.facts.fast <= listed


# Element-wise operators that only the kernel for every dtype takes, in float32 too:
# rare ones, those that give bools, and those that copy or fill.
GENERAL = re.compile(
    r"aten::(bitwise_|__[lr]shift__|logical_|"
    r"(eq|ge|gt|is\w+|le|lt|ne|logit|round|clamp)\."
    r"((Scalar|Tensor|decimals)_)?out|pow\.Scalar_out|masked_fill|glu|_to_copy|"
    r"_conj_physical|arange|empty|fill|full|ones|zeros|scalar_tensor)|"
    r"dim_order_ops::|et_copy::|cortex_m::"
)


def test_float32_alone_needs_no_other_dtype() -> None:
    for entry in ENTRIES:
        if entry["in"] == "elementwise" and not GENERAL.match(entry["op"]):
            assert any("f32" in kernel for kernel in NAMES[entry["op"]]), entry["op"]
