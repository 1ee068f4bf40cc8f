// SPDX-License-Identifier: Apache-2.0
// Products of matrices of the dialect. Contract: products.h.
#include "kernels/cadence/products.h"

#include <stddef.h>
#include <string.h>

// Arguments of linear, and of matmul.
enum { A, B, BIAS, A_ZERO, B_ZERO, MULTIPLIERS, SHIFTS, C_ZERO, C = 9 };
enum {
    M_A_ZERO = 1,
    M_B,
    M_B_ZERO,
    M_MULTIPLIER = 5,
    M_SHIFT,
    M_C_ZERO,
    M_TURNED,
    M_C
};

// --- prepare -----------------------------------------------------------------------

static bool dtypes_fit(uint32_t a, uint32_t b, uint32_t c) {
    const bool alike = a == b && (a == EMBER_S8 || a == EMBER_U8 || a == EMBER_S16);
    return c == a && (alike || (a == EMBER_S16 && b == EMBER_S8));
}

// The output: shaped like `a`, except for its last size.
static ember_status_t set_output(ember_cadence_products_t *s, ember_node_t *node,
                                 const ember_tensor_t *a, const ember_tensor_t *b,
                                 uint32_t out, int32_t zero) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t c;

    memcpy(sizes, a->sizes, a->rank * sizeof(sizes[0]));
    sizes[a->rank - 1] = s->columns;
    ember_node_output(node, out, a->rank, sizes, &c);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!dtypes_fit(a->dtype, b->dtype, c.dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence products: dtypes");
    }
    if (!ember_cadence_cut_set(&s->cut, c.dtype, zero)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence products: the zero point is out of range");
    }
    if (!ember_cadence_plain(node, a) || !ember_cadence_plain(node, b) ||
        !ember_cadence_plain(node, &c)) {
        return ember_node_status(node);
    }
    s->a = a->data;
    s->b = b->data;
    s->c = c.data;
    s->a_dtype = a->dtype;
    s->b_dtype = b->dtype;
    ember_node_work(node, c.numel, (uint32_t)s->inner + EMBER_STEPS_RESULT);
    return ember_node_status(node);
}

ember_status_t ember_cadence_linear(ember_cadence_products_t *s, ember_node_t *node) {
    const int32_t zero = ember_node_int_in(node, C_ZERO, INT32_MIN, INT32_MAX);
    ember_tensor_t a, b, bias;

    ember_node_tensor(node, A, &a);
    ember_node_tensor(node, B, &b);
    ember_node_tensor(node, BIAS, &bias);
    s->a_zero = ember_node_int_in(node, A_ZERO, INT32_MIN, INT32_MAX);
    s->b_zero = ember_cadence_whole_arg(node, B_ZERO, 1);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (a.rank < 1 || b.rank != 2 || a.sizes[a.rank - 1] != b.sizes[1]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cadence linear: sizes");
    }
    s->inner = b.sizes[1];
    s->columns = b.sizes[0];
    s->multipliers = ember_cadence_whole_arg(node, MULTIPLIERS, (uint32_t)s->columns);
    s->shifts = ember_cadence_whole_arg(node, SHIFTS, (uint32_t)s->columns);
    if (bias.dtype != EMBER_S32 || bias.numel != (uint32_t)s->columns ||
        !ember_tensor_is_contiguous(&bias)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cadence linear: bias");
    }
    s->bias = bias.data;
    s->turned = false;
    s->batches = 1;
    s->rows = s->inner == 0 ? 0 : (int32_t)(a.numel / (uint32_t)s->inner);
    if (s->inner == 0) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence linear: empty rows");
    }
    return set_output(s, node, &a, &b, C, zero);
}

// Whether all sizes but the last two are the same.
static bool same_batches(const ember_tensor_t *a, const ember_tensor_t *b) {
    return a->rank >= 2 && a->rank == b->rank &&
           memcmp(a->sizes, b->sizes, (a->rank - 2u) * sizeof(a->sizes[0])) == 0;
}

