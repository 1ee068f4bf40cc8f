// SPDX-License-Identifier: Apache-2.0
// Contract: embedding_hvx.h.
//
// An element minus the zero point is exact in float32 if that is an integer of a byte;
// codes of 4 and 2 bits are first unpacked to bytes.
#include "kernels/quantized/embedding_hvx.h"

#include "kernels/engine/hvx/dequantize_hvx.h"
#include "kernels/engine/hvx/scale_hvx.h"

enum { FEW = 8 };               // numbers of a group
enum { CODES = 4 * EMBER_HVX }; // at a time, of 2 bits

// --- codes ---------------------------------------------------------------------------

INLINE HVX_Vector codes_at(HVX_Vector packed, int32_t shift, int32_t mask) {
    return Q6_V_vand_VV(Q6_Vuw_vlsr_VuwR(packed, shift), Q6_Vb_vsplat_R(mask));
}

INLINE HVX_VectorPair alternate(HVX_Vector first, HVX_Vector second) {
    return Q6_W_vshuff_VVR(second, first, -1);
}

// The codes of 128 bytes, of which the high half has the first.
static void unpack_4(HVX_Vector packed, HVX_Vector *codes) {
    const HVX_VectorPair all =
        alternate(codes_at(packed, 4, 15), codes_at(packed, 0, 15));
    ember_hvx_store(codes, Q6_V_lo_W(all));
    ember_hvx_store(codes + 1, Q6_V_hi_W(all));
}

// Of which the lowest bits have the first.
static void unpack_2(HVX_Vector packed, HVX_Vector *codes) {
    const HVX_VectorPair even =
        alternate(codes_at(packed, 0, 3), codes_at(packed, 4, 3));
    const HVX_VectorPair odd =
        alternate(codes_at(packed, 2, 3), codes_at(packed, 6, 3));
    const HVX_VectorPair low = alternate(Q6_V_lo_W(even), Q6_V_lo_W(odd));
    const HVX_VectorPair high = alternate(Q6_V_hi_W(even), Q6_V_hi_W(odd));
    ember_hvx_store(codes, Q6_V_lo_W(low));
    ember_hvx_store(codes + 1, Q6_V_hi_W(low));
    ember_hvx_store(codes + 2, Q6_V_lo_W(high));
    ember_hvx_store(codes + 3, Q6_V_hi_W(high));
}

static void write_codes(const ember_table_t *s, const uint8_t *packed, uint32_t count,
                        float scale, int32_t zero_point, float *y) {
    const uint32_t of_byte = 8u / s->bits;
    HVX_Vector codes[CODES / EMBER_HVX];

    for (uint32_t first = 0; first < count; first += EMBER_HVX * of_byte) {
        const uint32_t rest = count - first;
        const uint32_t some = rest < EMBER_HVX * of_byte ? rest : EMBER_HVX * of_byte;
        const HVX_Vector bytes =
            ember_load_left_hvx((const int8_t *)packed, (int32_t)(some / of_byte));
        if (s->bits == 4) {
            unpack_4(bytes, codes);
        } else {
            unpack_2(bytes, codes);
        }
        ember_dequantize_u8_hvx((const uint8_t *)codes, some, scale, zero_point,
                                y + first);
        packed += EMBER_HVX;
    }
}

// --- groups --------------------------------------------------------------------------

static float zero_of(const ember_table_t *s, uint32_t group) {
    return s->zeros == NULL ? 0.0f : ((const float *)(const void *)s->zeros)[group];
}

// What is added to zero points: to unsigned codes for numbers from -8, or -2, on.
static int32_t offset_of(const ember_table_t *s) {
    return s->bits == 8 ? 0 : 1 << (s->bits - 1);
}

static bool takes_group(const ember_table_t *s, float scale, float zero) {
    const float least = s->weight_dtype == EMBER_S8 ? (float)INT8_MIN : 0.0f;
    const float offset = (float)offset_of(s);
    return ember_dequantize_hvx_takes(scale) && zero + offset >= least &&
           zero + offset <= least + (float)UINT8_MAX && (float)(int32_t)zero == zero;
}

static void write_group(const ember_table_t *s, const uint8_t *from, float scale,
                        float zero, float *y) {
    const int32_t zero_point = (int32_t)zero + offset_of(s);

    if (s->bits != 8) {
        write_codes(s, from, s->group, scale, zero_point, y);
    } else if (s->weight_dtype == EMBER_S8) {
        ember_dequantize_s8_hvx((const int8_t *)from, s->group, scale, zero_point, y);
    } else {
        ember_dequantize_u8_hvx(from, s->group, scale, zero_point, y);
    }
}

static void write_row(const ember_table_t *s, uint32_t index, char *y) {
    const uint32_t groups = s->columns / s->group, first = index * groups;
    const float *scales = (const float *)(const void *)s->scales + first;
    const uint8_t *from = s->weight + (size_t)index * (s->columns / (8u / s->bits));
    float *to = (float *)(void *)y;

    for (uint32_t g = 0; g < groups; g++) {
        if (!takes_group(s, scales[g], zero_of(s, first + g))) {
            ember_table_write_row(s, index, y);
            return;
        }
    }
    for (uint32_t g = 0; g < groups; g++) {
        write_group(s, from, scales[g], zero_of(s, first + g), to);
        from += s->group / (8u / s->bits);
        to += s->group;
    }
}

int32_t ember_embedding_hvx_run(const ember_table_t *s) {
    return ember_table_run(s, write_row);
}

ember_status_t ember_embedding_hvx_prepare(ember_table_t *s, ember_node_t *node,
                                           uint32_t bits) {
    const ember_status_t status = ember_table_prepare(s, node, bits);

    if (status != EMBER_OK) {
        return status;
    }
    return s->scale_dtype == EMBER_F32 && s->y_dtype == EMBER_F32 && s->group >= FEW &&
                   s->group % (8u / bits) == 0
               ? EMBER_OK
               : ember_node_fail(node, EMBER_UNSUPPORTED,
                                 "embedding_hvx: small groups, or not float32");
}
