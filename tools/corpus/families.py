# SPDX-License-Identifier: Apache-2.0
"""The list of families; every case of the corpus is found through it."""

from __future__ import annotations

from corpus import (
    bundles,
    control_flow,
    cortex_m,
    delegates,
    dynamic,
    front_ends,
    hops,
    language,
    more_networks,
    networks,
    operators,
    prims,
    quantized_networks,
    state,
    storage,
    streams,
    tokens,
    xnnpack_arg_max,
    xnnpack_models,
    xnnpack_networks,
    xnnpack_rare,
)
from corpus.case import Case

FAMILIES = (
    networks,
    operators,
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
    quantized_networks,
    prims,
    language,
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
