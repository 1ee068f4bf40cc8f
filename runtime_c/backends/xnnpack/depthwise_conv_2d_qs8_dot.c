// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, static int8, three by three, by SDOT: the three taps of a
// column of the window are a step, for four channels at once. A column that the next
// window has too is turned once.
#include "depthwise.h"
#include "neon.h"

#define XNN_INLINE static inline __attribute__((always_inline))
#include "panel.h"

enum {
    SIDE = 3,
    CHANNELS = 8,
    HEAD = 4 * CHANNELS,
    BLOCK = HEAD + SIDE * 4 * CHANNELS
};

// --- weights -------------------------------------------------------------------------

static uint32_t blocks_of(uint32_t channels) {
    return (channels + CHANNELS - 1) / CHANNELS;
}

// Blocks of eight channels; the last one may have some of the block before.
static uint32_t first_of(uint32_t block, uint32_t channels) {
    const uint32_t first = block * CHANNELS;
    return first + CHANNELS <= channels ? first : channels - CHANNELS;
}

static uint64_t size(const ember_xnn_geometry_t *geometry) {
    return (uint64_t)BLOCK * blocks_of(geometry->n);
}

// 8 int32 sums; then for each column of the window (channel, row), rows padded to four.
static void pack(const ember_xnn_geometry_t *geometry, const void *weights,
                 const void *scales, void *packed) {
    const uint32_t n = geometry->n;
    uint8_t *to = packed;
    (void)scales;
    memset(to, 0, (size_t)size(geometry));
    for (uint32_t block = 0; block < blocks_of(n); block++, to += BLOCK) {
        const int8_t *from = (const int8_t *)weights + first_of(block, n);
        int32_t sums[CHANNELS] = {0};
        for (uint32_t i = 0; i < SIDE * SIDE * CHANNELS; i++) {
            const uint32_t channel = i % CHANNELS;
            const uint32_t x = i / CHANNELS % SIDE;
            const uint32_t y = i / CHANNELS / SIDE;
            const int8_t w = from[(size_t)(y * SIDE + x) * n + channel];
            sums[channel] += w;
            to[HEAD + (x * CHANNELS + channel) * 4 + y] = (uint8_t)w;
        }
        memcpy(to, sums, sizeof(sums));
    }
}

static const ember_xnn_layout_t layout = {"depthwise_s8_3x3", size, pack, false};

// --- while the delegate starts -------------------------------------------------------

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t *params = node->params;
    const uint32_t channels = params[CONV_GROUPS];
    if (params[CONV_GROUP_OUTPUTS] != 1 || channels < CHANNELS ||
        params[CONV_KERNEL] != SIDE || params[CONV_KERNEL + 1] != SIDE ||
        params[CONV_STRIDE] != params[CONV_STRIDE + 1] || params[CONV_STRIDE] > 2 ||
        params[CONV_DILATION] != 1 || params[CONV_DILATION + 1] != 1) {
        return EMBER_UNSUPPORTED;
    }
    const ember_status_t status =
        ember_xnn_depthwise_prepare(graph, node, &ember_xnn_panel_qs8);
    if (status != EMBER_OK) {
        return status;
    }
    const ember_xnn_geometry_t geometry = {
        .groups = 1, .n = channels, .taps = SIDE * SIDE, .k = 1, .unit = CHANNELS};
    node->scratch = channels * (uint32_t)input->sizes[2]; // a line outside
    return ember_xnn_pack(graph, node, &layout, &geometry);
}

// --- while it runs -------------------------------------------------------------------

// Two lines of the output, whose windows are a row apart, or two.
typedef struct lines {
    const int8_t *rows[SIDE + 2]; // of the input, at the block's channels
    int8_t *to[2];                // of the output, too; one line: both the same
    const int8_t *weights;        // of the block
    const int32_t *start;
    const float *scales;
} lines_t;

// Four channels, four rows each, twice: of the window of the first line. Where windows
// are two rows apart, also of the second line's.
typedef struct column {
    int8x16_t of[4];
} column_t;

typedef struct weights {
    int8x16_t of[SIDE][2];
} weights_t;

// The low half is what counts.
static inline int8x16_t load_eight(const int8_t *from) {
    return vcombine_s8(vld1_s8(from), vdup_n_s8(0));
}

static inline void turn(int8x16_t upper, int8x16_t lower, int8x16_t *to) {
    const int16x8_t x = vreinterpretq_s16_s8(upper);
    const int16x8_t y = vreinterpretq_s16_s8(lower);
    to[0] = vreinterpretq_s8_s16(vzip1q_s16(x, y));
    to[1] = vreinterpretq_s8_s16(vzip2q_s16(x, y));
}

// Column x of the input, or zero points outside.
XNN_INLINE column_t load_column(const lines_t *lines, int32_t x, int32_t width,
                                ptrdiff_t channels, int8x16_t zero,
                                const int32_t stride) {
    column_t column = {{zero, zero, zero, zero}};
    if ((uint32_t)x < (uint32_t)width) {
        const ptrdiff_t at = x * channels;
        const int8x16_t upper =
            vzip1q_s8(load_eight(lines->rows[0] + at), load_eight(lines->rows[1] + at));
        const int8x16_t lower =
            vzip1q_s8(load_eight(lines->rows[2] + at), load_eight(lines->rows[3] + at));
        turn(upper, lower, column.of);
        if (stride == 2) {
            const int8x16_t last = load_eight(lines->rows[4] + at);
            turn(lower, vzip1q_s8(last, last), column.of + 2);
        }
    }
    return column;
}

