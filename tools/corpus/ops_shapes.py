# SPDX-License-Identifier: Apache-2.0
"""One-operator programs: views, copies, joins, indexing, padding, fills, resizing."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

from corpus.exporting import op
from corpus.inputs import bools, channels_last, f32, values, whole

S32, S64 = torch.int32, torch.int64

VIEWS = [
    op("view", lambda x: x.view(6, 4) + 1, f32(2, 3, 4)),
    op("view_only", lambda x: x.view(6, 4), f32(2, 3, 4)),
    op("reshape_permuted", lambda x: x.permute(2, 0, 1).reshape(4, 6), f32(2, 3, 4)),
    op("flatten", lambda x: x.flatten(1), f32(2, 3, 4)),
    op("permute", lambda x: x.permute(2, 0, 1), f32(2, 3, 4)),
    op("permute_5d", lambda x: x.permute(4, 2, 0, 3, 1), f32(2, 3, 2, 3, 2)),
    op("transpose_2d", lambda x: x.t(), f32(3, 4)),
    op("transpose_s8", lambda x: x.t(), whole(3, 4, dtype=torch.int8)),
    op("expand", lambda x: x.expand(2, 3, 4), f32(3, 1)),
    op("repeat", lambda x: x.repeat(2, 1, 3), f32(2, 3)),
    op("repeat_interleave", lambda x: x.repeat_interleave(2, 1), f32(2, 3)),
    op("squeeze", lambda x: x.squeeze(1), f32(2, 1, 3)),
    op("squeeze_all", lambda x: x.squeeze(), f32(1, 2, 1, 3)),
    op("unsqueeze", lambda x: x.unsqueeze(1), f32(2, 3)),
    op("slice", lambda x: x[:, 1:4], f32(3, 5)),
    op("slice_step", lambda x: x[:, 1:9:3], f32(2, 9)),
    op("slice_negative", lambda x: x[-2:], f32(5, 2)),
    op("select", lambda x: x[:, 1], f32(2, 3, 4)),
    op("select_negative", lambda x: x.select(2, -1), f32(2, 3, 4)),
    op("as_strided", lambda x: x.as_strided((2, 3), (1, 2)), f32(7)),
    op("diagonal", lambda x: x.diagonal(), f32(3, 4)),
    op("unbind", lambda x: x.unbind(1), f32(2, 3)),
    op("flip", lambda x: x.flip(0, 2), f32(2, 3, 4)),
    op("roll", lambda x: x.roll(1, 1), f32(2, 5)),
    op("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), f32(1, 8, 2, 3)),
    op("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), f32(1, 2, 4, 6)),
    op("tril", lambda x: x.tril(1), f32(4, 5)),
    op("triu", lambda x: x.triu(-1), f32(2, 4, 4)),
]

COPIES = [
    op("clone", lambda x: x.clone(), f32(2, 3)),
    op("clone_bool", lambda x: x.clone(), bools(5)),
    op("alias_identity", lambda x: x, f32(2, 3)),
    op("detach", lambda x: x.detach(), f32(2, 3)),
    op(
        "to_channels_last",
        lambda x: x.contiguous(memory_format=torch.channels_last),
        f32(1, 3, 4, 5),
    ),
    op(
        "from_channels_last",
        lambda x: x.contiguous(memory_format=torch.contiguous_format),
        channels_last(f32(1, 3, 4, 5)),
    ),
    op("relu_channels_last", torch.relu, channels_last(f32(2, 3, 4, 5))),
    op(
        "add_channels_last",
        torch.add,
        channels_last(f32(2, 3, 4, 5)),
        channels_last(f32(2, 3, 4, 5)),
    ),
    op("mean_channels_last", lambda x: x.mean((2, 3)), channels_last(f32(2, 3, 4, 5))),
    op(
        "cat_channels_last",
        lambda x: torch.cat([x, x], 1),
        channels_last(f32(1, 3, 4, 5)),
    ),
]

JOINS = [
    op("cat", lambda x, y: torch.cat([x, y], 1), f32(2, 3), f32(2, 2)),
    op("cat_first", lambda x, y: torch.cat([x, y]), f32(2, 3), f32(1, 3)),
    op("cat_many", lambda *x: torch.cat(x, -1), *[f32(2, i) for i in range(1, 9)]),
    op("cat_list_argument", torch.cat, [f32(2), f32(3), f32(1)]),
    op("cat_empty", lambda x, y: torch.cat([x, y]), f32(0), f32(3)),
    op("stack", lambda x, y: torch.stack([x, y], 1), f32(2, 3), f32(2, 3)),
    op("split", lambda x: x.split(2, 1), f32(2, 5)),
    op("split_sizes", lambda x: x.split([1, 3, 1], 1), f32(2, 5)),
    op("chunk", lambda x: x.chunk(3), f32(7, 2)),
]

INDEXING = [
    op("index", lambda x, i: x[i], f32(5, 3), whole(4, low=-5, high=5)),
    op("index_none", lambda x, i: x[:, i], f32(2, 5, 3), whole(4, low=0, high=5)),
    op(
        "index_two",
        lambda x, i, j: x[i, :, j],
        f32(4, 3, 5),
        whole(2, 1, low=0, high=4),
        whole(3, low=0, high=5),
    ),
    op("index_select", lambda x, i: x.index_select(1, i), f32(2, 5), values(4, 0, 2)),
    op("gather", lambda x, i: x.gather(1, i), f32(3, 5), whole(3, 2, low=0, high=5)),
    op("take_along_dim", lambda x: x.gather(1, x.argmax(1, keepdim=True)), f32(3, 5)),
    op(
        "scatter",
        lambda x, i, y: x.scatter(1, i, y),
        f32(3, 5),
        lambda: torch.tensor([[0, 3], [4, 1], [2, 0]]),
        f32(3, 2),
    ),
    op(
        "scatter_add",
        lambda x, i, y: x.scatter_add(0, i, y),
        f32(5),
        values(1, 1, 3),
        f32(3),
    ),
    op(
        "index_put",
        lambda x, i, y: x.index_put((i,), y),
        f32(5, 2),
        values(3, 0),
        f32(2, 2),
    ),
    op(
        "index_put_accumulate",
        lambda x, i, y: x.index_put((i,), y, accumulate=True),
        f32(5),
        values(3, 0, 3),
        f32(3),
    ),
    op("select_scatter", lambda x, y: x.select_scatter(y, 0, 1), f32(3, 4), f32(4)),
    op("slice_scatter", lambda x, y: x.slice_scatter(y, 1, 1, 3), f32(3, 4), f32(3, 2)),
    op("masked_select_where", lambda x: torch.where(x > 0, x, 0.0), f32(3, 4)),
    op("nonzero", lambda x: x.nonzero(), values(0.0, 1.0, 0.0, 2.0)),
    op("one_hot", lambda i: F.one_hot(i, 5), values(0, 4, 2)),
    op("topk", lambda x: tuple(x.topk(3)), f32(2, 7)),
]

FILLS = [
    op("pad", lambda x: F.pad(x, (1, 2, 0, 1)), f32(2, 3, 4)),
    op("pad_value", lambda x: F.pad(x, (2, 0), value=-1.5), f32(3, 4)),
    op("pad_reflect", lambda x: F.pad(x, (1, 2), mode="reflect"), f32(1, 2, 5)),
    op(
        "pad_reflect_2d",
        lambda x: F.pad(x, (1, 1, 2, 0), mode="reflect"),
        f32(1, 2, 4, 5),
    ),
    op("pad_replicate", lambda x: F.pad(x, (2, 1), mode="replicate"), f32(1, 2, 5)),
    op(
        "pad_replicate_2d",
        lambda x: F.pad(x, (1, 1, 0, 2), mode="replicate"),
        f32(1, 2, 4, 5),
    ),
    op("arange", lambda x: x + torch.arange(5), f32(2, 5)),
    op("arange_step", lambda x: x + torch.arange(1.0, 2.0, 0.25), f32(4)),
    op("full", lambda x: x + torch.full((2, 3), 1.5), f32(2, 3)),
    op("full_like", lambda x: torch.full_like(x, 7.0), f32(2, 3)),
    op("zeros_ones", lambda x: x * torch.ones(3) + torch.zeros(3), f32(3)),
    op("scalar_tensor", lambda x: x + torch.scalar_tensor(3), f32(3)),
    op("fill", lambda x: torch.fill(x, 2.0), f32(3)),
    op("eye", lambda x: x + torch.eye(3), f32(3, 3)),
]

RESIZES = [
    op(
        "upsample_nearest",
        lambda x: F.interpolate(x, scale_factor=2.0),
        f32(1, 2, 3, 4),
    ),
    op("upsample_nearest_size", lambda x: F.interpolate(x, (5, 7)), f32(1, 2, 3, 4)),
    op(
        "upsample_bilinear",
        lambda x: F.interpolate(x, (6, 7), mode="bilinear"),
        f32(1, 2, 3, 4),
    ),
    op(
        "upsample_bilinear_corners",
        lambda x: F.interpolate(x, (6, 7), mode="bilinear", align_corners=True),
        f32(1, 2, 3, 4),
    ),
]

CASES = [*VIEWS, *COPIES, *JOINS, *INDEXING, *FILLS, *RESIZES]
