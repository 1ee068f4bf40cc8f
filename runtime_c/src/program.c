// SPDX-License-Identifier: Apache-2.0
// Opening a program, and finding things in it by name.
#include "ember/program.h"

#include "container.h"
#include "plan.h"

static const ember_container_t pte = {CONTAINER_TAG('E', 'T', '1', '2'),
                                      CONTAINER_TAG('e', 'h', '0', '0'),
                                      0,
                                      16,
                                      24,
                                      &ember_schema_program,
                                      PROGRAM_SEGMENTS,
                                      PROGRAM_NAMED_DATA};

ember_status_t ember_program_open(ember_program_t *program, const void *data,
                                  size_t size, ember_error_t *err) {
    ember_program_t opened = {.root = NULL};
    const ember_bytes_t file = {data, size};
    uint32_t instruction = EMBER_NO_INSTRUCTION;
    ember_status_t status = ember_container_open(&pte, &file, &opened.flat,
                                                 &opened.segments, &opened.root, err);
    if (status == EMBER_OK) {
        status = ember_program_check(&opened, &instruction, err);
    }
    if (status == EMBER_OK) {
        *program = opened;
    }
    return ember_error_close(err, status, instruction);
}

uint32_t ember_program_method_count(const ember_program_t *program) {
    return vector_count(ember_flat_vector(program->root, PROGRAM_PLANS));
}

const char *ember_program_method_name(const ember_program_t *program, uint32_t index,
                                      uint32_t *length) {
    const ember_vector_t plans = ember_flat_vector(program->root, PROGRAM_PLANS);
    if (index >= vector_count(plans)) {
        return NULL;
    }
    const ember_vector_t name =
        ember_flat_vector(vector_table(plans, index), PLAN_NAME);
    *length = vector_count(name);
    return (const char *)vector_items(name);
}

ember_status_t ember_program_named_data(const ember_program_t *program, const char *key,
                                        uint32_t key_length, ember_bytes_t *data) {
    const uint8_t *layout;
    const uint8_t *entry = ember_flat_find(
        ember_flat_vector(program->root, PROGRAM_NAMED_DATA), key, key_length);
    if (entry != NULL) {
        return ember_program_segment(program, ember_flat_u32(entry, NAMED_SEGMENT),
                                     data)
                   ? EMBER_OK
                   : EMBER_BAD_PROGRAM;
    }
    return program->find_data != NULL
               ? program->find_data(program->maps, program->map_count, key, key_length,
                                    data, &layout)
               : EMBER_NOT_FOUND;
}
