// SPDX-License-Identifier: Apache-2.0
// Bilinear upsampling of uint8. Contract: upsample_u8.h.
#include "kernels/movement/upsample_u8.h"

// A span in scratch: the first pixel, how many are mixed, then their weights.
enum { FIRST, COUNT, WEIGHTS };
enum { MOST_TAPS = 1 << 20, MOST_BITS = 22, MOST_WEIGHT = 1 << 15 };

// Of a weight: float64, which most cores compute in software.
enum { WEIGHT_STEPS = 32 };

static double larger(double a, double b) {
    return a > b ? a : b;
}

static int32_t within(double x, int32_t size) {
    return x > 0.0 ? (x < (double)size ? (int32_t)x : size) : 0;
}

// The span of output position `at`: returns the position of its triangle's top relative
// to its first pixel.
static double place(const ember_upsample_u8_t *s, uint32_t d, int32_t at,
                    int32_t *span) {
    const int32_t size = s->at.in_size[d];
    const double step = s->step[d];
    const double top = step * ((double)at + 0.5) - 0.5;

    if (s->smooth) {
        const double reach = larger(step, 1.0);
        span[FIRST] = within(top - reach + 1.0, size);
        span[COUNT] = within(top + reach + 1.0, size) - span[FIRST];
        return top - (double)span[FIRST];
    }
    const double real = s->align ? step * (double)at : larger(top, 0.0);
    span[FIRST] = within(real, size - 1);
    span[COUNT] = span[FIRST] < size - 1 ? 2 : 1;
    return span[COUNT] == 2 ? real - (double)span[FIRST] : 0.0;
}

// The weight of pixel `i` of a span, before normalisation.
static double height(const ember_upsample_u8_t *s, uint32_t d, double top, int32_t i) {
    const double away = top > (double)i ? top - (double)i : (double)i - top;
    return larger(1.0 - away / (s->smooth ? larger(s->step[d], 1.0) : 1.0), 0.0);
}

static double total(const ember_upsample_u8_t *s, uint32_t d, double top,
                    int32_t count) {
    double sum = 0.0;
    for (int32_t i = 0; i < count; i++) {
        sum += height(s, d, top, i);
    }
    return sum;
}

static double heaviest(const ember_upsample_u8_t *s, uint32_t d) {
    double most = 0.0;
    for (int32_t at = 0; at < s->at.sizes[2 + d]; at++) {
        int32_t span[WEIGHTS];
        const double top = place(s, d, at, span);
        const double sum = total(s, d, top, span[COUNT]);
        for (int32_t i = 0; i < span[COUNT]; i++) {
            most = larger(most, height(s, d, top, i) / sum);
        }
    }
    return most;
}

// Writes the spans of a dimension; returns the number of fraction bits.
static uint32_t fill(const ember_upsample_u8_t *s, uint32_t d) {
    int32_t *span = s->spans[d];
    uint32_t bits = 0;

    if (s->at.in_size[d] == s->at.sizes[2 + d]) { // each pixel stays
        for (int32_t at = 0; at < s->at.sizes[2 + d];
             at++, span += WEIGHTS + s->taps[d]) {
            span[FIRST] = at;
            span[COUNT] = 1;
            span[WEIGHTS] = 1;
        }
        return 0;
    }
    const double most = heaviest(s, d);
    while (bits < MOST_BITS &&
           0.5 + most * (double)(UINT32_C(2) << bits) < (double)MOST_WEIGHT) {
        bits++;
    }
    for (int32_t at = 0; at < s->at.sizes[2 + d]; at++, span += WEIGHTS + s->taps[d]) {
        const double top = place(s, d, at, span);
        const double sum = total(s, d, top, span[COUNT]);
        for (int32_t i = 0; i < span[COUNT]; i++) {
            const double weight = height(s, d, top, i) / sum;
            span[WEIGHTS + i] = (int32_t)(weight * (double)(UINT32_C(1) << bits) + 0.5);
        }
    }
    return bits;
}

static int32_t rounded(int32_t sum, uint32_t bits) {
    const int32_t number = (sum + (int32_t)((UINT32_C(1) << bits) / 2)) >> bits;
    return number < (int32_t)UINT8_MAX ? number : (int32_t)UINT8_MAX;
}

