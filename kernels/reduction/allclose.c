// SPDX-License-Identifier: Apache-2.0
// allclose: whether |a - b| <= atol + rtol * |b| everywhere. Equal infinities are
// close, NaN only with equal_nan. The result is the output, or the return value.
#include <math.h>
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/engine/strided.h"

enum { A, B, RTOL, ATOL, EQUAL_NAN, OUT = 6 };
enum { BLOCK = 16, OPERANDS = 2 };

typedef struct allclose {
    char *data[OPERANDS];
    bool *out;
    double rtol;
    double atol;
    bool equal_nan;
    uint8_t dtype; // of both
    uint8_t dims;  // of the table; 0: no elements
    int32_t table[EMBER_WALK_ITEMS(OPERANDS)];
} allclose_t;

typedef union numbers {
    float f32[BLOCK];
    double f64[BLOCK];
    int64_t s64[BLOCK];
} numbers_t;

static bool close_f32(const allclose_t *s, float a, float b) {
    const float allowed = (float)s->atol + fabsf((float)s->rtol * b);
    const float error = fabsf(a - b);
    if (a != a || b != b) {
        return s->equal_nan && a != a && b != b;
    }
    return a == b || (error < INFINITY && error <= allowed);
}

static bool close_f64(const allclose_t *s, double a, double b) {
    const double allowed = s->atol + fabs(s->rtol * b);
    const double error = fabs(a - b);
    if (a != a || b != b) {
        return s->equal_nan && a != a && b != b;
    }
    return a == b || (error < (double)INFINITY && error <= allowed);
}

// The difference of integers wraps and is compared as float32.
static bool close_s64(const allclose_t *s, int64_t a, int64_t b) {
    const int64_t gap = (int64_t)((uint64_t)a - (uint64_t)b);
    const float allowed = (float)s->atol + fabsf((float)s->rtol * (float)b);
    return a == b || fabsf((float)gap) <= allowed;
}

static bool all_close(const allclose_t *s, const numbers_t *a, const numbers_t *b,
                      uint32_t count) {
    const ember_class_t class = ember_class_of(s->dtype);
    for (uint32_t i = 0; i < count; i++) {
        const bool is_close =
            class == EMBER_CLASS_F32   ? close_f32(s, a->f32[i], b->f32[i])
            : class == EMBER_CLASS_F64 ? close_f64(s, a->f64[i], b->f64[i])
                                       : close_s64(s, a->s64[i], b->s64[i]);
        if (!is_close) {
            return false;
        }
    }
    return true;
}

static bool row_is_close(const allclose_t *s, const ember_walk_t *walk,
                         const int32_t *row) {
    const ember_class_t class = ember_class_of(s->dtype);
    numbers_t a;
    numbers_t b;
    for (int32_t i = 0; i < row[0]; i += BLOCK) {
        const int32_t left = row[0] - i;
        const uint32_t count = (uint32_t)(left < BLOCK ? left : BLOCK);
        ember_elements_load(class, &a, s->dtype, walk->at[0] + (ptrdiff_t)i * row[1],
                            row[1], count);
        ember_elements_load(class, &b, s->dtype, walk->at[1] + (ptrdiff_t)i * row[2],
                            row[2], count);
        if (!all_close(s, &a, &b, count)) {
            return false;
        }
    }
    return true;
}

static int32_t run(void *state) {
    const allclose_t *s = state;
    ember_walk_t walk;
    bool is_close = true;
    if (s->dims > 0) {
        ember_walk_start(&walk, s->table, s->dims, OPERANDS);
        memcpy(walk.at, s->data, sizeof(s->data));
        do {
            is_close = row_is_close(s, &walk, s->table + 3u * (s->dims - 1u));
        } while (is_close && ember_walk_next(&walk));
    }
    *s->out = is_close;
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    allclose_t *s = state;
    ember_tensor_t tensors[OPERANDS];
    ember_tensor_t out;
    const ember_tensor_t *const operands[] = {&tensors[0], &tensors[1]};

    ember_node_tensor(node, A, &tensors[0]);
    ember_node_tensor(node, B, &tensors[1]);
    s->rtol = ember_node_double(node, RTOL);
    s->atol = ember_node_double(node, ATOL);
    s->equal_nan = ember_node_bool(node, EQUAL_NAN);
    ember_node_inout(node, OUT, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!ember_tensor_same_shape(&tensors[0], &tensors[1]) || out.numel != 1 ||
        out.dtype != EMBER_B1 || tensors[0].dtype != tensors[1].dtype) {
        return ember_node_fail(
            node, EMBER_UNSUPPORTED,
            "allclose: needs two tensors of one dtype and shape, and a bool");
    }
    s->data[0] = tensors[0].data;
    s->data[1] = tensors[1].data;
    s->out = out.data;
    s->dtype = tensors[0].dtype;
    s->dims = 0;
    if (tensors[0].numel == 0) {
        return EMBER_OK;
    }
    s->dims = (uint8_t)ember_walk_fill(operands, OPERANDS, s->table);
    return s->dims > 0 ? EMBER_OK : EMBER_UNSUPPORTED;
}

EMBER_KERNEL(allclose, allclose_t);
