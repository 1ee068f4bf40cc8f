// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor. Contract: parts.h.
#include "kernels/engine/parts.h"

#include <string.h>

static void begin(ember_parts_t *parts, const ember_view_t *whole, uint32_t most) {
    parts->whole = whole->data;
    parts->rows = 0;
    parts->count = 0;
    parts->most = (uint16_t)most;
}

static ember_status_t add_strided(ember_parts_t *parts, ember_copy_t *items,
                                  ember_node_t *node, const ember_view_t *dst,
                                  const ember_view_t *src) {
    if (parts->count == parts->most) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "parts: count");
    }
    return ember_copy_prepare(&items[parts->count++], node, dst, src);
}

// Adds `part`, the next region of the whole, `region`. UNSUPPORTED if their layouts
// differ, or there is no room left.
static ember_status_t add_dense(ember_parts_t *parts, ember_part_t *items,
                                ember_node_t *node, const ember_view_t *region,
                                const ember_view_t *part) {
    ember_copy_t copy;
    const ember_status_t status = ember_copy_prepare(&copy, node, region, part);

    if (status != EMBER_OK || copy.run == 0) {
        return status;
    }
    const uint32_t rows = copy.rank == 0 ? 1 : (uint32_t)copy.dims[0].count;
    const bool dense =
        copy.rank == 0 || (copy.rank == 1 && copy.dims[0].src == (int32_t)copy.run);
    if (!dense || (parts->count > 0 && rows != parts->rows) ||
        parts->count == parts->most) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "parts: layouts or count");
    }
    parts->rows = rows;
    items[parts->count++] = (ember_part_t){part->data, copy.run};
    return EMBER_OK;
}

// --- cat and stack ---------------------------------------------------------------

static ember_status_t add_source(ember_parts_t *parts, ember_part_list_t items,
                                 ember_node_t *node, const ember_view_t *region,
                                 const ember_view_t *part) {
    if (items.convert != NULL) {
        return items.convert(parts, node, region, part);
    }
    if (part->dtype != region->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cat, stack: dtypes differ");
    }
    return items.strided != NULL ? add_strided(parts, items.strided, node, region, part)
                                 : add_dense(parts, items.dense, node, region, part);
}

// Input `item` as cat sees it. False for a tensor of shape (0,), which cat skips
// whatever the rank of the others, and for an item that is not a tensor.
static bool cat_item(ember_node_t *node, uint32_t item, ember_view_t *view) {
    ember_tensor_t tensor;

    if (!ember_node_list_tensor(node, 0, item, &tensor)) {
        return false;
    }
    ember_view_tensor(view, &tensor);
    return tensor.rank != 1 || tensor.numel != 0;
}

// The output's shape: that of the first item that counts, with the sum of dimension
// `dim`.
static uint32_t cat_shape(ember_node_t *node, uint32_t count, ember_view_t *shape) {
    ember_view_t view;
    int64_t total = 0;
    uint32_t dim = 0;
    bool first = true;

    shape->rank = 1;
    shape->sizes[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!cat_item(node, i, &view)) {
            continue;
        }
        if (first) {
            *shape = view;
            first = false;
        }
        if (view.rank != shape->rank || view.rank == 0) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "cat: ranks differ");
            return 0;
        }
        dim = ember_node_dim(node, 1, view.rank);
        total += view.sizes[dim];
    }
    if (total > INT32_MAX) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "cat: too large");
        return 0;
    }
    shape->sizes[dim] = (int32_t)total;
    return dim;
}

ember_status_t ember_parts_prepare_cat(ember_parts_t *parts, ember_part_list_t items,
                                       ember_node_t *node, uint32_t most) {
    const uint32_t count = ember_node_list_count(node, 0);
    ember_tensor_t out;
    ember_view_t view, whole;
    int32_t at = 0;

    if (count == 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cat: no tensors");
    }
    const uint32_t dim = cat_shape(node, count, &view);
    ember_node_output(node, 2, view.rank, view.sizes, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&whole, &out);
    begin(parts, &whole, most);
    for (uint32_t i = 0; i < count; i++) {
        if (!cat_item(node, i, &view)) {
            continue;
        }
        ember_view_t region = whole;
        ember_view_slice(&region, dim, at, view.sizes[dim], 1);
        at += view.sizes[dim];
        const ember_status_t status = add_source(parts, items, node, &region, &view);
        if (status != EMBER_OK) {
            return status;
        }
    }
    return EMBER_OK;
}

