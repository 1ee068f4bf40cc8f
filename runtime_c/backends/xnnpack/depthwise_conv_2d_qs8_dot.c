// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, static int8, three by three, by SDOT: the three taps of a
// column of the window are a step, for four channels at once. A column that the next
// window has too is turned once.
#include "depthwise.h"
#include "neon.h"
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
        params[CONV_STRIDE + 1] > 2 || params[CONV_DILATION] != 1 ||
        params[CONV_DILATION + 1] != 1) {
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

typedef struct line {
    const int8_t *rows[SIDE]; // of the input, at the block's channels
    int8_t *to;               // of the output, too
    const int8_t *weights;    // of the block
    const int32_t *start;
    const float *scales;
} line_t;

// Four channels, four rows each, twice.
typedef struct column {
    int8x16_t low;
    int8x16_t high;
} column_t;

static inline column_t turned(int8x8_t r0, int8x8_t r1, int8x8_t r2) {
    const int8x16_t none = vdupq_n_s8(0);
    const int8x16_t upper =
        vzip1q_s8(vcombine_s8(r0, r0), vcombine_s8(r1, r1)); // row 0, row 1
    const int8x16_t lower = vzip1q_s8(vcombine_s8(r2, r2), none);
    const int16x8_t x = vreinterpretq_s16_s8(upper);
    const int16x8_t y = vreinterpretq_s16_s8(lower);
    return (column_t){vreinterpretq_s8_s16(vzip1q_s16(x, y)),
                      vreinterpretq_s8_s16(vzip2q_s16(x, y))};
}

// Column x of the input, or zero points outside.
static inline column_t load_column(const line_t *line, int32_t x, int32_t width,
                                   ptrdiff_t channels, int8x8_t zero) {
    if ((uint32_t)x >= (uint32_t)width) {
        return turned(zero, zero, zero);
    }
    const ptrdiff_t at = x * channels;
    return turned(vld1_s8(line->rows[0] + at), vld1_s8(line->rows[1] + at),
                  vld1_s8(line->rows[2] + at));
}

// A line of the output, of eight channels.
static void run_line(const line_t *line, const ember_xnn_window_t *window,
                     const ember_xnn_range_t *range, int8_t zero) {
    const ember_xnn_axis_t *across = &window->x;
    const int8x8_t outside = vdup_n_s8(zero);
    const int8_t *w = line->weights;
    const int8x16_t w0 = vld1q_s8(w), w1 = vld1q_s8(w + 16), w2 = vld1q_s8(w + 32),
                    w3 = vld1q_s8(w + 48), w4 = vld1q_s8(w + 64), w5 = vld1q_s8(w + 80);
    const int32x4_t b0 = vld1q_s32(line->start), b1 = vld1q_s32(line->start + 4);
    const xnn_neon_round_t round = xnn_neon_round(line->scales, range);
    const ptrdiff_t channels = window->channels;
    const int32_t width = across->in;
    int8_t *to = line->to;
    int32_t x = -across->before;
    column_t c0 = load_column(line, x, width, channels, outside);
    column_t c1 = load_column(line, x + 1, width, channels, outside);
    for (int32_t i = 0; i < across->out; i++, x += across->stride, to += channels) {
        const column_t c2 = load_column(line, x + 2, width, channels, outside);
        int32x4_t s0 = vdotq_s32(b0, w0, c0.low);
        int32x4_t s1 = vdotq_s32(b1, w1, c0.high);
        s0 = vdotq_s32(s0, w2, c1.low);
        s1 = vdotq_s32(s1, w3, c1.high);
        s0 = vdotq_s32(s0, w4, c2.low);
        s1 = vdotq_s32(s1, w5, c2.high);
        vst1_s8(to,
                xnn_neon_bound(vqmovn_s16(xnn_neon_rounded(s0, s1, &round)), &round));
        if (across->stride == 1) {
            c0 = c1;
            c1 = c2;
        } else {
            c0 = c2;
            c1 = load_column(line, x + 3, width, channels, outside);
        }
    }
}

static void run_block(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node,
                      const ember_xnn_window_t *window, uint32_t block) {
    const uint32_t channels = (uint32_t)window->channels;
    const uint32_t first = first_of(block, channels);
    const uint8_t *packed = (const uint8_t *)node->packed + (size_t)block * BLOCK;
    const size_t pitch = (size_t)channels * (uint32_t)window->x.in;
    int32_t start[CHANNELS];
    float scales[CHANNELS];
    ember_xnn_range_t range;
    (void)ember_xnn_range(node, &range);
    ember_xnn_neon_columns_qs8(node, (const int32_t *)(const void *)packed, first,
                               CHANNELS, start, scales);
    line_t line = {.weights = (const int8_t *)packed + HEAD,
                   .to = (int8_t *)node->out[0]->data + first,
                   .start = start,
                   .scales = scales};
    const int8_t *image = (const int8_t *)node->in[0]->constant + first;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->y.out; y++) {
            const int32_t top = y * window->y.stride - window->y.before;
            for (int32_t i = 0; i < SIDE; i++) {
                const bool inside = (uint32_t)(top + i) < (uint32_t)window->y.in;
                line.rows[i] = inside ? image + (size_t)(top + i) * pitch
                                      : (const int8_t *)graph->work + first;
            }
            run_line(&line, window, &range, (int8_t)node->in[0]->zero);
            line.to += (size_t)channels * (uint32_t)window->x.out;
        }
        image += pitch * (size_t)window->y.in;
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
