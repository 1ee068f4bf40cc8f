# SPDX-License-Identifier: Apache-2.0
"""One-operator programs: convolutions, pooling, norms, matrix products, embeddings."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import nn

from corpus.case import Case
from corpus.exporting import layer, op
from corpus.inputs import channels_last, f32, real, whole
from corpus.networks import settled


def conv1d(name: str, channels: int, outputs: int, kernel: int, **options) -> Case:
    """nn.Conv1d on 11 steps."""
    return layer(
        f"conv1d_{name}",
        lambda: nn.Conv1d(channels, outputs, kernel, **options),
        f32(1, channels, 11),
    )


def conv2d(name: str, channels: int, outputs: int, kernel, **options) -> Case:
    """nn.Conv2d on two images of 9 x 8."""
    return layer(
        f"conv2d_{name}",
        lambda: nn.Conv2d(channels, outputs, kernel, **options),
        f32(2, channels, 9, 8),
    )


def transposed(name: str, channels: int, outputs: int, kernel, **options) -> Case:
    """nn.ConvTranspose2d on an image of 4 x 5."""
    return layer(
        f"conv_transpose2d_{name}",
        lambda: nn.ConvTranspose2d(channels, outputs, kernel, **options),
        f32(1, channels, 4, 5),
    )


def pool(name: str, function, *shape: int) -> Case:
    """A pooling function on one float32 tensor."""
    return op(name, function, f32(*(shape or (1, 3, 8, 9))))


CONVOLUTIONS = [
    conv1d("plain", 3, 4, 3),
    conv1d("stride_pad", 3, 4, 3, stride=2, padding=1),
    conv1d("dilated", 2, 3, 3, dilation=2, bias=False),
    conv1d("groups", 4, 6, 3, groups=2),
    conv1d("depthwise", 4, 4, 5, groups=4, padding=2),
    conv2d("plain", 3, 4, 3),
    conv2d("no_bias", 3, 4, 3, bias=False),
    conv2d("pointwise", 5, 7, 1),
    conv2d("pad", 3, 4, 3, padding=1),
    conv2d("stride", 3, 4, 3, stride=2, padding=1),
    conv2d("oblong", 2, 3, (3, 2), stride=(1, 2), padding=(1, 0)),
    conv2d("same", 2, 3, 3, padding="same"),
    conv2d("same_even", 2, 3, 4, padding="same"),
    conv2d("reflect", 2, 3, 3, padding=1, padding_mode="reflect"),
    conv2d("dilated", 2, 3, 3, dilation=2),
    conv2d("groups", 4, 6, 3, groups=2),
    conv2d("depthwise", 4, 4, 3, groups=4, padding=1),
    conv2d("depthwise_stride", 4, 4, 3, groups=4, stride=2, bias=False),
    conv2d("depthwise_multiplier", 3, 6, 3, groups=3),
    layer(
        "conv2d_channels_last",
        lambda: nn.Conv2d(3, 4, 3, padding=1).to(memory_format=torch.channels_last),
        channels_last(f32(1, 3, 7, 6)),
    ),
    layer(
        "conv2d_depthwise_channels_last",
        lambda: nn.Conv2d(4, 4, 3, groups=4).to(memory_format=torch.channels_last),
        channels_last(f32(1, 4, 7, 6)),
    ),
    layer(
        "conv2d_f16",
        lambda: nn.Conv2d(3, 4, 3).half(),
        real(torch.float16, 1, 3, 6, 6),
        rtol=1e-2,
        atol=1e-2,
    ),
    op("conv2d_weight_input", F.conv2d, f32(1, 2, 5, 5), f32(3, 2, 3, 3), f32(3)),
    op(
        "conv2d_narrow",
        lambda x, w: F.conv2d(x, w, stride=(2, 1), padding=(2, 1)),
        *(f32(1, 2, 9, 1), f32(4, 2, 2, 3)),
    ),
    op(
        "conv2d_depthwise_narrow",
        lambda x, w: F.conv2d(x, w, padding=1, groups=3),
        *(f32(1, 3, 9, 1), f32(3, 1, 3, 3)),
    ),
    op("conv2d_unbatched", F.conv2d, f32(2, 5, 5), f32(3, 2, 3, 3)),
    layer(
        "conv_transpose1d", lambda: nn.ConvTranspose1d(3, 2, 4, stride=2), f32(1, 3, 5)
    ),
    transposed("plain", 3, 2, 3),
    transposed("stride_pad", 3, 2, 3, stride=2, padding=1, output_padding=1),
    transposed("groups_dilated", 4, 4, 3, groups=2, dilation=2),
]

POOLS = [
    pool("max_pool2d", lambda x: F.max_pool2d(x, 2)),
    pool("max_pool2d_pad", lambda x: F.max_pool2d(x, 3, 2, 1)),
    pool("max_pool2d_ceil", lambda x: F.max_pool2d(x, 2, ceil_mode=True)),
    pool("max_pool2d_dilated", lambda x: F.max_pool2d(x, 3, 1, dilation=2)),
    pool("max_pool2d_indices", lambda x: F.max_pool2d(x, 2, return_indices=True)),
    pool("max_pool1d", lambda x: F.max_pool1d(x, 3, 2, 1), 1, 3, 11),
    pool("avg_pool2d", lambda x: F.avg_pool2d(x, 2)),
    pool("avg_pool2d_pad", lambda x: F.avg_pool2d(x, 3, 2, 1)),
    pool(
        "avg_pool2d_ceil",
        lambda x: F.avg_pool2d(x, 2, 2, 1, ceil_mode=True, count_include_pad=False),
    ),
    pool("avg_pool2d_divisor", lambda x: F.avg_pool2d(x, 2, divisor_override=3)),
    pool("avg_pool1d", lambda x: F.avg_pool1d(x, 3, 2), 1, 3, 11),
    pool("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (3, 4))),
    pool("adaptive_avg_pool2d_1", lambda x: F.adaptive_avg_pool2d(x, 1)),
    pool("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 4), 1, 3, 10),
]

NORMS = [
    layer("batch_norm1d", lambda: settled(nn.BatchNorm1d(4)), f32(3, 4)),
    layer("batch_norm1d_3d", lambda: settled(nn.BatchNorm1d(4)), f32(2, 4, 5)),
    layer("batch_norm2d", lambda: settled(nn.BatchNorm2d(3)), f32(2, 3, 4, 5)),
    layer(
        "batch_norm2d_plain",
        lambda: nn.BatchNorm2d(3, affine=False, eps=1e-3),
        f32(2, 3, 4, 5),
    ),
    layer("layer_norm", lambda: nn.LayerNorm(7), f32(2, 3, 7)),
    layer("layer_norm_2d", lambda: nn.LayerNorm((3, 7)), f32(2, 3, 7)),
    op("layer_norm_plain", lambda x: F.layer_norm(x, (7,)), f32(3, 7)),
    op(
        "layer_norm_f16",
        lambda x, *w: F.layer_norm(x, (22,), *w),
        *(real(torch.float16, *shape) for shape in ((3, 22), (22,), (22,))),
        rtol=2e-3,
        atol=2e-3,
    ),
    op(
        "layer_norm_permuted",
        lambda *x: F.layer_norm(x[0], (3, 4, 5), *x[1:]),
        f32(2, 3, 4, 5),
        lambda: torch.randn(4, 5, 3).permute(2, 0, 1),
        lambda: torch.randn(5, 3, 4).permute(1, 2, 0),
    ),
    layer("group_norm", lambda: nn.GroupNorm(2, 6), f32(2, 6, 4, 3)),
    layer("instance_norm", lambda: nn.InstanceNorm2d(3, affine=True), f32(2, 3, 4, 4)),
    layer("rms_norm", lambda: nn.RMSNorm(6), f32(2, 3, 6)),
    op("softmax", lambda x: F.softmax(x, 1), f32(2, 5, 3)),
    op("softmax_last", lambda x: F.softmax(x, -1), f32(4, 9)),
    op("log_softmax", lambda x: F.log_softmax(x, -1), f32(4, 9)),
    op("log_softmax_first", lambda x: F.log_softmax(x, 0), f32(4, 9)),
    op("normalize", lambda x: F.normalize(x, dim=1), f32(3, 5)),
    op(
        "cosine_similarity",
        F.cosine_similarity,
        f32(3, 5),
        f32(3, 5),
    ),
]

PRODUCTS = [
    layer("linear", lambda: nn.Linear(7, 5), f32(3, 7)),
    layer("linear_no_bias", lambda: nn.Linear(7, 5, bias=False), f32(1, 7)),
    layer("linear_3d", lambda: nn.Linear(7, 5), f32(2, 3, 7)),
    layer("linear_1d", lambda: nn.Linear(7, 5), f32(7)),
    op("mm", torch.mm, f32(3, 5), f32(5, 4)),
    op("bmm", torch.bmm, f32(2, 3, 5), f32(2, 5, 4)),
    op("matmul_broadcast", torch.matmul, f32(2, 1, 3, 4), f32(3, 4, 2)),
    op("matmul_vector", torch.matmul, f32(3, 4), f32(4)),
    op("dot", torch.dot, f32(6), f32(6)),
    op(
        "addmm",
        lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2),
        f32(3, 4),
        f32(3, 5),
        f32(5, 4),
    ),
    op("baddbmm", torch.baddbmm, f32(2, 3, 4), f32(2, 3, 5), f32(2, 5, 4)),
    op(
        "mm_s32",
        torch.mm,
        whole(3, 4, dtype=torch.int32),
        whole(4, 2, dtype=torch.int32),
    ),
    op(
        "einsum",
        lambda x, y: torch.einsum("bij,bkj->bik", x, y),
        f32(2, 3, 4),
        f32(2, 5, 4),
    ),
    op(
        "attention",
        F.scaled_dot_product_attention,
        f32(1, 2, 4, 6),
        f32(1, 2, 5, 6),
        f32(1, 2, 5, 6),
    ),
    op(
        "attention_causal",
        lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True),
        f32(1, 2, 4, 6),
    ),
    layer("embedding", lambda: nn.Embedding(11, 5), whole(2, 3, low=0, high=11)),
    layer(
        "embedding_s32",
        lambda: nn.Embedding(11, 5),
        whole(4, low=0, high=11, dtype=torch.int32),
    ),
]

CASES = [*CONVOLUTIONS, *POOLS, *NORMS, *PRODUCTS]
