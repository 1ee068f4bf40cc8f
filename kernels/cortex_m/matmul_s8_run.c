// SPDX-License-Identifier: Apache-2.0
// The dialect's linear and batch_matmul in plain C. Contract: matmul_s8.h.
#include "kernels/cortex_m/matmul_s8_rows.h"

static inline int8_t ending(const ember_matmul_s8_t *s, int32_t sum) {
    return ember_requantize_s8(sum, s->by, s->c_offset, s->limits);
}

void ember_matmul_s8_run(const ember_matmul_s8_t *s) {
    ember_matmul_s8_rows(s, ending);
}
