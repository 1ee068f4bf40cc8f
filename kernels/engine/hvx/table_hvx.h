// SPDX-License-Identifier: Apache-2.0
// int8 by a table of 256 results, starting with that of -128, with HVX: an instruction
// looks up 32 of its entries.
#ifndef EMBER_KERNELS_ENGINE_HVX_TABLE_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_TABLE_HVX_H

#include "kernels/engine/hvx/scale_hvx.h"

typedef struct ember_table_hvx {
    HVX_Vector low; // of negative numbers
    HVX_Vector high;
} ember_table_hvx_t;

INLINE ember_table_hvx_t ember_table_hvx(const int8_t *results) {
    const int8_t *high = results + EMBER_HVX;
    return (ember_table_hvx_t){Q6_Vb_vshuff_Vb(ember_hvx_load_any(results)),
                               Q6_Vb_vshuff_Vb(ember_hvx_load_any(high))};
}

INLINE HVX_Vector ember_looked_up_hvx(const ember_table_hvx_t *table, HVX_Vector x) {
    const HVX_Vector place = Q6_V_vxor_VV(x, Q6_Vb_vsplat_R(INT8_MIN));
    HVX_Vector y = Q6_V_vzero();
    EMBER_HVX_UNROLL
    for (int part = 0; part < 4; part++) {
        y = Q6_Vb_vlut32or_VbVbVbR(y, place, table->low, part);
        y = Q6_Vb_vlut32or_VbVbVbR(y, place, table->high, part + 4);
    }
    return y;
}

// The results of `count` elements.
static inline void ember_look_up_hvx(const int8_t *results, const int8_t *x,
                                     int32_t count, int8_t *y) {
    const ember_table_hvx_t table = ember_table_hvx(results);

    for (int32_t left = count; left > 0; left -= EMBER_HVX) {
        const HVX_Vector some = ember_load_left_hvx(x, left);
        ember_store_left_hvx(y, ember_looked_up_hvx(&table, some), left);
        x += EMBER_HVX;
        y += EMBER_HVX;
    }
}

#endif // EMBER_KERNELS_ENGINE_HVX_TABLE_HVX_H
