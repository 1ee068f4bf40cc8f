# SPDX-License-Identifier: Apache-2.0
"""One-operator programs: reductions over one, some or all dimensions."""

from __future__ import annotations

import torch

from corpus.exporting import op
from corpus.inputs import bools, f32, positive, whole

S32 = torch.int32

CASES = [
    op("sum", lambda x: x.sum(1), f32(2, 3, 4)),
    op("sum_all", lambda x: x.sum(), f32(2, 3, 4)),
    op("sum_keep", lambda x: x.sum((0, 2), keepdim=True), f32(2, 3, 4)),
    op("sum_s64", lambda x: x.sum(0), whole(3, 4)),
    op("sum_bool", lambda x: x.sum(0), bools(5, 4)),
    op("mean", lambda x: x.mean(1), f32(2, 3, 4)),
    op("mean_spatial", lambda x: x.mean((2, 3), keepdim=True), f32(2, 3, 4, 5)),
    op("mean_all", lambda x: x.mean(), f32(2, 3)),
    op("amax", lambda x: x.amax(1), f32(2, 3, 4)),
    op("amax_two", lambda x: x.amax((0, 2)), f32(2, 3, 4)),
    op("amin", lambda x: x.amin(-1, keepdim=True), f32(2, 3, 4)),
    op("amax_s32", lambda x: x.amax(0), whole(4, 3, dtype=S32)),
    op("max_all", lambda x: x.max(), f32(2, 3)),
    op("max_dim", lambda x: tuple(x.max(1)), f32(2, 5)),
    op("min_dim", lambda x: tuple(x.min(0)), f32(4, 3)),
    op("argmax", lambda x: x.argmax(1), f32(3, 5)),
    op("argmax_all", lambda x: x.argmax(), f32(3, 5)),
    op("argmin_keep", lambda x: x.argmin(0, keepdim=True), f32(3, 5)),
    op("any", lambda x: x.any(), bools(3, 4)),
    op("any_dim", lambda x: (x > 1).any(1), f32(3, 4)),
    op("all", lambda x: (x > -2).all(), f32(3, 4)),
    op("all_dim", lambda x: x.all(0), bools(2, 4)),
    op("prod", lambda x: x.prod(1), positive(3, 4)),
    op("prod_all", lambda x: x.prod(), whole(4, low=1, high=5)),
    op("var", lambda x: x.var(1), f32(3, 6)),
    op("var_population", lambda x: x.var((0, 2), correction=0), f32(2, 3, 4)),
    op("std", lambda x: x.std(1), f32(3, 6)),
    op("norm", lambda x: torch.linalg.vector_norm(x, dim=1), f32(3, 6)),
    op("cumsum", lambda x: x.cumsum(1), f32(3, 5)),
    op("cumsum_s32", lambda x: x.cumsum(0), whole(4, 2, dtype=S32)),
    op("logsumexp", lambda x: x.logsumexp(1), f32(3, 5)),
    op("count_nonzero", lambda x: (x > 0).sum(1), f32(3, 5)),
]
