// SPDX-License-Identifier: Apache-2.0
// The mean of whole images of static int8 with HVX, 128 channels at a time.
#include "backends/xnnpack/nodes/pooling.h"
#include "elements_hvx.h"

enum {
    HALVES = 256,      // pixels whose sums fit in 16 bits
    PIXELS = 1 << 16,  // whose sums a float32 holds
    CHANNELS = 1 << 24 // bytes of a pixel
};

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    const bool known = (node->flags & ~(uint32_t)FLAG_KEEP_DIMS) == 0;
    return known && xnn_types(node, XNN_QS8, XNN_QS8) && xnn_is_open(node) &&
                   ember_xnn_mean_window(node, &window) && window.x.kernel <= PIXELS &&
                   window.channels <= CHANNELS
               ? ember_xnn_unary_prepare(graph, node)
               : EMBER_UNSUPPORTED;
}

// Up to HALVES pixels, each `channels` bytes from the next, of which `left` are added.
INLINE HVX_VectorPair sum_some(const int8_t *x, int32_t pixels, int32_t channels,
                               int32_t left) {
    HVX_Vector low = Q6_V_vzero(), high = Q6_V_vzero();
    for (int32_t i = 0; i < pixels; i++, x += channels) {
        const HVX_VectorPair halves = Q6_Wh_vunpack_Vb(ember_load_left_hvx(x, left));
        low = Q6_Vh_vadd_VhVh(low, Q6_V_lo_W(halves));
        high = Q6_Vh_vadd_VhVh(high, Q6_V_hi_W(halves));
    }
    return Q6_W_vcombine_VV(high, low);
}

static void sum_all(const ember_xnn_window_t *window, const int8_t *x, int32_t left,
                    int32_t *sums) {
    HVX_Vector words[4] = {Q6_V_vzero(), Q6_V_vzero(), Q6_V_vzero(), Q6_V_vzero()};
    for (int32_t rest = window->x.kernel; rest > 0; rest -= HALVES) {
        const int32_t pixels = rest < HALVES ? rest : HALVES;
        const HVX_VectorPair halves = sum_some(x, pixels, window->channels, left);
        const HVX_VectorPair low = Q6_Ww_vunpack_Vh(Q6_V_lo_W(halves));
        const HVX_VectorPair high = Q6_Ww_vunpack_Vh(Q6_V_hi_W(halves));
        words[0] = Q6_Vw_vadd_VwVw(words[0], Q6_V_lo_W(low));
        words[1] = Q6_Vw_vadd_VwVw(words[1], Q6_V_hi_W(low));
        words[2] = Q6_Vw_vadd_VwVw(words[2], Q6_V_lo_W(high));
        words[3] = Q6_Vw_vadd_VwVw(words[3], Q6_V_hi_W(high));
        x += pixels * window->channels;
    }
    EMBER_HVX_UNROLL
    for (int i = 0; i < 4; i++) {
        ember_hvx_store_any(sums + i * 32, words[i]);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const int8_t *x = node->in[0]->constant;
    int8_t *y = node->out[0]->data;
    int32_t sums[EMBER_HVX];
    ember_xnn_window_t window;
    (void)graph;
    (void)!ember_xnn_mean_window(node, &window);
    const ember_xnn_mean_t mean = ember_xnn_mean_s8(node, &window);
    for (int32_t b = 0; b < window.batch; b++) {
        for (int32_t c = 0; c < window.channels; c += EMBER_HVX) {
            const int32_t left = window.channels - c;
            sum_all(&window, x + c, left, sums);
            for (int32_t i = 0; i < EMBER_HVX && i < left; i++) {
                const float real = (float)sums[i] * mean.factor + mean.start;
                *y++ = (int8_t)xnn_round(real, INT8_MIN, INT8_MAX);
            }
        }
        x += window.x.kernel * window.channels;
    }
}

XNN_KERNEL(global_avg_pooling_2d_hvx, NULL, ember_xnn_mean_shape,
           XNN_KIND(GLOBAL_AVG_POOLING_2D));
