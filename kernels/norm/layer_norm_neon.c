// SPDX-License-Identifier: Apache-2.0
// Layer normalisation over the last dimensions, contiguous float32 or float16, with
// NEON: the bits of layer_norm_f32 and layer_norm_f16, except those of NaN.
#include "kernels/engine/neon/fours_neon.h"
#include "kernels/norm/layer_norm_rows.h"

typedef struct layer_norm {
    ember_layer_norm_rows_t rows;
    bool half;
} layer_norm_t;

// Neutral elements for an absent weight, and an absent bias.
static const float ones[] = {1, 1, 1, 1};
static const float zeros[] = {-0.0f, -0.0f, -0.0f, -0.0f};
static const uint16_t half_ones[] = {0x3c00, 0x3c00, 0x3c00, 0x3c00};
static const uint16_t half_zeros[] = {0x8000, 0x8000, 0x8000, 0x8000};

EMBER_NEON_INLINE void add(float *sums, const ember_layer_norm_row_t *row,
                           uint32_t count, bool half) {
    const uint8_t *x = row->x;
    float32x4_t sum = vdupq_n_f32(0.0f);
    for (; count > 0; count -= 4) {
        sum = vaddq_f32(sum, neon_load(x, half));
        x += half ? 8 : 16;
    }
    vst1q_f32(sums, sum);
}

EMBER_NEON_INLINE void add_squares(float *sums, const ember_layer_norm_row_t *row,
                                   uint32_t count, bool half) {
    const float32x4_t mean = vdupq_n_f32(row->mean);
    const uint8_t *x = row->x;
    float32x4_t sum = vdupq_n_f32(0.0f);
    for (; count > 0; count -= 4) {
        const float32x4_t d = vsubq_f32(neon_load(x, half), mean);
        sum = vaddq_f32(sum, vmulq_f32(d, d));
        x += half ? 8 : 16;
    }
    vst1q_f32(sums, sum);
}

EMBER_NEON_INLINE void scale(const ember_layer_norm_rows_t *s,
                             const ember_layer_norm_row_t *row, uint32_t count,
                             bool half) {
    const uint32_t step = half ? 8 : 16;
    const void *one = half ? (const void *)half_ones : ones;
    const void *zero = half ? (const void *)half_zeros : zeros;
    const uint8_t *weight = s->weight != NULL ? s->weight : one;
    const uint8_t *bias = s->bias != NULL ? s->bias : zero;
    const uint32_t weight_step = s->weight != NULL ? step : 0;
    const uint32_t bias_step = s->bias != NULL ? step : 0;
    const float32x4_t mean = vdupq_n_f32(row->mean);
    const float32x4_t rstd = vdupq_n_f32(row->rstd);
    const uint8_t *x = row->x;
    uint8_t *y = row->y;
    for (; count > 0; count -= 4) {
        const float32x4_t d = vsubq_f32(neon_load(x, half), mean);
        const float32x4_t normal = vmulq_f32(d, rstd);
        const float32x4_t scaled = vmulq_f32(normal, neon_load(weight, half));
        neon_store(y, vaddq_f32(scaled, neon_load(bias, half)), half);
        x += step;
        y += step;
        weight += weight_step;
        bias += bias_step;
    }
}

static int32_t run(void *state) {
    const layer_norm_t *s = state;
    if (s->half) {
        ember_layer_norm_run(&s->rows, true, add, add_squares, scale);
    } else {
        ember_layer_norm_run(&s->rows, false, add, add_squares, scale);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    layer_norm_t *s = state;
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    s->half = x.dtype == EMBER_F16;
    return ember_layer_norm_prepare(node, &s->rows, s->half ? EMBER_F16 : EMBER_F32);
}

EMBER_KERNEL(layer_norm_neon, layer_norm_t);