ember_status_t ember_parts_prepare_stack(ember_parts_t *parts, ember_part_list_t items,
                                         ember_node_t *node, uint32_t most) {
    const uint32_t count = ember_node_list_count(node, 0);
    ember_tensor_t tensor;
    ember_view_t view, whole;

    ember_node_list_tensor(node, 0, 0, &tensor);
    ember_view_tensor(&view, &tensor);
    const uint32_t dim = ember_node_dim(node, 1, view.rank + 1u);
    ember_view_insert(&view, dim, (int32_t)count, 0);
    if (count == 0 || view.rank > EMBER_MAX_RANK) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "stack: no tensors");
    }
    ember_node_output(node, 2, view.rank, view.sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&whole, &tensor);
    begin(parts, &whole, most);
    for (uint32_t i = 0; i < count; i++) {
        ember_view_t region = whole;
        ember_view_slice(&region, dim, (int32_t)i, 1, 1);
        ember_view_drop(&region, dim);
        ember_node_list_tensor(node, 0, i, &tensor);
        ember_view_tensor(&view, &tensor);
        const ember_status_t status = add_source(parts, items, node, &region, &view);
        if (status != EMBER_OK) {
            return status;
        }
    }
    return EMBER_OK;
}

// --- split and unbind --------------------------------------------------------------

// Adds item `item` of the output list: `region` of the whole.
static ember_status_t add_output(ember_parts_t *parts, ember_part_list_t items,
                                 ember_node_t *node, uint32_t arg, uint32_t item,
                                 const ember_view_t *region) {
    ember_tensor_t tensor;
    ember_view_t part;

    ember_node_list_output(node, arg, item, region->rank, region->sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (tensor.dtype != region->dtype) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "split: dtypes differ");
    }
    ember_view_tensor(&part, &tensor);
    return items.strided != NULL
               ? add_strided(parts, items.strided, node, &part, region)
               : add_dense(parts, items.dense, node, region, &part);
}

ember_status_t ember_parts_prepare_unbind(ember_parts_t *parts, ember_part_list_t items,
                                          ember_node_t *node, uint32_t most) {
    const uint32_t count = ember_node_list_count(node, 2);
    ember_view_t whole;

    ember_view_arg(&whole, node, 0);
    const uint32_t dim = ember_node_dim(node, 1, whole.rank);
    if (whole.rank == 0 || count != (uint32_t)whole.sizes[dim]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "unbind: wrong number of outputs");
    }
    begin(parts, &whole, most);
    for (uint32_t i = 0; i < count; i++) {
        ember_view_t region = whole;
        ember_view_slice(&region, dim, (int32_t)i, 1, 1);
        ember_view_drop(&region, dim);
        const ember_status_t status = add_output(parts, items, node, 2, i, &region);
        if (status != EMBER_OK) {
            return status;
        }
    }
    return EMBER_OK;
}

// The length of part `item` of `size` elements, if `left` elements are left.
static int32_t part_length(ember_node_t *node, uint32_t item, int32_t left) {
    const bool sizes_given = ember_node_kind(node, 1) == EMBER_INT_LIST;
    const int64_t length =
        sizes_given ? ember_node_list_int(node, 1, item) : ember_node_int(node, 1);

    if (length < 0 || (length > left && sizes_given)) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "split: bad size");
        return 0;
    }
    return length > left ? left : (int32_t)length;
}

ember_status_t ember_parts_prepare_split(ember_parts_t *parts, ember_part_list_t items,
                                         ember_node_t *node, uint32_t most) {
    const uint32_t count = ember_node_list_count(node, 3);
    ember_view_t whole;
    int32_t at = 0;

    ember_view_arg(&whole, node, 0);
    const uint32_t dim = ember_node_dim(node, 2, whole.rank);
    if (ember_node_status(node) != EMBER_OK || whole.rank == 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "split: rank 0");
    }
    begin(parts, &whole, most);
    for (uint32_t i = 0; i < count; i++) {
        ember_view_t region = whole;
        const int32_t length = part_length(node, i, whole.sizes[dim] - at);
        ember_view_slice(&region, dim, at, length, 1);
        at += length;
        const ember_status_t status = add_output(parts, items, node, 3, i, &region);
        if (status != EMBER_OK) {
            return status;
        }
    }
    if (at != whole.sizes[dim]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "split: sizes do not add up");
    }
    return EMBER_OK;
}

// --- run -----------------------------------------------------------------------------

void ember_parts_join(const ember_parts_t *parts, const ember_part_t *items) {
    uint8_t *at = parts->whole;

    for (uint32_t row = 0; row < parts->rows; row++) {
        for (uint32_t i = 0; i < parts->count; i++) {
            const uint32_t run = items[i].run;
            memmove(at, items[i].data + (size_t)row * run, run);
            at += run;
        }
    }
}

void ember_parts_part(const ember_parts_t *parts, const ember_part_t *items) {
    const uint8_t *at = parts->whole;

    for (uint32_t row = 0; row < parts->rows; row++) {
        for (uint32_t i = 0; i < parts->count; i++) {
            const uint32_t run = items[i].run;
            memmove(items[i].data + (size_t)row * run, at, run);
            at += run;
        }
    }
}

void ember_parts_copy(const ember_parts_strided_t *strided) {
    for (uint32_t i = 0; i < strided->parts.count; i++) {
        ember_copy_run(&strided->items[i]);
    }
}
