// SPDX-License-Identifier: Apache-2.0
// Opening a program, and finding things in it by name.
#include "ember/program.h"

#include "container.h"
#include "plan.h"

static const ember_container_t pte = {"ET12", "eh00", 0, 16, 24};

// Fills what later reads of constants need.
static ember_status_t find_constants(ember_program_t *program, ember_error_t *err) {
    const uint8_t *table = ember_flat_table(program->root, PROGRAM_CONSTANT_SEGMENT);
    if (table == NULL) {
        return EMBER_OK;
    }
    program->offsets = ember_flat_vector(table, OFFSETS_ITEMS);
    if (program->offsets.count <= 1) {
        return EMBER_OK;
    }
    if (!ember_segment_at(ember_flat_vector(program->root, PROGRAM_SEGMENTS),
                          program->segments, ember_flat_u32(table, OFFSETS_SEGMENT),
                          &program->constants)) {
        return ember_fail(err, EMBER_BAD_PROGRAM, "program: no such constant segment");
    }
    return EMBER_OK;
}

ember_status_t ember_program_open(ember_program_t *program, const void *data,
                                  size_t size, ember_error_t *err) {
    ember_program_t opened = {.root = NULL};
    const ember_bytes_t file = {data, size};
    ember_status_t status =
        ember_container_open(&pte, file, &opened.flat, &opened.segments, err);
    if (status != EMBER_OK) {
        return status;
    }
    opened.root = ember_flat_verify(opened.flat, &ember_schema_program);
    if (opened.root == NULL) {
        return ember_fail(err, EMBER_BAD_PROGRAM, "program: malformed FlatBuffer");
    }
    status = find_constants(&opened, err);
    if (status == EMBER_OK) {
        status = ember_program_check(&opened, err);
    }
    if (status == EMBER_OK) {
        *program = opened;
    }
    return status;
}

uint32_t ember_program_method_count(const ember_program_t *program) {
    return ember_flat_vector(program->root, PROGRAM_PLANS).count;
}

const char *ember_program_method_name(const ember_program_t *program, uint32_t index,
                                      uint32_t *length) {
    const ember_vector_t plans = ember_flat_vector(program->root, PROGRAM_PLANS);
    if (index >= plans.count) {
        return NULL;
    }
    const ember_vector_t name =
        ember_flat_vector(vector_table(plans, index), PLAN_NAME);
    *length = name.count;
    return (const char *)name.items;
}

ember_status_t ember_program_named_data(const ember_program_t *program, const char *key,
                                        uint32_t key_length, ember_bytes_t *data) {
    const ember_vector_t entries = ember_flat_vector(program->root, PROGRAM_NAMED_DATA);
    for (uint32_t i = 0; i < entries.count; i++) {
        const uint8_t *entry = vector_table(entries, i);
        if (ember_flat_equals(ember_flat_vector(entry, NAMED_KEY), key, key_length)) {
            const ember_vector_t all =
                ember_flat_vector(program->root, PROGRAM_SEGMENTS);
            return ember_segment_at(all, program->segments,
                                    ember_flat_u32(entry, NAMED_SEGMENT), data)
                       ? EMBER_OK
                       : EMBER_BAD_PROGRAM;
        }
    }
    const uint8_t *layout;
    return program->find_data != NULL
               ? program->find_data(program->maps, program->map_count, key, key_length,
                                    data, &layout)
               : EMBER_NOT_FOUND;
}
