// SPDX-License-Identifier: Apache-2.0
// Reads a call of quantized_svdf. Contract: svdf.h.
#include "kernels/recurrent/svdf.h"

enum { X, HELD, WEIGHTS, TIMES, SCALES, SHIFT, SHIFT_Y, RANK, OUT, NEXT };
enum { SHIFT_MOST = 15 };                   // of sums over time
enum { FILTERS = 1 << 20, MOST = 1 << 15 }; // the most; numbers of a unit

typedef struct arguments {
    ember_tensor_t x, held, times, scales, y, next;
} arguments_t;

static bool is_plain(const ember_tensor_t *tensor, ember_dtype_t dtype) {
    return tensor->dtype == dtype && ember_tensor_is_contiguous(tensor);
}

// Whether sizes belong together; sets those of `s`.
static bool set_sizes(ember_svdf_t *s, const arguments_t *args) {
    const ember_tensor_t *x = &args->x, *held = &args->held, *times = &args->times;
    const int32_t filters = s->of_x.rows;

    if (x->rank < 2 || x->rank > 3 || x->sizes[x->rank - 1] != s->of_x.inner ||
        times->rank != 2 || times->sizes[0] != filters || times->sizes[1] < 1 ||
        filters < 1 || filters > FILTERS || filters % s->rank != 0) {
        return false;
    }
    s->count = x->sizes[0];
    s->steps = x->rank == 3 ? x->sizes[1] : 1;
    s->memory = times->sizes[1];
    s->units = filters / s->rank;
    return s->memory <= MOST / s->rank && held->rank == 3 &&
           held->sizes[0] == s->count && held->sizes[1] == filters &&
           held->sizes[2] == s->memory &&
           args->scales.numel == 2 * ((uint32_t)filters + (uint32_t)s->units);
}

static ember_status_t set_outputs(ember_svdf_t *s, ember_node_t *node,
                                  arguments_t *args) {
    int32_t sizes[3] = {s->count, s->steps, s->units};

    sizes[args->x.rank - 1] = s->units;
    ember_node_output(node, OUT, args->x.rank, sizes, &args->y);
    ember_node_output_like(node, NEXT, &args->held, &args->next);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&args->x, EMBER_S8) || !is_plain(&args->held, EMBER_S16) ||
        !is_plain(&args->times, EMBER_S16) || !is_plain(&args->scales, EMBER_S32) ||
        !is_plain(&args->y, EMBER_S8) || !is_plain(&args->next, EMBER_S16)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "svdf: layout");
    }
    s->x = args->x.data;
    s->held = args->held.data;
    s->times = args->times.data;
    s->y = args->y.data;
    s->next = args->next.data;
    s->of_x.multipliers = args->scales.data;
    s->bias = ember_behind_s32(s->of_x.multipliers, s->of_x.rows);
    s->by_y = ember_behind_s32(s->bias, s->of_x.rows);
    return EMBER_OK;
}

static void set_scratch(ember_svdf_t *s, ember_node_t *node,
                        const ember_recurrent_core_t *core) {
    const size_t sums = (size_t)s->of_x.rows * sizeof(int32_t);
    const size_t working = core->bytes(s->of_x.inner);
    const size_t fresh = (size_t)s->of_x.rows * sizeof(int16_t);
    char *block = ember_node_scratch(node, sums + working + fresh);

    s->of_x.sums = (int32_t *)(void *)block;
    if (block != NULL) {
        s->of_x.working = (uint32_t *)(void *)(block + sums);
        s->fresh = (int16_t *)(void *)(block + sums + working);
    }
    const uint32_t steps = (uint32_t)(s->steps * s->count);
    const uint32_t filters = (uint32_t)s->of_x.rows;
    ember_node_work(node, steps, filters * (uint32_t)s->of_x.inner);
    ember_node_work(node, steps, 2 * filters * (uint32_t)s->memory);
    ember_node_work(node, steps, 2 * filters);
}

ember_status_t ember_svdf_prepare(ember_svdf_t *s, ember_node_t *node,
                                  const ember_recurrent_core_t *core) {
    arguments_t args;

    *s = (ember_svdf_t){0};
    ember_node_tensor(node, X, &args.x);
    ember_node_tensor(node, HELD, &args.held);
    ember_node_tensor(node, TIMES, &args.times);
    ember_node_tensor(node, SCALES, &args.scales);
    s->shift_y = (uint8_t)ember_node_int_in(node, SHIFT_Y, 0, SHIFT_MOST);
    s->rank = ember_node_int_in(node, RANK, 1, MOST);
    if (ember_products_s8_args(&s->of_x, node, WEIGHTS, SHIFT) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!set_sizes(s, &args)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "svdf: sizes");
    }
    if (set_outputs(s, node, &args) == EMBER_OK) {
        set_scratch(s, node, core);
    }
    return ember_node_status(node);
}
