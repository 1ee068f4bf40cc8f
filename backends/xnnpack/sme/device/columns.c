// SPDX-License-Identifier: Apache-2.0
// Packs matrices that are not constant, like weights.
#include "block.h"

// Rows of a block of columns, one after the other.
static void pack_f32(const float *from, size_t n, uint32_t k, uint32_t columns,
                     float *to) __arm_streaming __arm_preserves("za") {
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), columns);
#pragma clang loop unroll_count(4)
    for (uint32_t i = 0; i < k; i++, from += n, to += columns) {
        svst1_f32(c0, to, svld1_f32(c0, from));
        svst1_vnum_f32(c1, to, 1, svld1_vnum_f32(c1, from, 1));
    }
}

// Two rows become one of words; past the last row are zeros.
static void pack_f16(const uint16_t *from, size_t n, uint32_t k, uint32_t columns,
                     uint32_t *to) __arm_streaming __arm_preserves("za") {
    const svbool_t line = svwhilelt_b16_u32(0, columns);
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), columns);
    for (uint32_t i = 0; i < k; i += 2, from += 2 * n, to += columns) {
        const svuint16_t first = svld1_u16(line, from);
        const svuint16_t second = i + 1 < k ? svld1_u16(line, from + n) : svdup_u16(0);
        svst1_u32(c0, to, svreinterpret_u32_u16(svzip1_u16(first, second)));
        svst1_vnum_u32(c1, to, 1, svreinterpret_u32_u16(svzip2_u16(first, second)));
    }
}

void xnn_sme_pack_columns(const ember_xnn_sme_t *gemm, const uint8_t *b,
                          uint8_t *to) __arm_streaming __arm_inout("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const uint32_t bytes = xnn_sme_column_bytes(gemm->kind, gemm->k);
    const size_t element = xnn_sme_element(gemm->kind);
    for (uint32_t j = 0; j < gemm->n; j += most) {
        const uint32_t columns = gemm->n - j < most ? gemm->n - j : most;
        if (gemm->batch->turned) {
            const size_t length = gemm->k * element;
            xnn_sme_turn(b + j * length, length, columns, (uint32_t)length, 1,
                         bytes / 4, to);
        } else if (gemm->kind == XNN_SME_F32) {
            pack_f32((const float *)(const void *)b + j, gemm->n, gemm->k, columns,
                     (float *)(void *)to);
        } else {
            pack_f16((const uint16_t *)(const void *)b + j, gemm->n, gemm->k, columns,
                     (uint32_t *)(void *)to);
        }
        to += (size_t)columns * bytes;
    }
}
