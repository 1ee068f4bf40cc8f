// SPDX-License-Identifier: Apache-2.0
// quantized_mul with HVX, 128 elements at a time. Contract and formula:
// quantized_mul.h.
#include "kernels/cortex_m/quantized_mul.h"
#include "kernels/engine/hvx/scale_hvx.h"

enum { FEW = 4 }; // elements of a row, for which portable C takes fewer packets

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_mul_s8_t *s = state;
    const HVX_Vector a_zero = Q6_Vh_vsplat_R(s->a_zero);
    const HVX_Vector b_zero = Q6_Vh_vsplat_R(s->b_zero);
    const HVX_Vector y_zero = Q6_V_vsplat_R(s->y_zero);
    const ember_factors_hvx_t by =
        ember_factors_hvx(Q6_V_vsplat_R(s->y.multiplier), Q6_V_vsplat_R(s->y.shift));

    for (int32_t left = (int32_t)count; left > 0; left -= EMBER_HVX) {
        HVX_Vector first[4], second[4];
        ember_words_hvx(ember_load_left_hvx(a, left), a_zero, first);
        ember_words_hvx(ember_load_left_hvx(b, left), b_zero, second);
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) { // by the high half
            const HVX_Vector factor = Q6_Vw_vasl_VwR(second[i], 16);
            const HVX_Vector product = Q6_Vw_vmpyio_VwVh(first[i], factor);
            first[i] = Q6_Vw_vadd_VwVw(ember_scaled_hvx(product, &by), y_zero);
        }
        ember_store_left_hvx(y, ember_bytes_hvx(first[0], first[1], first[2], first[3]),
                             left);
        a += EMBER_HVX;
        b += EMBER_HVX;
        y += EMBER_HVX;
    }
}

static int32_t run(void *state) {
    const ember_mul_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_mul_s8_t *s = state;
    const ember_status_t status = ember_mul_s8_dense_prepare(node, state);

    if (status == EMBER_OK && s->pair.count < FEW) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_mul_hvx: few");
    }
    return status;
}

EMBER_KERNEL(quantized_mul_hvx, ember_mul_s8_t);