// Sums of eight channels: three columns by their weights.
XNN_INLINE int16x8_t sum_up(const column_t *columns, const uint32_t first,
                            const weights_t *w, const int32x4_t *start,
                            const xnn_neon_round_t *round) {
    int32x4_t s[2];
    for (uint32_t i = 0; i < 2; i++) {
        s[i] = vdotq_s32(start[i], w->of[0][i], columns[0].of[first + i]);
        s[i] = vdotq_s32(s[i], w->of[1][i], columns[1].of[first + i]);
        s[i] = vdotq_s32(s[i], w->of[2][i], columns[2].of[first + i]);
    }
    return xnn_neon_rounded(s[0], s[1], round);
}

XNN_INLINE void run_lines(const lines_t *lines, const ember_xnn_window_t *window,
                          const ember_xnn_range_t *range, int8_t zero,
                          const int32_t stride) {
    const ember_xnn_axis_t *across = &window->x;
    const int8x16_t outside = vdupq_n_s8(zero);
    const int32x4_t start[] = {vld1q_s32(lines->start), vld1q_s32(lines->start + 4)};
    const xnn_neon_round_t round = xnn_neon_round(lines->scales, range);
    const ptrdiff_t channels = window->channels;
    const int32_t width = across->in;
    weights_t w, below; // the same for a window a row below
    for (uint32_t i = 0; i < 2 * SIDE; i++) {
        const int8x16_t own = vld1q_s8(lines->weights + 16 * i);
        w.of[i / 2][i % 2] = own;
        below.of[i / 2][i % 2] =
            vreinterpretq_s8_s32(vshlq_n_s32(vreinterpretq_s32_s8(own), 8));
    }
    int32_t x = -across->before;
    column_t c[SIDE];
    c[0] = load_column(lines, x, width, channels, outside, stride);
    c[1] = load_column(lines, x + 1, width, channels, outside, stride);
    ptrdiff_t at = 0;
#pragma GCC unroll 3
    for (int32_t i = 0; i < across->out; i++, x += stride, at += channels) {
        c[2] = load_column(lines, x + 2, width, channels, outside, stride);
        const int16x8_t upper = sum_up(c, 0, &w, start, &round);
        const int16x8_t lower = stride == 1 ? sum_up(c, 0, &below, start, &round)
                                            : sum_up(c, 2, &w, start, &round);
        int8x16_t out = vqmovn_high_s16(vqmovn_s16(upper), lower);
        out = vminq_s8(vmaxq_s8(out, round.low), round.high);
        vst1_s8(lines->to[1] + at, vget_high_s8(out));
        vst1_s8(lines->to[0] + at, vget_low_s8(out));
        if (stride == 1) {
            c[0] = c[1];
            c[1] = c[2];
        } else {
            c[0] = c[2];
            c[1] = load_column(lines, x + 3, width, channels, outside, stride);
        }
    }
}

// A block of channels of an image.
static void run_image(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node,
                      const ember_xnn_window_t *window, const int8_t *image,
                      lines_t *lines, size_t first) {
    const size_t channels = (size_t)window->channels;
    const size_t pitch = channels * (uint32_t)window->x.in;
    const size_t out = channels * (uint32_t)window->x.out;
    const int8_t zero = (int8_t)node->in[0]->zero;
    ember_xnn_range_t range;
    (void)ember_xnn_range(node, &range);
    for (int32_t y = 0; y < window->y.out; y += 2) {
        const int32_t top = y * window->y.stride - window->y.before;
        for (int32_t i = 0; i < SIDE + 2; i++) {
            const bool inside = (uint32_t)(top + i) < (uint32_t)window->y.in;
            lines->rows[i] = inside ? image + (size_t)(top + i) * pitch
                                    : (const int8_t *)graph->work + first;
        }
        lines->to[1] = lines->to[0] + (y + 1 < window->y.out ? out : 0);
        if (window->x.stride == 1) {
            run_lines(lines, window, &range, zero, 1);
        } else {
            run_lines(lines, window, &range, zero, 2);
        }
        lines->to[0] = lines->to[1] + out;
    }
}

static void run_block(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node,
                      const ember_xnn_window_t *window, uint32_t block) {
    const uint32_t channels = (uint32_t)window->channels;
    const uint32_t first = first_of(block, channels);
    const uint8_t *packed = (const uint8_t *)node->packed + (size_t)block * BLOCK;
    int32_t start[CHANNELS];
    float scales[CHANNELS];
    ember_xnn_neon_columns_qs8(node, (const int32_t *)(const void *)packed, first,
                               CHANNELS, start, scales);
    lines_t lines = {.weights = (const int8_t *)packed + HEAD,
                     .to = {(int8_t *)node->out[0]->data + first},
                     .start = start,
                     .scales = scales};
    const size_t size = (size_t)channels * (uint32_t)(window->x.in * window->y.in);
    const int8_t *image = (const int8_t *)node->in[0]->constant + first;
    for (int32_t b = 0; b < window->batch; b++, image += size) {
        run_image(graph, node, window, image, &lines, first);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    (void)!ember_xnn_window_read(node, &window);
    memset(graph->work, node->in[0]->zero,
           (size_t)window.channels * (uint32_t)window.x.in);
    for (uint32_t block = 0; block < blocks_of((uint32_t)window.channels); block++) {
        run_block(graph, node, &window, block);
    }
}

XNN_KERNEL_FOR(EMBER_CPU_DOT, depthwise_conv_2d_qs8_dot, NULL,
               ember_xnn_depthwise_shape, XNN_KIND(DEPTHWISE_CONV_2D));
