// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with the DSP instructions. Contract: lent_dsp.h.
#include "kernels/cadence/lent_dsp.h"

#include <arm_dsp_columns.h>

#include "kernels/cadence/real_dsp.h"
#include "kernels/engine/dsp/depthwise_windows_dsp.h"

// --- columns -------------------------------------------------------------------------

INLINE ember_real_dsp_t real_of(const ember_scales_s8_t *scales) {
    return (ember_real_dsp_t){scales->scale, scales->inverse, scales->zero_point};
}

static int32_t set_filters(const ember_columns_dsp_t *s) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const int32_t filters = s->conv.filters;

    for (int32_t f = 0; f < filters; f++) {
        s->by[f].bias = scales->bias[f];
    }
    if (filters == 1) {
        s->by[1] = s->by[0];
    }
    return scales->zero_point;
}

// One piece of code for all callers.
static __attribute__((noinline)) void multiply(const ember_columns_dsp_t *s,
                                               const ember_tiles_dsp_t *tiles) {
    const ember_real_dsp_t by = real_of(&s->conv.scales);
    ember_tiles_real_dsp(tiles, &by);
}

static void end_one(const ember_columns_dsp_t *s, const int32_t *sums, int32_t from,
                    int32_t count, int8_t *y) {
    const ember_real_start_dsp_t start = {s->conv.scales.bias + from, 1, 0};
    const ember_real_dsp_t by = real_of(&s->conv.scales);

    ember_real_store_dsp(&by, sums, count, start, y + from);
}

static const ember_ending_dsp_t ending = {set_filters, multiply, end_one};

// --- one filter per channel ----------------------------------------------------------

INLINE void store(const block_t *block, sums_t sums, int8_t *y) {
    const ember_real_dsp_t by = real_of(block->scales);

    ember_real_pair_dsp(&sums.a, &sums.b, &by);
    ember_real_pair_dsp(&sums.c, &sums.d, &by);
    y[0] = (int8_t)sums.a;
    y[1] = (int8_t)sums.b;
    y[2] = (int8_t)sums.c;
    y[3] = (int8_t)sums.d;
}

FAST void run_windows(const ember_depthwise_s8_dsp_t *s, int32_t from) {
    run_block(s, from, store);
}

static ember_filter_dsp_t filter(const ember_scales_s8_t *scales, int32_t channel) {
    return (ember_filter_dsp_t){scales->bias[channel], scales->zero_point, 0};
}

static void pairs(const ember_scales_s8_t *scales, const ember_lines_run_dsp_t *run) {
    const ember_real_dsp_t by = real_of(scales);
    ember_lines_real_1_dsp(run, &by);
}

static void every_second(const ember_scales_s8_t *scales,
                         const ember_lines_run_dsp_t *run) {
    const ember_real_dsp_t by = real_of(scales);
    ember_lines_real_2_dsp(run, &by);
}

static const ember_lines_ending_dsp_t lines_ending = {filter, pairs, every_second};

static int32_t begin_channels(const ember_scales_s8_t *scales, int32_t first,
                              ember_channels_dsp_t *channels) {
    memcpy(channels->bias, scales->bias + first, sizeof(channels->bias));
    return scales->zero_point;
}

static void rows(const ember_scales_s8_t *scales, const ember_pixels_run_dsp_t *run) {
    const ember_real_dsp_t by = real_of(scales);
    ember_pixels_real_dsp(run, &by);
}

static const ember_pixels_ending_dsp_t pixels_ending = {begin_channels, rows};

static void run_depthwise(const ember_depthwise_s8_dsp_t *s) {
    const int32_t last = s->conv.channels - FOUR;
    bool cleared = false;

    for (int32_t from = 0; from < s->conv.channels; from += FOUR) {
        const int32_t first = from < last ? from : last;
        if (s->by_pixel) {
            ember_pixels_dsp_run(&s->pixels, &s->conv, &pixels_ending, first, cleared);
            cleared = true;
        } else if (s->by_line) {
            ember_lines_dsp_run(&s->lines, &s->conv, &lines_ending, first);
        } else {
            run_windows(s, first);
        }
    }
}

// --- both ----------------------------------------------------------------------------

SMALL ember_status_t ember_lent_dsp_prepare(ember_lent_dsp_t *s,
                                            const ember_conv_s8_t *conv,
                                            ember_node_t *node) {
    s->conv = *conv;
    return s->lent.depthwise
               ? ember_depthwise_s8_dsp_prepare(&s->depthwise, node)
               : ember_columns_dsp_prepare(&s->columns, node, ember_conv_s8_taps(conv),
                                           EMBER_WEIGHTS_PLAIN);
}

void ember_lent_dsp_run(const ember_lent_dsp_t *s) {
    if (s->lent.depthwise) {
        run_depthwise(&s->depthwise);
    } else {
        ember_columns_dsp_run(&s->columns, ember_conv_s8_steps(&s->conv), &ending);
    }
}
