// SPDX-License-Identifier: Apache-2.0
// Opens a program, and finds things in it by name.
#include "container.h"
#include "plan.h"

static const ember_container_t pte = {CONTAINER_TAG('E', 'T', '1', '2'),
                                      CONTAINER_TAG('e', 'h', '0', '0'),
                                      0,
                                      16,
                                      24,
                                      PROGRAM_FIELDS};

ember_status_t ember_program_open(ember_program_t *program, const void *data,
                                  size_t size, ember_error_t *err) {
    ember_program_t opened = {.maps = NULL};
    const ember_bytes_t file = {data, size};
    const ember_status_t status = ember_container_open(
        &pte, &file, &opened.flat, &opened.segments, opened.root, err);
    if (status == EMBER_OK) {
        *program = opened;
    }
    return ember_error_close(err, status, EMBER_NO_INSTRUCTION);
}

uint32_t ember_program_method_count(const ember_program_t *program) {
    return vector_count(program->root[PROGRAM_PLANS].at);
}

const char *ember_program_method_name(const ember_program_t *program, uint32_t index,
                                      uint32_t *length) {
    ember_flat_t flat;
    ember_field_t plan[8];
    const ember_vector_t plans = program->root[PROGRAM_PLANS].at;
    if (index >= vector_count(plans)) {
        return NULL;
    }
    ember_flat_begin(&flat, &program->flat, NULL);
    ember_flat_read(&flat, ember_flat_item(&flat, plans, index), PLAN_FIELDS, plan);
    *length = vector_count(plan[PLAN_NAME].at);
    return (const char *)vector_items(plan[PLAN_NAME].at);
}

ember_status_t ember_program_named_data(const ember_program_t *program, const char *key,
                                        uint32_t key_length, ember_bytes_t *data) {
    ember_flat_t flat;
    ember_field_t entry[2];
    ember_flat_begin(&flat, &program->flat, NULL);
    const uint8_t *table =
        ember_flat_find(&flat, program->root[PROGRAM_NAMED_DATA].at, key, key_length);
    if (table != NULL || flat.status != EMBER_OK) {
        ember_flat_read(&flat, table, NAMED_FIELDS, entry);
        const bool found =
            ember_program_segment(&flat, program, entry[NAMED_SEGMENT].number, data);
        return found ? flat.status : EMBER_BAD_PROGRAM;
    }
    return program->find_data != NULL
               ? program->find_data(program, key, key_length, NULL, data)
               : EMBER_NOT_FOUND;
}
