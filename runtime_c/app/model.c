// SPDX-License-Identifier: Apache-2.0
// Loads a model of this firmware into the memory that the SDK placed for it.
#include "ember/model.h"

#include <string.h>

static const ember_model_method_t *find(const ember_model_t *model, const char *name) {
    for (uint32_t i = 0; i < model->method_count; i++) {
        const ember_model_method_t *placed = &model->methods[i];
        if (name == NULL || strcmp(placed->name, name) == 0) {
            return placed;
        }
    }
    return NULL;
}

ember_status_t ember_model_load_of(const ember_model_t *model, ember_method_t *method,
                                   const ember_program_t *program, const char *name,
                                   ember_error_t *err) {
    const ember_model_method_t *placed = find(model, name);
    if (placed == NULL) {
        return ember_fail(err, EMBER_NOT_FOUND,
                          "model: it was built without the method");
    }
    for (uint32_t i = 0; i < placed->cleared_count; i++) {
        memset(placed->cleared[i].data, 0, placed->cleared[i].size);
    }
    const ember_status_t status =
        ember_model_start(model, placed, method, program, err);
    method->cleared = placed->cleared;
    method->cleared_count = placed->cleared_count;
    return status;
}
