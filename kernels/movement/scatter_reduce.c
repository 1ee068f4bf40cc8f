// SPDX-License-Identifier: Apache-2.0
// scatter_reduce: a copy of self with elements of src combined into those that indices
// along a dimension name: their sum, product, mean, maximum or minimum.
#include <string.h>

#include "kernels/engine/along.h"
#include "kernels/engine/copy.h"
#include "kernels/engine/cursor.h"

enum { SELF, DIM, INDEX, SRC, REDUCE, INCLUDE_SELF, OUT };

typedef struct {
    ember_copy_t copy;
    ember_along_t along;
    int32_t *counts; // scratch, (out's numel,): elements of each mean; NULL: no mean
    uint32_t numel;  // of out
    int64_t start;   // an element of any dtype: where a combination begins
    int32_t one;
    uint8_t dims; // of the table
    bool include_self;
    ember_along_t counting;
    int32_t table[EMBER_WALK_ITEMS(2)]; // out, counts
} state_t;

static bool is_named(const char *text, uint32_t length, const char *name) {
    return length == strlen(name) && memcmp(text, name, length) == 0;
}

// The mode of a reduction's name; EMBER_ALONG_GATHER if it is unknown.
static ember_along_mode_t read_mode(ember_node_t *node, bool *mean) {
    static const char *const names[] = {"sum", "prod", "amax", "amin", "mean"};
    static const uint8_t modes[] = {EMBER_ALONG_ADD, EMBER_ALONG_MULTIPLY,
                                    EMBER_ALONG_MAX, EMBER_ALONG_MIN, EMBER_ALONG_ADD};
    uint32_t length;
    const char *text = ember_node_string(node, REDUCE, &length);

    for (uint32_t i = 0; i < sizeof(modes) && text != NULL; i++) {
        if (is_named(text, length, names[i])) {
            *mean = i == 4;
            return (ember_along_mode_t)modes[i];
        }
    }
    return EMBER_ALONG_GATHER;
}

// The lowest or highest number of an integer dtype or bool.
static int64_t limit_of(uint32_t dtype, bool highest) {
    const uint32_t bits = 8 * ember_dtype_size(dtype);
    const bool is_signed = ember_integer_wrap(dtype, -1) < 0 && dtype != EMBER_U64;

    if (dtype == EMBER_B1) {
        return highest;
    }
    if (!is_signed) {
        return highest ? ember_integer_wrap(dtype, -1) : 0;
    }
    const int64_t top = (int64_t)(UINT64_MAX >> (65 - bits));
    return highest ? top : -top - 1;
}

// The start of a combination without self: its neutral element.
static void set_start(state_t *s, uint32_t dtype, ember_along_mode_t mode) {
    const ember_class_t class = ember_class_of(dtype);
    const bool bound = mode == EMBER_ALONG_MAX || mode == EMBER_ALONG_MIN;
    ember_number_t number = {.s64 = mode == EMBER_ALONG_MULTIPLY};

    s->start = 0;
    if (bound && class == EMBER_CLASS_S64) {
        number.s64 = limit_of(dtype, mode == EMBER_ALONG_MIN);
    } else if (class != EMBER_CLASS_S64) {
        const double infinity = __builtin_inf();
        number.f64 = !bound                    ? (double)number.s64
                     : mode == EMBER_ALONG_MAX ? -infinity
                                               : infinity;
        ember_elements_store(EMBER_CLASS_F64, &number, dtype, &s->start, 0, 1);
        return;
    }
    ember_elements_store(EMBER_CLASS_S64, &number, dtype, &s->start, 0, 1);
}

