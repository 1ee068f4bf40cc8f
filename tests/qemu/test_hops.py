"""A network that takes a recording in hops gives the outputs of the whole one."""

from __future__ import annotations

import numpy as np
import pytest
from committed import array_of
from committed_cases import path_of

from ember import boards, cases
from ember.run import testing

pytestmark = pytest.mark.qemu
TIME = {  # the dimension of frames
    "temporal": 2,
    "temporal_int8": 2,
    "separable_int8": 2,
    "recurrent": 1,
    "filters": 1,
    "filters_int16": 0,
}
M4, M55, A64 = "mps2-an386", "mps3-an547", "qemu-a64"


def output(name: str, board: str, kind: str = "") -> np.ndarray:
    """The first outputs of all calls, one after the other in time."""
    (place,) = cases.find([path_of(f"bundle_{name}{kind}")])
    given, _ = testing.outputs(cases.read(place), boards.load(board))
    return np.concatenate([array_of(call[0]) for call in given], axis=TIME[name])


@pytest.mark.parametrize("board", ["host", M4, M55])
@pytest.mark.parametrize("name", TIME)
def test_hops_give_the_bits_of_the_whole(name: str, board: str) -> None:
    whole = output(name, board)
    hops = output(name, board, "_hops")
    assert len(np.unique(whole)) > 8  # numbers of which something can be told
    assert hops.tobytes() == whole.tobytes()


@pytest.mark.parametrize("name", ["temporal", "recurrent"])
def test_layers_of_other_kernels_differ_by_rounding(name: str) -> None:
    """Products of one row add in another order than those of many."""
    whole = output(name, A64)
    np.testing.assert_allclose(output(name, A64, "_hops"), whole, atol=1e-6)


@pytest.mark.parametrize("name", ["separable_int8", "temporal_int8", "filters"])
def test_the_others_are_exact_on_arm64(name: str) -> None:
    whole = output(name, A64)
    assert output(name, A64, "_hops").tobytes() == whole.tobytes()
