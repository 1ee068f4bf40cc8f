// SPDX-License-Identifier: Apache-2.0
// linear and batch_matmul of cortex_m in plain C. Contract: matmul_s8.h.
#include "kernels/engine/int8/matmul_s8_rows.h"

static inline int8_t ending(const ember_matmul_s8_t *s, int32_t sum) {
    return ember_requantize_s8(sum, s->by, s->c_offset, s->limits);
}

void ember_matmul_s8_run(const ember_matmul_s8_t *s) {
    ember_matmul_s8_rows(s, ending);
}
