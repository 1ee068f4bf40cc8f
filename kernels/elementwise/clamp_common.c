// SPDX-License-Identifier: Apache-2.0
// The rows of clamp and hardtanh. Contract: clamp.h.
#include "kernels/elementwise/clamp.h"

EMBER_ROW3(f32, float,
           a != a                ? a
           : b != b              ? b
           : c != c              ? c
           : (a < b ? b : a) > c ? c
           : a < b               ? b
                                 : a)
EMBER_ROW3(f64, double,
           a != a                ? a
           : b != b              ? b
           : c != c              ? c
           : (a < b ? b : a) > c ? c
           : a < b               ? b
                                 : a)
EMBER_ROW3(s64, int64_t, (a < b ? b : a) > c ? c : a < b ? b : a)

void ember_clamp_row_f32(void *y, const void *const *x, uint32_t count) {
    f32(y, x, count);
}

void ember_clamp_row_f64(void *y, const void *const *x, uint32_t count) {
    f64(y, x, count);
}

void ember_clamp_row_s64(void *y, const void *const *x, uint32_t count) {
    s64(y, x, count);
}