static uint8_t pixel(const ember_upsample_u8_t *s, const uint8_t *plane,
                     const int32_t *rows, const int32_t *columns,
                     const uint32_t *bits) {
    int32_t mixed = 0;

    for (int32_t i = 0; i < rows[COUNT]; i++) {
        const uint8_t *at = plane + (ptrdiff_t)(rows[FIRST] + i) * s->at.from[2] +
                            (ptrdiff_t)columns[FIRST] * s->at.from[3];
        int32_t sum = 0;
        for (int32_t j = 0; j < columns[COUNT]; j++, at += s->at.from[3]) {
            sum += *at * columns[WEIGHTS + j];
        }
        mixed += rounded(sum, bits[1]) * rows[WEIGHTS + i];
    }
    return (uint8_t)rounded(mixed, bits[0]);
}

static void run_plane(const ember_upsample_u8_t *s, uint8_t *out, const uint8_t *plane,
                      const uint32_t *bits) {
    const int32_t *rows = s->spans[0];

    for (int32_t i = 0; i < s->at.sizes[2]; i++, rows += WEIGHTS + s->taps[0]) {
        const int32_t *columns = s->spans[1];
        for (int32_t j = 0; j < s->at.sizes[3]; j++, columns += WEIGHTS + s->taps[1]) {
            out[(ptrdiff_t)i * s->at.to[2] + (ptrdiff_t)j * s->at.to[3]] =
                pixel(s, plane, rows, columns, bits);
        }
    }
}

void ember_upsample_u8_run(const ember_upsample_u8_t *s) {
    const uint32_t bits[] = {fill(s, 0), fill(s, 1)};

    for (int32_t n = 0; n < s->at.sizes[0]; n++) {
        for (int32_t c = 0; c < s->at.sizes[1]; c++) {
            run_plane(
                s, s->out + (ptrdiff_t)n * s->at.to[0] + (ptrdiff_t)c * s->at.to[1],
                s->in + (ptrdiff_t)n * s->at.from[0] + (ptrdiff_t)c * s->at.from[1],
                bits);
        }
    }
}

ember_status_t ember_upsample_u8_prepare(ember_upsample_u8_t *s, ember_node_t *node,
                                         const ember_upsample_t *up, bool align,
                                         bool smooth) {
    size_t words[2];

    if (up->in.dtype != EMBER_U8) {
        return EMBER_UNSUPPORTED;
    }
    s->out = (uint8_t *)up->out.data;
    s->in = (const uint8_t *)up->in.data;
    s->align = align;
    s->smooth = smooth;
    ember_upsample_places(&s->at, up);
    for (uint32_t d = 0; d < 2; d++) {
        s->step[d] = ember_upsample_wide_step(up, d, align);
        const double taps = smooth ? 2.0 * larger(s->step[d], 1.0) + 2.0 : 2.0;
        const double most = (double)s->at.in_size[d] + 1.0; // no output mixes more
        s->taps[d] = (int32_t)(taps < most ? taps : most);
        if (!(s->step[d] <= 1e9) || s->taps[d] > MOST_TAPS ||
            s->at.sizes[2 + d] > MOST_TAPS) {
            return ember_node_fail(node, EMBER_UNSUPPORTED, "upsample: size");
        }
        words[d] = (size_t)s->at.sizes[2 + d] * (size_t)(WEIGHTS + s->taps[d]);
    }
    if (words[0] > INT32_MAX / 16 || words[1] > INT32_MAX / 16) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "upsample: size");
    }
    ember_node_work(node, (uint32_t)ember_view_numel(&up->out),
                    (uint32_t)s->taps[0] * (uint32_t)s->taps[1]);
    ember_node_work(node, (uint32_t)(words[0] + words[1]), WEIGHT_STEPS);
    s->spans[0] = ember_node_scratch(node, (words[0] + words[1]) * sizeof(int32_t));
    s->spans[1] = s->spans[0] == NULL ? NULL : s->spans[0] + words[0];
    return ember_node_status(node);
}
