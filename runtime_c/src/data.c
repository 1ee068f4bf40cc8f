// SPDX-License-Identifier: Apache-2.0
// External data files. Linked only where a program has some attached.
#include "ember/data.h"

#include "container.h"
#include "plan.h"

static const ember_container_t ptd = {CONTAINER_TAG('F', 'T', '0', '1'),
                                      CONTAINER_TAG('F', 'H', '0', '1'),
                                      16,
                                      24,
                                      32,
                                      &ember_schema_data,
                                      DATA_SEGMENTS,
                                      DATA_NAMED};

ember_status_t ember_data_map_open(ember_data_map_t *map, const void *data, size_t size,
                                   ember_error_t *err) {
    ember_data_map_t opened = {.root = NULL};
    const ember_bytes_t file = {data, size};
    const ember_status_t status = ember_container_open(
        &ptd, &file, &opened.flat, &opened.segments, &opened.root, err);
    if (status == EMBER_OK) {
        *map = opened;
    }
    return ember_error_close(err, status, EMBER_NO_INSTRUCTION);
}

static ember_status_t find_data(const ember_data_map_t *maps, uint32_t count,
                                const char *key, uint32_t key_length,
                                ember_bytes_t *data, const uint8_t **layout) {
    for (const ember_data_map_t *map = maps; map != maps + count; map++) {
        const uint8_t *entry =
            ember_flat_find(ember_flat_vector(map->root, DATA_NAMED), key, key_length);
        if (entry != NULL) {
            *layout = ember_flat_table(entry, NAMED_LAYOUT);
            return ember_segment_at(ember_flat_vector(map->root, DATA_SEGMENTS),
                                    &map->segments,
                                    ember_flat_u32(entry, NAMED_SEGMENT), data)
                       ? EMBER_OK
                       : EMBER_BAD_PROGRAM;
        }
    }
    return EMBER_NOT_FOUND;
}

void ember_program_attach(ember_program_t *program, const ember_data_map_t *maps,
                          uint32_t count) {
    program->maps = maps;
    program->map_count = count;
    program->find_data = find_data;
}