ember_status_t ember_cadence_matmul(ember_cadence_products_t *s, ember_node_t *node) {
    const int32_t zero = ember_node_int_in(node, M_C_ZERO, INT32_MIN, INT32_MAX);
    ember_tensor_t a, b;

    ember_node_tensor(node, A, &a);
    ember_node_tensor(node, M_B, &b);
    s->a_zero = ember_node_int_in(node, M_A_ZERO, INT32_MIN, INT32_MAX);
    s->b_zero = ember_cadence_whole_arg(node, M_B_ZERO, 1);
    s->multipliers = ember_cadence_whole_arg(node, M_MULTIPLIER, 1);
    s->shifts = ember_cadence_whole_arg(node, M_SHIFT, 1);
    s->turned = !ember_node_bool(node, M_TURNED);
    s->bias = NULL;
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!same_batches(&a, &b)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cadence matmul: sizes");
    }
    const int32_t *a_sizes = a.sizes + a.rank - 2, *b_sizes = b.sizes + b.rank - 2;
    s->rows = a_sizes[0];
    s->inner = a_sizes[1];
    s->columns = b_sizes[s->turned ? 1 : 0];
    s->batches = 1;
    for (uint32_t d = 0; d + 2 < a.rank; d++) {
        s->batches = a.numel == 0 ? 0 : s->batches * a.sizes[d];
    }
    if (b_sizes[s->turned ? 0 : 1] != s->inner) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cadence matmul: sizes");
    }
    if (s->inner == 0) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence matmul: empty rows");
    }
    return set_output(s, node, &a, &b, M_C, zero);
}

// --- run ---------------------------------------------------------------------------

// The sum over a row of a with elements of b, `step` apart.
#define SUM(NAME, A_TYPE, B_TYPE)                                                      \
    static uint32_t NAME(const ember_cadence_products_t *s, const void *row,           \
                         const void *other, ptrdiff_t step, int32_t b_zero) {          \
        const A_TYPE *a = row;                                                         \
        const B_TYPE *b = other;                                                       \
        const int32_t a_zero = s->a_zero;                                              \
        uint32_t sum = 0;                                                              \
        for (int32_t k = s->inner; k > 0; k--) {                                       \
            const uint32_t x = (uint32_t)*a++ - (uint32_t)a_zero;                      \
            sum += x * ((uint32_t)*b - (uint32_t)b_zero);                              \
            b += step;                                                                 \
        }                                                                              \
        return sum;                                                                    \
    }
SUM(sum_s8, int8_t, int8_t)
SUM(sum_u8, uint8_t, uint8_t)
SUM(sum_s16, int16_t, int16_t)
SUM(sum_s16_s8, int16_t, int8_t)

typedef uint32_t (*sum_fn)(const ember_cadence_products_t *s, const void *row,
                           const void *other, ptrdiff_t step, int32_t b_zero);

static sum_fn sum_for(const ember_cadence_products_t *s) {
    if (s->a_dtype == EMBER_S16) {
        return s->b_dtype == EMBER_S8 ? sum_s16_s8 : sum_s16;
    }
    return s->a_dtype == EMBER_S8 ? sum_s8 : sum_u8;
}

static void run_row(const ember_cadence_products_t *s, const char *a, const char *b,
                    uint32_t at) {
    const sum_fn sum = sum_for(s);
    const ptrdiff_t size = s->b_dtype == EMBER_S16 ? 2 : 1;
    const ptrdiff_t next = s->turned ? size : s->inner * size;
    const ptrdiff_t step = s->turned ? s->columns : 1;
    const int32_t b_zero = ember_cadence_whole(&s->b_zero, 0);

    for (uint32_t j = 0; j < (uint32_t)s->columns; j++) {
        const uint32_t bias = s->bias == NULL ? 0 : (uint32_t)s->bias[j];
        const int32_t total = (int32_t)(bias + sum(s, a, b, step, b_zero));
        const float scale = ember_cadence_scale(ember_cadence_whole(&s->multipliers, j),
                                                ember_cadence_whole(&s->shifts, j));
        ember_cadence_store(s->c, s->a_dtype, at + j,
                            ember_cadence_cut_of(&s->cut, (float)total * scale));
        b += next;
    }
}

void ember_cadence_products_run(const ember_cadence_products_t *s) {
    const ptrdiff_t a_row = s->inner * (s->a_dtype == EMBER_S16 ? (ptrdiff_t)2 : 1);
    const ptrdiff_t b_size = s->b_dtype == EMBER_S16 ? 2 : 1;
    const char *a = s->a, *b = s->b;
    uint32_t at = 0;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            run_row(s, a, b, at);
            a += a_row;
            at += (uint32_t)s->columns;
        }
        b += (ptrdiff_t)s->columns * s->inner * b_size;
    }
}
