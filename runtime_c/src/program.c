// SPDX-License-Identifier: Apache-2.0
// Opens a program, and finds things in it by name.
#include "container.h"
#include "plan.h"

static const ember_container_t pte = {CONTAINER_TAG('E', 'T', '1', '2'),
                                      CONTAINER_TAG('e', 'h', '0', '0'),
                                      0,
                                      16,
                                      24,
                                      PROGRAM_FIELDS,
                                      PROGRAM_SEGMENTS,
                                      PROGRAM_NAMED_DATA};

// The minimum that a table takes in a file: an offset to it, and itself.
enum { LEAST_TABLE = 8 };

// Checks what can be read of methods without loading them. Tables may be shared in the
// file; `credit`, the most that it could hold, keeps the work linear in its size.
static void check_plans(ember_flat_t *flat, const ember_program_t *program) {
    const ember_vector_t plans = program->root[PROGRAM_PLANS].at;
    uint32_t credit = (uint32_t)program->flat.size / LEAST_TABLE;
    ember_method_meta_t meta;
    for (uint32_t i = 0; i < vector_count(plans); i++) {
        const uint8_t *table = ember_flat_item(flat, plans, i);
        ember_plan_read(flat, program, table, &meta);
        const ember_vector_t devices = ember_flat_field(flat, table, PLAN_DEVICES).at;
        if (vector_count(devices) >= credit) {
            flat_fail(flat, EMBER_BAD_PROGRAM, "file: its tables are shared");
            return;
        }
        credit -= vector_count(devices) + 1;
        for (uint32_t k = 0; k < vector_count(devices); k++) {
            const uint8_t *device = ember_flat_item(flat, devices, k);
            if (ember_flat_field(flat, device, DEVICE_TYPE).number != 0) {
                flat_fail(flat, EMBER_UNSUPPORTED,
                          "method: memory on a device other than the CPU");
            }
        }
    }
}

// A function of its own, because two readers at once would take much of a small stack.
static __attribute__((noinline)) ember_status_t
check_methods(const ember_program_t *program, ember_error_t *err) {
    ember_flat_t flat;
    ember_flat_begin(&flat, &program->flat, err);
    check_plans(&flat, program);
    return flat.status;
}

ember_status_t ember_program_open(ember_program_t *program, const void *data,
                                  size_t size, ember_error_t *err) {
    ember_program_t opened = {.maps = NULL};
    const ember_bytes_t file = {data, size};
    ember_status_t status = ember_container_open(
        &pte, &file, &opened.flat, &opened.segments, opened.root, &opened.sorted, err);
    if (status == EMBER_OK) {
        status = check_methods(&opened, err);
    }
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
    const uint8_t *table = ember_flat_find(&flat, program->root[PROGRAM_NAMED_DATA].at,
                                           program->sorted, key, key_length);
    if (table != NULL) {
        ember_flat_read(&flat, table, NAMED_FIELDS, entry);
        // unreached: the file was opened, so its entries have segments
        return ember_program_segment(&flat, program, entry[NAMED_SEGMENT].number, data)
                   ? EMBER_OK
                   : EMBER_BAD_PROGRAM;
    }
    return program->find_data != NULL
               ? program->find_data(program, key, key_length, NULL, data)
               : EMBER_NOT_FOUND;
}
