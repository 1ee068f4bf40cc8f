// SPDX-License-Identifier: Apache-2.0
// A model of device/gemm.c and its neighbours, without their instructions.
#include "backends/xnnpack/sme/sme_weights.h"

#include <math.h>

bool ember_xnn_sme_smopa_right(void) {
    return true;
}

// --- numbers -------------------------------------------------------------------------

static const ember_xnn_sme_few_t *few_of(const ember_xnn_sme_t *gemm) {
    return gemm->kind == XNN_SME_QS8 ? gemm->few : NULL;
}

// Of a packed column, without its sum.
static uint32_t words_of(const ember_xnn_sme_t *gemm) {
    const ember_xnn_sme_few_t *few = few_of(gemm);
    return few != NULL ? few->words : xnn_sme_words(gemm->kind, gemm->k);
}

// Word `word` of a packed column; its sum follows the last one.
static uint32_t word_of(const ember_xnn_sme_t *gemm, uint32_t column, uint32_t word) {
    const uint32_t most = xnn_sme_columns();
    const uint32_t first = column / most * most;
    const uint32_t left = gemm->n - first;
    const uint32_t width = left < most ? left : most;
    const size_t block = words_of(gemm) + xnn_sme_has_sums(gemm->kind);
    const uint32_t *w = (const uint32_t *)gemm->w + first * block;
    return w[(size_t)word * width + column - first];
}

static int32_t nibble_of(uint32_t word, uint32_t i) {
    const uint32_t at = i < 4 ? 8 * i : 8 * (i - 4) + 4;
    return (int32_t)((word >> at & 15) ^ 8) - 8;
}

static int32_t whole_of(const ember_xnn_sme_t *gemm, uint32_t column, uint32_t k) {
    if (gemm->kind != XNN_SME_QD8_S4) {
        const ember_xnn_sme_few_t *few = few_of(gemm);
        const uint32_t line = few != NULL ? gemm->k / few->lines : gemm->k;
        const uint32_t words = xnn_sme_words(gemm->kind, line);
        const uint32_t word = k / line * words + k % line / 4;
        return (int8_t)(word_of(gemm, column, word) >> 8 * (k % line % 4));
    }
    return nibble_of(word_of(gemm, column, k / 8), k % 8);
}

static float half_of(const ember_xnn_sme_t *gemm, uint16_t bits) {
    return gemm->kind == XNN_SME_F16 ? ember_f32_from_f16(bits)
                                     : ember_f32_from_bf16(bits);
}

static float real_of(const ember_xnn_sme_t *gemm, uint32_t column, uint32_t k) {
    if (gemm->kind == XNN_SME_F32) {
        return ember_float_from(word_of(gemm, column, k));
    }
    return half_of(gemm, (uint16_t)(word_of(gemm, column, k / 2) >> 16 * (k % 2)));
}

enum { OUTSIDE = -1 };

// Where product k of a row finds its element in a.
static int64_t index_of(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t k) {
    const ember_xnn_window_t *window = gemm->window;
    if (window == NULL) {
        return (int64_t)row * gemm->k + k;
    }
    const ember_xnn_axis_t *down = &window->y;
    const ember_xnn_axis_t *across = &window->x;
    const int32_t tap = (int32_t)(k / (uint32_t)window->channels);
    const int32_t pixel = (int32_t)(row / (uint32_t)across->out);
    const int32_t y = pixel % down->out * down->stride - down->before +
                      tap / across->kernel * down->dilation;
    const int32_t x = (int32_t)(row % (uint32_t)across->out) * across->stride -
                      across->before + tap % across->kernel * across->dilation;
    if (y < 0 || y >= down->in || x < 0 || x >= across->in) {
        return OUTSIDE;
    }
    const int64_t line = (int64_t)(pixel / down->out) * down->in + y;
    return (line * across->in + x) * window->channels +
           (int64_t)(k % (uint32_t)window->channels);
}

// --- sums and what they become -------------------------------------------------------

static float bias_of(const ember_xnn_sme_t *gemm, uint32_t column) {
    if (gemm->real.bias == NULL) {
        return 0.0f;
    }
    if (gemm->real.half_bias) {
        return ember_f32_from_f16(((const uint16_t *)gemm->real.bias)[column]);
    }
    const float bias = ((const float *)gemm->real.bias)[column];
    return gemm->kind == XNN_SME_F16 ? ember_f32_from_f16(ember_f16_from_f32(bias))
                                     : bias;
}

