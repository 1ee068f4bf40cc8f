// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_embedding_byte: rows of a table of bytes as float32.
//
//     y[i, j] = ((float)w[index[i], j] - zero) * scale
#include "kernels/engine/cadence/numbers.h"

#include <string.h>

enum { WEIGHT, SCALES, ZEROS, INDICES, PRUNED, OUT };

typedef struct embedding {
    const void *weight;  // (rows, columns)
    const float *scales; // (rows, groups)
    const void *zeros;   // the same, of the dtype of the weights; NULL: 0
    const int64_t *indices;
    float *y;
    uint32_t count; // indices
    uint32_t columns;
    uint32_t groups;
    int32_t rows;
    uint8_t dtype;
} embedding_t;

static void write_row(const embedding_t *s, uint32_t index, float *y) {
    const uint32_t each = s->columns / s->groups;

    for (uint32_t j = 0; j < s->columns; j++) {
        const uint32_t group = index * s->groups + j / each;
        const int32_t w =
            ember_cadence_element(s->weight, s->dtype, index * s->columns + j);
        const int32_t zero =
            s->zeros == NULL ? 0 : ember_cadence_element(s->zeros, s->dtype, group);
        y[j] = ((float)w - (float)zero) * s->scales[group];
    }
}

static int32_t run(void *state) {
    const embedding_t *s = state;

    for (uint32_t i = 0; i < s->count; i++) {
        const int64_t index = s->indices[i];
        if (index < 0 || index >= s->rows) {
            return EMBER_DATA_RANGE;
        }
        write_row(s, (uint32_t)index, s->y + (size_t)i * s->columns);
    }
    return EMBER_OK;
}

// Scales and zero points; false if they do not fit the weights.
static bool read_scales(embedding_t *s, ember_node_t *node) {
    ember_tensor_t scales, zeros;

    ember_node_tensor(node, SCALES, &scales);
    const bool given = ember_node_optional_tensor(node, ZEROS, &zeros);
    s->groups = scales.rank == 2 ? (uint32_t)scales.sizes[1] : 1;
    s->scales = scales.data;
    s->zeros = zeros.data;
    return scales.dtype == EMBER_F32 && s->groups > 0 && s->columns % s->groups == 0 &&
           s->columns > 0 && scales.numel == (uint32_t)s->rows * s->groups &&
           ember_tensor_is_contiguous(&scales) &&
           (!given || (zeros.dtype == s->dtype && zeros.numel == scales.numel &&
                       ember_tensor_is_contiguous(&zeros)));
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    embedding_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t weight, indices, y;

    ember_node_tensor(node, WEIGHT, &weight);
    ember_node_tensor(node, INDICES, &indices);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (weight.rank != 2 || (weight.dtype != EMBER_S8 && weight.dtype != EMBER_U8) ||
        indices.dtype != EMBER_S64 || indices.rank >= EMBER_MAX_RANK) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence embedding: dtypes");
    }
    *s = (embedding_t){.rows = weight.sizes[0],
                       .columns = (uint32_t)weight.sizes[1],
                       .dtype = weight.dtype};
    memcpy(sizes, indices.sizes, indices.rank * sizeof(sizes[0]));
    sizes[indices.rank] = weight.sizes[1];
    ember_node_output(node, OUT, indices.rank + 1u, sizes, &y);
    if (ember_node_status(node) != EMBER_OK || !ember_cadence_plain(node, &weight) ||
        !ember_cadence_plain(node, &indices) || !ember_cadence_plain(node, &y)) {
        return ember_node_status(node);
    }
    if (y.dtype != EMBER_F32 || !read_scales(s, node)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence embedding: a parameter does not fit");
    }
    s->weight = weight.data;
    s->indices = indices.data;
    s->count = indices.numel;
    s->y = y.data;
    return ember_node_status(node);
}

EMBER_KERNEL(cadence_embedding, embedding_t);