// How often each element was combined, for a mean.
static ember_status_t set_counts(state_t *s, ember_node_t *node,
                                 const ember_view_t *index, const ember_view_t *out,
                                 uint32_t dim) {
    ember_view_t counts = *out;
    ember_view_t ones = *index;
    const ember_view_t *const views[] = {out, &counts};
    int32_t step = sizeof(int32_t);

    if (s->numel > INT32_MAX / sizeof(int32_t)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "scatter_reduce: size");
    }
    s->counts = ember_node_scratch(node, (size_t)s->numel * sizeof(int32_t));
    s->dims = 0;
    counts.data = s->counts;
    counts.dtype = ones.dtype = EMBER_S32;
    ones.data = &s->one;
    s->one = 1;
    memset(ones.strides, 0, sizeof(ones.strides));
    for (uint32_t d = counts.rank; s->numel > 0 && d-- > 0;) {
        counts.strides[d] = step;
        step *= counts.sizes[d];
    }
    if (s->numel > 0) {
        s->dims = (uint8_t)ember_cursor_table(views, 2, s->table);
        if (s->dims == 0) {
            return ember_node_fail(node, EMBER_UNSUPPORTED, "scatter_reduce: layout");
        }
    }
    return ember_along_prepare(&s->counting, node, index, &counts, &ones, dim,
                               EMBER_ALONG_ADD);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t tensor;
    ember_view_t self, index, src, out;
    bool mean = false;

    ember_view_arg(&self, node, SELF);
    ember_view_arg(&index, node, INDEX);
    ember_view_arg(&src, node, SRC);
    const uint32_t dim = ember_node_dim(node, DIM, self.rank);
    const ember_along_mode_t mode = read_mode(node, &mean);
    s->include_self = ember_node_bool(node, INCLUDE_SELF);
    ember_status_t status = ember_copy_output(&s->copy, node, OUT, &self);
    if (status != EMBER_OK) {
        return status;
    }
    if (mode == EMBER_ALONG_GATHER) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "scatter_reduce: unknown reduction");
    }
    ember_node_inout(node, OUT, &tensor);
    ember_view_tensor(&out, &tensor);
    set_start(s, out.dtype, mode);
    s->numel = tensor.numel;
    s->counts = NULL;
    status = ember_along_prepare(&s->along, node, &index, &out, &src, dim, mode);
    return status == EMBER_OK && mean ? set_counts(s, node, &index, &out, dim) : status;
}

// The same walk, in which all elements that are written become `start`.
static int32_t run_start(const state_t *s) {
    ember_along_t begin = s->along;
    int64_t start = s->start;

    begin.mode = EMBER_ALONG_SCATTER;
    begin.other = (char *)&start;
    for (uint32_t d = 0; d < begin.dims; d++) {
        begin.table[d * 4 + 3] = 0;
    }
    return ember_along_run(&begin);
}

// Divides by the counts; integers are rounded down.
static void divide(const state_t *s) {
    const ember_class_t class = ember_class_of(s->along.dtype);
    char *const at[] = {s->along.whole, (char *)s->counts};
    ember_number_t number;
    ember_cursor_t cursor;

    ember_cursor_start(&cursor, s->table, s->dims, 2, at);
    do {
        const int32_t seen = *(const int32_t *)(void *)cursor.at[1];
        const int32_t count = seen < 1 ? 1 : seen;
        ember_elements_load(class, &number, s->along.dtype, cursor.at[0], 0, 1);
        if (class == EMBER_CLASS_F32) {
            number.f32 /= (float)count;
        } else if (class == EMBER_CLASS_F64) {
            number.f64 /= (double)count;
        } else {
            const int64_t rest = number.s64 % count;
            number.s64 = number.s64 / count - (rest < 0 ? 1 : 0);
        }
        ember_elements_store(class, &number, s->along.dtype, cursor.at[0], 0, 1);
    } while (ember_cursor_next(&cursor));
}

static int32_t run(void *state) {
    state_t *s = state;

    ember_copy_run(&s->copy);
    int32_t status = s->include_self ? EMBER_OK : run_start(s);
    if (status == EMBER_OK) {
        status = ember_along_run(&s->along);
    }
    if (status != EMBER_OK || s->counts == NULL || s->dims == 0) {
        return status;
    }
    for (uint32_t i = 0; i < s->numel; i++) {
        s->counts[i] = s->include_self;
    }
    status = ember_along_run(&s->counting);
    if (status == EMBER_OK) {
        divide(s);
    }
    return status;
}

EMBER_KERNEL(scatter_reduce, state_t);
