// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, static int8, three by three, by SDOT: its weights, and the
// walk over blocks of channels; depthwise_dot.h computes the rows.
#include "backends/xnnpack/nodes/depthwise.h"
#include "depthwise_dot.h"
#include "panel.h"

enum {
    CHANNELS = 8, // of a block
    HEAD = 4 * CHANNELS,
    BLOCK = HEAD + SIDE * 4 * CHANNELS
};

// --- weights -------------------------------------------------------------------------

static uint32_t blocks_of(uint32_t channels) {
    return (channels + CHANNELS - 1) / CHANNELS;
}

// Blocks of eight channels; the last one may overlap the block before.
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

// --- init ----------------------------------------------------------------------------

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t *params = node->params;
    const uint32_t channels = params[CONV_GROUPS];
    if (!xnn_types(node, XNN_QS8, XNN_QS8)) {
        return EMBER_UNSUPPORTED;
    }
    if (channels < CHANNELS) {
        return xnn_refuse(node, XNN_FEW_CHANNELS);
    }
    if (params[CONV_GROUP_OUTPUTS] != 1 || params[CONV_KERNEL] != SIDE ||
        params[CONV_KERNEL + 1] != SIDE ||
        params[CONV_STRIDE] != params[CONV_STRIDE + 1] || params[CONV_STRIDE] > 2 ||
        params[CONV_DILATION] != 1 || params[CONV_DILATION + 1] != 1) {
        return xnn_refuse(node, XNN_OTHER_WINDOW);
    }
    const ember_status_t status =
        ember_xnn_depthwise_prepare(graph, node, &ember_xnn_panel_qs8);
    if (status != EMBER_OK) {
        return status;
    }
    const ember_xnn_geometry_t geometry = {
        .groups = 1, .n = channels, .taps = SIDE * SIDE, .k = 1, .unit = CHANNELS};
    node->scratch = channels * (uint32_t)input->sizes[2]; // a row outside
    return ember_xnn_pack(graph, node, &layout, &geometry);
}

// --- execute -------------------------------------------------------------------------

// A block of channels from `first` on, of all images.
XNN_INLINE void run_block(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node,
                          const ember_xnn_window_t *window, const block_t *block,
                          size_t first, const int32_t stride) {
    const size_t channels = (size_t)window->channels;
    const size_t pitch = channels * (uint32_t)window->x.in;
    const size_t out = channels * (uint32_t)window->x.out;
    const int8_t *image = (const int8_t *)node->in[0]->constant + first;
    const int8_t *none = (const int8_t *)graph->work + first;
    lines_t lines = {.to = {(int8_t *)node->out[0]->data + first},
                     .width = window->x.in,
                     .channels = window->channels};
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->y.out; y += 2) {
            const int32_t top = y * stride - window->y.before;
            for (int32_t i = 0; i < SIDE + stride; i++) {
                const bool inside = (uint32_t)(top + i) < (uint32_t)window->y.in;
                lines.rows[i] = inside ? image + (size_t)(top + i) * pitch : none;
            }
            lines.to[1] = lines.to[0] + (y + 1 < window->y.out ? out : 0);
            run_lines(&lines, block, &window->x, stride);
            lines.to[0] = lines.to[1] + out;
        }
        image += pitch * (uint32_t)window->y.in;
    }
}

static block_t block_of(const ember_xnn_node_t *node, const ember_xnn_range_t *range,
                        const uint8_t *packed, uint32_t first) {
    int32_t start[CHANNELS];
    float scales[CHANNELS];
    ember_xnn_neon_columns_qs8(node, (const int32_t *)(const void *)packed, first,
                               CHANNELS, start, scales);
    block_t block = {.start = {vld1q_s32(start), vld1q_s32(start + 4)},
                     .round = xnn_neon_round(scales, range),
                     .outside = vdupq_n_s8((int8_t)node->in[0]->zero)};
    for (uint32_t i = 0; i < 2 * SIDE; i++) {
        const int8x16_t w = vld1q_s8((const int8_t *)packed + HEAD + 16 * i);
        block.w[i / 2][i % 2] = w;
        block.below[i / 2][i % 2] =
            vreinterpretq_s8_s32(vshlq_n_s32(vreinterpretq_s32_s8(w), 8));
    }
    return block;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    ember_xnn_range_t range;
    (void)!ember_xnn_window_read(node, &window);
    (void)ember_xnn_range(node, &range);
    const uint32_t channels = (uint32_t)window.channels;
    const uint8_t *packed = node->packed;
    memset(graph->work, node->in[0]->zero, (size_t)channels * (uint32_t)window.x.in);
    for (uint32_t i = 0; i < blocks_of(channels); i++, packed += BLOCK) {
        const uint32_t first = first_of(i, channels);
        const block_t block = block_of(node, &range, packed, first);
        if (window.x.stride == 1) {
            run_block(graph, node, &window, &block, first, 1);
        } else {
            run_block(graph, node, &window, &block, first, 2);
        }
    }
}

XNN_KERNEL_FOR(EMBER_CPU_DOT, depthwise_conv_2d_qs8_dot, NULL,
               ember_xnn_depthwise_shape, XNN_KIND(DEPTHWISE_CONV_2D));
