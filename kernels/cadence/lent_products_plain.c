// SPDX-License-Identifier: Apache-2.0
// Products of matrices in plain C. Contract: lent_products_plain.h.
#include "kernels/cadence/lent_products_plain.h"

#include "kernels/engine/int8/matmul_s8_rows.h"

static inline int8_t ending(const ember_matmul_s8_t *s, int32_t sum) {
    return ember_real_s8(sum, ember_matmul_s8_scale(s), 1.0f, s->c_offset);
}

void ember_lent_products_plain(const ember_matmul_s8_t *s) {
    ember_matmul_s8_rows(s, ending);
}
