// SPDX-License-Identifier: Apache-2.0
// What programs (.pte) and data files (.ptd) have in common: a FlatBuffer in front,
// segments behind it, a header that says where each ends. Internal.
#ifndef EMBER_CONTAINER_H
#define EMBER_CONTAINER_H

#include "schema.h"

// Four characters as they are in a file.
#define CONTAINER_TAG(a, b, c, d)                                                      \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

// Where the header of a file is, and its layout.
typedef struct ember_container {
    uint32_t identifier;  // at offset 4
    uint32_t magic;       // at offset 8
    uint32_t flat_offset; // u64 at this offset: where tables may start; 0: none
    uint32_t flat_size;   // u64 at this offset: bytes of the FlatBuffer
    uint32_t segments;    // u64 at this offset: where segments start;
                          //   the next u64 is their size
    uint32_t fields;      // of the root table
} ember_container_t;

// Splits a file into its FlatBuffer and its segments, and reads the root table. A file
// without header is all FlatBuffer. Each segment is checked where it is used.
EMBER_LOCAL ember_status_t ember_container_open(
    const ember_container_t *kind, const ember_bytes_t *file, ember_bytes_t *flat,
    ember_bytes_t *segments, ember_field_t *root, ember_error_t *err);

// Segment `index` of the vector `list`, inside `all`. False, and an empty segment, if
// there is none.
EMBER_LOCAL bool ember_segment_at(ember_flat_t *flat, ember_vector_t list,
                                  const ember_bytes_t *all, uint32_t index,
                                  ember_bytes_t *segment);

#endif // EMBER_CONTAINER_H
