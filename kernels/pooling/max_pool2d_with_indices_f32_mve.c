// SPDX-License-Identifier: Apache-2.0
// max_pool2d_with_indices_f32: the largest element of each window (a NaN counts as
// such) and its index in the plane, float32 in rows. Helium, four outputs of a row in
// lanes; exact, but a denormal counts as zero.
#include <arm_mve.h>

#include "kernels/pooling/max.h"

#define INFINITE 0x7f800000u // as bits

typedef struct {
    float32x4_t value;
    uint32x4_t index;
} best_t;

// One row of the plane.
typedef struct {
    const float *x; // (width,)
    uint32_t width;
    uint32_t index; // of x[0] in the plane
} line_t;

// Takes one tap of each window in `lanes`; `columns` may be outside.
static inline best_t take(best_t best, line_t line, uint32x4_t columns,
                          mve_pred16_t lanes) {
    const mve_pred16_t inside = vcmphiq_m_u32(vdupq_n_u32(line.width), columns, lanes);
    const float32x4_t x = vldrwq_gather_shifted_offset_z_f32(line.x, columns, inside);
    const uint32x4_t magnitude = vshlq_n_u32(vreinterpretq_u32_f32(x), 1);
    const mve_pred16_t better =
        vcmpgtq_m_f32(x, best.value, inside) |
        vcmphiq_m_u32(magnitude, vdupq_n_u32(INFINITE << 1), inside); // NaN

    best.value = vpselq_f32(x, best.value, better);
    best.index = vpselq_u32(vaddq_n_u32(columns, line.index), best.index, better);
    return best;
}

// The windows that begin at columns `start`.
static best_t best_of(const ember_pool_t *pool, const char *x, ember_max_taps_t rows,
                      int32x4_t start, mve_pred16_t lanes) {
    const uint32_t width = (uint32_t)pool->in[2];
    const uint32x4_t first = vreinterpretq_u32_s32(vmaxq_s32(start, vdupq_n_s32(0)));
    best_t best = {vdupq_n_f32(-__builtin_inff()),
                   vaddq_n_u32(first, (uint32_t)rows.first * width)};

    for (int32_t i = rows.first; i < rows.past; i += pool->dilation[1]) {
        const char *at = x + (ptrdiff_t)i * pool->x_steps[3];
        const line_t line = {(const float *)(const void *)at, width,
                             (uint32_t)i * width};
        uint32x4_t columns = vreinterpretq_u32_s32(start);
        for (int32_t j = pool->kernel[2]; j > 0; j--) {
            best = take(best, line, columns, lanes);
            columns = vaddq_n_u32(columns, (uint32_t)pool->dilation[2]);
        }
    }
    return best;
}

static void store(best_t best, char *y, int64_t *indices, mve_pred16_t lanes) {
    uint32_t *words = (uint32_t *)(void *)indices; // pairs, the lower half first

    vstrwq_p_f32((float *)(void *)y, best.value, lanes);
    vstrwq_scatter_shifted_offset_p_u32(words, vidupq_n_u32(0, 2), best.index, lanes);
    vstrwq_scatter_shifted_offset_p_u32(words, vidupq_n_u32(1, 2), vdupq_n_u32(0),
                                        lanes);
}

static void row(const ember_max_pool_t *max, const char *x, char *y, int64_t *indices,
                ember_max_taps_t rows) {
    const ember_pool_t *pool = &max->pool;
    const int32_t stride = pool->stride[2];
    int32x4_t start =
        vaddq_n_s32(vmulq_n_s32(vreinterpretq_s32_u32(vidupq_n_u32(0, 1)), stride),
                    -pool->padding[2]);

    for (int32_t left = pool->out[2]; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        store(best_of(pool, x, rows, start, lanes), y, indices, lanes);
        start = vaddq_n_s32(start, 4 * stride);
        y += 4 * sizeof(float);
        indices += 4;
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_prepare_f32_rows(state, node, true);
}

static int32_t run(void *state) {
    ember_max_rows(state, row);
    return EMBER_OK;
}

EMBER_KERNEL(max_pool2d_with_indices_f32_mve, ember_max_pool_t);
