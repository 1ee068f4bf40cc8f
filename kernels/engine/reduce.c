// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/reduce.h"

#include <string.h>

#include "kernels/engine/view_args.h"

static uint32_t all_dims(uint32_t rank) {
    return (1u << rank) - 1u;
}

uint32_t ember_reduce_dims(ember_node_t *node, uint32_t arg, uint32_t rank) {
    const ember_kind_t kind = ember_node_kind(node, arg);
    if (kind == EMBER_NONE) {
        return all_dims(rank);
    }
    if (kind != EMBER_INT_LIST) {
        return 1u << ember_node_dim(node, arg, rank);
    }
    const uint32_t dims = ember_listed_dims(node, arg, rank);
    return dims == 0 ? all_dims(rank) : dims;
}

// The output's shape: without the reduced dimensions, or with size 1 for them.
static uint32_t result_shape(const ember_tensor_t *x, uint32_t dims, bool keep,
                             int32_t *sizes) {
    uint32_t rank = 0;
    for (uint32_t d = 0; d < x->rank; d++) {
        const bool reduced = (dims >> d & 1) != 0;
        if (!reduced || keep) {
            sizes[rank++] = reduced ? 1 : x->sizes[d];
        }
    }
    return rank;
}

// Strides of an output in bytes, by the dimensions of the input.
static void result_steps(const ember_tensor_t *y, const ember_tensor_t *x,
                         uint32_t dims, bool keep, int32_t *steps) {
    int32_t strides[EMBER_MAX_RANK];
    uint32_t at = 0;
    if (y->element_size != 0) {
        ember_tensor_strides(y, strides);
    }
    for (uint32_t d = 0; d < x->rank; d++) {
        const bool reduced = (dims >> d & 1) != 0;
        const bool there = y->element_size != 0 && (!reduced || keep);
        steps[d] = there && !reduced ? strides[at] * y->element_size : 0;
        at += there ? 1 : 0;
    }
}

static bool fill_tables(ember_reduce_t *s, const ember_tensor_t *x,
                        const ember_tensor_t *value, const ember_tensor_t *index,
                        uint32_t dims, bool keep) {
    int32_t kept[EMBER_MAX_RANK * 4];
    int32_t reduced[EMBER_MAX_RANK * 2];
    int32_t strides[EMBER_MAX_RANK];
    int32_t value_steps[EMBER_MAX_RANK];
    int32_t index_steps[EMBER_MAX_RANK];
    uint32_t kept_count = 0;
    uint32_t reduced_count = 0;

    ember_tensor_strides(x, strides);
    result_steps(value, x, dims, keep, value_steps);
    result_steps(index, x, dims, keep, index_steps);
    for (uint32_t d = 0; d < x->rank; d++) {
        const int32_t step = strides[d] * x->element_size;
        if ((dims >> d & 1) != 0) {
            const int32_t row[] = {x->sizes[d], step};
            memcpy(reduced + 2 * reduced_count++, row, sizeof(row));
        } else {
            const int32_t row[] = {x->sizes[d], value_steps[d], index_steps[d], step};
            memcpy(kept + 4 * kept_count++, row, sizeof(row));
        }
    }
    kept_count = ember_walk_join(kept, kept_count, 3);
    reduced_count = ember_walk_join(reduced, reduced_count, 1);
    if (kept_count > EMBER_REDUCE_DIMS || reduced_count > EMBER_REDUCE_DIMS) {
        return false;
    }
    s->kept = (uint8_t)kept_count;
    s->reduced = (uint8_t)reduced_count;
    memcpy(s->kept_table, kept, kept_count * 4 * sizeof(*kept));
    memcpy(s->reduced_table, reduced, reduced_count * 2 * sizeof(*reduced));
    return true;
}

static uint32_t count_reduced(const ember_tensor_t *x, uint32_t dims) {
    uint64_t total = 1;
    for (uint32_t d = 0; d < x->rank; d++) {
        total *= (dims >> d & 1) != 0 ? (uint32_t)x->sizes[d] : 1;
        total = total > UINT32_MAX ? UINT32_MAX : total; // with a size of 0
    }
    return (uint32_t)total;
}

static void set_output(ember_node_t *node, uint32_t arg, const ember_tensor_t *x,
                       uint32_t dims, bool keep, ember_tensor_t *y) {
    int32_t sizes[EMBER_MAX_RANK];
    const uint32_t rank = result_shape(x, dims, keep, sizes);
    memset(y, 0, sizeof(*y));
    if (arg != EMBER_REDUCE_NONE) {
        ember_node_output(node, arg, rank, sizes, y);
    }
}

