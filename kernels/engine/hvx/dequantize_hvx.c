// SPDX-License-Identifier: Apache-2.0
// Contract: dequantize_hvx.h.
#include "kernels/engine/hvx/dequantize_hvx.h"

#include "kernels/engine/hvx/dequantize_words_hvx.h"

enum { FEW = 32 };

// `flip` converts uint8 to int8.
INLINE void run(const int8_t *x, uint32_t count, const ember_dequantize_hvx_t *by,
                HVX_Vector flip, float *y) {
    int32_t left = (int32_t)count;
    HVX_Vector words[4];

    for (; left >= EMBER_HVX; left -= EMBER_HVX) {
        const HVX_Vector bytes = Q6_V_vxor_VV(ember_hvx_load_any(x), flip);
        ember_words_hvx(bytes, by->zero_point, words);
        EMBER_HVX_UNROLL
        for (int i = 0; i < 4; i++) {
            ember_hvx_store_any(y + i * 32, ember_dequantized_hvx(by, words[i]));
        }
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
    if (left > 0) {
        const HVX_Vector bytes = Q6_V_vxor_VV(ember_hvx_load_part(x, left), flip);
        ember_words_hvx(bytes, by->zero_point, words);
    }
    for (int i = 0; i < 4; i++) {
        const int32_t size = ember_hvx_hidden((left - i * 32) * 4);
        if (size > 0) {
            ember_store_left_hvx((int8_t *)(y + i * 32),
                                 ember_dequantized_hvx(by, words[i]), size);
        }
    }
}

void ember_dequantize_s8_hvx(const int8_t *x, uint32_t count, float scale,
                             int32_t zero_point, float *y) {
    const ember_dequantize_hvx_t by = ember_dequantize_by_hvx(scale, zero_point);

    if (count >= FEW) {
        run(x, count, &by, Q6_V_vzero(), y);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        y[i] = (float)(x[i] - zero_point) * scale;
    }
}

void ember_dequantize_u8_hvx(const uint8_t *x, uint32_t count, float scale,
                             int32_t zero_point, float *y) {
    const ember_dequantize_hvx_t by =
        ember_dequantize_by_hvx(scale, zero_point + INT8_MIN);

    if (count >= FEW) {
        run((const int8_t *)x, count, &by, Q6_Vb_vsplat_R(INT8_MIN), y);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        y[i] = (float)(x[i] - zero_point) * scale;
    }
}
