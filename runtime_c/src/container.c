// SPDX-License-Identifier: Apache-2.0
// Splits a file into FlatBuffer and segments.
//
//     0   u32      FlatBuffer root offset
//     4   4 bytes  identifier: a schema and its version
//     8   4 bytes  magic of the extended header; absent when there are no segments
//     12  u32      bytes of the extended header, this field and the magic included
#include "container.h"

enum { IDENTIFIER_AT = 4, MAGIC_AT = 8, LENGTH_AT = 12, HEADER_AT = 8, LEAST_FILE = 8 };

// Cuts [at, at + size) out of `whole`; no sum is formed, so none can wrap.
static bool cut(const ember_bytes_t *whole, size_t at, size_t size,
                ember_bytes_t *part) {
    if (at > whole->size || size > whole->size - at) {
        return false;
    }
    *part = (ember_bytes_t){whole->data + at, size};
    return true;
}

static size_t flat_size(const uint8_t *table, uint32_t offset) {
    return offset != 0 ? ember_flat_size(table + offset) : 0;
}

// True if the header, `length` bytes from HEADER_AT, has the u64 at `at`.
static bool has_field(uint32_t length, uint32_t at) {
    return length >= at + 8 - HEADER_AT;
}

static bool cut_parts(const ember_container_t *kind, const ember_bytes_t *file,
                      ember_bytes_t *flat, ember_bytes_t *segments) {
    const uint8_t *head = file->data;
    const uint32_t length = file->size >= 16 ? load_u32(head + LENGTH_AT) : 0;
    if (!has_field(length, kind->segments) || length > file->size - HEADER_AT) {
        return false;
    }
    const size_t start =
        kind->flat_offset != 0 ? ember_flat_size(head + kind->flat_offset) : 0;
    const size_t base = ember_flat_size(head + kind->segments);
    size_t size = 0;
    if (has_field(length, kind->segments + 8)) {
        size = ember_flat_size(head + kind->segments + 8);
    }
    if (size == 0 && base <= file->size) {
        size = file->size - base;
    }
    if (!cut(file, start, ember_flat_size(head + kind->flat_size), flat) ||
        !cut(file, base, size, segments)) {
        return false;
    }
    *flat = (ember_bytes_t){head, start + flat->size}; // offsets count from byte 0
    return true;
}

bool ember_segment_at(ember_flat_t *flat, ember_vector_t list, const ember_bytes_t *all,
                      uint32_t index, ember_bytes_t *segment) {
    *segment = (ember_bytes_t){NULL, 0};
    const uint8_t *table =
        index < vector_count(list) ? ember_flat_item(flat, list, index) : NULL;
    if (table == NULL) {
        return false;
    }
    const uint16_t *at =
        ember_flat_layout(flat, table, SEGMENT_FIELDS, flat->layouts[LAYOUT_SEGMENT]);
    return cut(all, flat_size(table, at[SEGMENT_OFFSET]),
               flat_size(table, at[SEGMENT_SIZE]), segment);
}

ember_status_t ember_container_open(const ember_container_t *kind,
                                    const ember_bytes_t *file, ember_bytes_t *flat,
                                    ember_bytes_t *segments, ember_field_t *root,
                                    ember_error_t *err) {
    if (file->data == NULL || ((uintptr_t)file->data & (EMBER_ALIGN - 1)) != 0) {
        return ember_fail(err, EMBER_BAD_ARGUMENT, "file: must be aligned to 16 bytes");
    }
    if (file->size < LEAST_FILE) {
        return ember_fail(err, EMBER_BAD_PROGRAM, "file: shorter than its header");
    }
    if (load_u32(file->data + IDENTIFIER_AT) != kind->identifier) {
        return ember_fail(err, EMBER_UNSUPPORTED, "file: unsupported schema version");
    }
    *flat = *file;
    *segments = (ember_bytes_t){file->data, 0};
    if (file->size >= MAGIC_AT + 4 && load_u32(file->data + MAGIC_AT) == kind->magic &&
        !cut_parts(kind, file, flat, segments)) {
        return ember_fail(err, EMBER_BAD_PROGRAM, "file: truncated");
    }
    ember_flat_t reader;
    ember_flat_begin(&reader, flat, err);
    ember_flat_read(&reader, ember_flat_root(&reader), kind->fields, root);
    return reader.status;
}
