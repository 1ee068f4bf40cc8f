"""Bundled programs and external tensor data are read and written without loss."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from committed_cases import path_of

from ember import boards, cases, model, program
from ember.errors import SdkError
from ember.files import tensor_data, tensors
from ember.files.tensor_data import Entry, TensorData, TensorLayout
from ember.files.tensors import DType
from ember.program import Bool, Double, Int, bundle
from ember.program.bundle import Bundle, BundledCase, Suite
from ember.select import resolve


def test_bundle_files_round_trip(bundle_file: Path) -> None:
    first = bundle.read(bundle_file)
    again = bundle.parse(bundle.write(first))
    assert again == first
    inside = program.parse(first.program)
    assert all(inside.method(suite.method) for suite in first.suites)


def test_bundle_content(data: Path) -> None:
    stored = bundle.read(data / "bundle.bpte")
    suite = stored.suite("forward")
    assert suite is not None
    assert stored.suite("backward") is None
    (output,) = suite.cases[0].outputs
    assert isinstance(output, bundle.BundledTensor)
    assert output.array.shape == (2, 3)
    np.testing.assert_allclose(output.array.sum(axis=1), 1.0, rtol=1e-6)


def test_every_bundled_kind_round_trips() -> None:
    image = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    values = (
        bundle.BundledTensor.of(image, DType.FLOAT32, (0, 2, 3, 1)),
        bundle.BundledTensor.of(np.array(7, np.uint16), DType.BFLOAT16),
        bundle.BundledTensor.of(np.zeros((0, 3)), DType.FLOAT64),
        Int(-5),
        Bool(True),
        Double(-0.0),
    )
    suite = Suite("forward", (BundledCase(values, values[:1]), BundledCase((), ())))
    stored = Bundle(b"program", (suite,))
    data = bundle.write(stored)
    assert bundle.parse(data) == stored
    assert data.index(b"program") % 32 == 0
    assert np.array_equal(values[0].array, image)


def test_bundled_tensor_of_wrong_size_is_refused() -> None:
    wrong = bundle.BundledTensor(DType.FLOAT32, (3,), (0,), bytes(8))
    stored = Bundle(b"program", (Suite("forward", (BundledCase((wrong,), ()),)),))
    with pytest.raises(SdkError, match="needs 12 bytes, it has 8"):
        bundle.parse(bundle.write(stored))


def test_tensor_data_files_round_trip(data_file: Path) -> None:
    first = tensor_data.read(data_file)
    again = tensor_data.parse(tensor_data.write(first))
    assert again == first
    assert again.segment_alignment == first.segment_alignment


def test_tensor_data_serves_the_program(data: Path) -> None:
    values = tensor_data.read(data / "external.ptd")
    (forward,) = program.read(data / "external.pte").methods
    external = [tensor for _, tensor in forward.tensors if tensor.is_external]
    assert external
    for tensor in external:
        assert tensor.name is not None
        entry = values.entry(tensor.name)
        assert entry is not None
        assert entry.tensor == TensorLayout(
            tensor.dtype, tensor.sizes, tensor.dim_order
        )
        assert entry.array is not None
        assert entry.array.shape == tensor.sizes


def test_files_that_share_entries_agree(data: Path, tmp_path: Path) -> None:
    values = tensor_data.read(data / "external.ptd")
    first, *_ = values.entries
    paths = [tmp_path / name for name in ("a.ptd", "b.ptd")]
    paths[0].write_bytes(tensor_data.write(values))
    paths[1].write_bytes(tensor_data.write(replace(values, entries=(first,))))
    assert tensor_data.read_all(paths) == tuple(path.read_bytes() for path in paths)

    other = replace(first, data=bytes(len(first.data)))
    paths[1].write_bytes(tensor_data.write(replace(values, entries=(other,))))
    said = f"a.ptd and .*b.ptd have different data named '{first.key}'"
    with pytest.raises(SdkError, match=said):
        tensor_data.read_all(paths)
    (tmp_path / "model.pte").write_bytes((data / "external.pte").read_bytes())
    with pytest.raises(SdkError, match=said):
        model.read(tmp_path)


def test_data_that_no_file_has_is_named(tmp_path: Path) -> None:
    case = path_of("special_ptd_two_files")
    loaded = model.read(case / "model.bpte", [case / "special_ptd_two_files_1.ptd"])
    host = boards.load("host")
    with pytest.raises(SdkError, match=r"no .ptd file has '0.bias', '0.weight'$"):
        resolve.resolve(loaded.content, loaded.data, host, [0])
    loaded = model.read(case / "model.bpte")
    with pytest.raises(SdkError, match=r"no .ptd file has '0.bias', .*'2.weight'$"):
        resolve.resolve(loaded.content, loaded.data, host, [0])


def test_tensor_data_keeps_blobs_and_shares_equal_ones() -> None:
    layout = TensorLayout(DType.INT16, (2, 3), (1, 0))
    stored = TensorData(
        (
            Entry("a", b"abcdefghijkl", layout),
            Entry("b", b"abcdefghijkl"),
            Entry("c", b""),
        )
    )
    data = tensor_data.write(stored)
    assert tensor_data.parse(data) == stored
    assert data.count(b"abcdefghijkl") == 1
    assert data.index(b"abcdefghijkl") % 128 == 0


def test_tensor_data_problems() -> None:
    layout = TensorLayout(DType.INT16, (2, 3), (1, 0))
    good = Entry("a", bytes(12), layout)
    for wrong, said in (
        (replace(good, data=bytes(11)), "needs 12 bytes"),
        (replace(good, key=""), "has no key"),
        (replace(good, tensor=replace(layout, dim_order=(0,))), "dim order"),
        (replace(good, tensor=replace(layout, sizes=(-2, 3))), "impossible shape"),
    ):
        with pytest.raises(SdkError, match=said):
            tensor_data.parse(tensor_data.write(TensorData((wrong,))))
    with pytest.raises(SdkError, match="two entries"):
        tensor_data.parse(tensor_data.write(TensorData((good, good))))


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0)])
def test_dim_orders(order: tuple[int, ...]) -> None:
    logical = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    stored = tensors.to_bytes(logical, DType.INT32, order)
    back = tensors.from_bytes(stored, DType.INT32, (2, 3, 4), order)
    assert np.array_equal(back, logical)
    steps = tensors.strides((2, 3, 4), order)
    flat = np.frombuffer(stored, np.int32)
    assert flat[1 * steps[0] + 2 * steps[1] + 3 * steps[2]] == logical[1, 2, 3]


def test_element_types() -> None:
    assert DType.named("bfloat16") is DType.BFLOAT16
    assert DType.named("complex64") is None
    for dtype in DType:
        assert dtype.itemsize in (1, 2, 4, 8)
        assert DType.named(dtype.label) is dtype


@pytest.mark.parametrize(
    ("sizes", "order", "other", "same"),
    [
        ((1, 1, 8, 8), (0, 2, 1, 3), (0, 2, 3, 1), True),
        ((1, 1, 8, 8), (0, 1, 2, 3), (0, 2, 3, 1), True),
        ((1, 3, 1, 1), (0, 1, 2, 3), (0, 2, 3, 1), True),
        ((1, 3, 8, 1), (0, 1, 2, 3), (0, 2, 3, 1), False),
        ((1, 1, 8, 8), (0, 1, 2, 3), (0, 1, 3, 2), False),
        ((2, 3, 0, 4), (0, 1, 2, 3), (3, 2, 1, 0), True),
        ((), (), (), True),
    ],
)
def test_orders_of_the_same_memory_are_one(
    sizes: tuple[int, ...], order: tuple[int, ...], other: tuple[int, ...], same: bool
) -> None:
    assert tensors.same_order(sizes, order, other) is same
    array = np.arange(np.prod(sizes, dtype=int), dtype=np.float32).reshape(sizes)
    laid = [tensors.to_bytes(array, DType.FLOAT32, it) for it in (order, other)]
    assert (laid[0] == laid[1]) is same


def stating(tolerance: tuple[float, float] | None) -> bytes:
    whole = bundle.read(path_of("op_add"))
    return bundle.write(replace(whole, tolerance=tolerance))


def test_a_bundle_states_its_tolerance(tmp_path: Path) -> None:
    assert bundle.parse(stating(None)).tolerance is None
    assert bundle.parse(stating((0.0, 1e-3))).tolerance == (0.0, 1e-3)
    file = tmp_path / "a.bpte"
    file.write_bytes(stating((0.0, 1e-3)))
    case = cases.read(cases.Found("a", file))
    assert (case.rtol, case.atol) == (0.0, 1e-3)


@pytest.mark.parametrize("tolerance", [(-1.0, 0.0), (0.0, math.nan), (math.inf, 0.0)])
def test_an_impossible_tolerance_is_refused(tolerance: tuple[float, float]) -> None:
    with pytest.raises(SdkError, match="states an impossible tolerance"):
        bundle.parse(stating(tolerance))