static float real_sum(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column) {
    float sum = bias_of(gemm, column);
    for (uint32_t k = 0; k < gemm->k; k++) {
        const int64_t at = index_of(gemm, row, k);
        float x = 0.0f;
        if (at != OUTSIDE) {
            x = gemm->kind == XNN_SME_F32
                    ? ((const float *)gemm->a)[at]
                    : half_of(gemm, ((const uint16_t *)gemm->a)[at]);
        }
        sum = fmaf(x, real_of(gemm, column, k), sum);
    }
    return sum;
}

// (element - zero) * weight; outside an image the element is the zero point.
static int32_t whole_sum(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column,
                         int32_t zero) {
    const uint32_t last = words_of(gemm);
    uint32_t sum = 0 - (uint32_t)zero * word_of(gemm, column, last);
    for (uint32_t k = 0; k < gemm->k; k++) {
        const int64_t at = index_of(gemm, row, k);
        const int32_t x = at != OUTSIDE ? ((const int8_t *)gemm->a)[at] : zero;
        sum += (uint32_t)(x * whole_of(gemm, column, k));
    }
    return (int32_t)sum;
}

static void put_real(const ember_xnn_sme_t *gemm, size_t at, float number) {
    const float bounded = xnn_clamp(number, gemm->real.low, gemm->real.high);
    const bool half = xnn_sme_has_sums(gemm->kind) ? gemm->dynamic.half_out
                                                   : gemm->kind == XNN_SME_F16;
    if (half) {
        ((uint16_t *)gemm->y)[at] = ember_f16_from_f32(bounded);
    } else if (gemm->kind == XNN_SME_BF16) {
        ((uint16_t *)gemm->y)[at] = ember_bf16_from_f32(bounded);
    } else {
        ((float *)gemm->y)[at] = bounded;
    }
}

static void put_static(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column,
                       size_t at) {
    const ember_xnn_sme_static_t *fixed = &gemm->fixed;
    const float own = fixed->scales != NULL ? fixed->scales[column] : fixed->scale;
    const float factor = fixed->in_scale * own / fixed->out_scale;
    const uint32_t bias = (uint32_t)(fixed->bias != NULL ? fixed->bias[column] : 0);
    const uint32_t sum = (uint32_t)whole_sum(gemm, row, column, fixed->in_zero) + bias;
    ((int8_t *)gemm->y)[at] = xnn_quantize((float)(int32_t)sum * factor, &fixed->range);
}

// A word of a column with scales per block: of weights, or the one after them.
static uint32_t group_word(const ember_xnn_sme_t *gemm, uint32_t column,
                           uint32_t word) {
    const uint32_t most = xnn_sme_columns();
    const uint32_t first = column / most * most;
    const uint32_t left = gemm->n - first;
    const uint32_t width = left < most ? left : most;
    const uint32_t *w =
        (const uint32_t *)gemm->w +
        (size_t)first * xnn_sme_group_column(gemm->k, gemm->dynamic.block);
    return w[(size_t)word * width + column - first];
}

static float group_number(const ember_xnn_sme_t *gemm, uint32_t column,
                          uint32_t number) {
    const uint32_t words = xnn_sme_group_words(gemm->k, gemm->dynamic.block);
    return ember_float_from(group_word(gemm, column, words + number));
}

// Adds two products in every `step` of each block, from `first` on; elements count from
// `zero` on.
static float add_groups(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column,
                        uint32_t first, uint32_t step, int32_t zero, float all) {
    const int8_t *x = (const int8_t *)gemm->a + (size_t)row * gemm->k;
    const uint32_t words = gemm->dynamic.block / 8 + 1; // of a block
    for (uint32_t b = 0; b < gemm->k / gemm->dynamic.block;
         b++, x += gemm->dynamic.block) {
        int32_t sum = 0;
        for (uint32_t i = first; i < gemm->dynamic.block;
             i += i % 2 == 0 ? 1 : step - 1) {
            const uint32_t word = group_word(gemm, column, b * words + i / 8);
            sum += (x[i] - zero) * nibble_of(word, i % 8);
        }
        const uint32_t last = group_word(gemm, column, (b + 1) * words - 1);
        const float scale = ember_f32_from_f16((uint16_t)(last >> 16)) *
                            group_number(gemm, column, XNN_SME_GROUP_SCALE);
        all = fmaf((float)sum, scale, all);
    }
    return all;
}

