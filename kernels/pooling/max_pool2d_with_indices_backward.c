// SPDX-License-Identifier: Apache-2.0
// max_pool2d_with_indices_backward: each gradient goes to the element of its plane that
// the index names.
#include <string.h>

#include "kernels/engine/cursor.h"
#include "kernels/engine/index.h"

enum { GRADIENT, SELF, KERNEL, STRIDE, PADDING, DILATION, CEIL, INDICES, OUT };

typedef struct {
    char *gradient; // only read, as the indices are
    char *indices;
    char *out;
    uint32_t bytes; // of out
    int32_t height;
    int32_t width;
    int32_t steps[2]; // along height and width, bytes
    uint8_t dtype;
    uint8_t dims;                       // of the table; 0: nothing to add
    int32_t table[EMBER_WALK_ITEMS(3)]; // gradient, indices, plane
} state_t;

static bool shapes_fit(const ember_tensor_t *gradient, const ember_tensor_t *indices,
                       const ember_tensor_t *out) {
    return ember_tensor_same_shape(gradient, indices) && out->rank == gradient->rank &&
           (out->rank == 3 || out->rank == 4) &&
           memcmp(out->sizes, gradient->sizes, (out->rank - 2u) * sizeof(int32_t)) == 0;
}

static ember_status_t set_table(state_t *s, ember_node_t *node,
                                const ember_tensor_t *gradient,
                                const ember_tensor_t *indices,
                                const ember_tensor_t *out) {
    const uint32_t d = out->rank - 2u;
    ember_view_t from, where, plane;
    const ember_view_t *const views[] = {&from, &where, &plane};

    ember_view_tensor(&from, gradient);
    ember_view_tensor(&where, indices);
    ember_view_tensor(&plane, out);
    s->height = out->sizes[d];
    s->width = out->sizes[d + 1];
    memcpy(s->steps, plane.strides + d, sizeof(s->steps));
    plane.strides[d] = plane.strides[d + 1] = 0;
    s->dims = 0;
    if (gradient->numel > 0) {
        s->dims = (uint8_t)ember_cursor_table(views, 3, s->table);
        if (s->dims == 0) {
            return ember_node_fail(node, EMBER_UNSUPPORTED, "max_pool: layout");
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t gradient, self, indices, out;

    ember_node_tensor(node, GRADIENT, &gradient);
    ember_node_tensor(node, SELF, &self);
    ember_node_tensor(node, INDICES, &indices);
    ember_node_output_like(node, OUT, &self, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!shapes_fit(&gradient, &indices, &out)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "max_pool: wrong shape of gradient");
    }
    if (gradient.dtype != out.dtype || indices.dtype != EMBER_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "max_pool: dtypes");
    }
    s->gradient = gradient.data;
    s->indices = indices.data;
    s->out = out.data;
    s->bytes = (uint32_t)ember_tensor_bytes(&out);
    s->dtype = out.dtype;
    return set_table(s, node, &gradient, &indices, &out);
}

static int32_t run(void *state) {
    const state_t *s = state;
    char *const at[] = {s->gradient, s->indices, s->out};
    ember_cursor_t cursor;

    if (s->bytes > 0) {
        memset(s->out, 0, s->bytes);
    }
    if (s->dims == 0) {
        return EMBER_OK;
    }
    ember_cursor_start(&cursor, s->table, s->dims, 3, at);
    do {
        const int32_t index =
            ember_index_read(cursor.at[1], EMBER_S64, s->height * s->width, false);
        if (index < 0) {
            return EMBER_DATA_RANGE;
        }
        char *to = cursor.at[2] + (ptrdiff_t)(index / s->width) * s->steps[0] +
                   (ptrdiff_t)(index % s->width) * s->steps[1];
        ember_elements_add(to, cursor.at[0], s->dtype, 1);
    } while (ember_cursor_next(&cursor));
    return EMBER_OK;
}

EMBER_KERNEL(max_pool2d_with_indices_backward, state_t);
