// SPDX-License-Identifier: Apache-2.0
// Delegates in resolve_main.c: stand-ins for missing backends in the first pass, and
// the kernels that delegates report.
#include "../src/method_state.h"
#include "resolve_out.h"
#include "resolve_probe.h"
#include "resolve_xnnpack.h"

#include <string.h>

extern const ember_backends_t ember_backends;

static ember_status_t init_missing(const ember_delegate_info_t *info, void **handle) {
    (void)info;
    *handle = NULL;
    return EMBER_OK;
}

static ember_status_t execute_missing(void *handle, ember_node_t *call) {
    (void)handle;
    (void)call;
    return EMBER_OK;
}

static bool has_backend(ember_vector_t id) {
    for (uint32_t i = 0; i < ember_backends.count; i++) {
        if (ember_flat_is(id, ember_backends.items[i]->id)) {
            return true;
        }
    }
    return false;
}

ember_backends_t resolve_probing_backends(const ember_method_meta_t *meta) {
    const ember_vector_t delegates = meta->plan[PLAN_DELEGATES].at;
    ember_flat_t flat;
    ember_flat_begin(&flat, &meta->program->flat, NULL);
    const uint32_t all = vector_count(delegates);
    const ember_backend_t **items =
        resolve_take(ember_backends.count + all + 1, sizeof(*items));
    uint32_t count = 0;
    for (; count < ember_backends.count; count++) {
        items[count] = ember_backends.items[count];
    }
    resolve_put(", \"missing_delegates\": [");
    const char *comma = "";
    for (uint32_t i = 0; i < all; i++) {
        ember_field_t delegate[2];
        ember_flat_read(&flat, ember_flat_item(&flat, delegates, i), DELEGATE_FIELDS,
                        delegate);
        const ember_vector_t id = delegate[DELEGATE_ID].at;
        if (has_backend(id)) {
            continue;
        }
        char *text = resolve_take(vector_count(id) + 1, 1);
        memcpy(text, vector_items(id), vector_count(id));
        ember_backend_t *missing = resolve_take(1, sizeof(*missing));
        *missing = (ember_backend_t){text, init_missing, execute_missing, NULL};
        items[count++] = missing;
        resolve_put_number(comma, i);
        comma = ", ";
    }
    resolve_put("]");
    return (ember_backends_t){items, count};
}

// Reports the delegates whose payloads the loaded method no longer needs.
static void put_spare(const ember_method_t *method) {
    const char *comma = "";
    ember_bytes_t spare;
    resolve_put(", \"spare\": [");
    for (uint32_t i = 0; ember_method_spare(method, i, &spare); i++) {
        if (spare.size > 0) {
            resolve_put_number(comma, i);
            comma = ", ";
        }
    }
    resolve_put("]");
}

void resolve_put_delegates(const ember_method_t *method) {
    put_spare(method);
    const uint32_t count = vector_count(method->meta.plan[PLAN_DELEGATES].at);
    const char *comma = "";
    resolve_put(", \"delegate_steps\": [");
    for (uint32_t i = 0; i < count; i++) {
        resolve_put(i > 0 ? ", " : "");
        resolve_put_number("", (int64_t)method->delegates[i].work);
    }
    resolve_put("], \"delegates\": [");
    for (uint32_t i = 0; i < count; i++) {
        const struct ember_delegate *delegate = &method->delegates[i];
        if (delegate->backend == NULL ||
            strcmp(delegate->backend->id, "XnnpackBackend") != 0) {
            continue;
        }
        resolve_put(comma);
        resolve_put_number("{\"index\": ", i);
        resolve_put_graph(delegate->handle);
        resolve_put("}");
        comma = ", ";
    }
    resolve_put("]");
}