static float group_sum(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column) {
    const float start = group_number(gemm, column, XNN_SME_GROUP_START);
    const int32_t zero = gemm->dynamic.half_out ? 0 : INT8_MIN;
    const float first = start * (float)(gemm->dynamic.rows[row].zero - zero);
    const float back = group_number(gemm, column, XNN_SME_GROUP_BACK);
    if (!gemm->dynamic.half_out) {
        return add_groups(gemm, row, column, 0, 2, zero, first) * back;
    }
    enum { STEP = 2 * XNN_GROUP_SUMS };
    const float sum0 = add_groups(gemm, row, column, 0, STEP, zero, first);
    const float sum1 = add_groups(gemm, row, column, 2, STEP, zero, 0.0f);
    const float sum2 = add_groups(gemm, row, column, 4, STEP, zero, 0.0f);
    const float sum3 = add_groups(gemm, row, column, 6, STEP, zero, 0.0f);
    return ((sum0 + sum1) + (sum2 + sum3)) * back;
}

static void put(const ember_xnn_sme_t *gemm, uint32_t row, uint32_t column) {
    const size_t at = (size_t)row * gemm->n + column;
    if (gemm->kind == XNN_SME_QD8_B4) {
        const float sum = group_sum(gemm, row, column);
        const float scale = gemm->dynamic.rows[row].scale;
        const float bias = bias_of(gemm, column);
        put_real(gemm, at,
                 gemm->dynamic.half_out ? fmaf(sum, scale, bias) : sum * scale + bias);
    } else if (gemm->kind == XNN_SME_QS8) {
        put_static(gemm, row, column, at);
    } else if (xnn_sme_has_sums(gemm->kind)) {
        const ember_xnn_row_t *from = &gemm->dynamic.rows[row / gemm->dynamic.row_step];
        const float sum = (float)whole_sum(gemm, row, column, from->zero);
        put_real(gemm, at,
                 fmaf(sum * from->scale, gemm->dynamic.scales[column],
                      bias_of(gemm, column)));
    } else {
        put_real(gemm, at, real_sum(gemm, row, column));
    }
}

static void run_product(const ember_xnn_sme_t *gemm) {
    for (uint32_t row = 0; row < gemm->m; row++) {
        for (uint32_t column = 0; column < gemm->n; column++) {
            put(gemm, row, column);
        }
    }
}

static void run_batch(const ember_xnn_sme_t *gemm) {
    const ember_xnn_sme_batch_t *batch = gemm->batch;
    const size_t bytes = (size_t)gemm->k * xnn_sme_element(gemm->kind);
    const ember_xnn_geometry_t geometry = {
        .groups = 1,
        .n = gemm->n,
        .taps = 1,
        .k = gemm->k,
        .unit = xnn_sme_columns(),
        .transposed = !batch->turned,
    };
    ember_xnn_sme_t one = *gemm;
    one.w = gemm->scratch;
    for (uint32_t i = 0; i < batch->count; i++) {
        const size_t a = xnn_sme_matrix(batch, batch->a_steps, i);
        const size_t b = xnn_sme_matrix(batch, batch->b_steps, i);
        const uint8_t *from = (const uint8_t *)batch->b + b * gemm->n * bytes;
        ember_xnn_sme_pack_matrix(gemm->kind, &geometry, from, NULL, gemm->scratch);
        one.a = (const uint8_t *)gemm->a + a * gemm->m * bytes;
        one.y = (uint8_t *)gemm->y +
                (size_t)i * gemm->m * gemm->n * xnn_sme_element(gemm->kind);
        run_product(&one);
    }
}

void ember_xnn_sme_gemm(const ember_xnn_sme_t *gemm) {
    if (xnn_sme_batch(gemm) != NULL) {
        run_batch(gemm);
    } else {
        run_product(gemm);
    }
}
