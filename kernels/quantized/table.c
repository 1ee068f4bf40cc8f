// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantized/table.h"

#include <string.h>

#include "kernels/engine/affine.h"
#include "kernels/engine/index.h"

enum { WEIGHT, SCALES, ZEROS, LOWEST, HIGHEST, INDICES, DTYPE };
enum { BLOCK = EMBER_AFFINE_BLOCK };

// --- run -----------------------------------------------------------------------

// Elements of a row from `first` on as floats.
static void unpack(const ember_table_t *s, const uint8_t *row, uint32_t first,
                   float *numbers, uint32_t count) {
    const uint32_t per_byte = 8u / s->bits;
    const int32_t middle = 1 << (s->bits - 1u);
    const uint32_t mask = (1u << s->bits) - 1u;

    if (s->bits == 8) {
        ember_elements_load(EMBER_CLASS_F32, numbers, s->weight_dtype, row + first, 1,
                            count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = (first + i) % per_byte;
        const uint32_t shift = s->bits == 4 ? 4 - 4 * place : 2 * place;
        const uint32_t code = (uint32_t)row[(first + i) / per_byte] >> shift & mask;
        numbers[i] = (float)((int32_t)code - middle);
    }
}

static float load_parameter(const ember_table_t *s, const char *from, uint32_t index) {
    ember_number_t number;
    ember_elements_load(EMBER_CLASS_F32, &number, s->scale_dtype,
                        from + (size_t)index * ember_dtype_size(s->scale_dtype), 0, 1);
    return number.f32;
}

static void scale_numbers(const ember_table_t *s, uint32_t index, float *x,
                          uint32_t count) {
    const float scale = load_parameter(s, s->scales, index);
    if (s->zeros != NULL) {
        const float zero = load_parameter(s, s->zeros, index);
        for (uint32_t i = 0; i < count; i++) {
            x[i] -= zero;
        }
        ember_round_to(s->scale_dtype, x, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        x[i] *= scale;
    }
    ember_round_to(s->scale_dtype, x, count);
}

void ember_table_write_row(const ember_table_t *s, uint32_t index, char *y) {
    const uint8_t *row = s->weight + (size_t)index * (s->columns / (8u / s->bits));
    const uint32_t groups = s->columns / s->group;
    const int32_t size = (int32_t)ember_dtype_size(s->y_dtype);
    ember_affine_numbers_t numbers;

    for (uint32_t first = 0; first < s->columns;) {
        const uint32_t left = s->group - first % s->group; // of the group
        const uint32_t count = left < BLOCK ? left : BLOCK;
        unpack(s, row, first, numbers.f32, count);
        scale_numbers(s, index * groups + first / s->group, numbers.f32, count);
        ember_elements_store(EMBER_CLASS_F32, &numbers, s->y_dtype,
                             y + (size_t)first * (uint32_t)size, size, count);
        first += count;
    }
}

int32_t ember_table_run(const ember_table_t *s, ember_table_fn write_row) {
    const size_t index_size = ember_dtype_size(s->index_dtype);
    const size_t y_row = (size_t)s->columns * ember_dtype_size(s->y_dtype);
    for (uint32_t i = 0; i < s->count; i++) {
        const int32_t index = ember_index_read(s->indices + i * index_size,
                                               s->index_dtype, s->rows, false);
        if (index < 0) {
            return EMBER_DATA_RANGE;
        }
        write_row(s, (uint32_t)index, s->y + i * y_row);
    }
    return EMBER_OK;
}

// --- prepare -------------------------------------------------------------------

typedef struct arguments {
    ember_tensor_t weight;
    ember_tensor_t scales;
    ember_tensor_t zeros;
    ember_tensor_t indices;
    ember_tensor_t y;
    bool has_zeros;
} arguments_t;

static bool read_groups(ember_table_t *s, const arguments_t *args) {
    const ember_tensor_t *scales = &args->scales;
    if (scales->rank < 1 || scales->rank > 2 || scales->sizes[0] != s->rows) {
        return false;
    }
    const uint32_t groups = scales->rank == 2 ? (uint32_t)scales->sizes[1] : 1;
    if (groups == 0 || s->columns % groups != 0) {
        return false;
    }
    s->group = s->columns == 0 ? 1 : s->columns / groups;
    return !args->has_zeros ||
           (args->zeros.numel == scales->numel && args->zeros.dtype == scales->dtype);
}

static bool is_dense(const arguments_t *args) {
    const bool zeros = !args->has_zeros || ember_tensor_is_contiguous(&args->zeros);
    return ember_tensor_is_contiguous(&args->weight) &&
           ember_tensor_is_contiguous(&args->scales) && zeros &&
           ember_tensor_is_contiguous(&args->indices) &&
           ember_tensor_is_contiguous(&args->y);
}

static bool right_dtypes(const ember_table_t *s) {
    const bool bytes =
        s->weight_dtype == EMBER_U8 || (s->weight_dtype == EMBER_S8 && s->bits == 8);
    return bytes && ember_class_of(s->scale_dtype) == EMBER_CLASS_F32 &&
           ember_is_real(s->y_dtype) && ember_is_index_dtype(s->index_dtype);
}

// The shape of y: the indices', then the columns.
static void shape_output(ember_node_t *node, const ember_table_t *s,
                         arguments_t *args) {
    int32_t sizes[EMBER_MAX_RANK + 1];
    const ember_tensor_t *indices = &args->indices;
    const uint32_t out =
        ember_node_kind(node, DTYPE) == EMBER_TENSOR ? DTYPE : DTYPE + 1;
    for (uint32_t d = 0; d < indices->rank; d++) {
        sizes[d] = indices->sizes[d];
    }
    sizes[indices->rank] = (int32_t)s->columns;
    ember_node_output(node, out, indices->rank + 1u, sizes, &args->y);
}

ember_status_t ember_table_prepare(ember_table_t *s, ember_node_t *node,
                                   uint32_t bits) {
    const int64_t middle = (int64_t)1 << (bits - 1);
    arguments_t args;

    ember_node_tensor(node, WEIGHT, &args.weight);
    ember_node_tensor(node, SCALES, &args.scales);
    args.has_zeros = ember_node_optional_tensor(node, ZEROS, &args.zeros);
    ember_node_tensor(node, INDICES, &args.indices);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (args.weight.rank != 2 || args.weight.sizes[1] > INT32_MAX / 4) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "embedding: no table");
    }
    s->bits = (uint8_t)bits;
    s->rows = args.weight.sizes[0];
    s->columns = (uint32_t)args.weight.sizes[1] * (8u / bits);
    shape_output(node, s, &args);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    s->weight = args.weight.data;
    s->scales = args.scales.data;
    s->zeros = args.zeros.data;
    s->indices = args.indices.data;
    s->y = args.y.data;
    s->count = args.indices.numel;
    s->weight_dtype = args.weight.dtype;
    s->scale_dtype = args.scales.dtype;
    s->index_dtype = args.indices.dtype;
    s->y_dtype = args.y.dtype;
    ember_node_work(node, args.y.numel, EMBER_STEPS_ANY);
    if (!right_dtypes(s) || !is_dense(&args)) {
        return EMBER_UNSUPPORTED;
    }
    const bool range = bits == 8 || (ember_node_int(node, LOWEST) == -middle &&
                                     ember_node_int(node, HIGHEST) == middle - 1);
    if (!range) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "embedding: only the whole range is supported");
    }
    if (!read_groups(s, &args)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "embedding: scales do not fit the table");
    }
    ember_node_work(node, args.y.numel / s->group, 2 * EMBER_STEPS_RESULT);
    return ember_node_status(node);
}
