// SPDX-License-Identifier: Apache-2.0
// Those of cadence_matmul that are products of cortex_m, by its plain C.
#include "kernels/cadence/lent_products.h"
#include "kernels/cortex_m/matmul_s8_rows.h"

static inline int8_t ending(const ember_matmul_s8_t *s, int32_t sum) {
    return ember_real_s8(sum, ember_matmul_s8_scale(s), 1.0f, s->c_offset);
}

static int32_t run(void *state) {
    ember_matmul_s8_rows(state, ending);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_lent_matmul(state, node);
}

EMBER_KERNEL(cadence_matmul_s8, ember_matmul_s8_t);
