"""A network that takes a recording in hops gives the outputs of the whole one."""

from __future__ import annotations

import numpy as np
import pytest

from ember import boards, cases, paths
from ember.run import testing

pytestmark = pytest.mark.qemu
M4, M55, A64 = "mps2-an386", "mps3-an547", "qemu-a64"


def output(name: str, board: str) -> np.ndarray:
    """The first outputs of all calls, one after the other in time."""
    (place,) = cases.find([paths.root() / "tests" / "cases" / name])
    given, _ = testing.outputs(cases.read(place), boards.load(board))
    arrays = [call[0].array for call in given]
    return np.concatenate(arrays, axis=arrays[0].ndim - 2)


@pytest.mark.parametrize("board", ["host", M4, M55])
@pytest.mark.parametrize(
    "name", ["temporal", "temporal_int8", "separable_int8", "recurrent"]
)
def test_hops_give_the_bits_of_the_whole(name: str, board: str) -> None:
    whole = output(f"bundle_{name}", board)
    hops = output(f"bundle_{name}_hops", board)
    assert len(np.unique(whole)) > 8  # numbers of which something can be told
    assert hops.tobytes() == whole.tobytes()


@pytest.mark.parametrize("name", ["temporal", "recurrent"])
def test_layers_of_other_kernels_differ_by_rounding(name: str) -> None:
    """With Advanced SIMD products of one row add in another order than of many rows."""
    whole = output(f"bundle_{name}", A64)
    np.testing.assert_allclose(output(f"bundle_{name}_hops", A64), whole, atol=1e-6)


@pytest.mark.parametrize("name", ["temporal_int8", "separable_int8"])
def test_int8_is_exact_on_arm64(name: str) -> None:
    whole = output(f"bundle_{name}", A64)
    assert output(f"bundle_{name}_hops", A64).tobytes() == whole.tobytes()
