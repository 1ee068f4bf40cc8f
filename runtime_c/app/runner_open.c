// SPDX-License-Identifier: Apache-2.0
// The test runner: opens a case's program and data files, in its record or in flash.
#include "runner.h"

#include <string.h>

static size_t padded(size_t size) {
    return (size + EMBER_BATCH_ALIGN - 1) & ~(size_t)(EMBER_BATCH_ALIGN - 1);
}

// Program and data files after the head, sizes and names of the record.
static void find_files(test_case_t *test, const uint8_t *record) {
    const uint32_t count = 1 + test->head.data_count;
    const uint8_t *sizes = record + sizeof(test->head);
    size_t at =
        padded(sizeof(test->head) + count * sizeof(uint32_t) + test->head.names_size);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size;
        memcpy(&size, sizes + i * sizeof(size), sizeof(size));
        test->files[i] = (ember_bytes_t){record + at, size};
        at += padded(size);
    }
    test->names = sizes + count * sizeof(uint32_t);
}

static bool find_linked(test_case_t *test, const uint8_t *record) {
    const uint32_t count = 1 + test->head.data_count;
    const uint32_t first = test->head.linked;
    if (first >= ember_linked.count || count > ember_linked.count - first) {
        return false;
    }
    memcpy(test->files, &ember_linked.items[first], count * sizeof(*test->files));
    test->names = record + sizeof(test->head);
    return true;
}

static ember_status_t open_data(test_case_t *test) {
    const uint32_t count = test->head.data_count;
    ember_data_map_t *maps = test_case_take_zeroed(test, count, sizeof(*maps));
    if (maps == NULL) {
        return test_case_no_memory(test);
    }
    for (uint32_t i = 0; i < count; i++) {
        const ember_bytes_t *file = &test->files[1 + i];
        const ember_status_t status =
            ember_data_map_open(&maps[i], file->data, file->size, &test->error);
        if (status != EMBER_OK) {
            return status;
        }
    }
    ember_program_attach(&test->program, maps, count);
    return EMBER_OK;
}

ember_status_t test_case_open(test_case_t *test, const uint8_t *record) {
    ember_status_t status = EMBER_OK;
    test->files =
        test_case_take_zeroed(test, 1 + test->head.data_count, sizeof(*test->files));
    if (test->files == NULL) {
        return test_case_no_memory(test);
    }
    if ((test->head.flags & EMBER_BATCH_LINKED) == 0) {
        find_files(test, record);
    } else if (!find_linked(test, record)) {
        return ember_fail(&test->error, EMBER_NOT_FOUND, "case: no such program");
    }
    ember_bytes_t bytes = test->files[0];
    if ((test->head.flags & EMBER_BATCH_BUNDLE) != 0) {
        status = ember_bundle_open(&test->bundle, bytes.data, bytes.size, &test->error);
        bytes = test->bundle.program;
    }
    if (status == EMBER_OK) {
        status =
            ember_program_open(&test->program, bytes.data, bytes.size, &test->error);
    }
    if (status == EMBER_OK && test->head.data_count > 0) {
        status = open_data(test);
    }
    return status;
}
