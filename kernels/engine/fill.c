// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/fill.h"

#include <string.h>

#include "kernels/engine/scalar.h"

void ember_fill_output(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    int32_t sizes[EMBER_MAX_RANK];
    const uint32_t rank = ember_node_ints(node, 0, sizes, EMBER_MAX_RANK);
    memset(tensor, 0, sizeof(*tensor));
    if (ember_node_status(node) == EMBER_OK) {
        ember_node_output(node, arg, rank, sizes, tensor);
    }
}

ember_status_t ember_fill_prepare(ember_node_t *node, void *state,
                                  const ember_tensor_t *tensor, ember_value_t value) {
    ember_fill_t *s = state;
    ember_scalar_check(node, &value, tensor->dtype);
    *s = (ember_fill_t){tensor->data, tensor->numel, tensor->element_size, {0, 0}};
    ember_element_cast(tensor->dtype, s->number, ember_scalar_dtype(&value),
                       &value.as_int);
    return ember_node_status(node);
}

// Copies what is there already behind itself, which doubles it.
int32_t ember_fill_run(const void *state) {
    const ember_fill_t *s = state;
    const size_t bytes = (size_t)s->count * s->size;
    char *data = s->data;

    if (bytes == 0) {
        return EMBER_OK;
    }
    memcpy(data, s->number, s->size);
    for (size_t done = s->size; done < bytes;) {
        const size_t left = bytes - done;
        const size_t part = left < done ? left : done;
        memcpy(data + done, data, part);
        done += part;
    }
    return EMBER_OK;
}
