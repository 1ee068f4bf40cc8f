// SPDX-License-Identifier: Apache-2.0
// Products of matrices on the engines of cortex_m. Contract: lent_products.h.
#include "kernels/cadence/lent_products.h"

static bool is_offset(int32_t zero) {
    return zero >= INT8_MIN && zero <= INT8_MAX;
}

static bool is_lent(const ember_cadence_products_t *call, float scale) {
    return call->a_dtype == EMBER_S8 && call->b_dtype == EMBER_S8 && !call->turned &&
           is_offset(call->a_zero) && call->b_zero.at == NULL &&
           is_offset(call->b_zero.whole) && call->multipliers.at == NULL &&
           call->shifts.at == NULL && call->columns > 0 && ember_real_fits(scale, 1.0f);
}

static ember_status_t lend(ember_matmul_s8_t *matmul, ember_node_t *node,
                           const ember_cadence_products_t *call) {
    const float scale =
        ember_cadence_scale(call->multipliers.whole, call->shifts.whole);

    if (!is_lent(call, scale)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence products: not those of cortex_m");
    }
    *matmul = (ember_matmul_s8_t){
        .a = call->a,
        .b = call->b,
        .bias = call->bias,
        .c = call->c,
        .by = {.multiplier = (int32_t)ember_float_bits(scale),
               .shift = EMBER_SHIFT_REAL},
        .batches = call->batches,
        .rows = call->rows,
        .inner = call->inner,
        .columns = call->columns,
        .a_offset = (int16_t)-call->a_zero,
        .b_offset = (int16_t)-call->b_zero.whole,
        .c_offset = (int16_t)ember_cadence_cut_of(&call->cut, 0.0f),
        .limits = {INT8_MIN, INT8_MAX},
    };
    return EMBER_OK;
}

ember_status_t ember_lent_linear(ember_matmul_s8_t *matmul, ember_node_t *node) {
    ember_cadence_products_t call = {0};
    const ember_status_t status = ember_cadence_linear(&call, node);

    return status != EMBER_OK ? status : lend(matmul, node, &call);
}

ember_status_t ember_lent_matmul(ember_matmul_s8_t *matmul, ember_node_t *node) {
    ember_cadence_products_t call = {0};
    const ember_status_t status = ember_cadence_matmul(&call, node);

    return status != EMBER_OK ? status : lend(matmul, node, &call);
}
