// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, static int8, with HVX.
//
// The outputs of a row are one array of (columns, channels), computed 128 at a time.
// The image is padded, and its rows are split into as many parts as the stride, so that
// the columns of neighbouring outputs are adjacent. Elements of four taps are combined
// to words, which one instruction multiplies by four weights. Weights and parameters of
// all channels are repeated periodically, so that a row may be read from any channel
// on.
#include "backends/xnnpack/nodes/depthwise.h"

#include "backends/xnnpack/graph/packing.h"
#include "requantise_hvx.h"

enum { WORD = 4, TAPS = 4, WORDS = 4 }; // of a vector of bytes
enum { STARTS, SIGNIFICANDS, RIGHT, LINES };
enum { BYTES_MAX = 1 << 28, CHANNELS_MAX = 1 << 20, PRODUCTS_MIN = 1024 };

// --- weights -------------------------------------------------------------------------

// int32 sums of the channels' weights, then for every four taps a word of weights for
// each channel.
static uint64_t size(const ember_xnn_geometry_t *geometry) {
    const uint64_t fours = ((uint64_t)geometry->taps + TAPS - 1) / TAPS;
    return (1 + fours) * WORD * geometry->n;
}

static void pack(const ember_xnn_geometry_t *geometry, const void *weights,
                 const void *scales, void *packed) {
    const uint32_t n = geometry->n;
    uint8_t *words = (uint8_t *)packed + (size_t)WORD * n;
    (void)scales;
    memset(packed, 0, (size_t)size(geometry));
    for (uint32_t channel = 0; channel < n; channel++) {
        int32_t sum = 0;
        for (uint32_t tap = 0; tap < geometry->taps; tap++) {
            const int8_t w = ((const int8_t *)weights)[(size_t)tap * n + channel];
            const size_t word = (size_t)(tap / TAPS) * n + channel;
            words[word * WORD + tap % TAPS] = (uint8_t)w;
            sum += w;
        }
        memcpy((uint8_t *)packed + (size_t)WORD * channel, &sum, sizeof(sum));
    }
}

static const ember_xnn_layout_t layout = {"depthwise_hvx", size, pack, false};

static ember_xnn_geometry_t geometry_of(const ember_xnn_node_t *node) {
    const uint32_t *params = node->params;
    return (ember_xnn_geometry_t){.groups = 1,
                                  .n = ember_xnn_depthwise_outputs(node),
                                  .taps = params[CONV_KERNEL] * params[CONV_KERNEL + 1],
                                  .k = 1};
}

// --- the plan ------------------------------------------------------------------------

typedef struct plan {
    ember_xnn_window_t window;
    int32_t channels; // of the output
    int32_t repeats;  // outputs of a channel
    int32_t fours;    // of taps
    int32_t rows;     // of a padded image
    int32_t columns;  // of a part of a row
    int64_t part;     // bytes from one part of a row to the next
    int64_t pitch;    // and from one row to the next
    int64_t line;     // bytes of the periodic words of all channels
    int64_t offsets;  // where things are in scratch
    int64_t lines;
    int64_t image;
    int64_t all;
} plan_t;

static int32_t reach(const ember_xnn_axis_t *axis) {
    return (axis->kernel - 1) * axis->dilation + 1;
}

static int64_t vectors(int64_t bytes) {
    return (bytes + EMBER_HVX - 1) / EMBER_HVX * EMBER_HVX;
}

