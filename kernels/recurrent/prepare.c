// SPDX-License-Identifier: Apache-2.0
// Reads a call of a recurrent layer. Contract: recurrent.h.
#include "kernels/recurrent/recurrent.h"

enum { X, H, C };                                               // GRU has no C
enum { WEIGHTS_X, WEIGHTS_H, SCALES, SHIFT_X, SHIFT_H, PARTS }; // behind the states
enum { MULTIPLIER, SHIFT, ZERO_POINT, BATCH_FIRST, IS_REVERSE, OUT };
enum { GATES = 4, MOST = 1 << 16 }; // gates in scratch; elements of a row
enum { PRODUCT = 1 << 14, ONE = 15, STEPS_OF_UNIT = 64 };

static bool is_plain(const ember_tensor_t *tensor, ember_dtype_t dtype) {
    return tensor->dtype == dtype && ember_tensor_is_contiguous(tensor);
}

// --- weights -------------------------------------------------------------------------

ember_status_t ember_products_s8_args(ember_products_s8_t *of, ember_node_t *node,
                                      uint32_t weights, uint32_t shift) {
    ember_tensor_t w;

    ember_node_tensor(node, weights, &w);
    of->shift = (uint8_t)ember_node_int_in(node, shift, 0, 31);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&w, EMBER_S8)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "recurrent: weights");
    }
    if (w.rank != 2 || w.sizes[1] < 1 || w.sizes[1] > MOST ||
        ((int64_t)w.sizes[1] * PRODUCT) << of->shift > INT32_MAX) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "recurrent: weights");
    }
    of->weights = w.data;
    of->inner = w.sizes[1];
    of->rows = w.sizes[0];
    return EMBER_OK;
}

// Both matrices, and `scales`: those of each row, and `more` * size biases beyond one
// for each.
static ember_status_t set_weights(ember_recurrent_t *s, ember_node_t *node,
                                  uint32_t first, int32_t gates, int32_t more) {
    ember_products_s8_t *of_x = &s->of_x, *of_h = &s->of_h;
    ember_tensor_t scales;

    if (ember_products_s8_args(of_x, node, first + WEIGHTS_X, first + SHIFT_X) !=
            EMBER_OK ||
        ember_products_s8_args(of_h, node, first + WEIGHTS_H, first + SHIFT_H) !=
            EMBER_OK) {
        return ember_node_status(node);
    }
    ember_node_tensor(node, first + SCALES, &scales);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const int32_t rows = of_x->rows;
    s->size = of_h->inner;
    if (rows != of_h->rows || rows != gates * s->size ||
        scales.numel != (uint32_t)(3 * rows + more * s->size) ||
        !is_plain(&scales, EMBER_S32)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "recurrent: scales");
    }
    of_x->multipliers = scales.data;
    of_h->multipliers = ember_behind_s32(of_x->multipliers, rows);
    s->bias = ember_behind_s32(of_h->multipliers, rows);
    return EMBER_OK;
}

// --- tensors that change -------------------------------------------------------------

static ember_status_t set_x(ember_recurrent_t *s, ember_node_t *node, uint32_t result,
                            ember_tensor_t *x) {
    ember_node_tensor(node, X, x);
    s->batch_first = ember_node_bool(node, result + BATCH_FIRST);
    s->is_reverse = ember_node_bool(node, result + IS_REVERSE);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(x, EMBER_S8)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "recurrent: input");
    }
    if (x->rank < 2 || x->rank > 3 || x->sizes[x->rank - 1] != s->of_x.inner) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "recurrent: input");
    }
    const bool swapped = x->rank == 3 && s->batch_first;
    s->steps = x->rank == 2 ? 1 : x->sizes[swapped ? 1 : 0];
    s->count = x->sizes[x->rank == 2 || swapped ? 0 : 1];
    s->x = x->data;
    return EMBER_OK;
}

// A state of (n, size), or NULL.
static ember_status_t set_state(const ember_recurrent_t *s, ember_node_t *node,
                                uint32_t arg, ember_dtype_t dtype, const void **state) {
    ember_tensor_t tensor;
    const bool given = ember_node_optional_tensor(node, arg, &tensor);

    *state = tensor.data;
    if (!given || ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&tensor, dtype) || tensor.rank != 2 || tensor.sizes[0] != s->count ||
        tensor.sizes[1] != s->size) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "recurrent: state");
    }
    return EMBER_OK;
}

static void *output(ember_node_t *node, uint32_t arg, uint32_t rank,
                    const int32_t *sizes, ember_dtype_t dtype) {
    ember_tensor_t tensor;

    ember_node_output(node, arg, rank, sizes, &tensor);
    if (ember_node_status(node) == EMBER_OK && !is_plain(&tensor, dtype)) {
        ember_node_fail(node, EMBER_UNSUPPORTED, "recurrent: layout of an output");
    }
    return tensor.data;
}

