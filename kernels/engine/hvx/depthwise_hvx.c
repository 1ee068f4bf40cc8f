// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions with Hexagon's vectors. Contract: depthwise_hvx.h.
#include "kernels/engine/hvx/depthwise_hvx.h"

#include "kernels/engine/hvx/depthwise_filters_hvx.h"
#include "kernels/engine/hvx/depthwise_products_hvx.h"
#include "kernels/engine/hvx/depthwise_words_hvx.h"
#include "kernels/engine/hvx/worth_hvx.h"

enum { BYTES_MAX = 1 << 28, MOST = 1 << 20 };
enum { ELEMENTS_FOR_WEIGHT = 16 }; // that make a second set worth it

// --- the plan ------------------------------------------------------------------------

// How many weights of a tap are there: all channels as often as it takes until 128
// outputs start with the first one again, but no more than a row of outputs has.
static int32_t period_of(const ember_conv_s8_t *conv) {
    const int32_t even = conv->channels & -conv->channels;
    const int64_t times = even < EMBER_HVX ? EMBER_HVX / even : 1;
    const int64_t row = vectors((int64_t)conv->width.out * conv->channels);
    const int64_t period = times * conv->channels;
    return (int32_t)(period < row ? period : row);
}

// Whether two rows of outputs may have the same words, and are so long that it pays to
// make weights for both.
static bool is_worth_sharing(const ember_depthwise_hvx_t *s, int64_t columns) {
    const ember_conv_s8_axis_t *h = &s->conv.height;
    const int64_t weights = (int64_t)s->period * s->conv.width.kernel;

    return h->kernel < FOUR && h->stride == 1 && h->dilation == 1 &&
           h->out * columns * s->conv.channels > ELEMENTS_FOR_WEIGHT * weights;
}

static bool plan(ember_depthwise_hvx_t *s) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *h = &conv->height, *w = &conv->width;
    const int64_t rows =
        (int64_t)(h->out - 1) * h->stride + (int64_t)(h->kernel - 1) * h->dilation + 1;
    const int64_t reach = (int64_t)(w->kernel - 1) * w->dilation;
    const int64_t columns = w->out + reach / w->stride;

    if (conv->channels > MOST || ember_conv_s8_taps(conv) > MOST || rows > MOST ||
        columns > MOST || w->stride > MOST || h->out < 1 || w->out < 1 ||
        columns * w->stride * conv->channels > BYTES_MAX) {
        return false;
    }
    s->groups = (h->kernel + FOUR - 1) / FOUR;
    if (s->packed == NULL) {
        s->period = period_of(conv);
        s->sharing = is_worth_sharing(s, columns) ? 2 : 1;
    }
    s->columns = (int32_t)columns;
    s->rows = w->stride == 1 ? 1 : (int32_t)rows + s->sharing - 1;
    s->pitch = (int32_t)vectors(columns * w->stride * conv->channels);
    return (int64_t)s->rows * s->pitch < BYTES_MAX && places_of(s).all < BYTES_MAX;
}

// Whether there are enough outputs for what weights and rows take.
static bool pays(const ember_depthwise_hvx_t *s) {
    const int64_t weights = (int64_t)s->groups * s->conv.width.kernel * s->period;
    const int64_t rows = (int64_t)s->groups * s->conv.batches * s->conv.height.out;
    const int64_t packets = 1400 + 400 * weights / EMBER_HVX + 300 * rows;
    return ember_packets_of_depthwise(&s->conv) >= packets;
}

static ember_status_t prepare(ember_depthwise_hvx_t *s, ember_node_t *node,
                              int64_t room) {
    const ember_conv_s8_t *conv = &s->conv;

    if (conv->filters != conv->channels || conv->x_offset == INT8_MIN ||
        conv->rows < EMBER_ROWS_RIGHT || conv->over || !plan(s) ||
        (s->packed == NULL && !pays(s))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_depthwise: sizes");
    }
    const int64_t bytes = places_of(s).all + EMBER_HVX;
    s->scratch = ember_node_scratch(node, (size_t)(bytes + room));
    s->room = s->scratch == NULL ? NULL : s->scratch + bytes;
    return ember_node_status(node);
}

ember_status_t ember_depthwise_hvx_prepare(ember_depthwise_hvx_t *s, ember_node_t *node,
                                           int64_t room) {
    s->packed = NULL;
    return prepare(s, node, room);
}

ember_status_t ember_depthwise_hvx_prepare_packed(ember_depthwise_hvx_t *s,
                                                  ember_node_t *node,
                                                  const int8_t *packed) {
    s->packed = packed;
    return prepare(s, node, 0);
}

// --- run -----------------------------------------------------------------------------

