// SPDX-License-Identifier: Apache-2.0
// Calls whose images have their channels as the last dimension. While such a call is
// prepared, its first argument and its output have the dimensions (N, C, H, W) in
// channels_last order, which are the same bytes. Only tables with such operators link
// this.
#include "node_args.h"

enum { ARGUMENT, OUTPUT, IMAGES };
enum { RANK = 4, TURNED = UINT8_MAX }; // the kind of an image's slot

typedef struct image {
    ember_slot_t slot; // TURNED
    ember_slot_t *own; // of the value; NULL: it cannot change
    uint32_t index;    // of the value
    int32_t sizes[RANK];
} image_t;

// What a method has in place of its `parts`.
typedef struct images {
    ember_changing_t parts;
    const ember_changing_t *own; // NULL: a fixed method
    ember_node_t *node;
    image_t items[IMAGES];
} images_t;

static uint32_t image_value(const ember_method_t *method, uint32_t index,
                            ember_slot_t **slot) {
    images_t *images = (images_t *)(uintptr_t)method->parts;
    const uint32_t asked = index;

    *slot = NULL;
    if (images->own != NULL) {
        index = images->own->source(method, index, slot);
    }
    for (uint32_t i = 0; i < IMAGES; i++) {
        image_t *image = &images->items[i];
        if (image->index == asked) {
            image->own = *slot;
            *slot = &image->slot;
            break;
        }
    }
    return index;
}

// The tensor of a slot as the program has it.
static bool plain_tensor(const images_t *images, ember_slot_t *slot,
                         const uint8_t *table, ember_tensor_t *tensor) {
    ember_plan_tensor_t plan;

    if (slot != NULL) {
        return images->own->tensor(slot, table, tensor);
    }
    const bool placed = ember_method_place(images->node->method, table, &plan);
    *tensor = plan.tensor;
    return placed;
}

static bool image_tensor(ember_slot_t *slot, const uint8_t *table,
                         ember_tensor_t *tensor) {
    static const uint8_t order[RANK] = {0, 2, 3, 1};
    const images_t *images = (const images_t *)(const void *)slot->method->parts;

    if (slot->kind != TURNED) {
        return plain_tensor(images, slot, table, tensor);
    }
    image_t *image = (image_t *)(void *)slot;
    // unreached: loading has read all tensors, which are not malformed
    if (!plain_tensor(images, image->own, table, tensor)) {
        return false;
    }
    if (tensor->rank != RANK || !ember_tensor_is_contiguous(tensor)) {
        (void)ember_node_fail(images->node, EMBER_BAD_PROGRAM,
                              "nhwc: not a contiguous image");
        return true;
    }
    for (uint32_t i = 0; i < RANK; i++) {
        image->sizes[order[i]] = tensor->sizes[i];
    }
    tensor->sizes = image->sizes;
    tensor->dim_order = order;
    return true;
}

static bool image_reshape(ember_method_t *method, uint32_t index, ember_slot_t *slot,
                          uint32_t rank, const int32_t *sizes) {
    const images_t *images = (const images_t *)(const void *)method->parts;

    if (slot->kind != TURNED) {
        return images->own->reshape(method, index, slot, rank, sizes);
    }
    ember_slot_t *own = ((image_t *)(void *)slot)->own;
    const int32_t plain[RANK] = {sizes[0], sizes[2], sizes[3], sizes[1]};
    return rank == RANK &&
           (own == NULL || images->own->reshape(method, index, own, RANK, plain));
}

ember_status_t ember_images_prepare(ember_node_t *node,
                                    const ember_kernel_t *const *candidates,
                                    void **state) {
    ember_method_t *method = node->method;
    struct ember_recent *recent = method->recent;
    images_t images = {.own = method->parts, .node = node};

    for (uint32_t i = 0; i < IMAGES; i++) {
        const uint32_t arg = i == ARGUMENT ? 0 : vector_count(node->args) - 2;
        images.items[i].slot.kind = TURNED;
        images.items[i].slot.method = method;
        images.items[i].index = ember_node_index(node, arg);
    }
    images.parts.source = image_value;
    images.parts.tensor = image_tensor;
    images.parts.reshape = image_reshape;
    method->parts = &images.parts;
    method->recent = NULL; // it has tensors by their values
    const ember_status_t status = ember_node_try(node, candidates, state);
    method->recent = recent;
    method->parts = images.own;
    return status;
}
