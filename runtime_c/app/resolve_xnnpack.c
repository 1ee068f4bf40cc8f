// SPDX-License-Identifier: Apache-2.0
// XNNPACK's delegates in resolve_main.c: the kernels that its graphs chose, and packed
// weights.
#include "resolve_xnnpack.h"

#include "../../backends/xnnpack/graph/describe.h"
#include "../../backends/xnnpack/sme/vector.h"
#include "ember/port.h"
#include "resolve_out.h"

extern const ember_backend_t ember_backend_xnnpack_settling;

static size_t packed_size; // bytes in packed.bin

// Packed weights go to packed.bin, one after the other.
static void put_packed(int32_t file, const ember_xnnpack_choice_t *choice) {
    if (file < 0 || ember_port_write(file, choice->packed, choice->size) != 0) {
        ember_port_panic("cannot write packed.bin");
    }
    resolve_put_text(", \"packed\": {\"name\": ", choice->name);
    resolve_put_number(", \"offset\": ", (int64_t)packed_size);
    resolve_put_number(", \"size\": ", choice->size);
    resolve_put_number(", \"scales\": ", choice->scales);
    resolve_put("}");
    packed_size += choice->size;
}

void resolve_put_graph(const void *handle) {
    static ember_xnnpack_choice_t choice;
    static int32_t file = -1;
    const ember_xnnpack_scratch_t scratch = ember_xnnpack_scratch(handle);
    resolve_put_number(", \"values\": ", scratch.values);
    resolve_put_number(", \"bound\": ", scratch.bound);
    resolve_put_number(", \"work\": ", scratch.work);
    resolve_put(", \"nodes\": [");
    for (uint32_t i = 0; ember_xnnpack_describe(handle, i, &choice); i++) {
        resolve_put_text(i > 0 ? ", {\"kernel\": " : "{\"kernel\": ", choice.kernel);
        resolve_put_text(", \"variant\": ", choice.variant);
        resolve_put_number(", \"refusals\": ", choice.refusals);
        resolve_put_number(", \"row\": ", choice.row);
        if (choice.packed != NULL) {
            file = file < 0 ? ember_port_open("packed.bin", EMBER_PORT_WRITE) : file;
            put_packed(file, &choice);
        }
        resolve_put("}");
    }
    resolve_put("]");
}

ember_backends_t resolve_settling_backends(void) {
    static const ember_backend_t *const items[] = {&ember_backend_xnnpack_settling};
    return (ember_backends_t){items, 1};
}

void resolve_set_vector(uint32_t bytes) {
    ember_xnn_sme_model_vector = bytes;
}
