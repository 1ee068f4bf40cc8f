// SPDX-License-Identifier: Apache-2.0
// Contract: pools_hvx.h.
#include "kernels/engine/hvx/pools_hvx.h"

#include "kernels/engine/hvx/scale_hvx.h"

enum { FEW = 8 };                 // bytes of a pixel that are moved one by one
enum { START = 80, MOST = 4096 }; // packets; taps that are enough to be worth it

// The windows of a row that are as wide as the kernel: [first, past); and how many of
// them are computed together, at most.
typedef struct whole {
    int32_t first;
    int32_t past;
    int32_t most;
} whole_t;

// Without a stride all are; with one as many as fit into a vector with what is between.
static int32_t most_of(const ember_pool_s8_t *pool, bool gaps) {
    const int32_t channels = pool->channels, stride = pool->stride[1];

    if (pool->in.column != channels || channels > EMBER_HVX / 2 ||
        stride > (gaps ? EMBER_HVX : 1)) {
        return 1;
    }
    return stride == 1 ? INT32_MAX : (EMBER_HVX - channels) / (stride * channels) + 1;
}

static whole_t whole_of(const ember_pool_s8_t *pool, bool gaps) {
    const int32_t stride = pool->stride[1], padding = pool->padding[1];
    const int32_t room = pool->in.width + padding - pool->kernel[1];
    const int32_t most = most_of(pool, gaps);

    if (most == 1 || room < 0) {
        return (whole_t){0, 0, 1};
    }
    return (whole_t){padding > 0 ? (padding - 1) / stride + 1 : 0, room / stride + 1,
                     most};
}

// The windows that are computed together from `at` on.
static int32_t together(const whole_t *whole, int32_t at) {
    const int32_t left = whole->past - at;

    if (at < whole->first || left < 1) {
        return 1;
    }
    return left < whole->most ? left : whole->most;
}

// Moves every `step`-th byte's pixel of `bytes` side by side.
static void gather(const int8_t *from, int32_t step, int32_t count, int32_t channels,
                   int8_t *y) {
    for (int32_t i = 0; i < count; i++) {
        if (channels <= FEW) {
            for (int32_t c = 0; c < channels; c++) {
                y[c] = from[c];
            }
        } else {
            ember_hvx_store_part(y, ember_hvx_load_any(from), channels);
        }
        from += step;
        y += channels;
    }
}

// `count` windows that are whole, of which the first is given.
static void run_together(const ember_pool_s8_t *pool, ember_pools_hvx_fn one,
                         const void *state, ember_window_s8_t window, int32_t count,
                         int8_t *y) {
    const int32_t channels = pool->channels;
    HVX_Vector results[2]; // the second is only read

    if (count == 1 || pool->stride[1] == 1) {
        one(state, window, count * channels, y);
        return;
    }
    const int32_t step = pool->stride[1] * channels;
    ember_hvx_store(results + 1, Q6_V_vzero());
    one(state, window, (count - 1) * step + channels, (int8_t *)results);
    gather((const int8_t *)results, step, count, channels, y);
}

static void run_row(const ember_pool_s8_t *pool, const whole_t *whole,
                    ember_pools_hvx_fn one, const void *state, const int8_t *x,
                    int8_t *y, int32_t rows) {
    ember_window_s8_t window = {.rows = rows};
    int32_t first;

    for (int32_t at = 0; at < pool->out.width;) {
        const int32_t count = together(whole, at);
        window.columns = ember_pool_s8_cut(pool, 1, at, &first);
        window.x = x + first * pool->in.column;
        run_together(pool, one, state, window, count, y);
        y += count * pool->out.column;
        at += count;
    }
}

void ember_pools_hvx_run(const ember_pool_s8_t *pool, bool gaps, ember_pools_hvx_fn one,
                         const void *state) {
    const whole_t whole = whole_of(pool, gaps);
    int32_t first;

    for (int32_t n = 0; n < pool->batches; n++) {
        for (int32_t i = 0; i < pool->out.height; i++) {
            const int32_t rows = ember_pool_s8_cut(pool, 0, i, &first);
            run_row(pool, &whole, one, state,
                    pool->x + n * pool->in.batch + first * pool->in.row,
                    pool->y + n * pool->out.batch + i * pool->out.row, rows);
        }
    }
}

// Vectors of a row of outputs.
static int64_t vectors_of(const ember_pool_s8_t *pool, bool gaps) {
    const int64_t channels = pool->channels;
    const whole_t whole = whole_of(pool, gaps);
    const int64_t windows = whole.past > whole.first ? whole.past - whole.first : 0;
    const int64_t edges = pool->out.width - windows;
    const int64_t each = (channels + EMBER_HVX - 1) / EMBER_HVX;

    if (whole.most == 1) {
        return each * pool->out.width;
    }
    return edges + (pool->stride[1] == 1
                        ? (windows * channels + EMBER_HVX - 1) / EMBER_HVX
                        : (windows + whole.most - 1) / whole.most);
}

int64_t ember_pools_hvx_taps(const ember_pool_s8_t *pool) {
    const int32_t height = pool->in.height, width = pool->in.width;
    const int64_t rows = pool->kernel[0] < height ? pool->kernel[0] : height;
    const int64_t taps = rows * (pool->kernel[1] < width ? pool->kernel[1] : width);
    return taps < MOST ? taps : MOST;
}

bool ember_pools_hvx_pays(const ember_pool_s8_t *pool, bool gaps, int64_t of_vector,
                          int64_t of_element) {
    const int64_t rows = (int64_t)pool->batches * pool->out.height;
    const int64_t elements = rows * pool->out.width * pool->channels;
    return START + rows * vectors_of(pool, gaps) * of_vector < elements * of_element;
}