// False if something is too large.
static bool plan_of(plan_t *plan, const ember_xnn_node_t *node) {
    const ember_xnn_axis_t *y = &plan->window.y, *x = &plan->window.x;
    if (!ember_xnn_window_read(node, &plan->window) ||
        (int64_t)y->kernel * y->dilation >= 1 << 14 || y->stride >= 1 << 10 ||
        (int64_t)x->kernel * x->dilation >= 1 << 14 || x->stride >= 1 << 10 ||
        ember_xnn_depthwise_outputs(node) >= CHANNELS_MAX || y->out >= 1 << 16 ||
        x->out >= 1 << 16 || y->kernel * x->kernel >= 1 << 12) {
        return false;
    }
    plan->channels = (int32_t)ember_xnn_depthwise_outputs(node);
    plan->repeats = (int32_t)node->params[CONV_GROUP_OUTPUTS];
    plan->fours = (y->kernel * x->kernel + TAPS - 1) / TAPS;
    plan->rows = (y->out - 1) * y->stride + reach(y);
    plan->columns = x->out + (reach(x) - 1) / x->stride;
    plan->part = (int64_t)plan->columns * plan->channels;
    plan->pitch = plan->part * x->stride;
    plan->line = vectors((int64_t)plan->channels * WORD) + WORDS * EMBER_HVX;
    plan->offsets = 0;
    plan->lines = vectors((int64_t)plan->fours * TAPS * WORD);
    plan->image = plan->lines + (LINES + plan->fours) * plan->line + EMBER_HVX;
    plan->all = plan->image + plan->rows * plan->pitch + 3 * EMBER_HVX;
    return plan->all < BYTES_MAX;
}

// --- init ----------------------------------------------------------------------------

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_status_t status =
        ember_xnn_depthwise_prepare(graph, node, &ember_xnn_type_qs8);
    const ember_xnn_geometry_t geometry = geometry_of(node);
    plan_t plan;
    if (status != EMBER_OK) {
        return status;
    }
    for (uint32_t i = 0; i < geometry.n; i++) {
        if (!xnn_hvx_is_scale(node->scales[i])) {
            return xnn_refuse(node, XNN_ODD_SCALES);
        }
    }
    if (ember_xnn_work(node) < PRODUCTS_MIN || !plan_of(&plan, node)) {
        return EMBER_UNSUPPORTED;
    }
    node->scratch = (uint32_t)plan.all;
    return ember_xnn_pack(graph, node, &layout, &geometry);
}

// --- lines ---------------------------------------------------------------------------

// A row of words that repeats those of all channels.
static void repeat(uint8_t *to, const void *words, int32_t channels, int64_t bytes) {
    const int64_t own = (int64_t)channels * WORD;
    const uint8_t *from = words;
    for (int64_t at = 0; at < bytes; at += own) {
        const int64_t some = bytes - at < own ? bytes - at : own;
        for (int64_t i = 0; i < some; i += EMBER_HVX) {
            const int32_t left = some - i < EMBER_HVX ? (int32_t)(some - i) : EMBER_HVX;
            const HVX_Vector x = ember_load_left_hvx((const int8_t *)from + i, left);
            ember_store_left_hvx((int8_t *)to + at + i, x, left);
        }
        from = to;
    }
}

// Turns sums of weights into the initial values of the accumulators.
static void set_starts(const plan_t *plan, const ember_xnn_node_t *node,
                       uint8_t *starts, uint8_t *room) {
    const uint32_t zero = (uint16_t)-node->in[0]->zero;
    if (node->in[2] != NULL) {
        repeat(room, node->in[2]->constant, plan->channels, plan->line);
    }
    for (int64_t i = 0; i < plan->line; i += EMBER_HVX) {
        const HVX_Vector own = ember_hvx_load(starts + i);
        const HVX_Vector by = Q6_Vw_vmpyi_VwRh(own, (int32_t)(zero << 16 | zero));
        const HVX_Vector bias =
            node->in[2] != NULL ? ember_hvx_load(room + i) : Q6_V_vzero();
        ember_hvx_store(starts + i, Q6_Vw_vadd_VwVw(bias, by));
    }
}

static void set_lines(const plan_t *plan, const ember_xnn_node_t *node,
                      uint8_t *lines) {
    const uint8_t *packed = node->packed;
    uint8_t *scales = lines + SIGNIFICANDS * plan->line;
    repeat(lines + STARTS * plan->line, packed, plan->channels, plan->line);
    set_starts(plan, node, lines + STARTS * plan->line, scales);
    repeat(scales, node->scales, plan->channels, plan->line);
    for (int64_t i = 0; i < plan->line; i += EMBER_HVX) {
        const xnn_hvx_scales_t by = xnn_hvx_scales(ember_hvx_load(scales + i));
        ember_hvx_store(scales + i, by.significands);
        ember_hvx_store(lines + RIGHT * plan->line + i, by.right);
    }
    for (int32_t i = 0; i < plan->fours; i++) {
        packed += (size_t)plan->channels * WORD;
        repeat(lines + (LINES + i) * plan->line, packed, plan->channels, plan->line);
    }
}

