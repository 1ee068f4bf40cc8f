// SPDX-License-Identifier: Apache-2.0
// What programs (.pte) and data files (.ptd) have in common: a FlatBuffer in front,
// segments behind, a header that says where each ends. Internal.
#ifndef EMBER_CONTAINER_H
#define EMBER_CONTAINER_H

#include "plan.h"

// Four characters as they lie in a file.
#define CONTAINER_TAG(a, b, c, d)                                                      \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

// Where the header of a file lies and how it is laid out.
typedef struct ember_container {
    uint32_t identifier;  // at offset 4
    uint32_t magic;       // at offset 8
    uint32_t flat_offset; // u64 at this offset: where tables may start; 0: none
    uint32_t flat_size;   // u64 at this offset: bytes of the FlatBuffer
    uint32_t segments;    // u64 at this offset: where segments start;
                          //   the next u64 is their size
    const ember_flat_schema_t *schema;
    uint32_t segment_list; // fields of the root table: all segments, and those that
    uint32_t named_list;   //   have a name
} ember_container_t;

// Cuts a file into its FlatBuffer and its segments, and verifies the structure of the
// FlatBuffer, whose root table is returned, and where all segments lie. A file without
// header is all FlatBuffer.
EMBER_LOCAL ember_status_t ember_container_open(
    const ember_container_t *kind, const ember_bytes_t *file, ember_bytes_t *flat,
    ember_bytes_t *segments, const uint8_t **root, ember_error_t *err);

#endif // EMBER_CONTAINER_H
