// SPDX-License-Identifier: Apache-2.0
// embedding_bag: the sum, mean or maximum of the rows of a table whose indices are in a
// bag. A bag extends from its offset to the next one's.
#include <string.h>

#include "kernels/engine/index.h"
#include "kernels/engine/view.h"
#include "kernels/engine/work.h"

enum { WEIGHT, INDICES, OFFSETS, SCALE, MODE, SPARSE, FACTORS, LAST, PADDING, OUT };
enum { SUM, MEAN, MAX };

// An int32 or int64 tensor of one dimension.
typedef struct {
    char *data;
    int32_t count;
    uint8_t dtype;
} integers_t;

typedef struct {
    const char *weight;
    const char *factors; // (indices.count,), of the weight's dtype; NULL: none
    char *out;
    integers_t indices;
    integers_t offsets;
    // Further outputs: the bag of each index, the size of each bag, and the index of
    // each maximum. A sum leaves the sizes 0; a mean gives them twice.
    integers_t extra[3];
    int32_t rows; // of the weight
    int32_t columns;
    int32_t bags;
    int32_t steps[2];     // of the weight, bytes
    int32_t out_steps[2]; // bytes
    int64_t padding;      // an index that is ignored; negative: none
    uint8_t dtype;
    uint8_t mode;
} state_t;

static int64_t number_at(const integers_t *integers, int32_t at) {
    int64_t number;

    ember_elements_load(EMBER_CLASS_S64, &number, integers->dtype,
                        integers->data + (size_t)at * ember_dtype_size(integers->dtype),
                        0, 1);
    return number;
}

static void set_number(const integers_t *integers, int32_t at, int64_t number) {
    if (at < integers->count) {
        ember_elements_store(
            EMBER_CLASS_S64, &number, integers->dtype,
            integers->data + (size_t)at * ember_dtype_size(integers->dtype), 0, 1);
    }
}

// --- one value -----------------------------------------------------------------------

static double load(const state_t *s, const char *at) {
    double number;

    ember_elements_load(EMBER_CLASS_F64, &number, s->dtype, at, 0, 1);
    return number;
}

// The value of column `c` for the indices [first, past).
static double mixed(const state_t *s, int32_t first, int32_t past, int32_t c,
                    int64_t *largest) {
    const char *column = s->weight + (ptrdiff_t)c * s->steps[1];
    double result = 0.0;
    int32_t seen = 0;

    for (int32_t i = first; i < past; i++) {
        const int64_t index = number_at(&s->indices, i);
        // Indices were checked, but another output of a bad program may overlap them.
        if (index == s->padding || index < 0 || index >= s->rows) {
            continue;
        }
        const double number = load(s, column + (ptrdiff_t)index * s->steps[0]);
        if (s->mode == MAX) {
            const bool better = seen == 0 || number > result;
            result = better ? number : result;
            *largest = better ? index : *largest;
        } else {
            const size_t size = ember_dtype_size(s->dtype);
            result += s->factors == NULL
                          ? number
                          : number * load(s, s->factors + (size_t)(uint32_t)i * size);
        }
        seen++;
    }
    return s->mode == MEAN && seen > 0 ? result / seen : result;
}

// --- bags ----------------------------------------------------------------------------

// Checks the indices of a bag and records which bag they are in. Returns how many
// count, or -1 if one is out of range.
static int32_t enter_bag(const state_t *s, int32_t bag, int32_t first, int32_t past) {
    int32_t count = 0;

    for (int32_t i = first; i < past; i++) {
        const int64_t index = number_at(&s->indices, i);
        if (index < 0 || index >= s->rows) {
            return -1;
        }
        count += index != s->padding;
        set_number(&s->extra[0], i, bag);
    }
    return count;
}