// Offsets of the taps' elements, relative to the first tap.
static void set_offsets(const plan_t *plan, int32_t *offsets) {
    const ember_xnn_axis_t *y = &plan->window.y, *x = &plan->window.x;
    const int32_t taps = y->kernel * x->kernel;
    for (int32_t i = 0; i < plan->fours * TAPS; i++) {
        const int32_t tap = i < taps ? i : 0; // its weight is 0
        const int32_t down = tap / x->kernel * y->dilation;
        const int32_t across = tap % x->kernel * x->dilation;
        offsets[i] = (int32_t)(down * plan->pitch + across % x->stride * plan->part) +
                     across / x->stride * plan->channels;
    }
}

// --- the image -----------------------------------------------------------------------

static void fill(int8_t *to, int8_t with, int64_t count) {
    const HVX_Vector x = Q6_Vb_vsplat_R(with);
    for (int64_t i = 0; i < count; i += EMBER_HVX) {
        ember_hvx_store_any(to + i, x);
    }
}

// A pixel's channels, each repeated for each of its outputs.
static void put_pixel(const plan_t *plan, const int8_t *x, int8_t *to) {
    if (plan->repeats > 1) {
        for (int32_t i = 0; i < plan->channels; i++) {
            to[i] = x[i / plan->repeats];
        }
        return;
    }
    for (int32_t at = 0; at < plan->channels; at += EMBER_HVX) {
        const int32_t left = plan->channels - at;
        ember_store_left_hvx(to + at, ember_load_left_hvx(x + at, left), left);
    }
}

// Pixels that are adjacent in the image, too.
static void put_run(const int8_t *x, int64_t count, int8_t *to) {
    for (int64_t at = 0; at < count; at += EMBER_HVX) {
        const int32_t left = count - at < EMBER_HVX ? (int32_t)(count - at) : EMBER_HVX;
        ember_store_left_hvx(to + at, ember_load_left_hvx(x + at, left), left);
    }
}

static void put_row(const plan_t *plan, const int8_t *x, int8_t *to) {
    const ember_xnn_axis_t *across = &plan->window.x;
    const int32_t most = plan->columns * across->stride - across->before;
    const int32_t count = across->in < most ? across->in : most;
    if (across->stride == 1 && plan->repeats == 1) {
        put_run(x, (int64_t)count * plan->channels,
                to + (int64_t)across->before * plan->channels);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t at = i + across->before;
        put_pixel(plan, x,
                  to + at % across->stride * plan->part +
                      (int64_t)(at / across->stride) * plan->channels);
        x += plan->window.channels;
    }
}

static void put_image(const plan_t *plan, const int8_t *x, int8_t zero, int8_t *to) {
    const ember_xnn_axis_t *down = &plan->window.y;
    fill(to, zero, plan->rows * plan->pitch + EMBER_HVX);
    for (int32_t i = 0; i < down->in && i + down->before < plan->rows; i++) {
        put_row(plan, x, to + (i + down->before) * plan->pitch);
        x += (size_t)plan->window.x.in * (size_t)plan->window.channels;
    }
}

// --- products ------------------------------------------------------------------------

// Adds the products of four taps of 128 elements.
INLINE void add_taps(const int8_t *x, const int32_t *offsets, const uint8_t *weights,
                     HVX_Vector *sums) {
    const HVX_Vector a = ember_hvx_load_any(x + offsets[0]);
    const HVX_Vector b = ember_hvx_load_any(x + offsets[1]);
    const HVX_Vector c = ember_hvx_load_any(x + offsets[2]);
    const HVX_Vector d = ember_hvx_load_any(x + offsets[3]);
    const HVX_VectorPair ab = Q6_W_vshuff_VVR(b, a, -1);
    const HVX_VectorPair cd = Q6_W_vshuff_VVR(d, c, -1);
    const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(cd), Q6_V_lo_W(ab), -2);
    const HVX_VectorPair high = Q6_W_vshuff_VVR(Q6_V_hi_W(cd), Q6_V_hi_W(ab), -2);
    const HVX_Vector words[WORDS] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high),
                                     Q6_V_hi_W(high)};
    EMBER_HVX_UNROLL
    for (int i = 0; i < WORDS; i++) {
        const HVX_Vector w = ember_hvx_load_any(weights + i * EMBER_HVX);
        sums[i] = Q6_Vw_vrmpyacc_VwVbVb(sums[i], words[i], w);
    }
}

