// SPDX-License-Identifier: Apache-2.0
// The dialect's quantised convolutions in plain C. Contract: conv.h.
#include <stddef.h>
#include <string.h>

#include "kernels/cadence/conv.h"

// Elements side by side in the image, from `at` on.
#define GATHER(NAME, TYPE)                                                             \
    static void NAME(const ember_cadence_conv_t *s, const void *data, int32_t at,      \
                     int32_t count, int32_t *patch) {                                  \
        const TYPE *x = (const TYPE *)data + at;                                       \
        for (; count > 0; count--) {                                                   \
            *patch = *x - s->x_zero;                                                   \
            x++;                                                                       \
            patch++;                                                                   \
        }                                                                              \
    }
GATHER(gather_s8, int8_t)
GATHER(gather_u8, uint8_t)
GATHER(gather_s16, int16_t)

static void gather(const ember_cadence_conv_t *s, int32_t at, int32_t count,
                   int32_t *patch) {
    if (s->x_dtype == EMBER_S8) {
        gather_s8(s, s->x, at, count, patch);
    } else if (s->x_dtype == EMBER_U8) {
        gather_u8(s, s->x, at, count, patch);
    } else {
        gather_s16(s, s->x, at, count, patch);
    }
}

// Channels [first, first + count) of the taps of one output; `at` is the image.
static void fill_last(const ember_cadence_conv_t *s, int32_t at, int32_t oy, int32_t ox,
                      int32_t first, int32_t count, int32_t skip) {
    const ember_cadence_window_t *window = &s->window;
    int32_t *patch = s->patch + skip;

    for (int32_t ky = 0; ky < window->height.kernel; ky++) {
        const int32_t y =
            ember_cadence_tap(&window->height, window->transposed, oy, ky);
        for (int32_t kx = 0; kx < window->width.kernel; kx++) {
            const int32_t x =
                ember_cadence_tap(&window->width, window->transposed, ox, kx);
            if (y >= 0 && x >= 0) {
                gather(s, at + y * window->x.row + x * window->x.column + first, count,
                       patch);
            }
            patch += s->depth;
        }
    }
}

static void fill_first(const ember_cadence_conv_t *s, int32_t at, int32_t oy,
                       int32_t ox, int32_t first, int32_t count, int32_t skip) {
    const ember_cadence_window_t *window = &s->window;
    const int32_t taps = window->height.kernel * window->width.kernel;
    int32_t *patch = s->patch + skip * taps;

    for (int32_t c = first; c < first + count; c++) {
        for (int32_t ky = 0; ky < window->height.kernel; ky++) {
            const int32_t y =
                ember_cadence_tap(&window->height, window->transposed, oy, ky);
            for (int32_t kx = 0; kx < window->width.kernel; kx++, patch++) {
                const int32_t x =
                    ember_cadence_tap(&window->width, window->transposed, ox, kx);
                if (y >= 0 && x >= 0) {
                    gather(s, at + c * window->x.channel + y * window->x.row + x, 1,
                           patch);
                }
            }
        }
    }
}

// Sums over a patch: of int32, and of float32 in the order of the patch.
#define SUMS(NAME, TYPE)                                                               \
    static int32_t NAME(const ember_cadence_conv_t *s, const void *weights,            \
                        int32_t zero) {                                                \
        const TYPE *w = weights;                                                       \
        const int32_t *x = s->patch;                                                   \
        int32_t sum = 0;                                                               \
        for (int32_t k = s->inner; k > 0; k--) {                                       \
            sum += *x++ * (*w - zero);                                                 \
            w += s->tap;                                                               \
        }                                                                              \
        return sum;                                                                    \
    }                                                                                  \
    static float NAME##_f32(const ember_cadence_conv_t *s, const void *weights,        \
                            int32_t zero, float sum) {                                 \
        const TYPE *w = weights;                                                       \
        const int32_t *x = s->patch;                                                   \
        for (int32_t k = s->inner; k > 0; k--) {                                       \
            sum += (float)*x++ * (float)(*w - zero);                                   \
            w += s->tap;                                                               \
        }                                                                              \
        return sum;                                                                    \
    }
SUMS(sum_s8, int8_t)
SUMS(sum_u8, uint8_t)
SUMS(sum_s16, int16_t)

static float sum_of(const ember_cadence_conv_t *s, const void *w, int32_t zero,
                    int32_t bias) {
    if (!s->whole) {
        return s->w_dtype == EMBER_S8   ? sum_s8_f32(s, w, zero, (float)bias)
               : s->w_dtype == EMBER_U8 ? sum_u8_f32(s, w, zero, (float)bias)
                                        : sum_s16_f32(s, w, zero, (float)bias);
    }
    return (float)(bias + (s->w_dtype == EMBER_S8   ? sum_s8(s, w, zero)
                           : s->w_dtype == EMBER_U8 ? sum_u8(s, w, zero)
                                                    : sum_s16(s, w, zero)));
}

// The filters of a group, whose patch is filled; `at` is the output of filter 0.
static void run_filters(const ember_cadence_conv_t *s, int32_t group, int32_t at) {
    const int32_t each = s->filters / s->groups;
    const int32_t zero = ember_cadence_whole(&s->w_zero, 0);
    const ptrdiff_t size = s->w_dtype == EMBER_S16 ? 2 : 1;
    const ptrdiff_t filter = s->tap == 1 ? s->inner * size : size;
    const int32_t first = group * each;
    const char *w = (const char *)s->w + (s->window.transposed ? 0 : first * filter);

    for (int32_t f = first; f < first + each; f++) {
        const float sum = sum_of(s, w, zero, s->bias[f]);
        const float real = ember_cadence_real(&s->scale, (uint32_t)f) * sum;
        ember_cadence_store(s->y, s->x_dtype, (uint32_t)(at + f * s->window.y.channel),
                            ember_cadence_cut_of(&s->cut, real * s->inverse));
        w += filter;
    }
}

static void run_output(const ember_cadence_conv_t *s, int32_t n, int32_t oy,
                       int32_t ox) {
    const ember_cadence_window_t *window = &s->window;
    const int32_t each = window->channels / s->groups;
    const int32_t y = n * window->y.batch + oy * window->y.row + ox * window->y.column;

    for (int32_t group = 0; group < s->groups; group++) {
        const int32_t first = group * each;
        const int32_t skip = window->transposed ? first : 0;
        memset(s->patch, 0, (size_t)s->inner * sizeof(int32_t));
        if (window->last) {
            fill_last(s, n * window->x.batch, oy, ox, first, each, skip);
        } else {
            fill_first(s, n * window->x.batch, oy, ox, first, each, skip);
        }
        run_filters(s, group, y);
    }
}

void ember_cadence_conv_run(const ember_cadence_conv_t *s) {
    for (int32_t n = 0; n < s->window.batches; n++) {
        for (int32_t oy = 0; oy < s->window.height.out; oy++) {
            for (int32_t ox = 0; ox < s->window.width.out; ox++) {
                run_output(s, n, oy, ox);
            }
        }
    }
}
