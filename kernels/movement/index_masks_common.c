// SPDX-License-Identifier: Apache-2.0
// Blocks picked by masks and indices. Contract: index_masks.h.
#include <string.h>

#include "kernels/engine/index.h"
#include "kernels/engine/masked.h"
#include "kernels/movement/index_masks.h"

enum { INDICES = 1, VALUES, ACCUMULATE };

// --- prepare -------------------------------------------------------------------------

// Reads a mask or an index that starts at dimension `dim`; false if it does not fit.
static bool set_item(ember_masks_item_t *item, const ember_tensor_t *tensor,
                     const ember_view_t *whole, uint32_t dim) {
    ember_view_t view;
    const bool mask = ember_is_mask_dtype(tensor->dtype);

    if (dim + (mask ? tensor->rank : 1u) > whole->rank) {
        return false;
    }
    ember_view_tensor(&view, tensor);
    memset(item, 0, sizeof(*item));
    item->data = tensor->data;
    item->count = (int32_t)tensor->numel;
    item->dtype = tensor->dtype;
    if (!mask) {
        item->size = whole->sizes[dim];
        item->step = whole->strides[dim];
        return true;
    }
    item->dims = tensor->rank;
    memcpy(item->sizes, view.sizes, tensor->rank * sizeof(int32_t));
    memcpy(item->from, view.strides, tensor->rank * sizeof(int32_t));
    memcpy(item->to, whole->strides + dim, tensor->rank * sizeof(int32_t));
    return memcmp(view.sizes, whole->sizes + dim, tensor->rank * sizeof(int32_t)) == 0;
}

// Reads the items; bit d of the result says that dimension d is indexed.
static uint32_t read_items(ember_masks_t *masks, ember_node_t *node,
                           const ember_view_t *whole) {
    const uint32_t count = ember_node_list_count(node, INDICES);
    ember_tensor_t tensor;
    uint32_t indexed = 0;
    uint32_t dim = 0;

    for (uint32_t i = 0; i < count && ember_node_status(node) == EMBER_OK; i++) {
        if (!ember_node_list_tensor(node, INDICES, i, &tensor)) {
            dim++;
            continue;
        }
        const bool mask = ember_is_mask_dtype(tensor.dtype);
        const bool index = ember_is_index_dtype(tensor.dtype) && tensor.rank <= 1;
        if ((!mask && !index) || (mask && tensor.rank == 0) ||
            masks->count == EMBER_PICK_INDICES) {
            (void)ember_node_fail(node, EMBER_UNSUPPORTED,
                                  "index: unsupported tensor beside a mask");
        } else if (!set_item(&masks->items[masks->count++], &tensor, whole, dim)) {
            (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                                  "index: wrong shape of a mask");
        } else {
            const uint32_t spans = mask ? tensor.rank : 1;
            indexed |= ((1u << spans) - 1u) << dim;
            dim += spans;
        }
    }
    return indexed;
}

static void set_shape(ember_masks_t *masks, const ember_view_t *whole,
                      uint32_t indexed) {
    uint32_t first = 0;

    while ((indexed >> first & 1) == 0) {
        first++;
    }
    const uint32_t run = indexed >> first;
    masks->place = (run & (run + 1)) == 0 ? (uint8_t)first : 0; // side by side
    for (uint32_t d = 0; d < whole->rank; d++) {
        if (masks->rank == masks->place) {
            masks->sizes[masks->rank++] = 1;
        }
        if ((indexed >> d & 1) == 0) {
            masks->sizes[masks->rank++] = whole->sizes[d];
        }
    }
    if (masks->rank == masks->place) {
        masks->sizes[masks->rank++] = 1;
    }
}

static ember_status_t set_scratch(ember_masks_t *masks, ember_node_t *node) {
    size_t count = 0;

    for (uint32_t k = 0; k < masks->count; k++) {
        count += masks->items[k].dims > 0 ? (size_t)masks->items[k].count : 0;
    }
    int32_t *at = ember_node_scratch(node, count * sizeof(int32_t));
    for (uint32_t k = 0; k < masks->count && at != NULL; k++) {
        if (masks->items[k].dims > 0) {
            masks->items[k].places = at;
            at += masks->items[k].count;
        }
    }
    return ember_node_status(node);
}

ember_status_t ember_masks_read(ember_masks_t *masks, ember_node_t *node,
                                const ember_view_t *whole) {
    memset(masks, 0, sizeof(*masks));
    masks->indexed = read_items(masks, node, whole);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (masks->count < 2) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: no index tensor");
    }
    set_shape(masks, whole, masks->indexed);
    masks->whole = whole->data;
    masks->dtype = whole->dtype;
    return set_scratch(masks, node);
}