// 128 outputs from channel `channel` on.
INLINE HVX_Vector outputs(const plan_t *plan, const int8_t *x, const int32_t *offsets,
                          const uint8_t *lines, int32_t channel,
                          const xnn_hvx_bounds_t *bounds) {
    const uint8_t *line = lines + (size_t)channel * WORD;
    const uint8_t *weights = line + LINES * plan->line;
    HVX_Vector sums[WORDS];
    EMBER_HVX_UNROLL
    for (int i = 0; i < WORDS; i++) {
        sums[i] = ember_hvx_load_any(line + STARTS * plan->line + i * EMBER_HVX);
    }
    for (int32_t n = 0; n < plan->fours; n++) {
        add_taps(x, offsets, weights, sums);
        offsets += TAPS;
        weights += plan->line;
    }
    EMBER_HVX_UNROLL
    for (int i = 0; i < WORDS; i++) {
        const xnn_hvx_scales_t by = {
            ember_hvx_load_any(line + SIGNIFICANDS * plan->line + i * EMBER_HVX),
            ember_hvx_load_any(line + RIGHT * plan->line + i * EMBER_HVX)};
        sums[i] = xnn_hvx_scaled(sums[i], &by);
    }
    return xnn_hvx_bytes(sums, bounds);
}

static void run_image(const plan_t *plan, const uint8_t *scratch,
                      const xnn_hvx_bounds_t *bounds, int8_t *y) {
    const int32_t *offsets = (const int32_t *)(const void *)(scratch + plan->offsets);
    const int8_t *x = (const int8_t *)scratch + plan->image;
    const int32_t count = plan->window.x.out * plan->channels;
    const int32_t step = EMBER_HVX % plan->channels;
    for (int32_t row = 0; row < plan->window.y.out; row++) {
        int32_t channel = 0;
        for (int32_t i = 0; i < count; i += EMBER_HVX) {
            const HVX_Vector bytes =
                outputs(plan, x + i, offsets, scratch + plan->lines, channel, bounds);
            ember_store_left_hvx(y + i, bytes, count - i);
            channel += step;
            channel -= channel < plan->channels ? 0 : plan->channels;
        }
        x += plan->window.y.stride * plan->pitch;
        y += count;
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    uint8_t *scratch = (uint8_t *)ember_aligned_hvx((int8_t *)graph->work);
    const int8_t *x = node->in[0]->constant;
    int8_t *y = node->out[0]->data;
    ember_xnn_range_t range;
    plan_t plan;
    if (!plan_of(&plan, node)) {
        return;
    }
    (void)ember_xnn_range(node, &range);
    const xnn_hvx_bounds_t bounds = xnn_hvx_bounds(&range);
    const ember_xnn_axis_t *down = &plan.window.y, *across = &plan.window.x;
    set_offsets(&plan, (int32_t *)(void *)(scratch + plan.offsets));
    set_lines(&plan, node, scratch + plan.lines);
    for (int32_t i = 0; i < plan.window.batch; i++) {
        put_image(&plan, x, (int8_t)node->in[0]->zero, (int8_t *)scratch + plan.image);
        run_image(&plan, scratch, &bounds, y);
        x += (size_t)down->in * (size_t)across->in * (size_t)plan.window.channels;
        y += (size_t)down->out * (size_t)across->out * (size_t)plan.channels;
    }
}

XNN_KERNEL(depthwise_conv_2d_qs8_hvx, NULL, ember_xnn_depthwise_shape,
           XNN_KIND(DEPTHWISE_CONV_2D));
