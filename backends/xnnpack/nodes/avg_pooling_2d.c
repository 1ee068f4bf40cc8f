// SPDX-License-Identifier: Apache-2.0
// The mean of each window, not counting its padding; and of whole images.
#include "pooling.h"

// XNNPACK adds nine taps at a time: it distributes them over four parts, then adds
// these.
enum { GROUP = 9, PARTS = 4 };

typedef struct mean {
    ember_xnn_pool_t pool; // its y: the sum of all previous groups
    float parts[PARTS][XNN_CHUNK];
    uint32_t group; // of the window's taps; parts belong to it
    uint32_t last;  // last group of a window
    bool half;      // the sum is float16 between groups, and so is the factor
} mean_t;

static void add_parts(mean_t *mean) {
    float *sum = mean->pool.y;
    for (uint32_t i = 0; i < mean->pool.count; i++) {
        sum[i] += (mean->parts[1][i] + mean->parts[2][i]) +
                  (mean->parts[0][i] + mean->parts[3][i]);
        if (mean->half && mean->group < mean->last) {
            sum[i] = xnn_to_f16(sum[i]);
        }
    }
    memset(mean->parts, 0, sizeof(mean->parts));
}

static void take(ember_xnn_pool_t *pool) {
    mean_t *mean = (mean_t *)pool;
    const uint32_t group = pool->place / GROUP;
    const uint32_t within = pool->place % GROUP;
    float *part = mean->parts[within / 2 % PARTS];
    if (pool->taps == 0) {
        memset(pool->y, 0, sizeof(pool->y));
        memset(mean->parts, 0, sizeof(mean->parts));
    } else if (group != mean->group) {
        add_parts(mean);
    }
    mean->group = group;
    for (uint32_t i = 0; i < pool->count; i++) {
        part[i] += pool->x[i];
    }
}

static void finish(ember_xnn_pool_t *pool) {
    mean_t *mean = (mean_t *)pool;
    if (pool->taps > 0) {
        const float factor = 1.0f / (float)pool->taps;
        const float scale = mean->half ? xnn_to_f16(factor) : factor;
        add_parts(mean);
        for (uint32_t i = 0; i < pool->count; i++) {
            pool->y[i] *= scale;
        }
    }
}

typedef struct image {
    ember_xnn_pool_t pool;
    ember_xnn_mean_t mean;
} image_t;

// Of an image: one tap after the other.
static void take_next(ember_xnn_pool_t *pool) {
    if (pool->taps == 0) {
        memcpy(pool->y, pool->x, 4 * (size_t)pool->count);
        return;
    }
    for (uint32_t i = 0; i < pool->count; i++) {
        pool->y[i] += pool->x[i];
    }
}

static void finish_image(ember_xnn_pool_t *pool) {
    const image_t *image = (const image_t *)pool;
    for (uint32_t i = 0; i < pool->count; i++) {
        pool->y[i] = pool->y[i] * image->mean.factor + image->mean.start;
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const bool known = (node->flags & ~(uint32_t)FLAG_KEEP_DIMS) == 0;
    return known ? ember_xnn_unary_prepare(graph, node) : EMBER_UNSUPPORTED;
}

static void run_image_s8(const ember_xnn_node_t *node, const ember_xnn_window_t *window,
                         image_t *image) {
    ember_xnn_value_t in = *node->in[0];
    ember_xnn_value_t out = *node->out[0];
    ember_xnn_node_t plain = *node;
    image->mean = ember_xnn_mean_s8(node, window);
    in.scale = out.scale = 1.0f;
    in.zero = out.zero = 0;
    plain.in[0] = &in;
    plain.out[0] = &out;
    ember_xnn_pool_run(&plain, window, &image->pool, take_next, finish_image);
}

static void run_image(const ember_xnn_node_t *node, const ember_xnn_window_t *window) {
    image_t image = {.mean.factor = 1.0f / (float)window->x.kernel};
    if (xnn_is_open(node) && xnn_types(node, XNN_QS8, XNN_QS8)) {
        run_image_s8(node, window, &image);
        return;
    }
    ember_xnn_pool_run(node, window, &image.pool, take_next, finish_image);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_window_t window;
    mean_t mean;
    (void)!ember_xnn_mean_window(node, &window);
    if (node->kind == XNN_GLOBAL_AVG_POOLING_2D) {
        run_image(node, &window);
        return;
    }
    mean.last = ((uint32_t)window.x.kernel * (uint32_t)window.y.kernel - 1) / GROUP;
    mean.half = node->out[0]->datatype == XNN_F16;
    ember_xnn_pool_run(node, &window, &mean.pool, take, finish);
}

XNN_KERNEL(avg_pooling_2d, NULL, ember_xnn_mean_shape,
           XNN_KIND(AVG_POOLING_2D) | XNN_KIND(GLOBAL_AVG_POOLING_2D));