ember_status_t ember_masks_prepare(ember_masks_t *masks, ember_node_t *node,
                                   const ember_view_t *whole,
                                   const ember_view_t *picked) {
    ember_view_t there = *whole; // the dimensions that are not indexed
    ember_view_t here = *picked;

    if (picked->dtype != whole->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: dtypes differ");
    }
    for (uint32_t d = whole->rank; d-- > 0;) {
        if ((masks->indexed >> d & 1) != 0) {
            ember_view_drop(&there, d);
        }
    }
    masks->picked = picked->data;
    masks->picked_step = masks->picked_count == 1 ? 0 : picked->strides[masks->place];
    ember_view_drop(&here, masks->place);
    return masks->picked_count < 0
               ? ember_copy_prepare(&masks->block, node, &here, &there)
               : ember_copy_prepare(&masks->block, node, &there, &here);
}

ember_status_t ember_masks_put(ember_masks_t *masks, ember_node_t *node,
                               const ember_tensor_t *out) {
    ember_view_t whole, values;

    ember_view_tensor(&whole, out);
    ember_view_arg(&values, node, VALUES);
    const ember_status_t status = ember_masks_read(masks, node, &whole);
    if (status != EMBER_OK) {
        return status;
    }
    masks->add = ember_node_bool(node, ACCUMULATE);
    const uint32_t behind = masks->rank - masks->place; // after the blocks' own
    masks->picked_count = values.rank < behind ? 1 : values.sizes[values.rank - behind];
    masks->sizes[masks->place] = masks->picked_count;
    if (values.rank > masks->rank ||
        !ember_view_expand(&values, masks->rank, masks->sizes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "index_put: wrong shape of values");
    }
    return ember_masks_prepare(masks, node, &whole, &values);
}

// --- run -----------------------------------------------------------------------------

// Lists where a mask is true, in logical order; returns how many positions.
static int32_t list_places(const ember_masks_item_t *item) {
    int32_t at[EMBER_MAX_RANK] = {0};
    ptrdiff_t from = 0;
    int32_t to = 0;
    int32_t found = 0;

    for (int32_t i = 0; i < item->count; i++) {
        if (item->data[from] != 0) {
            item->places[found++] = to;
        }
        for (int32_t d = item->dims - 1; d >= 0; d--) {
            from += item->from[d];
            to += item->to[d];
            if (++at[d] < item->sizes[d]) {
                break;
            }
            from -= (ptrdiff_t)item->from[d] * at[d];
            to -= item->to[d] * at[d];
            at[d] = 0;
        }
    }
    return found;
}

int32_t ember_masks_find(const ember_masks_t *masks) {
    int32_t blocks = 1;

    for (uint32_t k = 0; k < masks->count; k++) {
        const ember_masks_item_t *item = &masks->items[k];
        const int32_t count = item->dims > 0 ? list_places(item) : item->count;
        if (item->dims > 0 && count < item->count) {
            item->places[count] = -1; // end mark
        }
        if (count != 1 && blocks != 1 && count != blocks) {
            return -1;
        }
        blocks = count != 1 ? count : blocks;
    }
    return blocks;
}

// The position that item `k` gives block `i`, in bytes; a single one stands for all.
// False if an index is out of range.
static bool place_of(const ember_masks_item_t *item, int32_t i, char **whole) {
    if (item->dims > 0) {
        const bool single = item->count == 1 || item->places[1] < 0;
        *whole += item->places[single ? 0 : i];
        return true;
    }
    const size_t at = item->count == 1 ? 0 : (size_t)i;
    const int32_t index = ember_index_read(
        item->data + at * ember_dtype_size(item->dtype), item->dtype, item->size, true);
    *whole += (ptrdiff_t)index * item->step;
    return index >= 0;
}

int32_t ember_masks_move(const ember_masks_t *masks, int32_t blocks, char *start,
                         char *picked) {
    for (int32_t i = 0; i < blocks; i++, picked += masks->picked_step) {
        char *whole = start;
        for (uint32_t k = 0; k < masks->count; k++) {
            if (!place_of(&masks->items[k], i, &whole)) {
                return EMBER_DATA_RANGE;
            }
        }
        if (masks->block.run == 0) {
            continue;
        }
        if (masks->picked_count < 0) {
            ember_copy_run_at(&masks->block, picked, whole);
        } else if (masks->add) {
            ember_pick_add(&masks->block, masks->dtype, whole, picked);
        } else {
            ember_copy_run_at(&masks->block, whole, picked);
        }
    }
    return EMBER_OK;
}

int32_t ember_masks_run(const ember_masks_t *masks) {
    const int32_t blocks = ember_masks_find(masks);

    if (blocks < 0 || (masks->picked_count != 1 && masks->picked_count != blocks)) {
        return EMBER_DATA_RANGE;
    }
    return ember_masks_move(masks, blocks, masks->whole, masks->picked);
}