static bool run_bag(const state_t *s, int32_t bag, int32_t first, int32_t past) {
    const int32_t count = enter_bag(s, bag, first, past);
    char *out = s->out + (ptrdiff_t)bag * s->out_steps[0];

    if (count < 0) {
        return false;
    }
    set_number(&s->extra[1], bag, s->mode == SUM ? 0 : count);
    if (s->mode != MAX) {
        set_number(&s->extra[2], bag, s->mode == SUM ? 0 : count);
    }
    for (int32_t c = 0; c < s->columns; c++) {
        int64_t largest = 0;
        double number = mixed(s, first, past, c, &largest);
        ember_elements_store(EMBER_CLASS_F64, &number, s->dtype, out, 0, 1);
        if (s->mode == MAX) {
            set_number(&s->extra[2], bag * s->columns + c, largest);
        }
        out += s->out_steps[1];
    }
    return true;
}

static int32_t run(void *state) {
    const state_t *s = state;

    for (int32_t bag = 0; bag < s->bags; bag++) {
        const int64_t first = number_at(&s->offsets, bag);
        const int64_t past = bag + 1 < s->offsets.count
                                 ? number_at(&s->offsets, bag + 1)
                                 : s->indices.count;
        if (first < 0 || past < first || past > s->indices.count ||
            !run_bag(s, bag, (int32_t)first, (int32_t)past)) {
            return EMBER_DATA_RANGE;
        }
    }
    return EMBER_OK;
}

// --- prepare -------------------------------------------------------------------------

static void set_integers(ember_node_t *node, integers_t *integers,
                         const ember_tensor_t *tensor) {
    if (!ember_is_index_dtype(tensor->dtype) || !ember_tensor_is_contiguous(tensor)) {
        (void)ember_node_fail(
            node, EMBER_UNSUPPORTED,
            "embedding_bag: indices and offsets must be contiguous integers");
    }
    *integers =
        (integers_t){tensor->data, (int32_t)tensor->numel, (uint8_t)tensor->dtype};
}

static void set_factors(state_t *s, ember_node_t *node) {
    ember_tensor_t factors;

    s->factors = NULL;
    if (!ember_node_optional_tensor(node, FACTORS, &factors)) {
        return;
    }
    if (factors.numel != (uint32_t)s->indices.count || s->mode != SUM) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "embedding_bag: weights");
    } else if (factors.dtype != s->dtype || !ember_tensor_is_contiguous(&factors)) {
        (void)ember_node_fail(node, EMBER_UNSUPPORTED, "embedding_bag: weights");
    }
    s->factors = factors.data;
}

static ember_status_t set_output(state_t *s, ember_node_t *node) {
    const int32_t sizes[2] = {s->bags, s->columns};
    ember_tensor_t out, more;
    ember_view_t view;

    ember_node_output(node, OUT, 2, sizes, &out);
    for (uint32_t k = 0; k < 3 && ember_node_status(node) == EMBER_OK; k++) {
        ember_node_inout(node, OUT + 1 + k, &more);
        set_integers(node, &s->extra[k], &more);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype != s->dtype || ember_class_of(out.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "embedding_bag: dtypes");
    }
    ember_view_tensor(&view, &out);
    s->out = out.data;
    memcpy(s->out_steps, view.strides, sizeof(s->out_steps));
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t indices, offsets;
    ember_view_t weight;

    ember_view_arg(&weight, node, WEIGHT);
    ember_node_tensor(node, INDICES, &indices);
    ember_node_tensor(node, OFFSETS, &offsets);
    s->mode = (uint8_t)ember_node_int_in(node, MODE, SUM, MAX);
    s->padding = ember_node_int(node, PADDING);
    const bool last = ember_node_bool(node, LAST);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (weight.rank != 2 || indices.rank != 1 || offsets.rank != 1 ||
        offsets.numel < last) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "embedding_bag: shapes");
    }
    set_integers(node, &s->indices, &indices);
    set_integers(node, &s->offsets, &offsets);
    s->bags = s->offsets.count - last;
    ember_work_products(node, indices.numel, (uint32_t)weight.sizes[1],
                        EMBER_STEPS_RESULT); // each is found, scaled and added
    s->weight = weight.data;
    s->rows = weight.sizes[0];
    s->columns = weight.sizes[1];
    s->dtype = weight.dtype;
    memcpy(s->steps, weight.strides, sizeof(s->steps));
    set_factors(s, node);
    return ember_node_status(node) == EMBER_OK ? set_output(s, node)
                                               : ember_node_status(node);
}

EMBER_KERNEL(embedding_bag, state_t);
