// SPDX-License-Identifier: Apache-2.0
// External data files. Linked only if a program uses them.
#include "ember/data.h"

#include "container.h"

static const ember_container_t ptd = {CONTAINER_TAG('F', 'T', '0', '1'),
                                      CONTAINER_TAG('F', 'H', '0', '1'),
                                      16,
                                      24,
                                      32,
                                      DATA_FIELDS};

ember_status_t ember_data_map_open(ember_data_map_t *map, const void *data, size_t size,
                                   ember_error_t *err) {
    ember_data_map_t opened;
    const ember_bytes_t file = {data, size};
    const ember_status_t status = ember_container_open(
        &ptd, &file, &opened.flat, &opened.segments, opened.root, err);
    if (status == EMBER_OK) {
        *map = opened;
    }
    return ember_error_close(err, status, EMBER_NO_INSTRUCTION);
}

// An entry may state the layout of its tensor; then it must be this one.
static bool layout_fits(ember_flat_t *flat, const uint8_t *entry,
                        const ember_tensor_t *tensor) {
    ember_field_t layout[3];
    const uint8_t *table = ember_flat_field(flat, entry, NAMED_LAYOUT).at;
    ember_flat_read(flat, table, LAYOUT_FIELDS, layout);
    return table == NULL || tensor == NULL ||
           (layout[LAYOUT_DTYPE].number == tensor->dtype &&
            vector_count(layout[LAYOUT_SIZES].at) == tensor->rank &&
            memcmp(vector_items(layout[LAYOUT_SIZES].at), tensor->sizes,
                   4 * (size_t)tensor->rank) == 0 &&
            ember_flat_compare(layout[LAYOUT_DIM_ORDER].at, tensor->dim_order,
                               tensor->rank) == 0);
}

static ember_status_t find_data(const ember_program_t *program, const char *key,
                                uint32_t key_length, const ember_tensor_t *tensor,
                                ember_bytes_t *data) {
    for (uint32_t i = 0; i < program->map_count; i++) {
        const ember_data_map_t *map = &program->maps[i];
        ember_flat_t flat;
        ember_field_t entry[2];
        ember_flat_begin(&flat, &map->flat, NULL);
        const uint8_t *table =
            ember_flat_find(&flat, map->root[DATA_NAMED].at, key, key_length);
        if (table == NULL && flat.status == EMBER_OK) {
            continue;
        }
        ember_flat_read(&flat, table, NAMED_FIELDS, entry);
        if (!layout_fits(&flat, table, tensor) ||
            !ember_segment_at(&flat, map->root[DATA_SEGMENTS].at, &map->segments,
                              entry[NAMED_SEGMENT].number, data)) {
            return EMBER_BAD_PROGRAM;
        }
        return flat.status;
    }
    return EMBER_NOT_FOUND;
}

void ember_program_attach(ember_program_t *program, const ember_data_map_t *maps,
                          uint32_t count) {
    program->maps = maps;
    program->map_count = count;
    program->find_data = find_data;
}
