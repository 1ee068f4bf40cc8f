// SPDX-License-Identifier: Apache-2.0
// max_pool2d_f32, float32 in rows. Helium, four outputs of a row in lanes; exact, but a
// denormal counts as zero.
#include <arm_mve.h>

#include "kernels/pooling/max.h"

#define INFINITE 0x7f800000u // as bits

// One tap of each window; `columns` may be outside.
static inline float32x4_t take(float32x4_t best, const float *x, uint32_t width,
                               uint32x4_t columns, mve_pred16_t lanes) {
    const mve_pred16_t inside = vcmphiq_m_u32(vdupq_n_u32(width), columns, lanes);
    const float32x4_t value = vldrwq_gather_shifted_offset_z_f32(x, columns, inside);
    const uint32x4_t magnitude = vshlq_n_u32(vreinterpretq_u32_f32(value), 1);
    const mve_pred16_t better =
        vcmpgtq_m_f32(value, best, inside) |
        vcmphiq_m_u32(magnitude, vdupq_n_u32(INFINITE << 1), inside); // NaN

    return vpselq_f32(value, best, better);
}

// The windows that begin at columns `start`.
static float32x4_t best_of(const ember_pool_t *pool, const char *x,
                           ember_max_taps_t rows, uint32x4_t start,
                           mve_pred16_t lanes) {
    float32x4_t best = vdupq_n_f32(-__builtin_inff());

    for (int32_t i = rows.first; i < rows.past; i += pool->dilation[1]) {
        const char *line = x + (ptrdiff_t)i * pool->x_steps[3];
        uint32x4_t columns = start;
        for (int32_t j = pool->kernel[2]; j > 0; j--) {
            best = take(best, (const float *)(const void *)line, (uint32_t)pool->in[2],
                        columns, lanes);
            columns = vaddq_n_u32(columns, (uint32_t)pool->dilation[2]);
        }
    }
    return best;
}

static void row(const ember_max_pool_t *max, const char *x, char *y, int64_t *indices,
                ember_max_taps_t rows) {
    const ember_pool_t *pool = &max->pool;
    const uint32_t stride = (uint32_t)pool->stride[2];
    uint32x4_t start = vaddq_n_u32(vmulq_n_u32(vidupq_n_u32(0, 1), stride),
                                   0u - (uint32_t)pool->padding[2]);

    (void)indices;
    for (int32_t left = pool->out[2]; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        vstrwq_p_f32((float *)(void *)y, best_of(pool, x, rows, start, lanes), lanes);
        start = vaddq_n_u32(start, 4 * stride);
        y += 4 * sizeof(float);
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_prepare_f32_rows(state, node, false);
}

static int32_t run(void *state) {
    ember_max_rows(state, row);
    return EMBER_OK;
}

EMBER_KERNEL(max_pool2d_f32_mve, ember_max_pool_t);
