// SPDX-License-Identifier: Apache-2.0
// quantized_max_pool2d, portable. Contract: quantized_max_pool2d.h.
#include "kernels/cortex_m/quantized_max_pool2d.h"

enum { DILATION = 4, CEIL_MODE, X_ZERO, Y_ZERO, LOW, HIGH, OUT };

static int32_t most(const ember_image_s8_t *image, ember_window_s8_t window) {
    int32_t best = INT8_MIN;

    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            best = *x > best ? *x : best;
            x += image->column;
        }
        window.x += image->row;
    }
    return best;
}

void ember_max_pool_s8_channels(const ember_max_pool_s8_t *s, ember_window_s8_t window,
                                int8_t *y, int32_t count) {
    for (int32_t c = 0; c < count; c++) {
        *y = ember_limit_s8(most(&s->pool.in, window), s->limits);
        window.x += s->pool.in.channel;
        y += s->pool.out.channel;
    }
}

static void one(const void *state, ember_window_s8_t window, int8_t *y) {
    const ember_max_pool_s8_t *s = state;
    ember_max_pool_s8_channels(s, window, y, s->pool.channels);
}

static int32_t run(void *state) {
    const ember_max_pool_s8_t *s = state;
    ember_pool_s8_run(&s->pool, one, s);
    return EMBER_OK;
}

ember_status_t ember_max_pool_s8_prepare(ember_node_t *node, void *state) {
    ember_max_pool_s8_t *s = state;
    int32_t dilation[2] = {1, 1};

    (void)ember_node_ints(node, DILATION, dilation, 2);
    if (dilation[0] != 1 || dilation[1] != 1) { // which the output's shape depends on
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "max_pool2d: dilation is not supported");
    }
    const ember_status_t status =
        ember_pool_s8_prepare(node, &s->pool, ember_node_bool(node, CEIL_MODE), OUT);
    if (status != EMBER_OK) {
        return status;
    }
    const int32_t zero = ember_node_int_in(node, X_ZERO, INT8_MIN, INT8_MAX);
    (void)ember_node_int_in(node, Y_ZERO, zero, zero);
    s->limits = ember_limits_s8_args(node, LOW, HIGH);
    return ember_node_status(node);
}

ember_status_t ember_max_pool_s8_prepare_last(ember_node_t *node, void *state) {
    const ember_max_pool_s8_t *s = state;
    const ember_status_t status = ember_max_pool_s8_prepare(node, state);

    if (status == EMBER_OK && !ember_pool_s8_channels_last(&s->pool)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "max_pool2d: layout");
    }
    return status;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_pool_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_max_pool2d, ember_max_pool_s8_t);
