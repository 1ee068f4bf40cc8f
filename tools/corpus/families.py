# SPDX-License-Identifier: Apache-2.0
"""The list of families; every case of the corpus is found through it."""

from __future__ import annotations

from corpus import (
    bundles,
    calls,
    control_flow,
    cortex_m,
    delegates,
    dynamic,
    front_ends,
    hops,
    more_networks,
    networks,
    ops_elementwise,
    ops_gradients,
    ops_layers,
    ops_more,
    ops_quantized,
    ops_rare,
    ops_reductions,
    ops_shapes,
    prims,
    quantized_networks,
    state,
    storage,
    streams,
    sweeps,
    tokens,
    xnnpack_arg_max,
    xnnpack_models,
    xnnpack_networks,
    xnnpack_rare,
)
from corpus.case import Case

FAMILIES = (
    networks,
    more_networks,
    control_flow,
    cortex_m,
    dynamic,
    state,
    tokens,
    storage,
    delegates,
    bundles,
    streams,
    front_ends,
    hops,
    ops_elementwise,
    ops_gradients,
    ops_layers,
    ops_more,
    ops_rare,
    ops_shapes,
    ops_reductions,
    ops_quantized,
    quantized_networks,
    prims,
    sweeps,
    calls,
    xnnpack_networks,
    xnnpack_rare,
    xnnpack_models,
    xnnpack_arg_max,
)


def all_cases() -> list[Case]:
    """Return every case, in the order of the families; names are unique."""
    cases = [case for family in FAMILIES for case in family.CASES]
    names = [case.name for case in cases]
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise ValueError(f"case names used twice: {', '.join(doubles)}")
    return cases