ember_status_t ember_reduce_prepare(ember_node_t *node, ember_reduce_t *state,
                                    const ember_reduce_ops_t *ops, uint32_t dims,
                                    bool keep, uint32_t value_arg, uint32_t index_arg) {
    ember_tensor_t x;
    ember_tensor_t value;
    ember_tensor_t index;

    ember_node_tensor(node, 0, &x);
    set_output(node, value_arg, &x, dims, keep, &value);
    set_output(node, index_arg, &x, dims, keep, &index);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const uint32_t results = value_arg != EMBER_REDUCE_NONE ? value.numel : index.numel;
    const ember_class_t class = ember_class_of(ops->casts ? value.dtype : x.dtype);
    if (ops->classes[class].take == NULL) {
        return EMBER_UNSUPPORTED;
    }
    if (index_arg != EMBER_REDUCE_NONE && index.dtype != EMBER_S64) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "reduction: indices are int64");
    }
    if (ops->keeps && value.dtype != x.dtype) {
        return ember_node_fail(
            node, EMBER_BAD_PROGRAM,
            "reduction: the output's dtype differs from the input's");
    }
    *state = (ember_reduce_t){.ops = ops,
                              .x = x.data,
                              .value = value.data,
                              .index = index.data,
                              .total = count_reduced(&x, dims),
                              .class = (uint8_t)class,
                              .x_dtype = x.dtype,
                              .value_dtype = value.dtype,
                              .index_dtype = index.dtype};
    ember_node_work(node, results, EMBER_STEPS_RESULT);
    if (results == 0) {
        return EMBER_OK;
    }
    if (state->total == 0 && ops->needs_elements) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "reduction: nothing to choose from");
    }
    return fill_tables(state, &x, &value, &index, dims, keep) ? EMBER_OK
                                                              : EMBER_UNSUPPORTED;
}

ember_status_t ember_reduce_prepare_f32(ember_node_t *node, ember_reduce_t *state,
                                        const ember_reduce_ops_t *ops, uint32_t dims,
                                        bool keep, uint32_t value_arg) {
    const ember_status_t status = ember_reduce_prepare(node, state, ops, dims, keep,
                                                       value_arg, EMBER_REDUCE_NONE);
    if (status != EMBER_OK) {
        return status;
    }
    const bool floats = state->x_dtype == EMBER_F32 && state->value_dtype == EMBER_F32;
    return floats ? EMBER_OK : EMBER_UNSUPPORTED;
}

// Adds all elements of one result.
static void reduce_one(const ember_reduce_t *s, const ember_reduce_io_t *io,
                       const char *x, ember_sum_t *sum) {
    const ember_reduce_class_t *class = &s->ops->classes[s->class];
    const int32_t *row = s->reduced_table + 2 * (s->reduced - 1u);
    int64_t block[EMBER_REDUCE_BLOCK];
    ember_walk_t walk;

    sum->seen = 0;
    ember_walk_start(&walk, s->reduced_table, s->reduced, 1);
    walk.at[0] = (char *)(uintptr_t)x;
    do {
        const char *at = walk.at[0];
        for (uint32_t left = (uint32_t)row[0]; left > 0;) {
            const uint32_t count =
                left < EMBER_REDUCE_BLOCK ? left : EMBER_REDUCE_BLOCK;
            io->load(s, block, at, row[1], count);
            class->take(sum, block, count);
            sum->seen += count;
            at += (int32_t)count * row[1];
            left -= count;
        }
    } while (ember_walk_next(&walk));
}

void ember_reduce_run(const ember_reduce_t *state, const ember_reduce_io_t *io) {
    const ember_reduce_class_t *class = &state->ops->classes[state->class];
    ember_walk_t walk;
    if (state->kept == 0) {
        return;
    }
    ember_walk_start(&walk, state->kept_table, state->kept, 3);
    // What is not wanted has steps of 0.
    walk.at[0] = state->value != NULL ? state->value : state->index;
    walk.at[1] = state->index != NULL ? state->index : state->value;
    walk.at[2] = (char *)(uintptr_t)state->x;
    const int32_t *row = state->kept_table + 4 * (state->kept - 1u);
    do {
        for (int32_t i = 0; i < row[0]; i++) {
            ember_sum_t sum = {.total = state->total, .argument = state->argument};
            for (; sum.pass < state->ops->passes; sum.pass++) {
                if (state->total > 0) {
                    reduce_one(state, io, walk.at[2] + i * row[3], &sum);
                }
                if (class->finish != NULL) {
                    class->finish(&sum);
                }
            }
            io->store(state, &sum, walk.at[0] + i * row[1], walk.at[1] + i * row[2]);
        }
    } while (ember_walk_next(&walk));
}