// Where a tap's words are from those of an output on.
static void set_offsets(const ember_depthwise_hvx_t *s, int32_t *offsets) {
    const ember_conv_s8_axis_t *w = &s->conv.width;

    for (int32_t group = 0; group < s->groups; group++) {
        for (int32_t x = 0; x < w->kernel; x++) {
            const int32_t column = x * w->dilation / w->stride;
            const int32_t part = x * w->dilation - column * w->stride;
            const int32_t at = (part * s->columns + column) * s->conv.channels;
            *offsets++ = (group * s->pitch + at) * WORD;
        }
    }
}

// The largest of the initial sums that the host has packed, without their signs.
static int32_t largest_start(const ember_depthwise_hvx_t *s, places_t at) {
    const int8_t *numbers = s->packed + at.numbers - at.weights;
    HVX_Vector most = Q6_V_vzero();

    for (int32_t i = 0; i < s->period; i += EMBER_HVX / WORD) {
        const HVX_Vector start =
            ember_hvx_load_any(numbers + EMBER_BIAS_HVX * EMBER_HVX);
        const HVX_Vector other = Q6_Vw_vsub_VwVw(Q6_V_vzero(), start);
        most = Q6_Vw_vmax_VwVw(most, Q6_Vw_vmax_VwVw(start, other));
        numbers += EMBER_NUMBERS_HVX * EMBER_HVX;
    }
    for (int32_t turn = EMBER_HVX / 2; turn >= WORD; turn /= 2) {
        most = Q6_Vw_vmax_VwVw(most, Q6_V_vror_VR(most, turn));
    }
    return Q6_R_vextract_VR(most, 0);
}

int32_t ember_depthwise_hvx_bound(const ember_depthwise_hvx_t *s) {
    const int32_t *bias = s->conv.scales.bias;
    const int32_t taps = s->groups * FOUR * s->conv.width.kernel;
    int64_t most = 0;

    if (s->packed != NULL) {
        most = largest_start(s, places_of(s));
    }
    for (int32_t i = 0; s->packed == NULL && bias != NULL && i < s->conv.channels;
         i++) {
        const int64_t size = bias[i] < 0 ? -(int64_t)bias[i] : bias[i];
        most = size > most ? size : most;
    }
    // Elements have eight bits, and with their offset nine.
    const int64_t bound = most + (int64_t)taps * UINT8_MAX * -INT8_MIN;
    return bound < INT32_MAX ? (int32_t)bound : INT32_MAX;
}

void ember_depthwise_hvx_run(const ember_depthwise_hvx_t *s,
                             const ember_ending_hvx_t *ending) {
    const ember_conv_s8_t *conv = &s->conv;
    const places_t at = places_of(s);
    int8_t *scratch = ember_aligned_hvx(s->scratch);
    int8_t *image = scratch + at.image;
    int32_t *offsets = (int32_t *)(void *)(scratch + at.offsets);
    int8_t *words = scratch + at.words;
    const ptrdiff_t pitch = (ptrdiff_t)conv->width.out * conv->channels;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;
    const int32_t blocks = (int32_t)((pitch + EMBER_HVX - 1) / EMBER_HVX);
    const int32_t period = s->period / EMBER_HVX;
    const sides_t sides = {
        .image = columns_before(conv->width.padding, conv->width.stride),
        .end = columns_before(conv->width.padding + conv->width.in, conv->width.stride),
        .padding = Q6_Vb_vsplat_R(-conv->x_offset),
    };
    const row_t row = {
        .words = words,
        .offsets = offsets,
        .taps = s->groups * conv->width.kernel,
        .next = s->period * WORD,
        .periods = blocks / period,
        .more = blocks % period,
        .shifted = conv->rows >= EMBER_ROWS_SHIFT,
        .zero_point = Q6_V_vsplat_R(conv->scales.zero_point),
        .zeros = Q6_V_vsplat_R(2 * conv->scales.zero_point),
        .low = Q6_Vb_vsplat_R(conv->scales.limits.low),
        .high = Q6_Vb_vsplat_R(conv->scales.limits.high),
        .end = y + conv->batches * conv->height.out * pitch,
        .ending = ending,
        .nearest = (HVX_Vector *)(void *)(scratch + at.nearest),
    };

    set_offsets(s, offsets);
    const int8_t *weights = filters_of(s, scratch, at);
    const HVX_Vector *numbers =
        (const HVX_Vector *)(const void *)(weights + at.numbers - at.weights);
    for (int32_t n = 0; n < conv->batches; n++) {
        set_image(s, &sides, x, image);
        for (int32_t i = 0; i < conv->height.out; i++) {
            const int32_t own = i & (s->sharing - 1); // one or two
            if (own == 0) {
                set_words(s, x, image, i, words);
            }
            run_row(s, &row, weights + own * row.taps * row.next, numbers, y);
            y += pitch;
        }
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
    }
}
