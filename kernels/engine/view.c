// SPDX-License-Identifier: Apache-2.0
// Views. Contract: view.h.
#include "kernels/engine/view.h"

#include <string.h>

void ember_view_tensor(ember_view_t *view, const ember_tensor_t *tensor) {
    view->data = tensor->data;
    view->offset = 0;
    view->dtype = tensor->dtype;
    view->element_size = tensor->element_size;
    view->rank = tensor->rank;
    memset(view->strides, 0, tensor->rank * sizeof(view->strides[0]));
    if (tensor->numel != 0) {
        ember_tensor_strides(tensor, view->strides);
    }
    for (uint32_t d = 0; d < tensor->rank; d++) {
        view->sizes[d] = tensor->sizes[d];
        view->strides[d] *= tensor->element_size;
    }
}

void ember_view_arg(ember_view_t *view, ember_node_t *node, uint32_t arg) {
    ember_tensor_t tensor;

    ember_node_tensor(node, arg, &tensor);
    ember_view_tensor(view, &tensor);
}

int64_t ember_view_numel(const ember_view_t *view) {
    int64_t numel = 1;
    for (uint32_t d = 0; d < view->rank; d++) {
        if (view->sizes[d] == 0) {
            return 0;
        }
    }
    for (uint32_t d = 0; d < view->rank; d++) {
        if (numel > INT32_MAX) {
            return INT64_MAX;
        }
        numel *= view->sizes[d];
    }
    return numel;
}

void ember_view_slice(ember_view_t *view, uint32_t dim, int32_t start, int32_t count,
                      int32_t step) {
    // One element needs no stride, and count > 1 bounds step by the size.
    const int32_t apart = count > 1 ? step : 0;

    view->offset += count > 0 ? start * view->strides[dim] : 0;
    view->sizes[dim] = count;
    view->strides[dim] *= apart;
}

void ember_view_flip(ember_view_t *view, uint32_t dim) {
    if (view->sizes[dim] > 1) {
        view->offset += (view->sizes[dim] - 1) * view->strides[dim];
        view->strides[dim] = -view->strides[dim];
    }
}

void ember_view_drop(ember_view_t *view, uint32_t dim) {
    view->rank--;
    for (uint32_t d = dim; d < view->rank; d++) {
        view->sizes[d] = view->sizes[d + 1];
        view->strides[d] = view->strides[d + 1];
    }
}

void ember_view_insert(ember_view_t *view, uint32_t dim, int32_t size, int32_t stride) {
    for (uint32_t d = view->rank; d > dim; d--) {
        view->sizes[d] = view->sizes[d - 1];
        view->strides[d] = view->strides[d - 1];
    }
    view->sizes[dim] = size;
    view->strides[dim] = stride;
    view->rank++;
}

void ember_view_split(ember_view_t *view, uint32_t dim, int32_t inner) {
    const int32_t outer = view->sizes[dim] / inner;
    const int32_t stride = outer > 1 ? view->strides[dim] * inner : 0;

    view->sizes[dim] = inner;
    ember_view_insert(view, dim, outer, stride);
}

void ember_view_swap(ember_view_t *view, uint32_t a, uint32_t b) {
    const int32_t size = view->sizes[a];
    const int32_t stride = view->strides[a];

    view->sizes[a] = view->sizes[b];
    view->strides[a] = view->strides[b];
    view->sizes[b] = size;
    view->strides[b] = stride;
}

void ember_view_move(ember_view_t *view, uint32_t from, uint32_t to) {
    const int32_t size = view->sizes[from];
    const int32_t stride = view->strides[from];

    ember_view_drop(view, from);
    ember_view_insert(view, to, size, stride);
}

bool ember_view_expand(ember_view_t *view, uint32_t rank, const int32_t *sizes) {
    if (view->rank > rank) {
        return false;
    }
    while (view->rank < rank) {
        ember_view_insert(view, 0, 1, 0);
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (view->sizes[d] == sizes[d]) {
            continue;
        }
        if (view->sizes[d] != 1) {
            return false;
        }
        view->sizes[d] = sizes[d];
        view->strides[d] = 0;
    }
    return true;
}