static void set_outputs(ember_recurrent_t *s, ember_node_t *node, uint32_t out,
                        const ember_tensor_t *x, ember_dtype_t state) {
    const int32_t sizes[2] = {s->count, s->size};
    int32_t wide[3] = {x->sizes[0], x->rank == 3 ? x->sizes[1] : s->size, s->size};

    s->y = output(node, out, x->rank, wide, EMBER_S8);
    s->last_h = output(node, out + 1, 2, sizes, state);
}

// --- the rest ------------------------------------------------------------------------

static void set_result(ember_recurrent_t *s, ember_node_t *node, uint32_t result) {
    s->result = (ember_result_s8_t){
        .multiplier =
            (int16_t)ember_node_int_in(node, result + MULTIPLIER, 0, INT16_MAX),
        .zero_point =
            (int16_t)ember_node_int_in(node, result + ZERO_POINT, INT8_MIN, INT8_MAX),
        .shift = (uint8_t)ember_node_int_in(node, result + SHIFT, 0, ONE),
    };
}

// One block: sums of both, gates, what the core needs, what the first step takes.
static void set_scratch(ember_recurrent_t *s, ember_node_t *node,
                        const ember_recurrent_core_t *core) {
    const int32_t widest =
        s->of_x.inner > s->of_h.inner ? s->of_x.inner : s->of_h.inner;
    const size_t rows = (size_t)s->of_x.rows, size = (size_t)s->size;
    const size_t sums = 2 * rows * sizeof(int32_t);
    const size_t gates = GATES * size * sizeof(int16_t);
    const size_t working = core->bytes(widest);
    char *block = ember_node_scratch(node, sums + gates + working + size);

    s->of_x.sums = (int32_t *)(void *)block;
    if (block != NULL) {
        s->of_h.sums = s->of_x.sums + rows;
        s->gates = (int16_t *)(void *)(block + sums);
        s->of_x.working = (uint32_t *)(void *)(block + sums + gates);
        s->of_h.working = s->of_x.working;
        s->start = (int8_t *)(block + sums + gates + working);
    }
    const uint32_t steps = (uint32_t)(s->steps * s->count);
    ember_node_work(node, steps, (uint32_t)s->of_x.rows * (uint32_t)s->of_x.inner);
    ember_node_work(node, steps, (uint32_t)s->of_x.rows * (uint32_t)s->size);
    ember_node_work(node, steps, STEPS_OF_UNIT * (uint32_t)s->size);
}

// Everything but a cell's.
static ember_status_t set_layer(ember_recurrent_t *s, ember_node_t *node,
                                const ember_recurrent_core_t *core, uint32_t result,
                                ember_dtype_t state, ember_tensor_t *x) {
    set_result(s, node, result);
    if (set_x(s, node, result, x) != EMBER_OK ||
        set_state(s, node, H, state, &s->h) != EMBER_OK) {
        return ember_node_status(node);
    }
    set_outputs(s, node, result + OUT, x, state);
    if (ember_node_status(node) == EMBER_OK) {
        set_scratch(s, node, core);
    }
    return ember_node_status(node);
}

ember_status_t ember_lstm_prepare(ember_recurrent_t *s, ember_node_t *node,
                                  const ember_recurrent_core_t *core) {
    const uint32_t first = C + 1, result = first + PARTS + 1; // behind the cell's bits
    ember_tensor_t x;
    const void *c;

    *s = (ember_recurrent_t){0};
    s->cell_bits = (uint8_t)ember_node_int_in(node, first + PARTS, 0, ONE);
    if (set_weights(s, node, first, GATES, 0) != EMBER_OK ||
        set_layer(s, node, core, result, EMBER_S8, &x) != EMBER_OK ||
        set_state(s, node, C, EMBER_S16, &c) != EMBER_OK) {
        return ember_node_status(node);
    }
    const int32_t sizes[2] = {s->count, s->size};
    s->c = c;
    s->last_c = output(node, result + OUT + 2, 2, sizes, EMBER_S16);
    return ember_node_status(node);
}

ember_status_t ember_gru_prepare(ember_recurrent_t *s, ember_node_t *node,
                                 const ember_recurrent_core_t *core) {
    const uint32_t first = H + 1, result = first + PARTS;
    ember_tensor_t x;

    *s = (ember_recurrent_t){0};
    if (set_weights(s, node, first, GATES - 1, 1) != EMBER_OK) {
        return ember_node_status(node);
    }
    return set_layer(s, node, core, result, EMBER_S16, &x);
}
