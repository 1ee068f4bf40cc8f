"""aten::permute_copy.out of bytes, channels first to channels last and back; running
this file writes the cases again. Shapes are those at which kernels change their loops:
few rows, few columns, sizes that no vector divides, images one after the other."""

from pathlib import Path

import numpy as np

from ember.cases import one_call

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
CASES = {
    "three_last": ((1, 3, 11, 37), LAST),
    "three_first": ((1, 11, 37, 3), FIRST),
    "wide_last": ((1, 36, 7, 6), LAST),
    "wide_first": ((1, 7, 6, 36), FIRST),
    "many_last": ((1, 130, 3, 3), LAST),
    "many_first": ((1, 3, 3, 130), FIRST),
    "large_first": ((1, 13, 21, 9), FIRST),
    "two_images": ((2, 17, 5, 7), LAST),
    "line": ((1, 20, 33), (0, 2, 1)),
    "small": ((1, 2, 3, 5), LAST),
    "not_last": ((2, 7, 9, 4), (1, 0, 3, 2)),
    "over_half": ((1, 96, 7, 9), LAST),
    "overlap_last": ((1, 200, 9, 5), LAST),
    "overlap_first": ((1, 13, 11, 66), FIRST),
    "merged": ((1, 64, 8, 8), LAST),
    "merged_twice": ((1, 48, 4, 4), LAST),
    "two_whole": ((2, 128, 10, 13), LAST),
}

random = np.random.default_rng(1)
for name, (sizes, dims) in CASES.items():
    x = random.integers(-128, 128, sizes, np.int8)
    one_call.write(
        Path() / name,
        "aten::permute_copy.out",
        "(Tensor self, int[] dims, *, Tensor(a!) out) -> Tensor(a!)",
        [x, list(dims)],
        [np.ascontiguousarray(x.transpose(dims))],
    )
