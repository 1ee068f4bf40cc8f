// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/transform.h"

#include <string.h>

enum { ROOTS = 1, LONGEST = 1 << 24 };

static bool is_plain(const ember_tensor_t *tensor) {
    return tensor->dtype == EMBER_F32 && ember_tensor_is_contiguous(tensor);
}

bool ember_transform_input(ember_node_t *node, ember_tensor_t *x, bool pair) {
    ember_node_tensor(node, 0, x);
    if (ember_node_status(node) != EMBER_OK) {
        return false;
    }
    const uint32_t rank = x->rank;
    const uint32_t least = pair ? 2 : 1;
    if (!is_plain(x) || rank < least || rank >= EMBER_MAX_RANK) {
        (void)ember_node_fail(node, EMBER_UNSUPPORTED,
                              "fft: not contiguous float32 of a rank from 1 to 15");
        return false;
    }
    const int32_t size = x->sizes[rank - least];
    if ((pair && x->sizes[rank - 1] != 2) || size < 1 || size > LONGEST) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "fft: rows of 1 to 2^24 numbers, complex ones in pairs");
        return false;
    }
    return true;
}

static void output(ember_node_t *node, const ember_tensor_t *x,
                   const ember_transform_form_t *form, ember_tensor_t *y) {
    int32_t sizes[EMBER_MAX_RANK + 1];
    uint32_t rank = x->rank - form->x_dims;
    memcpy(sizes, x->sizes, rank * sizeof(*sizes));
    sizes[rank++] = (int32_t)form->bins;
    if (form->pair) {
        sizes[rank++] = 2;
    }
    ember_node_output(node, form->out, rank, sizes, y);
}

ember_status_t ember_transform_prepare(ember_transform_t *transform, ember_node_t *node,
                                       const ember_tensor_t *x,
                                       const ember_transform_form_t *form) {
    const ember_fft_size_t size = ember_fft_size(transform->fft);
    const int32_t count[2] = {(int32_t)(size.roots + form->roots), 2};
    ember_tensor_t roots;
    ember_tensor_t y;
    output(node, x, form, &y);
    ember_node_tensor(node, ROOTS, &roots);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "fft: out is not float32");
    }
    if (!is_plain(&roots) || !ember_tensor_has_shape(&roots, 2, count)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "fft: wrong number of roots");
    }
    const uint32_t pair = form->pair ? 2 : 1;
    transform->y_row = form->bins * pair;
    transform->rows = y.numel / transform->y_row;
    transform->x_row = transform->rows == 0 ? 0 : x->numel / transform->rows;
    transform->x = x->data;
    transform->y = y.data;
    transform->roots = roots.data;
    transform->scratch =
        ember_node_scratch(node, form->scratch * sizeof(ember_complex_t));
    ember_node_work(node, transform->rows * transform->fft, size.steps);
    return ember_node_status(node);
}

void ember_transform_run(const ember_transform_t *transform, ember_transform_fn row) {
    for (uint32_t i = 0; i < transform->rows; i++) {
        row(transform, transform->x + (size_t)transform->x_row * i,
            transform->y + (size_t)transform->y_row * i);
    }
}
