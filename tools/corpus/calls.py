# SPDX-License-Identifier: Apache-2.0
"""Single calls, written without an exporter, which would decompose or refuse them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from sweep_kernels import Sweep, case_of

from corpus.case import Case, Exported

ATEN = torch.ops.aten


def wide() -> Iterator[tuple[str, Sweep]]:
    """Results are cast to their own dtype, then to the output's."""
    a = torch.tensor([100, -128, 7, 90], dtype=torch.int8)
    b = torch.tensor([100, -1, 5, 2], dtype=torch.int8)
    for name, call in (("mul", torch.mul), ("add", torch.add), ("sub", torch.sub)):
        more = [] if name == "mul" else [3]
        options = {"alpha": 3} if more else {}
        result = call(a, b, **options).to(torch.int64)
        yield (
            f"{name}_s8_s64",
            Sweep(f"aten::{name}.out", [a, b, *more], lambda r=result: r),
        )
    power = torch.pow(a, 2).to(torch.int32)
    yield "pow_s8_s32", Sweep("aten::pow.Tensor_Scalar_out", [a, 2], lambda: power)
    half = torch.tensor([2049.0, 0.1, 1000.0], dtype=torch.float16)
    sums = (half + half.flip(0)).to(torch.float32)
    yield (
        "add_f16_f32",
        Sweep("aten::add.out", [half, half.flip(0), 1], lambda: sums, exact=True),
    )


def images() -> Iterator[tuple[str, Sweep]]:
    photo = torch.randint(0, 256, (1, 3, 6, 5), dtype=torch.uint8)
    for align in (False, True):
        corners = "_corners" if align else ""
        for size in ([11, 4], [3, 9]):
            name = f"{corners}_u8_{size[0]}x{size[1]}"
            yield (
                f"bilinear{name}",
                Sweep(
                    "aten::upsample_bilinear2d.vec_out",
                    [photo, size, align, None],
                    lambda s=size, a=align: F.interpolate(
                        photo, s, mode="bilinear", align_corners=a
                    ),
                ),
            )
            yield (
                f"bilinear_aa{name}",
                Sweep(
                    "aten::_upsample_bilinear2d_aa.out",
                    [photo, size, align, None, None],
                    lambda s=size, a=align: F.interpolate(
                        photo, s, mode="bilinear", align_corners=a, antialias=True
                    ),
                ),
            )
    x = torch.randn(1, 2, 7, 7)
    yield (
        "bilinear_aa_scale_stays",
        Sweep(
            "aten::_upsample_bilinear2d_aa.out",
            [x, [7, 14], False, 1.1, 2.0],
            lambda: F.interpolate(
                x, scale_factor=(1.1, 2.0), mode="bilinear", antialias=True
            ),
        ),
    )


def masks() -> Iterator[tuple[str, Sweep]]:
    x = torch.randn(3, 4, 5)
    rows = torch.tensor([True, False, True])
    columns = torch.tensor([False, True, True, False])
    index = torch.tensor([1, -1])
    single = torch.tensor([2])
    plane = torch.rand(4, 5) > 0.7
    for name, indices in {
        "two": [rows, columns],
        "and_index": [rows, index],
        "and_one": [single, columns],
        "apart": [rows, None, index],
        "behind": [None, columns, index],
        "plane": [single, plane],
    }.items():
        picked = ATEN.index(x, indices)
        yield (
            f"index_masks_{name}",
            Sweep(
                "aten::index.Tensor_out", [x, indices], lambda r=picked: r, bounded=True
            ),
        )
        for add in (False, True):
            values = torch.randn(picked.shape)
            yield (
                f"index_put_masks_{name}{'_add' if add else ''}",
                Sweep("aten::index_put.out", [x, indices, values, add]),
            )
    yield (
        "index_put_masks_value",
        Sweep("aten::index_put.out", [x, [rows, columns], torch.tensor(7.0), False]),
    )


def others() -> Iterator[tuple[str, Sweep]]:
    x = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
    yield "any_no_dims", Sweep("aten::any.dims_out", [x, [], False])
    table = torch.arange(12.0).reshape(6, 2)
    names = torch.tensor([1, 2, 4, 5, 4])
    starts = torch.tensor([0, 2, 2])
    for mode in (1, 2):
        yield (
            f"embedding_bag_sizes_{mode}",
            Sweep(
                "aten::_embedding_bag.out",
                [table, names, starts, False, mode, False, None, False, 4],
            ),
        )
    gradient = torch.randint(-90, 90, (1, 2, 2, 2))
    zeros = torch.zeros(1, 2, 4, 4, dtype=torch.int64)
    yield (
        "avg_pool2d_backward_s64",
        Sweep(
            "aten::avg_pool2d_backward.grad_input",
            [gradient, zeros, [3, 3], [1, 1], [0, 0], False, True, None],
        ),
    )
    for size, k, most in ((10, 4, 3), (40, 20, 4), (200, 3, 2), (300, 90, 9)):
        ties = torch.randint(0, most, (2, size)).float()
        for largest in (True, False):
            yield (
                f"topk_ties_{size}_{k}_{'largest' if largest else 'smallest'}",
                Sweep("aten::topk.values", [ties, k, 1, largest, True]),
            )
    x8 = torch.tensor([-7, -1, 0, 2, 3], dtype=torch.int8)
    yield "hardtanh_s8", Sweep("aten::hardtanh.out", [x8, -1.5, 2.5])
    for dtype, label in ((torch.float16, "f16"), (torch.bfloat16, "bf16")):
        tensors = [
            torch.randn(2, 3, 6, 6),
            torch.randn(2, 4, 9, 9),
            torch.randn(3, 4, 4, 4),
        ]
        yield (
            f"convolution_backward_{label}",
            Sweep(
                "aten::convolution_backward.out",
                [
                    *(one.to(dtype) for one in tensors),
                    *([3], [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
                    [True, True, True],
                ],
            ),
        )


FAMILIES = (wide, images, masks, others)


def _case(family: Callable[[], Iterator[tuple[str, Sweep]]], name: str) -> Case:
    def build() -> Exported:
        torch.manual_seed(1)
        return case_of(dict(family())[name])

    return Case(f"call_{name}", build)


def _cases() -> Iterator[Case]:
    for family in FAMILIES:
        torch.manual_seed(1)
        for name, _ in family():
            yield _case(family, name)


CASES = list(_cases())
